// Compares the words of two questions: coverage weighted by how telling words are, in both directions, the most
// telling word without a counterpart.

import { PRO_TEAMS } from '../../sports/pro-teams.ts'
import { isProper, isSoftWord } from '../understand/lexicon.ts'
import { tableIn } from '../understand/phrases.ts'
import type { Proposition } from '../understand/proposition.ts'
import {
  fold,
  isOrdinary,
  meanings,
  type Spelling,
  weightOf,
} from '../understand/text-normalization.ts'

export interface WordComparison {
  /** Share of the first's telling weight that the second has, 0 to 1; 1 when it has no words. */
  readonly covered: number
  /** Weight of its most telling word that the second lacks, 0 to 1. */
  readonly missed: number
  /** The same, of words that are names. */
  readonly missedName: number
  /** How many numbers are not found. */
  readonly numbers: number
  /** Words not found, most telling first, for explanations. */
  readonly missing: readonly string[]
}

/** The least weight of a name. */
export const NAME_WEIGHT = 0.5
/** Weight of a soft word (lexicon.ts) as a share of its own. */
const SOFT_SHARE = 0.25

/** A name that is shortened elsewhere counts little: "Lakers" for "Los Angeles Lakers". */
const SHORTENED_SHARE = 0.15

/** How much of what a side says is in `known`; `shortened` are known by a shorter form. */
export function explain(
  { words, answer, names }: Proposition,
  otherWords: WordMatcher,
  shortened: ReadonlySet<string>,
): WordComparison {
  let total = 0
  let found = 0
  let missed = 0
  let missedName = 0
  let numbers = 0
  const missing: string[] = []
  for (const word of new Set([...words, ...answer])) {
    const isShortened = shortened.has(word)
    const share = isShortened ? SHORTENED_SHARE : isSoftWord(word) ? SOFT_SHARE : 1
    const weight = weightOf(word) * share
    total += weight
    if (otherWords.has(word)) {
      found += weight
      continue
    }
    missed = Math.max(missed, weight)
    if (isShortened) continue
    missing.push(word)
    if (/^\d+$/.test(word)) numbers += 1
    // A name keeps its weight however frequent it is.
    if (names.has(word) && !isSoftWord(word) && (word.length > 2 || isProper(word)))
      missedName = Math.max(missedName, weight, NAME_WEIGHT)
  }
  return { covered: total === 0 ? 1 : found / total, missed, missedName, numbers, missing }
}

/** The words of `own` that `other` knows by a shorter or an abbreviated form; each index holds all words of its side. */
export function shortenedWords(
  own: Proposition,
  ownWords: WordMatcher,
  other: Proposition,
  otherWords: WordMatcher,
): ReadonlySet<string> {
  const found = new Set<string>()
  const isOther = (word: string): boolean =>
    word.length > 2 && !isSoftWord(word) && !ownWords.has(word)
  // A name of the other side that this one lacks may stand for what is missing here: "Peace" is not left out of "Literature".
  const hasOther = other.runs.some((run) => run.every(isOther))
  for (const run of hasOther ? [] : own.runs) {
    const missing = run.filter((word) => !otherWords.has(word))
    const shared = run.filter((word) => otherWords.has(word))
    // "Grammy" is whole, and no short form of "Latin Grammy".
    if (missing.length === 0 || shared.every(isProper)) continue
    // "Steve Smith" or "Peterson" shortens no "Steve Bannon" or "Peter Rue": the other name must have nothing of its own.
    const sharedWords = new WordMatcher(shared)
    const isShort = other.runs
      .filter((rival) => rival.some((word) => sharedWords.has(word)))
      .every((rival) => rival.every((word) => ownWords.has(word) || isInitialOf(word, missing)))
    if (isShort) for (const word of missing) found.add(word)
  }
  const given = [...own.names].filter((name) => [...other.names].some(isOfName(name)))
  const named = [...given, ...teamWords(own, other), ...abbreviated(own, other, ownWords)]
  for (const word of named) found.add(word)
  for (const { word, meaning } of own.spelled) {
    if (meaning === '') continue
    if (spanOfInitials(word, other.spelled) !== null || other.spelled.some(isTicker(word)))
      found.add(meaning)
  }
  return found
}

/**
 * The words of `own` that go without saying for the other side, since its rules say them. A name does not where the other
 * side says what this one lacks.
 */
export function impliedWords(
  own: Proposition,
  ownWords: WordMatcher,
  other: Proposition,
  otherWords: WordMatcher,
): readonly string[] {
  const missing = [...own.words, ...own.answer].filter((word) => !otherWords.has(word))
  // Of two teams none goes without saying.
  if (missing.length === 0 || own.marks.has('fixture') || other.marks.has('fixture')) return []
  const others = [...other.words, ...other.answer]
  const hasRival = others.some((word) => !isSoftWord(word) && !ownWords.has(word))
  return missing.filter((word) => {
    if (!isOrdinary(word) && hasInitials(other.rules, word)) return true
    return !(hasRival && own.names.has(word)) && other.restated().has(word)
  })
}

const CAPITALS = /(?:\p{Lu}\p{L}+(?:(?: (?:of|for|and|the|&))* |\b)){3,}/gu

/** Whether rules write out what a word abbreviates: "National Interagency Fire Center", "NIFC". */
function hasInitials(rules: string, letters: string): boolean {
  if (!/^[a-z]{3,5}$/.test(letters)) return false
  const names = rules.slice(0, WRITTEN_OUT_MAX).match(CAPITALS) ?? []
  return names.some((name) =>
    name
      .replace(/[^\p{Lu}]/gu, '')
      .toLowerCase()
      .includes(letters),
  )
}

const WRITTEN_OUT_MAX = 400

/** Nickname and place of one team, each as the meanings of its words, under every word of either. */
const teamsByWord = new Map<
  string,
  { nickname: readonly string[]; location: readonly string[] }[]
>()
for (const rows of Object.values(PRO_TEAMS)) {
  for (const row of rows.split(',')) {
    const [location = '', nickname = ''] = row.slice(row.indexOf(' ') + 1).split('/')
    const team = { nickname: meanings(fold(nickname)), location: meanings(fold(location)) }
    for (const word of new Set([...team.nickname, ...team.location])) {
      teamsByWord.set(word, [...(teamsByWord.get(word) ?? []), team])
    }
  }
}

/** Words of `own` for a team that the other side calls by its place, or by its nickname: "Dodgers", "Los Angeles D". */
function teamWords(own: Proposition, other: Proposition): readonly string[] {
  const [ownWords, others] = [own, other].map(({ words, answer }) => [...words, ...answer])
  return own.runs.flat().flatMap((word) => {
    return (teamsByWord.get(word) ?? []).flatMap(({ nickname, location }) => {
      const isNick = nickname.includes(word)
      const [mine, theirs] = isNick ? [nickname, location] : [location, nickname]
      const isLocationWord = (one: string): boolean =>
        location.includes(one) || isInitialOf(one, nickname)
      // "New York J" and "New York Jets" are no Giants.
      const isSame =
        (isNick ? other : own).runs.every(
          (run) => !run.some(isLocationWord) || run.every(isLocationWord),
        ) &&
        mine.every((one) => ownWords?.includes(one)) &&
        theirs.every((one) => others?.includes(one))
      return isSame
        ? [...mine, ...(ownWords ?? []).filter((one) => isInitialOf(one, nickname))]
        : []
    })
  })
}

/**
 * Whether both name a team by a nickname that teams of two places have, and say, with what their rules begin with, the
 * places of two: the Rangers of Texas are not those of New York.
 */
export function areNamesakes(a: Proposition, b: Proposition): boolean {
  for (const word of a.words) {
    const named = teamsByWord.get(word)?.filter(({ nickname }) => nickname.includes(word)) ?? []
    if (named.length < 2 || ![...b.words, ...b.answer].includes(word)) continue
    const [one = [], other = []] = [a, b].map(({ words, answer, context, restated }) => {
      const isMentioned = (location: string): boolean =>
        [words, answer, context].some((list) => list.includes(location)) || restated().has(location)
      return named
        .filter(({ location }) => location.every(isMentioned))
        .map(({ location }) => location.join(' '))
    })
    if (one.length > 0 && other.length > 0 && !one.some((location) => other.includes(location)))
      return true
  }
  return false
}

const GIVEN_NAMES = new URL('../understand/given-names.json', import.meta.url)
/** "matt matthew": a short form and its name. */
const shortNames = new Set(tableIn<Record<'short', string>>(GIVEN_NAMES).short.split('|'))
const isOfName = (one: string) => (other: string) =>
  shortNames.has(`${one} ${other}`) || shortNames.has(`${other} ${one}`)

const isInitialOf = (letter: string, words: readonly string[]): boolean =>
  letter.length === 1 && words.some((word) => word.startsWith(letter))

/** Words of `own` that the other side writes as one shorter word: "New York Times" as "NYT", "Tesla" as "TSLA". */
function abbreviated(
  own: Proposition,
  other: Proposition,
  ownWords: WordMatcher,
): readonly string[] {
  return other.spelled.flatMap(({ word, meaning }) => {
    if (meaning === '' || ownWords.has(meaning)) return []
    const span = spanOfInitials(word, own.spelled) ?? own.spelled.filter(isTicker(word))
    return span.flatMap(({ meaning: of }) => (of === '' ? [] : [of]))
  })
}

/** Four letters that nobody could speak, as in a ticker. */
const TICKER = /^(?=[a-z]{4}$)(?:.*[^aeiouy]{3}|.*[^aeiouylnrst][lmnr]$)/

/** Whether a name has the letters of a ticker in their order: "Tesla" those of "TSLA". */
const isTicker = (letters: string): ((of: Spelling) => boolean) => {
  if (!TICKER.test(letters)) return () => false
  return ({ word }) => {
    if (word.length < 5 || word.charAt(0) !== letters.charAt(0)) return false
    let at = 0
    for (const letter of word) if (letter === letters.charAt(at)) at += 1
    return at === letters.length
  }
}

/** Words in a row with these first letters, the little words counted or not; null: there are none. */
function spanOfInitials(letters: string, spelled: readonly Spelling[]): readonly Spelling[] | null {
  if (!/^[a-z]{3,5}$/.test(letters)) return null
  for (const words of [spelled, spelled.filter(({ word }) => !LITTLE.test(word))]) {
    const initials = words.map(({ word }) => word.charAt(0)).join('')
    const at = initials.indexOf(letters)
    if (at >= 0) return words.slice(at, at + letters.length)
  }
  return null
}

const LITTLE = /^(?:of|the|and|for|in|de|&)$/

/** Endings by which a word becomes another of the same root: "congress", "congressional". */
const DERIVED =
  /^(?:e?d|ing|ment|i?c?ation|ion|ional|al|able|ible|ity|ive|ors?|ers?|ship|ian|ese|ish|ly)$/

/** "Flight 14" is the 14th flight. */
function ordinalOf(word: string): string {
  return /^\d+$/.test(word) ? `${word}th` : word.replace(/^(\d+)th$/, '$1')
}

/** Words that are looked up whole or by their beginning: "starost" finds "starostove". */
export class WordMatcher {
  readonly #words: ReadonlySet<string>

  constructor(...lists: readonly (readonly string[])[]) {
    this.#words = new Set(lists.flat())
  }

  has(word: string): boolean {
    if (this.#words.has(word) || this.#words.has(ordinalOf(word))) return true
    if (word.length < 5 || word.includes(':')) return false
    for (const other of this.#words) {
      if (other.length < 5 || other.includes(':') || Math.abs(other.length - word.length) > 6)
        continue
      const [short, long] = word.length <= other.length ? [word, other] : [other, word]
      if (!long.startsWith(short.slice(0, Math.max(5, short.length - 2)))) continue
      if (short.length / long.length > 0.6 || DERIVED.test(long.slice(short.length))) return true
    }
    return false
  }
}
