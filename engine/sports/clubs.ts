// Canonical names of soccer clubs. A club may have several names: "Inter", "FC Internazionale Milano", "Inter Milan".

import { foldName, namesByAlias, TEAMS } from './team-names.ts'

const COMMON = new Set(TEAMS.clubs.common.join(' ').split(' '))
const clubByAlias = namesByAlias(TEAMS.clubs.aliases)

export function clubOf(name: string): string {
  const words = foldName(name).split(' ')
  // Drops founding years and other numbers: "1. FC Köln", "Parma Calcio 1913", "Stade Brestois 29".
  const distinctive = words.filter((word) => !COMMON.has(word) && !/^\d+$/.test(word))
  const plain = (distinctive.length === 0 ? words : distinctive).join(' ')
  return clubByAlias.get(words.join(' ')) ?? clubByAlias.get(plain) ?? plain
}

/** Whether one name contains the other name and further words, such as "Parma" and "Parma Ducale". */
export function isSameClub(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  return short.length > 3 && ` ${long} `.includes(` ${short} `)
}
