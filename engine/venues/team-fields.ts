// Texts of a venue's row of a team, and the place in its name for venues that send name and nickname alone. Pure.

/** "Los Angeles Rams" without "Rams"; '' where the name does not end in the nickname. */
export function locationOf(name: string, nickname: string): string {
  const end = ` ${nickname.toLowerCase()}`
  const isAtEnd = nickname !== '' && name.toLowerCase().endsWith(end)
  return isAtEnd ? name.slice(0, -end.length).trim() : ''
}

/** The text of a field, trimmed; '' where it holds none. */
export function trimmedText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
