// Compares the decision dates of two questions: equal days, equivalent deadlines ("before Oct 2025", "by Sep 30"),
// periods, and closing times, which are only a hint.

import type { DecisionDate, Proposition } from '../understand/proposition.ts'

export interface DateComparison {
  /**
   * `same`: both state a date and agree. `other`: both state a date and differ. `hint`: at least one side has only a
   * closing time.
   */
  readonly result: 'same' | 'other' | 'hint' | 'unknown'
  /** Days between the two ends. */
  readonly gap: number
  /** Days between the two closing times of trading. Null: one is unknown. */
  readonly closeGap: number | null
}

type DateResult = Pick<DateComparison, 'result' | 'gap'>

/** Deadlines at most this many days apart are equal: "by Dec 31", "before Jan 1", "on Jan 1". */
const NEAR_DAYS = 1
const MONTH_DAYS = 31
/** Venue a may close up to this many days from the day of the question. */
const MISSED_DAYS = 10
/** The figure of a period is published within this many days of its end. */
const RELEASE_DAYS = 50
const HALF_YEAR_DAYS = 183
const MARKETS_READ = 6
/** A day number below this one has no year: only month and day are compared. */
const YEARLESS = 7_300

/** Compares the dates of two propositions. The most reliable source of each side that states a day decides. */
export function compareDates(a: Proposition, b: Proposition): DateComparison {
  const [one, other] = [statedDates(a), statedDates(b)]
  const [closeA, closeB] = [a, b].map(({ decisionDates }) =>
    decisionDates.find(({ source }) => source === 'close'),
  )
  const closeGap = closeA && closeB ? Math.abs(closeA.last - closeB.last) : null
  if (one.length > 0 && other.length > 0)
    return { ...compareStated(one, other, closeGap), closeGap }
  const gap = missedBy(a, one, other)
  if (gap > MISSED_DAYS) return { result: 'other', gap, closeGap }
  return { ...compareHints(withClose(a, one), withClose(b, other)), closeGap }
}

/**
 * Days between venue a's closing time and the day that venue b states. 0 if b states no day, or a states a date or has
 * no closing time.
 */
function missedBy(
  { decisionDates }: Proposition,
  datesA: readonly DecisionDate[],
  datesB: readonly DecisionDate[],
): number {
  const closes = decisionDates.filter(({ source }) => source === 'close')
  if (datesA.length > 0 || datesB.length === 0 || closes.length === 0) return 0
  const gaps = closes.flatMap((close) => datesB.map((dated) => gapOf(close, dated)))
  // Trading that continues long after the deadline in venue b's title belongs to another deadline. Trading may end
  // earlier, when the event happens. The deadline in a subtitle is often a formality and does not count.
  const isTitled =
    datesB.every(({ role }) => role === 'by') && datesB.some(({ source }) => source === 'title')
  const isLater = closes.every(({ last }) => datesB.every((dated) => last > dated.last))
  if (isLater && isTitled) return Math.min(...gaps)
  if (datesB.some(({ role, grain }) => role !== 'on' || grain !== 'day')) return 0
  return Math.min(...gaps)
}

/**
 * True if an event states no day and each of its markets states only days half a year away from all days of the other
 * event.
 */
export function isMissedByMarkets(event: Proposition, other: Proposition): boolean {
  const [days, others] = [event.children(MARKETS_READ).map(statedDates), statedDates(other)]
  if (statedDates(event).length > 0 || others.length === 0 || days.length === 0) return false
  const isFar = (one: DecisionDate): boolean =>
    others.every((day) => gapOf(one, day) > HALF_YEAR_DAYS)
  return days.every((dated) => dated.length > 0 && dated.every(isFar))
}

/** Where one side has only a closing time: the nearest of the stated dates and closing times. */
function compareHints(a: readonly DecisionDate[], b: readonly DecisionDate[]): DateResult {
  let gap = Number.POSITIVE_INFINITY
  for (const one of a) {
    for (const other of b) {
      // A closing time inside a stated period is no difference.
      const isWithin = isInside(one, other) || isInside(other, one)
      gap = Math.min(gap, isWithin ? Math.min(2, gapOf(one, other)) : gapOf(one, other))
    }
  }
  return Number.isFinite(gap) ? { result: 'hint', gap } : { result: 'unknown', gap: 0 }
}

function isInside(at: DecisionDate, period: DecisionDate): boolean {
  return period.grain !== 'day' && at.last >= period.first && at.last <= period.last
}

function withClose(
  { decisionDates }: Proposition,
  dated: readonly DecisionDate[],
): readonly DecisionDate[] {
  return [...dated, ...decisionDates.filter((when) => !dated.includes(when))]
}

/** Stated dates without closing times: days before months before years. */
function statedDates({ decisionDates }: Proposition): readonly DecisionDate[] {
  // The bare year in a ticker is that of the season or of the settlement, so it is only a hint.
  const dated = decisionDates.filter(
    ({ source, grain }) => source !== 'close' && (source !== 'handle' || grain !== 'year'),
  )
  // Dates in texts outrank the ticker, whose day may be that of a publication or of the settlement.
  const texts = dated.filter(({ source }) => source !== 'handle')
  const days = texts.filter(isFine)
  if (days.length > 0) return days
  if (texts.length > 0 && texts.every(({ grain }) => /month|quarter/.test(grain))) return texts
  const fine = dated.filter(isFine)
  if (fine.length > 0) return fine
  const middle = dated.filter(({ grain }) => grain !== 'year')
  return middle.length > 0 ? middle : dated
}

const isFine = ({ grain }: DecisionDate): boolean => grain === 'day' || grain === 'week'

function compareStated(
  a: readonly DecisionDate[],
  b: readonly DecisionDate[],
  closeGap: number | null,
): DateResult {
  let best = Number.POSITIVE_INFINITY
  let isSame = false
  let isDayOfPeriod = false
  for (const one of a) {
    for (const other of b) {
      const gap = gapOf(one, other)
      best = Math.min(best, gap)
      if (gap <= toleranceOf(one, other) && !isPart(one, other)) isSame = true
      if (isDayIn(one, other) || isDayIn(other, one)) isDayOfPeriod = true
      // "The 2027 championship" is held in January 2027 if both close alike.
      const isPartOfYear = isInYear(one, other) || isInYear(other, one)
      if (isPartOfYear && closeGap !== null && closeGap <= MISSED_DAYS) isDayOfPeriod = true
      // "By June" means before June or by its end. Equal closing times decide.
      const isMonthOff =
        one.role === 'by' && other.role === 'by' && gap > NEAR_DAYS && gap <= MONTH_DAYS
      if (isMonthOff && closeGap !== null && closeGap <= NEAR_DAYS) isDayOfPeriod = true
    }
  }
  if (isSame) return { result: 'same', gap: best }
  // "On Sep 17" and "in September" may be one event: likely, but not stated.
  if (isDayOfPeriod) return { result: 'hint', gap: 0 }
  return { result: 'other', gap: best }
}

/** The last week of a month ends with the month but is a different period. */
const isPart = (one: DecisionDate, other: DecisionDate): boolean =>
  one.role === 'in' && other.role === 'in' && (one.grain === 'week') !== (other.grain === 'week')

function isDayIn(day: DecisionDate, period: DecisionDate): boolean {
  // The figure of a quarter is published, and the call on it held, after the quarter.
  if (day.source === 'handle' && period.source !== 'handle' && /month|quarter/.test(period.grain))
    return Math.abs(day.last - period.last) <= RELEASE_DAYS
  return day.role === 'on' && day.grain === 'day' && period.role === 'in' && isInside(day, period)
}

const isInYear = (part: DecisionDate, year: DecisionDate): boolean =>
  year.grain === 'year' && /month|quarter/.test(part.grain) && isInside(part, year)

/**
 * Tolerance in days. A deadline may differ by a day from a date or the end of a period. Two deadlines, or two other
 * dates, must be equal, except at the turn of a year.
 */
function toleranceOf(one: DecisionDate, other: DecisionDate): number {
  if ((one.role === 'by') !== (other.role === 'by')) return NEAR_DAYS
  const [first, second] = one.last < other.last ? [one, other] : [other, one]
  if (second.last !== first.last + 1) return 0
  const boundaryDay = new Date(first.last * 86_400_000).toISOString().slice(5, 10)
  return boundaryDay === '12-31' ? NEAR_DAYS : 0
}

/** Days between two end dates. If one has no year, only month and day are compared. */
function gapOf(one: DecisionDate, other: DecisionDate): number {
  if (one.last < YEARLESS || other.last < YEARLESS) {
    const [first, second] = [new Date(one.last * 86_400_000), new Date(other.last * 86_400_000)]
    const year = Date.UTC(2024, first.getUTCMonth(), first.getUTCDate())
    return Math.abs(year - Date.UTC(2024, second.getUTCMonth(), second.getUTCDate())) / 86_400_000
  }
  return Math.abs(one.last - other.last)
}
