// Two propositions held against each other: vetoes, and the degrees of agreement that the model weighs.
// Not for: what the degrees are worth (score.ts, weights.ts). Upholds VETO1 to VETO14, SCORE3.

import { compareOutcomes } from './compare-outcomes.ts'
import { compareWhens, type WhenComparison } from './compare-when.ts'
import { cosine, explain, type WordComparison, WordIndex } from './compare-words.ts'
import type { Corpus } from './corpus.ts'
import { lonelyMarks } from './marks.ts'
import type { Proposition } from './proposition.ts'
import { type FixtureFinding, judgeFixtureEvents, judgeFixtures } from './veto-fixture.ts'
import {
  answerVetoes,
  assetVetoes,
  dateVetoes,
  formVetoes,
  hourVetoes,
  markVetoes,
  rangeRelation,
  rangeVetoes,
  roleVetoes,
  touchVetoes,
} from './veto-text.ts'
import { type Veto, veto } from './vetoes.ts'

/** What the model weighs, in the order of its weights. Each is about 0 to 1. */
export const FEATURES = [
  'one',
  'fullGame',
  'sameGame',
  'fullPrice',
  'sameRange',
  'lonelyRange',
  'sameDate',
  'hintNear',
  'hintFar',
  'dateUnknown',
  'coveredA',
  'coveredB',
  'missedA',
  'missedB',
  'missedBoth',
  'missedNames',
  'cosine',
  'latent',
  'lonelyMarks',
  'sharedAnswer',
  'noAnswer',
  'sharedOutcomes',
  'noOutcomes',
  'isEvent',
  'coveredLeast',
  'sameDateCovered',
  'relative',
] as const

export interface Comparison {
  readonly vetoes: readonly Veto[]
  /** In the order of FEATURES. */
  readonly features: readonly number[]
  readonly when: WhenComparison
  /** What agrees, in words. */
  readonly agreements: readonly string[]
  readonly game: FixtureFinding | null
}

/** Compares a proposition of venue a with one of venue b of the same grain. */
export function compare(a: Proposition, b: Proposition, corpus: Corpus): Comparison {
  const game = gameOf(a, b)
  const when = compareWhens(a, b)
  const words = compareTexts(a, b, corpus)
  const vetoes = vetoesOf(a, b, game, when, words)
  const outcomes = compareOutcomes(a, b)
  if (outcomes.isOtherGrid) vetoes.push(veto('other_grid'))
  const range = rangeRelation(a, b)
  const isSameRange = range === 'same' || range === 'boundary'
  const isText = game === null
  const least = Math.min(words.ofA.covered, words.ofB.covered)
  const isFullPrice =
    a.asset !== null && a.asset === b.asset && isSameRange && when.verdict === 'same'
  const features = [
    1,
    game?.isFull === true ? 1 : 0,
    game !== null && game.comparison.game >= 0.45 ? 1 : 0,
    isFullPrice ? 1 : 0,
    isSameRange ? 1 : 0,
    (a.quantity === null) !== (b.quantity === null) && isText ? 1 : 0,
    when.verdict === 'same' && isText ? 1 : 0,
    when.verdict === 'hint' && when.gap <= 3 && isText ? 1 : 0,
    when.verdict === 'hint' && isText ? Math.min(1, Math.log1p(when.gap) / 6) : 0,
    when.verdict === 'unknown' && isText ? 1 : 0,
    isText ? words.ofA.covered : 1,
    isText ? words.ofB.covered : 1,
    isText ? words.ofA.missed : 0,
    isText ? words.ofB.missed : 0,
    isText ? Math.min(words.ofA.missed, words.ofB.missed) : 0,
    isText ? Math.max(words.ofA.missedName, words.ofB.missedName) : 0,
    isText ? words.cosine : 1,
    isText ? words.latent : 1,
    isText ? Math.min(1, lonelyMarks(a.marks, b.marks) / 3) : 0,
    b.answer.length > 0 ? 1 : 0,
    b.answer.length === 0 && a.grain === 'market' && isText ? 1 : 0,
    outcomes.overlap ?? 0,
    outcomes.overlap === null && a.grain === 'event' && isText ? 1 : 0,
    a.grain === 'event' && isText ? 1 : 0,
    isText ? least : 1,
    isText && when.verdict === 'same' ? least : 0,
    isText && (a.isRelative || b.isRelative) ? 1 : 0,
  ]
  return { vetoes, features, when, agreements: agreementsOf(a, b, game, when, isSameRange), game }
}

interface TextComparison {
  readonly ofA: WordComparison
  readonly ofB: WordComparison
  readonly cosine: number
  readonly latent: number
  readonly knownA: WordIndex
}

function compareTexts(a: Proposition, b: Proposition, corpus: Corpus): TextComparison {
  const knownA = new WordIndex(a.words, a.answer, a.context, ...childWords(a))
  const knownB = new WordIndex(b.words, b.answer, b.context, ...childWords(b))
  const wordsA = [...a.words, ...a.answer]
  const wordsB = [...b.words, ...b.answer]
  return {
    ofA: explain(wordsA, knownB, a.names, corpus),
    ofB: explain(wordsB, knownA, b.names, corpus),
    cosine: cosine(wordsA, wordsB, corpus),
    latent: corpus.closeness(wordsA, wordsB),
    knownA,
  }
}

/** An event's markets say in full what its title shortens. */
function childWords({ children }: Proposition): readonly (readonly string[])[] {
  return children.slice(0, 6).map(({ words }) => words)
}

function gameOf(a: Proposition, b: Proposition): FixtureFinding | null {
  if (a.fixture === null || b.fixture === null) return null
  return a.grain === 'event' ? judgeFixtureEvents(a, b) : judgeFixtures(a.fixture, b.fixture)
}

function vetoesOf(
  a: Proposition,
  b: Proposition,
  game: FixtureFinding | null,
  when: WhenComparison,
  words: TextComparison,
): Veto[] {
  if (isSilent(a) || isSilent(b)) return [veto('nothing_said')]
  if (game !== null) return [...game.vetoes]
  const isGameAlone = (a.fixture === null) !== (b.fixture === null)
  const vetoes: Veto[] = isGameAlone ? [veto('other_kind', 'a game against none')] : []
  vetoes.push(...assetVetoes(a, b), ...markVetoes(a, b), ...dateVetoes(when))
  if (a.grain === 'market' || (a.children.length <= 1 && b.children.length <= 1))
    vetoes.push(...rangeVetoes(a, b))
  if (a.grain === 'market') vetoes.push(...answerVetoes(a, b, words.knownA))
  else vetoes.push(...formVetoes(a, b))
  vetoes.push(...hourVetoes(a, b), ...touchVetoes(a, b), ...roleVetoes(a, b))
  return vetoes
}

/** Texts that leave no words: empty, markup, symbols. */
function isSilent({ words, fixture, answer }: Proposition): boolean {
  return fixture === null && words.length === 0 && answer.length === 0
}

function agreementsOf(
  a: Proposition,
  b: Proposition,
  game: FixtureFinding | null,
  when: WhenComparison,
  isSameRange: boolean,
): readonly string[] {
  const found: string[] = []
  if (game !== null && game.comparison.game >= 0.45) found.push('same game')
  if (game?.comparison.isSameBet === true && game.comparison.isSamePeriod) found.push('same bet')
  if (game?.comparison.line === 'same') found.push('same line')
  if (game?.comparison.side === 'same') found.push('same side')
  if (a.asset !== null && a.asset === b.asset) found.push(`both ${a.asset}`)
  if (isSameRange) found.push('same range')
  if (when.verdict === 'same') found.push('same date')
  if (a.hour !== null && a.hour === b.hour) found.push('same hour')
  return found
}
