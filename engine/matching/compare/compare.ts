// Compares two propositions: vetoes, and the degrees of agreement that the model weighs.
// Not for: what the degrees are worth (score.ts, weights.ts). Upholds VETO1 to VETO22, SCORE3.

import { lonelyMarks } from '../understand/marks.ts'
import type { Proposition } from '../understand/proposition.ts'
import { areRivals } from '../understand/words.ts'
import { familyVetoes } from '../veto/families.ts'
import { type GameFinding, judgeGameEvents, judgeGames } from '../veto/games.ts'
import { ruleVetoes, withSources } from '../veto/rules.ts'
import {
  answerVetoes,
  assetVetoes,
  dateVetoes,
  firstVetoes,
  formVetoes,
  hourVetoes,
  kindVetoes,
  levelVetoes,
  markVetoes,
  occasionVetoes,
  polarityVetoes,
  rangeRelation,
  rangeVetoes,
  roleVetoes,
  subjectVetoes,
  touchVetoes,
} from '../veto/text.ts'
import { capOf, VETOES, type Veto, veto } from '../veto/vetoes.ts'
import { compareOutcomes, type OutcomeComparison } from './outcomes.ts'
import { shortForms } from './short-names.ts'
import { compareWhens, type WhenComparison } from './when.ts'
import { cosine, explain, shortenedWords, type WordComparison, WordIndex } from './words.ts'

/**
 * The features of the model in the order of its weights, each about 0 to 1, with the weight expected before any
 * pair is seen: training starts from these and is pulled back to them.
 */
const EXPECTED = {
  one: -2,
  fullGame: 4,
  sameGame: 1,
  fullPrice: 2,
  sameRange: 1,
  lonelyRange: -1.5,
  sameDate: 1.5,
  hintNear: 1,
  hintApart: -1,
  hintFar: -2,
  dateUnknown: 0,
  coveredA: 1,
  coveredB: 1,
  missedA: -1.5,
  missedB: -1.5,
  missedBoth: -1.5,
  missedNames: -1,
  numbersMissed: -1.5,
  otherNumbers: -3,
  rivals: -2,
  cosine: 1,
  lonelyMarks: -1,
  lonelyStage: -2,
  lonelyPart: -3,
  otherRole: -1,
  closeNear: 0.5,
  sharedAnswer: 1,
  sharedOutcomes: 1,
  isEvent: -0.3,
  coveredLeast: 1,
  allCovered: 1,
  relative: -2,
  loneGrid: -2,
}
export const FEATURES: readonly string[] = Object.keys(EXPECTED)
/** Where training starts, in the order of FEATURES. */
export const EXPECTED_WEIGHTS: readonly number[] = Object.values(EXPECTED)

export interface Comparison {
  readonly vetoes: readonly Veto[]
  /** In the order of FEATURES. */
  readonly features: readonly number[]
  readonly when: WhenComparison
  /** What agrees, in words. */
  readonly agreements: readonly string[]
  readonly game: GameFinding | null
}

/** Compares a proposition of venue a with one of venue b of the same grain. */
export function compare(a: Proposition, b: Proposition): Comparison {
  const game = gameOf(a, b)
  const when = compareWhens(a, b)
  const range = game === null ? rangeRelation(a, b) : null
  const isSameRange = range === 'same' || range === 'boundary'
  const agreements = agreementsOf(a, b, game, when, isSameRange)
  const start = [1, ...gameFeatures(game)]
  if (isSilent(a) || isSilent(b)) {
    return {
      vetoes: [veto('nothing_said')],
      features: [...start, ...NO_TEXT],
      when,
      agreements,
      game,
    }
  }
  if (game !== null) {
    const vetoes = [
      ...game.vetoes,
      ...(a.grain === 'market' ? settledVetoes(a, b, game.vetoes) : []),
    ]
    return { vetoes, features: [...start, ...NO_TEXT], when, agreements, game }
  }
  const words = compareTexts(a, b)
  const outcomes = compareOutcomes(a, b)
  const vetoes = vetoesOf(a, b, when, words)
  if (outcomes.isOtherGrid) vetoes.push(veto('other_grid'))
  vetoes.push(...settledVetoes(a, b, vetoes))
  const features = [...start, ...textFeatures({ a, b, when, words, outcomes, isSameRange })]
  return { vetoes: withSources(vetoes, a, b), features, when, agreements, game }
}

function gameFeatures(game: GameFinding | null): readonly number[] {
  if (game === null) return [0, 0]
  return [game.isFull ? 1 : 0, game.comparison.game >= 0.45 ? 1 : 0]
}

interface TextParts {
  readonly a: Proposition
  readonly b: Proposition
  readonly when: WhenComparison
  readonly words: TextComparison
  readonly outcomes: OutcomeComparison
  readonly isSameRange: boolean
}

/** Text features of games are 0: two games of one league share nearly all their words. */
const NO_TEXT: readonly number[] = EXPECTED_WEIGHTS.slice(3).map(() => 0)

function textFeatures(parts: TextParts): readonly number[] {
  const { a, b, when, words, outcomes, isSameRange } = parts
  const { ofA, ofB } = words
  const least = Math.min(ofA.covered, ofB.covered)
  const lonely = lonelyMarks(a.marks, b.marks)
  const isSameDate = when.verdict === 'same'
  const isHint = when.verdict === 'hint'
  const isFullPrice = a.asset !== null && a.asset === b.asset && isSameRange && isSameDate
  const isEvent = a.grain === 'event'
  return [
    flag(isFullPrice),
    flag(isSameRange),
    flag(isLonely(a, b) || isLonely(b, a)),
    flag(isSameDate),
    flag(isHint && when.gap <= 3),
    flag(isHint && when.gap > HINT_APART_DAYS),
    flag(isHint && when.gap > HINT_FAR_DAYS),
    flag(when.verdict === 'unknown'),
    ofA.covered,
    ofB.covered,
    ofA.missed,
    ofB.missed,
    Math.min(ofA.missed, ofB.missed),
    Math.max(ofA.missedName, ofB.missedName),
    Math.min(1, ofA.numbers + ofB.numbers),
    flag(ofA.numbers > 0 && ofB.numbers > 0),
    flag(ofA.missing.some((one) => ofB.missing.some((other) => areRivals(one, other)))),
    words.cosine,
    Math.min(1, lonely.others / 3),
    Math.min(1, lonely.stages),
    Math.min(1, lonely.parts),
    flag(isSameDate && when.isOtherRole),
    flag(when.closeGap !== null && when.closeGap <= 2),
    flag(b.answer.length > 0),
    outcomes.overlap ?? 0,
    flag(isEvent),
    least,
    flag(Math.max(ofA.missed, ofB.missed) < ALL_COVERED),
    flag(!isSameDate && (a.isRelative || b.isRelative)),
    flag(outcomes.isLoneGrid),
  ]
}

/** Trading that ends so many days from what the other says makes another occasion likely, or next to sure. */
const HINT_APART_DAYS = 45
const HINT_FAR_DAYS = 250

/** With no more telling word without counterpart, all words are taken to be found. */
const ALL_COVERED = 0.12

const flag = (is: boolean): number => (is ? 1 : 0)

interface TextComparison {
  readonly ofA: WordComparison
  readonly ofB: WordComparison
  readonly cosine: number
  readonly knownA: WordIndex
  readonly shortB: ReadonlySet<string>
}

function compareTexts(a: Proposition, b: Proposition): TextComparison {
  const shortened = shortForms(a.words, b.answer)
  const knownA = new WordIndex(
    a.words,
    a.answer,
    a.context,
    shortened,
    boundsOf(a),
    ...childWords(a),
  )
  const knownB = new WordIndex(
    b.words,
    b.answer,
    b.context,
    shortened,
    boundsOf(b),
    ...childWords(b),
  )
  const wordsA = [...a.words, ...a.answer]
  const wordsB = [...b.words, ...b.answer]
  const shortB = shortenedWords(b, knownB, a, knownA)
  return {
    ofA: explain(wordsA, knownB, a.names, shortenedWords(a, knownA, b, knownB)),
    ofB: explain(wordsB, knownA, b.names, shortB),
    shortB,
    cosine: cosine(wordsA, wordsB),
    knownA,
  }
}

/** A range that the other side does not even name the number of. */
function isLonely(one: Proposition, other: Proposition): boolean {
  if (one.quantity === null || other.quantity !== null) return false
  const { isLowOpen, isHighOpen } = one.quantity
  // "Above 4.3%" is not "4.3%", which "at least 25%" may be to a "25% tariff".
  return isLowOpen || isHighOpen || !boundsOf(one).some((bound) => other.words.includes(bound))
}

/** "At least 25%" says the number of a "25% tariff". */
function boundsOf({ quantity }: Proposition): readonly string[] {
  if (quantity === null) return []
  // Words split at the point: "4.4" is "4" and "4".
  return [quantity.low, quantity.high].flatMap((end) => [String(end), ...String(end).split('.')])
}

/** An event's markets say in full what its title shortens. */
function childWords({ children }: Proposition): readonly (readonly string[])[] {
  return children.slice(0, 6).map(({ words }) => words)
}

function gameOf(a: Proposition, b: Proposition): GameFinding | null {
  if (a.game === null || b.game === null) return null
  return a.grain === 'event' ? judgeGameEvents(a, b) : judgeGames(a.game, b.game)
}

function vetoesOf(
  a: Proposition,
  b: Proposition,
  when: WhenComparison,
  words: TextComparison,
): Veto[] {
  const vetoes: Veto[] = []
  vetoes.push(...kindVetoes(a, b), ...assetVetoes(a, b), ...markVetoes(a, b), ...dateVetoes(when))
  if (a.grain === 'market' || (a.children.length <= 1 && b.children.length <= 1))
    vetoes.push(...rangeVetoes(a, b))
  vetoes.push(...subjectVetoes(words.ofA, words.ofB), ...occasionVetoes(a, b, when))
  if (a.grain === 'market') vetoes.push(...answerVetoes(a, b, words), ...polarityVetoes(a, b))
  else vetoes.push(...formVetoes(a, b), ...levelVetoes(a, b))
  vetoes.push(...hourVetoes(a, b), ...touchVetoes(a, b), ...roleVetoes(a, b))
  vetoes.push(...firstVetoes(a, b), ...familyVetoes(a, b))
  return vetoes
}

/** Compares the rule texts, which are long, only where they could still change the score. */
function settledVetoes(a: Proposition, b: Proposition, found: readonly Veto[]): readonly Veto[] {
  return capOf(found) <= VETOES.other_rules.cap ? [] : ruleVetoes(a, b)
}

/** True for texts without words: empty, markup, symbols. */
function isSilent({ words, game, asset, answer }: Proposition): boolean {
  return game === null && asset === null && [...words, ...answer].join('').length < 2
}

/** The same teams meet more than once. */
function gameOrTeams({ vetoes }: GameFinding): 'same game' | 'same teams' {
  const isOther = vetoes.some(({ reason }) => reason === 'other_date' || reason === 'other_game')
  return isOther ? 'same teams' : 'same game'
}

function agreementsOf(
  a: Proposition,
  b: Proposition,
  game: GameFinding | null,
  when: WhenComparison,
  isSameRange: boolean,
): readonly string[] {
  const found: string[] = []
  if (game !== null && game.comparison.game >= 0.45) found.push(gameOrTeams(game))
  if (game?.comparison.isSameBet === true && game.comparison.isSamePeriod) found.push('same bet')
  if (game?.comparison.line === 'same') found.push('same line')
  if (game?.comparison.side === 'same') found.push('same side')
  if (a.asset !== null && a.asset === b.asset) found.push(`both ${a.asset}`)
  if (isSameRange) found.push('same range')
  if (when.verdict === 'same') found.push('same date')
  if (a.hour !== null && a.hour === b.hour) found.push('same hour')
  return found
}
