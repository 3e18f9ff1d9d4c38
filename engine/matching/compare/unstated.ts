// Finds decisive parts that one or both of two questions do not state. They cap the score below a match, or explain why
// it is lower.

import { NARROWING } from '../understand/contrasts.ts'
import type { Game } from '../understand/game.ts'
import { isSoftWord } from '../understand/lexicon.ts'
import type { UnmatchedMark } from '../understand/marks.ts'
import type { Proposition } from '../understand/proposition.ts'
import { gradeCodeInName, SAME_SIDE } from '../understand/sides.ts'
import { areRivals, weightOf } from '../understand/text-normalization.ts'
import type { DateComparison } from './date-comparison.ts'
import type { GameComparison } from './game-comparison.ts'
import type { OutcomeComparison } from './outcome-comparison.ts'
import { NAME_WEIGHT, type WordComparison } from './word-comparison.ts'

export interface UnstatedPart {
  readonly part: string
  /** States in plain words which question lacks the part, such as "Kalshi does not state the threshold". */
  readonly text: string
  /** Maximum score without the part, 0 to 79. With 100 the part is only an explanation. */
  readonly cap: number
}

/** One below a match. */
const DECISIVE_CAP = 79
/**
 * Maximum score if Yes of one may also be No of the other. Of the recorded temperature questions that do not state the
 * station, 3 of 10 settled alike.
 */
const OPEN_CAP = 50
const INFORMATIVE_CAP = 100
/**
 * Differences in days between a stated date and a closing time from which the date is unclear, probably different, and
 * almost certainly different.
 */
const HINT_DAYS = 3
export const [HINT_APART_DAYS, HINT_FAR_DAYS] = [45, 250] as const

/** Names of venues a and b in explanations. */
const [VENUE_A, VENUE_B] = ['Polymarket', 'Kalshi']

function unstatedBy(
  part: string,
  a: boolean,
  b: boolean,
  cap: number,
  name = `the ${part}`,
): readonly UnstatedPart[] {
  if (!a && !b) return []
  const text =
    a && b ? `neither venue states ${name}` : `${a ? VENUE_A : VENUE_B} does not state ${name}`
  return [{ part, text, cap }]
}

/** Matches values of marks that are words, and not ordinals or identities such as `winx`. */
const PLAIN_WORD = /^[a-z ]{3,9}[a-wyz]$/

function unstatedMark({ name, share, lacks, values }: UnmatchedMark): readonly UnstatedPart[] {
  const cap = share === 'other' ? INFORMATIVE_CAP : DECISIVE_CAP
  const isOfFirst = lacks === 'first'
  const [word = ''] = values
  const shown = PLAIN_WORD.test(word) ? `“${word}”` : undefined
  if (name !== 'deed') return unstatedBy(name, isOfFirst, !isOfFirst, cap, shown)
  const [one, other] = isOfFirst ? [VENUE_B, VENUE_A] : [VENUE_A, VENUE_B]
  const text = `${one} asks whether it is ${values.join(' or ')}, ${other} whether it happens`
  return [{ part: name, text, cap }]
}

/** Unstated sides, lines and days of two games that do not contradict each other. Events have no side. */
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
  /** Whether only the first, or only the second question is about a range. */
  readonly isRangeUnmatched: readonly [boolean, boolean]
  /** Whether the first or the second question lacks the weather station that the other states. */
  readonly noStation: readonly [boolean, boolean]
}

/** Unstated parts of two questions that are not about games and do not contradict each other. */
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
  // One question ends long after the other, and no text states when.
  const isFar = dates.gap > (a.grain === 'event' ? HINT_FAR_DAYS : HINT_APART_DAYS)
  const dateCap = isFar ? DECISIVE_CAP : INFORMATIVE_CAP
  const isDateOpen =
    dates.result === 'unknown' || (dates.result === 'hint' && dates.gap > HINT_DAYS)
  const [modifierA, modifierB] = [narrowingWord(a, ofA, ofB), narrowingWord(b, ofB, ofA)]
  return [
    ...unstatedBy(
      'answer',
      isAnswerUnstated(a, b, ofB.missedName),
      isAnswerUnstated(b, a, ofA.missedName),
      DECISIVE_CAP,
      'which answer Yes means',
    ),
    ...unstatedBy('threshold', isLevelOpen || isLoneB, isLevelOpen || isLoneA, DECISIVE_CAP),
    ...found.unmatched.flatMap(unstatedMark),
    ...unstatedBy('modifier', modifierB !== null, false, DECISIVE_CAP, `“${modifierB}”`),
    ...unstatedBy('modifier', false, modifierA !== null, DECISIVE_CAP, `“${modifierA}”`),
    ...unstatedBy('station', ...found.noStation, OPEN_CAP, 'the weather station'),
    ...unstatedBy(
      'outcomes',
      found.outcomes.isGridUnmatched,
      found.outcomes.isGridUnmatched,
      DECISIVE_CAP,
    ),
    ...unstatedBy(
      'deadline',
      isLateWithoutDeadline(a, b, dates),
      isLateWithoutDeadline(b, a, dates),
      DECISIVE_CAP,
    ),
    ...unstatedBy(
      'deadlines',
      isLadder(b) && !isLadder(a),
      isLadder(a) && !isLadder(b),
      DECISIVE_CAP,
      'several deadlines',
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
 * The word that narrows one of two otherwise equal questions: "major hurricanes" are fewer than "hurricanes". The word
 * must precede a shared word, and it must be the only difference between two titles of one venue. Null if there is none.
 */
function narrowingWord(
  { spelled }: Proposition,
  { missing }: WordComparison,
  ofOther: WordComparison,
): string | null {
  if (!ofOther.missing.every(isSoftWord)) return null
  const narrowing = spelled.find(({ meaning }, at) => {
    const head = spelled[at + 1]?.meaning ?? ''
    if (!missing.includes(meaning) || isSoftWord(meaning) || missing.includes(head)) return false
    const isDistinctive = areRivals('', meaning) && weightOf(meaning) >= MODIFIER_WEIGHT
    return head !== '' && (isDistinctive || NARROWING.has(meaning))
  })
  return narrowing?.word ?? null
}

/** Minimum weight of such a word. Words of less weight are often implied, such as "special" election. */
const MODIFIER_WEIGHT = 0.65

/** Days after the other question's deadline from which a question without a deadline is another question. */
const AFTER_DEADLINE_DAYS = 14

/** Whether a question states no date but trades until long after the other question's deadline. */
function isLateWithoutDeadline(
  one: Proposition,
  other: Proposition,
  dates: DateComparison,
): boolean {
  const close = one.decisionDates.find(isClose)
  if (dates.result !== 'hint' || close === undefined || !one.decisionDates.every(isVague))
    return false
  const deadlines = other.decisionDates.filter(
    ({ role, source }) => role === 'by' && source === 'title',
  )
  if (dates.closeGap !== null && dates.closeGap <= AFTER_DEADLINE_DAYS) return false
  return (
    deadlines.length > 0 && deadlines.every(({ last }) => close.last - last > AFTER_DEADLINE_DAYS)
  )
}

/** Whether an event lists several deadlines of one question, such as "by June 30" and "by July 31". */
function isLadder({ grain, children }: Proposition): boolean {
  if (grain !== 'event') return false
  const deadlines = children(LADDER_SAMPLE).map(({ decisionDates }) => {
    return decisionDates.find(({ role, source }) => role === 'by' && source === 'title')?.last
  })
  return deadlines.every((last) => last !== undefined) && new Set(deadlines).size > 1
}

const LADDER_SAMPLE = 6

const isVague = (date: Proposition['decisionDates'][number]): boolean =>
  isClose(date) || (date.source === 'handle' && date.grain === 'year')

/**
 * Whether only the code at the end of a slug or ticker states which of several answers Yes means, and the code does not
 * fit the other question. `missedName`: weight of the names in the other question that `one` lacks.
 */
function isAnswerUnstated(one: Proposition, other: Proposition, missedName: number): boolean {
  const isStated = one.answer.length > 0 || one.quantity !== null || one.isUpDown
  if (one.grain === 'event' || isStated || WHETHER.test(one.opening)) return false
  const code = codeOf(one)
  if (code === '' || code === codeOf(other)) return false
  if (missedName >= NAME_WEIGHT) {
    const fits = Math.max(0, ...[...other.names].map((name) => gradeCodeInName(code, name)))
    return fits < SAME_SIDE
  }
  // Names that are marks, such as a league, are not answers.
  const marked = new Set([...one.marks.values()].flatMap((values) => [...values]))
  if ([...one.names].some((name) => !marked.has(name))) return false
  return other.answer.length === 0 || gradeCodeInName(code, other.answer.join(' ')) < SAME_SIDE
}

const WHETHER = /^(?:will|is|are|does|do|did|can|has|have)$/

/** The code of the answer: the end of a ticker after that of the event, or the end of a slug after a date. */
function codeOf({ listedAs: [, event = '', own = ''] }: Proposition): string {
  const end = own.startsWith(`${event}-`) ? own.slice(event.length + 1) : DATED_SLUG.exec(own)?.[1]
  return end !== undefined && /^[a-z]{2,8}$/.test(end) ? end : ''
}

const DATED_SLUG = /20\d\d-\d\d-\d\d-([a-z]+)$/

/** Whether the question asks for an asset's level without a number. A question about a record high names its level. */
const isLevelQuestion = ({ asset, quantity, isUpDown, grain, words }: Proposition): boolean =>
  grain === 'market' &&
  asset !== null &&
  quantity === null &&
  !isUpDown &&
  !words.includes('record')

const isClose = ({ source }: Proposition['decisionDates'][number]): boolean => source === 'close'
