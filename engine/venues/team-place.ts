// The place in a team's name, for venues that tell name and nickname alone. Pure.
// Not for: knowing places (engine/sports/). Upholds TEAMS2.

/** "Los Angeles Rams" without "Rams"; '' where the name does not end in the nickname. */
export function placeOf(name: string, nickname: string): string {
  const end = ` ${nickname.toLowerCase()}`
  const isAtEnd = nickname !== '' && name.toLowerCase().endsWith(end)
  return isAtEnd ? name.slice(0, -end.length).trim() : ''
}
