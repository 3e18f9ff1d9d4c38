// Grades whether two names or codes mean the same side of a game: a club, a country, a college, an esports team or a
// player. 0: they differ; 1: they agree. Codes alone are only a hint.

import type { HandleForm, VenueKey } from '../../ids.ts'
import { clubOf } from '../../sports/clubs.ts'
import { schoolOf } from '../../sports/colleges.ts'
import { LEAGUES, type League } from '../../sports/leagues.ts'
import { TeamTable } from '../../sports/team-table.ts'
import type { TeamEntry } from '../../team-listing.ts'
import type { Competition } from './competitions.ts'
import { countryOfCode, countryOfName } from './locations.ts'
import { wordSet } from './phrases.ts'

/** A side in one venue's listing. Texts are folded; '' if unknown. */
export interface Side {
  readonly venue: VenueKey
  readonly handles: HandleForm
  readonly name: string
  readonly code: string
}

/** Minimum grade of two sides that are considered the same. */
export const SAME_SIDE = 0.45
/** Maximum grade of two sides that are considered different. */
export const OTHER_SIDE = 0.3

/**
 * Built-in tables of leagues with a fixed set of teams, extended by the venues' lists, which also contain other
 * leagues.
 */
let teamTable = new TeamTable()

/** Adds entries of the venues' team lists. Null removes all added entries. */
export function addKnownTeams(teams: readonly TeamEntry[] | null): void {
  if (teams === null) teamTable = new TeamTable()
  for (const { team, handles } of teams ?? []) teamTable.learn(team, handles)
}

const GENERIC = wordSet(
  'fc cf afc sc ac as ss sv sk fk nk bk if club cd ca de la el los the team esports esport gaming games academy junior jr united city real athletic sporting women w men basket basketball of and al',
)

const SCHOOL_KINDS = wordSet(
  'state st tech am a&m southern northern eastern western central christian international atlantic poly baptist methodist oh fl valley',
)

/** Probability that two sides are the same, 0 to 1. */
export function gradeSides(a: Side, b: Side, arena: Competition): number {
  const { table } = arena
  if (table !== null && table.kind === 'pro') {
    const [one, other] = [teamTable.proTeam(table, a), teamTable.proTeam(table, b)]
    if (one !== null && other !== null) return one === other ? 1 : 0
  }
  const [countryA, countryB] = [countryOf(a), countryOf(b)]
  if (countryA !== null && countryB !== null) return countryA === countryB ? 1 : 0
  const grade = gradeCodes(a.code, b.code)
  const [nameA, nameB] = [nameOf(a, table), nameOf(b, table)]
  if (nameA === '' || nameB === '')
    return Math.max(grade, gradeCodeInName(a.code, nameB), gradeCodeInName(b.code, nameA))
  const byName =
    table?.kind === 'college'
      ? gradeSchools(schoolOf(nameA, a.code), schoolOf(nameB, b.code))
      : gradeNames(nameA, nameB)
  // If two names clearly differ, equal codes do not help.
  return byName === 0 ? Math.min(grade, 0.25) : Math.max(grade, byName)
}

/** The side's name. If it has only a code, the name in the venue's team list. */
function nameOf(side: Side, league: League | null): string {
  const isListed = league !== null && league.kind !== 'pro'
  return side.name === '' && isListed ? (teamTable.team(league, side) ?? '') : side.name
}

/** The league with a fixed set of teams that contains both teams. Null if none or several do. */
export function leagueOfTeams(a: Side, b: Side): League | null {
  const found = LEAGUES.filter((league) => {
    const [one, other] = [teamTable.proTeam(league, a), teamTable.proTeam(league, b)]
    return one !== null && other !== null && one !== other
  })
  return found.length === 1 ? (found[0] ?? null) : null
}

function countryOf({ name, code, handles }: Side): string | null {
  if (name !== '') return countryOfName(name)
  return code.length === 3 || code.length === 2 ? countryOfCode(code, handles) : null
}

function gradeSchools(one: string, other: string): number {
  if (one === other) return 1
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (!long.startsWith(`${short} `)) return 0
  // "Coastal Carolina Chanticleers" adds a nickname. "Georgia Tech" is another school than Georgia.
  const more = long.slice(short.length + 1).split(' ')
  return more.some((word) => SCHOOL_KINDS.has(word)) ? 0 : 0.5
}

export function gradeNames(one: string, other: string): number {
  if (one === other || clubOf(one) === clubOf(other)) return 1
  const [a, b] = [distinctiveWords(one), distinctiveWords(other)]
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (short.length === 0) return 0
  if (short.join('') === long.join('')) return 1
  let hits = 0
  let letters = 0
  const used = new Set<number>()
  for (const word of short) {
    const at = long.findIndex(
      (candidate, index) => !used.has(index) && isWordAlike(word, candidate),
    )
    if (at < 0) continue
    used.add(at)
    hits += 1
    letters = Math.max(letters, word.length)
  }
  if (hits === short.length) {
    if (letters >= 3) return short.length === long.length || letters >= 4 ? 0.95 : 0.8
    return 0.5
  }
  if (isInitials(one, other) || isInitials(other, one)) return 0.7
  // An equal surname does not suffice: Davis Riley is not Cam Davis.
  return hits > 0 && letters >= 5 && hits * 2 >= short.length && a.at(-1) === b.at(-1) ? 0.35 : 0
}

const wordsOf = (name: string): readonly string[] =>
  name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')

function distinctiveWords(name: string): readonly string[] {
  const words = wordsOf(name)
  const distinctive = words.filter(
    (word) => !GENERIC.has(word) && !/^(?:18|19|20)?\d\d$/.test(word),
  )
  return distinctive.length === 0 ? words : distinctive
}

/** Whether the words are equal or one is a prefix of the other, as "brest" of "brestois" and "z" of "zelvia". */
function isWordAlike(one: string, other: string): boolean {
  if (one === other) return true
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (short.length === 1) return long.startsWith(short)
  return short.length >= 4 && long.startsWith(short)
}

/** Whether a text consists of the initials of a name: "psg" for "paris saint germain", "gx" for "giantx". */
function isInitials(short: string, name: string): boolean {
  const letters = short.replace(/[^\p{L}\p{N}]/gu, '')
  if (letters.length < 2 || letters.length > 5) return false
  const words = wordsOf(name)
  const initials = words.map((word) => word.charAt(0)).join('')
  return words.length > 1 && initials.startsWith(letters)
}

function gradeCodes(one: string, other: string): number {
  if (one === other && one.length >= 2) return 0.75
  const [a, b] = [bareCode(one), bareCode(other)]
  if (a === '' || b === '') return 0
  if (a === b) return a.length >= 2 ? 0.75 : 0.4
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (short.length >= 2 && long.startsWith(short)) return short.length >= 3 ? 0.6 : 0.45
  let common = 0
  while (common < short.length && short[common] === long[common]) common += 1
  if (common >= 3) return 0.5
  return isSubsequence(short, long) && short.length >= 3 ? 0.35 : common === 2 ? 0.32 : 0
}

/** Removes the number that slugs add to an esports code that several teams use, such as `kc3`. */
function bareCode(code: string): string {
  return code.length > 2 ? code.replace(/\d{1,2}$/, '') : code
}

/**
 * Grades whether a code abbreviates a name. Tries the code with its digits ("s04", "100t", "c9") and without the number
 * that slugs add.
 */
export function gradeCodeInName(code: string, name: string): number {
  const bare = bareCode(code)
  const grade = gradeLetters(bare, name)
  return bare === code ? grade : Math.max(grade, gradeLetters(code, name))
}

/** Grades letters as a prefix of the name, a prefix of a word, initials, or letters in order. */
function gradeLetters(letters: string, name: string): number {
  if (letters.length < 2 || name === '') return 0
  const words = wordsOf(name)
  const joined = words.join('')
  const isLong = letters.length >= 3
  if (joined.startsWith(letters)) return isLong ? 0.75 : 0.5
  if (isLong && words.some((word) => word.startsWith(letters))) return 0.7
  const initials = words.map((word) => (/^\d/.test(word) ? word : word.charAt(0))).join('')
  if (initials.includes(letters)) return 0.55
  const isWithin = (text: string): boolean => text[0] === letters[0] && isSubsequence(letters, text)
  if (/\d/.test(letters) && isWithin(joined)) return 0.5
  if (!isLong) return 0
  return words.some(isWithin) ? 0.4 : isWithin(joined) ? 0.35 : 0
}

function isSubsequence(letters: string, text: string): boolean {
  let at = 0
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}
