// Compares the words of two questions. Computes the share of each side's informative words that the other side has, and
// the most informative word that it lacks.

import { proTeamOf, TEAMS } from '../../sports/team-names.ts'
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
import { WordMatcher } from '../understand/word-matcher.ts'

export interface WordComparison {
  /** Share of the first side's word weight that the second side has, 0 to 1. 1 if the first has no words. */
  readonly covered: number
  /** Weight of the most informative word that the second side lacks, 0 to 1. */
  readonly missed: number
  /** Like `missed`, for words that are names. */
  readonly missedName: number
  /** Count of numbers that the second side lacks. */
  readonly numbers: number
  /** Words that the second side lacks, most informative first, for explanations. */
  readonly missing: readonly string[]
}

export const NAME_WEIGHT = 0.5
/** Weight factor of a soft word (lexicon.ts). */
const SOFT_SHARE = 0.25

/** Weight factor of a name that the other side shortens, such as "Lakers" for "Los Angeles Lakers". */
const SHORTENED_SHARE = 0.15

/** Computes how much of one side's words `known` contains. `shortened`: words that the other side has in a shorter form. */
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
    // The weight of a name does not depend on its frequency.
    if (names.has(word) && !isSoftWord(word) && (word.length > 2 || isProper(word)))
      missedName = Math.max(missedName, weight, NAME_WEIGHT)
  }
  return { covered: total === 0 ? 1 : found / total, missed, missedName, numbers, missing }
}

/** Words of `own` that `other` has in a shorter form or as an abbreviation. Each index contains all words of its side. */
export function shortenedWords(
  own: Proposition,
  ownWords: WordMatcher,
  other: Proposition,
  otherWords: WordMatcher,
): ReadonlySet<string> {
  const found = new Set<string>()
  const isOther = (word: string): boolean =>
    word.length > 2 && !isSoftWord(word) && !ownWords.has(word)
  // A name that only the other side has may replace the missing word. In that case the missing word is not a
  // shortening.
  const hasOther = other.runs.some((run) => run.every(isOther))
  for (const run of hasOther ? [] : own.runs) {
    const missing = run.filter((word) => !otherWords.has(word))
    const shared = run.filter((word) => otherWords.has(word))
    // "Grammy" is complete and not a short form of "Latin Grammy".
    if (missing.length === 0 || shared.every(isProper)) continue
    // "Steve Smith" is not short for "Steve Bannon". A short form contains no word that the long form lacks.
    const sharedWords = new WordMatcher(shared)
    const isShort = other.runs
      .filter((rival) => rival.some((word) => sharedWords.has(word)))
      .every((rival) => rival.every((word) => ownWords.has(word) || isInitialOf(word, missing)))
    if (isShort) for (const word of missing) found.add(word)
  }
  const given = [...own.names].filter((name) => {
    return (formsOfName.get(name) ?? []).some((form) => other.names.has(form))
  })
  const named = [...given, ...teamWords(own, other), ...abbreviated(own, other, ownWords)]
  for (const word of named) found.add(word)
  const lists = initialedOf(other.spelled)
  for (const { word, meaning } of own.spelled) {
    if (meaning === '') continue
    if (spanOfInitials(word, lists) !== null || other.spelled.some(isTicker(word)))
      found.add(meaning)
  }
  return found
}

/**
 * Words of `own` that are stated in the other side's rules. A name is not among them if the other side has another name
 * that `own` lacks.
 */
export function impliedWords(
  own: Proposition,
  ownWords: WordMatcher,
  other: Proposition,
  otherWords: WordMatcher,
): readonly string[] {
  const missing = [...own.words, ...own.answer].filter((word) => !otherWords.has(word))
  // In a fixture between teams every team must be stated.
  if (missing.length === 0 || own.marks.has('fixture') || other.marks.has('fixture')) return []
  const others = [...other.words, ...other.answer]
  const hasRival = others.some((word) => !isSoftWord(word) && !ownWords.has(word))
  return missing.filter((word) => {
    if (!isOrdinary(word) && hasInitials(other.rules, word)) return true
    return !(hasRival && own.names.has(word)) && other.restated().has(word)
  })
}

const CAPITALS = /(?:\p{Lu}\p{L}+(?:(?: (?:of|for|and|the|&))* |\b)){3,}/gu

/** Whether the rules write out an abbreviation: "National Interagency Fire Center" for "NIFC". */
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

/** Each team as the meanings of the words of its nickname and its location, by every such word. */
const teamsByWord = new Map<
  string,
  { nickname: readonly string[]; location: readonly string[] }[]
>()
for (const rows of Object.values(TEAMS.pro)) {
  for (const { location, nicknames } of rows.map(proTeamOf)) {
    const [nickname = ''] = nicknames
    const team = { nickname: meanings(fold(nickname)), location: meanings(fold(location)) }
    for (const word of new Set([...team.nickname, ...team.location])) {
      teamsByWord.set(word, [...(teamsByWord.get(word) ?? []), team])
    }
  }
}

/** Words of `own` for a team that the other side states by location or by nickname: "Dodgers", "Los Angeles D". */
function teamWords(own: Proposition, other: Proposition): readonly string[] {
  const named = own.runs.flat().filter((word) => teamsByWord.has(word))
  if (named.length === 0) return named
  const [ownWords, others] = [
    [...own.words, ...own.answer],
    [...other.words, ...other.answer],
  ]
  return named.flatMap((word) => {
    return (teamsByWord.get(word) ?? []).flatMap(({ nickname, location }) => {
      const isNick = nickname.includes(word)
      const [mine, theirs] = isNick ? [nickname, location] : [location, nickname]
      const isLocationWord = (one: string): boolean =>
        location.includes(one) || isInitialOf(one, nickname)
      // "New York J" and "New York Jets" are not the Giants.
      const isSame =
        (isNick ? other : own).runs.every(
          (run) => !run.some(isLocationWord) || run.every(isLocationWord),
        ) &&
        mine.every((one) => ownWords.includes(one)) &&
        theirs.every((one) => others.includes(one))
      return isSame ? [...mine, ...ownWords.filter((one) => isInitialOf(one, nickname))] : []
    })
  })
}

/**
 * Whether both state a nickname that teams of two locations share, and different locations in the question or in the
 * first sentence of the rules. The Texas Rangers are not the New York Rangers.
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
/** Other forms of a given name, such as "matthew" of "matt". */
const formsOfName = new Map<string, string[]>()
for (const row of tableIn<Record<'short', string>>(GIVEN_NAMES).short.split('|')) {
  const [short = '', long = ''] = row.split(' ')
  formsOfName.set(short, [...(formsOfName.get(short) ?? []), long])
  formsOfName.set(long, [...(formsOfName.get(long) ?? []), short])
}

const isInitialOf = (letter: string, words: readonly string[]): boolean =>
  letter.length === 1 && words.some((word) => word.startsWith(letter))

/** Words of `own` that the other side abbreviates to one word: "New York Times" to "NYT", "Tesla" to "TSLA". */
function abbreviated(
  own: Proposition,
  other: Proposition,
  ownWords: WordMatcher,
): readonly string[] {
  const lists = initialedOf(own.spelled)
  return other.spelled.flatMap(({ word, meaning }) => {
    if (meaning === '' || ownWords.has(meaning)) return []
    const span = spanOfInitials(word, lists) ?? own.spelled.filter(isTicker(word))
    return span.flatMap(({ meaning: of }) => (of === '' ? [] : [of]))
  })
}

/** Matches tickers: four letters that cannot be pronounced as a word. */
const TICKER = /^(?=[a-z]{4}$)(?:.*[^aeiouy]{3}|.*[^aeiouylnrst][lmnr]$)/

/** Whether a name contains the letters of a ticker in order, as "Tesla" those of "TSLA". */
const isTicker = (letters: string): ((of: Spelling) => boolean) => {
  if (!TICKER.test(letters)) return () => false
  return ({ word }) => {
    if (word.length < 5 || word.charAt(0) !== letters.charAt(0)) return false
    let at = 0
    for (const letter of word) if (letter === letters.charAt(at)) at += 1
    return at === letters.length
  }
}

interface Initialed {
  readonly words: readonly Spelling[]
  readonly initials: string
}

/** Consecutive words with these initials. Stop words may be included or omitted. Null if there are none. */
function spanOfInitials(letters: string, lists: readonly Initialed[]): readonly Spelling[] | null {
  if (!/^[a-z]{3,5}$/.test(letters)) return null
  for (const { words, initials } of lists) {
    const at = initials.indexOf(letters)
    if (at >= 0) return words.slice(at, at + letters.length)
  }
  return null
}

/** The words with and without stop words. */
function initialedOf(spelled: readonly Spelling[]): readonly Initialed[] {
  return [spelled, spelled.filter(({ word }) => !LITTLE.test(word))].map((words) => {
    return { words, initials: words.map(({ word }) => word.charAt(0)).join('') }
  })
}

const LITTLE = /^(?:of|the|and|for|in|de|&)$/
