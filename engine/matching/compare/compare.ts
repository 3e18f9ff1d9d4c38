import { unmatchedContrasts } from '../understand/contrasts.ts'
import { HOME, type UnmatchedMark, unmatchedMarks } from '../understand/marks.ts'
import type { Proposition } from '../understand/proposition.ts'
import { boundWords } from '../understand/quantity.ts'
import { areRivals } from '../understand/text-normalization.ts'
import { DEFAULT_FAMILIES, type Families, WORDING } from '../veto/families.ts'
import { evaluateGames, type GameFinding } from '../veto/game-vetoes.ts'
import { lackingStation, ruleVetoes } from '../veto/rule-vetoes.ts'
import {
  type ComparedWords,
  contraries,
  plainVetoes,
  rangeRelation,
  subjectVetoes,
  wordedVetoes,
} from '../veto/text-vetoes.ts'
import { capOf, VETOES, type Veto, veto } from '../veto/vetoes.ts'
import { compareDates, type DateComparison } from './date-comparison.ts'
import { compareOutcomes } from './outcome-comparison.ts'
import {
  type Compared,
  HINT_APART_DAYS,
  HINT_FAR_DAYS,
  type UnstatedPart,
  unstatedOfTexts,
} from './unstated.ts'
import { explain, impliedWords, NAME_WEIGHT, shortenedWords } from './word-comparison.ts'

type Feature = readonly [expected: number, of: (parts: TextParts) => number | boolean]

/** Parts with their own feature, by their display names (marks.json). */
const UNSTATED_PARTS =
  'season period competition rank direction office place measure level bank party fixture stage league work round group'.split(
    ' ',
  )

/**
 * Text features, each about 0 to 1, with their prior weights. Training starts from the priors and is regularized
 * towards them. All features are 0 for games, because two games of one league share nearly all their words.
 */
const OF_TEXTS: Readonly<Record<string, Feature>> = {
  // Two equal event titles are weaker evidence than two equal market titles.
  ofEvents: [-1, ({ a }) => a.grain === 'event'],
  fullPrice: [2, ({ a, b, isSameFigure }) => isSameFigure && isSameAsset(a, b)],
  sameRange: [1, ({ isSameRange }) => isSameRange],
  lonelyRange: [-1.5, ({ isRangeUnmatched }) => isRangeUnmatched.includes(true)],
  sameDate: [1.5, ({ isSameDate }) => isSameDate],
  hintNear: [1, ({ dates }) => dates.result === 'hint' && dates.gap <= 3],
  hintApart: [-1, ({ dates }) => dates.result === 'hint' && dates.gap > HINT_APART_DAYS],
  hintFar: [-2, ({ dates }) => dates.result === 'hint' && dates.gap > HINT_FAR_DAYS],
  dateUnknown: [0, ({ dates }) => dates.result === 'unknown'],
  coveredA: [1, ({ ofA }) => ofA.covered],
  coveredB: [1, ({ ofB }) => ofB.covered],
  missedA: [-1.5, ({ ofA }) => ofA.missed],
  missedB: [-1.5, ({ ofB }) => ofB.missed],
  missedBoth: [-2.5, ({ ofA, ofB }) => Math.min(ofA.missed, ofB.missed)],
  missedNames: [-1, ({ ofA, ofB }) => Math.max(ofA.missedName, ofB.missedName)],
  numbersMissed: [-1.5, ({ ofA, ofB }) => Math.min(1, ofA.numbers + ofB.numbers)],
  otherNumbers: [-3, ({ ofA, ofB }) => ofA.numbers > 0 && ofB.numbers > 0],
  rivals: [
    -2,
    ({ ofA, ofB }) => ofA.missing.some((one) => ofB.missing.some((other) => areRivals(one, other))),
  ],
  lonelyMarks: [-1, ({ unmatched }) => Math.min(1, unmatched.filter(isOther).length / 3)],
  lonelyStage: [-2, ({ unmatched }) => unmatched.some(({ share }) => share === 'stage')],
  lonelyPart: [-3, ({ unmatched }) => unmatched.some(({ share }) => share === 'part')],
  ...Object.fromEntries(
    // The three features above apply to all parts. The weights of these features are added for single parts.
    UNSTATED_PARTS.map((part): [string, Feature] => [
      `unstated:${part}`,
      [0, ({ unmatched }) => unmatched.some(({ name }) => name === part)],
    ]),
  ),
  closeNear: [0.5, ({ dates }) => dates.closeGap !== null && dates.closeGap <= 2],
  sharedAnswer: [1, ({ b }) => b.answer.length > 0],
  coveredLeast: [1, ({ ofA, ofB }) => Math.min(ofA.covered, ofB.covered)],
  allCovered: [1, ({ ofA, ofB }) => Math.max(ofA.missed, ofB.missed) < ALL_COVERED],
  fullFigure: [
    1,
    ({ isSameFigure, ofA, ofB }) => isSameFigure && Math.max(ofA.covered, ofB.covered) >= 0.5,
  ],
  relative: [-2, ({ a, b, isSameDate }) => !isSameDate && (a.isRelative || b.isRelative)],
  loneGrid: [-2, ({ outcomes }) => outcomes.isGridUnmatched],
  // Set only with a sentence encoder. Together with the next feature, a similarity below 0.7 lowers the score.
  encoded: [-3.5, ({ similarity }) => typeof similarity === 'number'],
  similarity: [5, ({ similarity }) => (typeof similarity === 'number' ? similarity : 0)],
}
const isOther = ({ share }: UnmatchedMark): boolean => share === 'other'
const TEXT_FEATURES: readonly Feature[] = Object.values(OF_TEXTS)
const NO_TEXT: readonly number[] = TEXT_FEATURES.map(() => 0)

/** Names of the features in the order of the model's weights: the constant, game features, text features. */
export const FEATURES: readonly string[] = ['one', 'fullGame', 'sameGame', ...Object.keys(OF_TEXTS)]
/** Prior weights, in the order of FEATURES. */
export const EXPECTED_WEIGHTS = [-2, 4, 1].concat(TEXT_FEATURES.map(([weight]) => weight))

/**
 * Similarity in meaning of two questions, −1 to 1. "not asked": the pair is of games, or no encoder is configured. "not
 * read": a text was not encoded.
 */
export type Similarity = number | 'not read' | 'not asked'

export interface Comparison {
  readonly vetoes: readonly Veto[]
  readonly features: readonly number[]
  readonly dates: DateComparison
  /** What both questions agree in, for explanations. */
  readonly agreements: readonly string[]
  readonly game: GameFinding | null
  /** Set if both belong to a confirmed family and their date and outcome agree. Their words are then not compared. */
  readonly isConfirmed?: true
  /** Decisive parts that a question does not state. Empty if the questions contradict each other. */
  readonly unstated: readonly UnstatedPart[]
  readonly similarity: Similarity
}

/**
 * Compares a proposition of venue a with one of venue b of the same grain, with the overrides on their families. If the
 * first conflicts cap the score below `from`, further parts and the markets of events are not compared.
 */
export function compare(
  a: Proposition,
  b: Proposition,
  from = 0,
  families: Families = DEFAULT_FAMILIES,
  similarity: Similarity = 'not asked',
): Comparison {
  const familyOverride = families.of(a.listedAs, b.listedAs)
  const found = compareParts(a, b, familyOverride === null ? from : 0, similarity)
  if (familyOverride === null) return found
  if (familyOverride.word === 'rejected') {
    return {
      ...found,
      vetoes: [...found.vetoes, veto('other_rules', `family: ${familyOverride.why}`)],
    }
  }
  const vetoes = found.vetoes.filter(({ reason }) => !WORDING.has(reason))
  if (vetoes.length > 0 || !isOneMember(a, b, found)) return found
  const agreements = [...found.agreements, `family: ${familyOverride.why}`]
  return { ...found, vetoes, agreements, isConfirmed: true, unstated: [] }
}

function isOneMember(a: Proposition, b: Proposition, found: Comparison): boolean {
  const { game, dates, features } = found
  if (game !== null) return game.isFull
  const isNear = dates.result === 'hint' && dates.gap <= HINT_APART_DAYS
  if (dates.result !== 'same' && !isNear) return false
  if (a.grain === 'event') return true
  const hasAllNames = (features[FEATURES.indexOf('missedNames')] ?? 1) < NAME_WEIGHT
  return (a.quantity === null) === (b.quantity === null) && (b.answer.length > 0 || hasAllNames)
}

function compareParts(
  a: Proposition,
  b: Proposition,
  from: number,
  similarity: Similarity,
): Comparison {
  const game = evaluateGames(a, b, from)
  const dates = compareDates(a, b)
  const range = game === null ? rangeRelation(a, b) : null
  const isSameRange = range === 'same' || range === 'boundary'
  const agreements = agreementsOf(a, b, game, dates, isSameRange)
  const isSameGame = game !== null && game.comparison.game >= 0.45
  const start = [1, Number(game?.isFull === true), Number(isSameGame)]
  const features = [...start, ...NO_TEXT]
  const unstated = game?.unstated ?? []
  const textless = { features, dates, agreements, game, unstated, similarity: 'not asked' } as const
  if (hasNoText(a) || hasNoText(b)) return { vetoes: [veto('nothing_said')], ...textless }
  if (game !== null) {
    const settled = a.grain === 'market' ? settledVetoes(a, b, game.vetoes) : []
    return { vetoes: [...game.vetoes, ...settled], ...textless }
  }
  const first = plainVetoes(a, b, dates)
  if (capOf(first) < from) return { vetoes: first, ...textless }
  const compared = compareTexts(a, b)
  const named = subjectVetoes(a, b, compared)
  if (capOf(named) < from) return { vetoes: [...first, ...named], ...textless }
  const vetoes = [...first, ...named, ...wordedVetoes(a, b, dates, compared)]
  if (capOf(vetoes) < from) return { vetoes, ...textless }
  const outcomes = compareOutcomes(a, b)
  const [contrastsA, contrastsB] = [a.contrasts(), b.contrasts()]
  if (vetoes.length === 0) vetoes.push(...contraries(contrastsA, contrastsB))
  if (outcomes.isOtherGrid) vetoes.push(veto('other_grid'))
  vetoes.push(...settledVetoes(a, b, vetoes))
  const marks = [...unmatchedContrasts(contrastsA, contrastsB), ...unmatchedMarks(a.marks, b.marks)]
  const unmatched = marks.filter(({ name, lacks, values }) => {
    const { words, context, quantity, isTouch, restated } = lacks === 'first' ? a : b
    // "Anyone" differs from a name, but not from an omitted one.
    const { missedName } = lacks === 'first' ? compared.ofA : compared.ofB
    if (name === 'choice' && missedName < NAME_WEIGHT) return false
    // A central bank decides by an announcement.
    if (name === 'deed' && a.marks.has('bank')) return false
    // About growth, "increase by more than 3 %" and "above 3 %" are equal. So are "hit $8" and "how high".
    if (name === 'direction' && a.quantity !== null && b.quantity !== null) return false
    if ((name === 'level' || name === 'measure') && quantity !== null && isTouch) return false
    return !values.some((one) => {
      return one === HOME || words.includes(one) || context.includes(one) || restated().has(one)
    })
  })
  const isSameDate = dates.result === 'same'
  // Without object spread, because it is slower.
  const parts: TextParts = {
    a,
    b,
    dates,
    ofA: compared.ofA,
    ofB: compared.ofB,
    outcomes,
    unmatched,
    isRangeUnmatched: [isUnmatchedRange(a, b), isUnmatchedRange(b, a)],
    isSameDate,
    isSameRange,
    isSameFigure: isSameRange && isSameDate,
    similarity,
  }
  for (const [at, [, of]] of TEXT_FEATURES.entries())
    features[start.length + at] = Number(of(parts))
  return {
    vetoes,
    features,
    dates,
    agreements,
    game,
    similarity,
    unstated:
      vetoes.length > 0 ? [] : unstatedOfTexts({ ...parts, noStation: lackingStation(a, b) }),
  }
}

interface TextParts extends Omit<Compared, 'noStation'> {
  readonly isSameDate: boolean
  readonly isSameRange: boolean
  readonly isSameFigure: boolean
  readonly similarity: Similarity
}

/** All words count as covered if every uncovered word has a lower weight than this. */
const ALL_COVERED = 0.12

function compareTexts(a: Proposition, b: Proposition): ComparedWords {
  const [wordsA, wordsB] = [a.allWords(), b.allWords()]
  const shortA = shortenedWords(a, wordsA, b, wordsB)
  const shortB = shortenedWords(b, wordsB, a, wordsA)
  const impliedByB = new Set([...shortA, ...impliedWords(a, wordsA, b, wordsB)])
  const impliedByA = new Set([...shortB, ...impliedWords(b, wordsB, a, wordsA)])
  return {
    ofA: explain(a, wordsB, impliedByB),
    ofB: explain(b, wordsA, impliedByA),
    shortB,
    wordsA,
  }
}

const isSameAsset = (a: Proposition, b: Proposition): boolean =>
  a.asset !== null && a.asset === b.asset

/** Whether one question has a range and the other does not state any of its bounds. */
function isUnmatchedRange(one: Proposition, other: Proposition): boolean {
  if (one.quantity === null || other.quantity !== null) return false
  const { isLowOpen, isHighOpen } = one.quantity
  // The words of "4.3%" do not state the range "above 4.3%". The words of a "25% tariff" may state "at least 25%".
  return (
    isLowOpen ||
    isHighOpen ||
    !boundWords(one.quantity).some((bound) => other.words.includes(bound))
  )
}

/** Compares the long rule texts only if they can still lower the score. */
function settledVetoes(a: Proposition, b: Proposition, found: readonly Veto[]): readonly Veto[] {
  return capOf(found) <= VETOES.other_rules.cap ? [] : ruleVetoes(a, b)
}

function hasNoText({ words, game, asset, answer }: Proposition): boolean {
  return game === null && asset === null && words.join('').length + answer.join('').length < 2
}

function agreementsOf(
  a: Proposition,
  b: Proposition,
  game: GameFinding | null,
  dates: DateComparison,
  isSameRange: boolean,
): readonly string[] {
  const found: string[] = []
  const isOther = game?.vetoes.some(({ reason }) => /^other_(?:date|game)$/.test(reason))
  const meets = isOther === true ? 'same teams' : 'same game'
  if (game !== null && game.comparison.game >= 0.45) found.push(meets)
  if (game?.comparison.isSameBet === true && game.comparison.isSamePeriod) found.push('same bet')
  if (game?.comparison.line === 'same') found.push('same line')
  if (game?.comparison.side === 'same') found.push('same side')
  if (isSameAsset(a, b)) found.push(`both ${a.asset}`)
  if (isSameRange) found.push('same range')
  if (dates.result === 'same') found.push('same date')
  if (a.hour !== null && a.hour === b.hour) found.push('same hour')
  // The copy has no spare capacity, because scores are cached.
  return found.slice()
}
