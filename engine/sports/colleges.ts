// Canonical names of colleges, without nickname: "NC State", "North Carolina State Wolfpack".

import { foldName, namesByAlias, TEAMS } from './team-names.ts'

const { aliases, codes, nicknames: rows, distinguishing } = TEAMS.colleges
const schoolByAlias = namesByAlias(aliases)
const nicknames = new Set(
  rows
    .join(' ')
    .split(' ')
    .map((name) => name.replaceAll('-', ' ')),
)
const DISTINGUISHING = new Set(distinguishing.join(' ').split(' '))

/** The school's canonical name from a name or a code. '' for an empty name. */
export function schoolOf(name: string, code: string): string {
  const byCode = codes[code.toLowerCase()]
  if (byCode !== undefined) return byCode
  const words = foldName(name)
    .replace(/^saint /, 'st ')
    .replace(/ st$/, ' state')
    .split(' ')
  return named(words) ?? named(withoutNickname(words)) ?? plain(withoutNickname(words))
}

/** Whether one name is the other name plus an unlisted nickname. Never true for "Ohio" and "Ohio State". */
export function isSameSchool(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (short === '' || !`${long} `.startsWith(`${short} `)) return false
  return !long
    .slice(short.length + 1)
    .split(' ')
    .some((word) => DISTINGUISHING.has(word))
}

function named(words: readonly string[]): string | null {
  const name = plain(words)
  return schoolByAlias.get(words.join(' ')) ?? schoolByAlias.get(name) ?? null
}

function plain(words: readonly string[]): string {
  const significant = words.filter(
    (word) => word !== 'university' && word !== 'the' && word !== 'of',
  )
  return (significant.length === 0 ? words : significant).join(' ')
}

function withoutNickname(words: readonly string[]): readonly string[] {
  for (const length of [3, 2, 1]) {
    const restLength = words.length - length
    if (restLength >= 1 && nicknames.has(words.slice(restLength).join(' '))) {
      const rest = words.slice(0, restLength)
      // "Ohio St. Buckeyes": the state is the last word after the nickname is removed.
      if (restLength > 1 && rest[restLength - 1] === 'st') return [...rest.slice(0, -1), 'state']
      return rest
    }
  }
  return words
}
