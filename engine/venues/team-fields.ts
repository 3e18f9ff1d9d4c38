/**
 * Removes the nickname from a name: "Los Angeles Rams" and "Rams" give "Los Angeles". '' if the name does not end in
 * the nickname.
 */
export function locationOf(name: string, nickname: string): string {
  const end = ` ${nickname.toLowerCase()}`
  const isAtEnd = nickname !== '' && name.toLowerCase().endsWith(end)
  return isAtEnd ? name.slice(0, -end.length).trim() : ''
}

/** '' if the value is not text. */
export function trimmedText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
