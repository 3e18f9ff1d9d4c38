// Decisive parts that only one of two questions states, or neither. They cap a pair below a match, or explain why it is
// below.

import { NARROWING } from '../understand/contrasts.ts'
import type { Game } from '../understand/game.ts'
import { isSoftWord } from '../understand/lexicon.ts'
import type { UnmatchedMark } from '../understand/marks.ts'
import type { Proposition } from '../understand/proposition.ts'
import { areRivals, weightOf } from '../understand/text-normalization.ts'
import type { DateComparison } from './date-comparison.ts'
import type { GameComparison } from './game-comparison.ts'
import type { OutcomeComparison } from './outcome-comparison.ts'
import { NAME_WEIGHT, type WordComparison } from './word-comparison.ts'

export interface UnstatedPart {
  /** The part and the side that lacks it: "threshold by the second". */
  readonly part: string
  /** Highest score without the part, 0 to 79. 100: the part only explains why a pair is no match. */
  readonly cap: number
}

/** Cap without a decisive part: the pair is no match, whatever else agrees. */
const DECISIVE_CAP = 79
/**
 * Cap where Yes of one may also be No of the other. Of the recorded temperature questions with an unstated station, 3
 * of 10 settled alike.
 */
const OPEN_CAP = 50
const INFORMATIVE_CAP = 100
/**
 * Days between a stated date and the closing time from which the date is open, likely different, and almost certainly
 * different.
 */
const HINT_DAYS = 3
export const [HINT_APART_DAYS, HINT_FAR_DAYS] = [45, 250] as const

/** Names the side that lacks the part: the first, the second or both. Empty if none does. */
function unstatedBy(part: string, a: boolean, b: boolean, cap: number): readonly UnstatedPart[] {
  if (!a && !b) return []
  return [{ part: `${part} by ${a && b ? 'either' : a ? 'the first' : 'the second'}`, cap }]
}

/** Unstated parts of two games without contradiction: sides, line and day. Events have no side of their own. */
export function unstatedOfGames(
  a: Proposition,
  b: Proposition,
  found: GameComparison,
): readonly UnstatedPart[] {
  const [one, other] = [a.game, b.game]
  if (one === null || other === null) return []
  const isSideOpen = a.grain === 'market' && found.side === 'unknown'
  const [isOpenA, isOpenB] = [isOpen(one), isOpen(other)]
  const isLineOpen = a.grain === 'market' && found.line === 'unknown'
  return [
    ...unstatedBy(
      'side',
      isSideOpen && (isOpenA || !isOpenB),
      isSideOpen && (isOpenB || !isOpenA),
      OPEN_CAP,
    ),
    ...unstatedBy(
      'line',
      isLineOpen && one.line === null,
      isLineOpen && other.line === null,
      DECISIVE_CAP,
    ),
    ...(found.isDayStated
      ? []
      : unstatedBy('day', !one.isDayStated, !other.isDayStated, DECISIVE_CAP)),
  ]
}

const isOpen = ({ yesOutcome }: Game): boolean => yesOutcome === null || yesOutcome === 'yes'

export interface Compared extends Record<'ofA' | 'ofB', WordComparison> {
  readonly a: Proposition
  readonly b: Proposition
  readonly dates: DateComparison
  readonly unmatched: readonly UnmatchedMark[]
  readonly outcomes: OutcomeComparison
  /** Whether only the first, or only the second, asks about a range. */
  readonly isRangeUnmatched: readonly [boolean, boolean]
  /** Which of the two states no weather station although the other requires one. */
  readonly noStation: readonly [boolean, boolean]
}

/** Unstated parts of two texts without contradiction. */
export function unstatedOfTexts({
  a,
  b,
  dates,
  ofA,
  ofB,
  ...found
}: Compared): readonly UnstatedPart[] {
  const [isLoneA, isLoneB] = found.isRangeUnmatched
  const isLevelOpen = isLevelQuestion(a) && isLevelQuestion(b)
  const [ofFirst, ofSecond] = [a, b].map(({ decisionDates }) => decisionDates.every(isClose))
  // One ends long after the other, and no text states the end.
  const isFar = dates.gap > (a.grain === 'event' ? HINT_FAR_DAYS : HINT_APART_DAYS)
  const dateCap = isFar ? DECISIVE_CAP : INFORMATIVE_CAP
  const isDateOpen =
    dates.result === 'unknown' || (dates.result === 'hint' && dates.gap > HINT_DAYS)
  return [
    ...unstatedBy('threshold', isLevelOpen || isLoneB, isLevelOpen || isLoneA, DECISIVE_CAP),
    ...found.unmatched.map(({ name, share, lacks }) => ({
      part: `${name} by the ${lacks}`,
      cap: share === 'other' ? INFORMATIVE_CAP : DECISIVE_CAP,
    })),
    ...unstatedBy('modifier', restricts(b, ofB, ofA), restricts(a, ofA, ofB), DECISIVE_CAP),
    ...unstatedBy('station', ...found.noStation, OPEN_CAP),
    ...unstatedBy(
      'outcomes',
      found.outcomes.isGridUnmatched,
      found.outcomes.isGridUnmatched,
      DECISIVE_CAP,
    ),
    ...unstatedBy('date', isDateOpen && ofFirst === true, isDateOpen && ofSecond === true, dateCap),
    ...unstatedBy(
      'subject',
      ofB.missedName >= NAME_WEIGHT,
      ofA.missedName >= NAME_WEIGHT,
      INFORMATIVE_CAP,
    ),
  ]
}

/**
 * True if a qualifier narrows one question: "major hurricanes" are fewer than "hurricanes". One question has all
 * informative words of the other. The word that the other lacks distinguishes titles of one venue by itself and
 * precedes a shared word.
 */
function restricts(
  { spelled }: Proposition,
  { missing }: WordComparison,
  ofOther: WordComparison,
): boolean {
  if (!ofOther.missing.every(isSoftWord)) return false
  return spelled.some(({ meaning }, at) => {
    const head = spelled[at + 1]?.meaning ?? ''
    if (!missing.includes(meaning) || isSoftWord(meaning) || missing.includes(head)) return false
    const isDistinctive = areRivals('', meaning) && weightOf(meaning) >= MODIFIER_WEIGHT
    return head !== '' && (isDistinctive || NARROWING.has(meaning))
  })
}

/** A word of less weight is often implied, such as "special" election. */
const MODIFIER_WEIGHT = 0.65

const isLevelQuestion = ({ asset, quantity, isUpDown, grain }: Proposition): boolean =>
  grain === 'market' && asset !== null && quantity === null && !isUpDown

const isClose = ({ source }: Proposition['decisionDates'][number]): boolean => source === 'close'
