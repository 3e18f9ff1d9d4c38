// Names of teams and players: the data of teams.json, and normalization without case, accents, periods and apostrophes.

import { tableIn } from '../matching/understand/phrases.ts'

type Names = Readonly<Record<string, string>>

/** Aliases by canonical name. Words of a nickname are joined by hyphens. */
export const TEAMS = tableIn<{
  readonly clubs: { readonly common: readonly string[]; readonly aliases: Names }
  readonly colleges: {
    readonly aliases: Names
    readonly codes: Names
    readonly nicknames: readonly string[]
    readonly distinguishing: readonly string[]
  }
  /**
   * By league, entries in the form `code+code Location/Nickname/other name`. The first code is the current code in
   * slugs.
   */
  readonly pro: Readonly<Record<string, readonly string[]>>
}>(new URL('./teams.json', import.meta.url))

/** Parses an entry of `TEAMS.pro`. */
export function proTeamOf(entry: string) {
  const space = entry.indexOf(' ')
  const [location = '', ...nicknames] = entry.slice(space + 1).split('/')
  return { codes: entry.slice(0, space).split('+'), location, nicknames }
}

export function namesByAlias(aliases: Names): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(aliases).flatMap(([name, others]) =>
      others.split('|').map((other): [string, string] => [other, name]),
    ),
  )
}

const FOLDED = /^[a-z0-9]+(?: [a-z0-9]+)*$/

/** Normalizes a name: "Hawai'i" and "HAWAII" become `hawaii`, "Texas A&M" `texas am`, "St. Louis" `st louis`. */
export function foldName(name: string): string {
  if (FOLDED.test(name)) return name
  return (
    name
      // Removed before the normalization, which would split ´ into a space and an accent.
      .replace(/['’‘`´ʻ.]/g, '')
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .replace(/ø/g, 'o')
      .replace(/ß/g, 'ss')
      .replace(/\b(\w)\s*&\s*(\w)\b/g, '$1$2')
      .replace(/&/g, ' and ')
      .replace(/[^a-z0-9]+/g, ' ')
      .trim()
  )
}

/** Letters and digits only, as in keys: "Auger-Aliassime" becomes `augeraliassime`. */
export function squeezeName(name: string): string {
  return foldName(name).replaceAll(' ', '')
}

/** The two sides in a title, in order. Null: the title states no pair. */
export function sidesOfTitle(title: string): readonly [string, string] | null {
  // Titles with several parts, such as "Wimbledon: Swiatek vs Collins" or "Dallas at Detroit: Spread", have the pair in
  // one part.
  for (const part of title.split(/:\s+|\s+[-–—]\s+/)) {
    const match = /^(.+?)\s+(?:at|vs\.?|v\.?|@)\s+(.+)$/i.exec(part)
    if (match !== null) return sides(match[1], match[2])
    const choice = /^(.+?)\s+or\s+(.+?)\s+(?:advances?|wins?)\??$/i.exec(part)
    if (choice !== null) return sides(choice[1], choice[2])
  }
  return null
}

function sides(first = '', second = ''): readonly [string, string] | null {
  const pair = [first, second].map((side) =>
    side
      // "(Game 3)", "(Sep 14)" and "(W)" are not part of a name. "(OH)" is.
      .replace(
        /\s*\((?:game|gm|match|doubleheader)?\s*#?\d+\)|\s*\([A-Z][a-z]{2} \d+\)|\s*\((?:w|m)\)/gi,
        '',
      )
      .replace(
        /\s+(?:game|gm)\s+\d+\s*$|\s+(?:winner|match|game|spread|total points|totals?)\s*\??$/gi,
        '',
      )
      .replace(/[?,\s]+$/, '')
      .trim(),
  )
  const [one = '', other = ''] = pair
  return one === '' || other === '' ? null : [one, other]
}
