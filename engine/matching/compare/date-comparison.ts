// Compares the decision dates of two questions: days, deadlines ("before Oct 2025" equals "by Sep 30"), periods, and
// closing times, which are only a hint.

import type { DecisionDate, Proposition } from '../understand/proposition.ts'

export interface DateComparison {
  /**
   * `same`: both state a date, and the dates agree. `other`: both state a date, and the dates differ. `hint`: at least
   * one side states only a closing time.
   */
  readonly result: 'same' | 'other' | 'hint' | 'unknown'
  /** Days between the two dates or ends of periods. */
  readonly gap: number
  /** Days between the two closing times of trading. Null if one is unknown. */
  readonly closeGap: number | null
}

/** Maximum difference in days of equal deadlines: "by Dec 31", "before Jan 1", "on Jan 1". */
const NEAR_DAYS = 1
const MONTH_DAYS = 31
/** Maximum difference in days between venue a's closing time and the day of the question. */
const MISSED_DAYS = 10
/** Maximum days between the end of a period and the publication of its figure. */
const RELEASE_DAYS = 50
const HALF_YEAR_DAYS = 183
const MARKETS_READ = 6
/** Day numbers below this one have no year, so only month and day are compared. */
const YEARLESS = 7_300

/** Compares the dates of the most reliable source of each side. */
export function compareDates(a: Proposition, b: Proposition): DateComparison {
  const [one, other] = [a.statedDates, b.statedDates]
  const [closeA, closeB] = [closeOf(a), closeOf(b)]
  const closeGap = closeA && closeB ? Math.abs(closeA.last - closeB.last) : null
  if (one.length > 0 && other.length > 0) return compareStated(one, other, closeGap)
  const isCloseNear = closeGap !== null && closeGap <= MISSED_DAYS
  const gap =
    isSameSeason(a, b) && other.every(isOfHandle) ? 0 : missedBy(a, one, other, isCloseNear)
  if (gap > MISSED_DAYS) return { result: 'other', gap, closeGap }
  return compareHints(withClose(a, one), withClose(b, other), closeGap)
}

const closeOf = ({ decisionDates }: Proposition): DecisionDate | undefined =>
  decisionDates.findLast(({ source }) => source === 'close')

/**
 * Days between venue a's closing time and the day that venue b states. 0 if venue b states no day, or if venue a states
 * a date or has no closing time.
 */
function missedBy(
  { decisionDates, marks }: Proposition,
  datesA: readonly DecisionDate[],
  datesB: readonly DecisionDate[],
  isCloseNear: boolean,
): number {
  const closes = decisionDates.filter(({ source }) => source === 'close')
  if (datesA.length > 0 || datesB.length === 0 || closes.length === 0) return 0
  const gaps = closes.flatMap((close) => datesB.map((dated) => gapOf(close, dated)))
  // A deadline in venue b's title excludes a market of venue a that trades long after it. Trading may end earlier,
  // because it ends when the event happens. A deadline in a subtitle is often a formality and is ignored.
  const isTitled =
    datesB.every(({ role }) => role === 'by') && datesB.some(({ source }) => source === 'title')
  const isLater = closes.every(({ last }) => datesB.every((dated) => last > dated.last))
  if (isLater && isTitled) return Math.min(...gaps)
  // An award is given within the year that venue b states.
  const isYear = datesB.every(({ grain }) => grain === 'year')
  if (marks.has('ceremony') && isYear && !isCloseNear)
    return Math.min(...closes.flatMap((close) => datesB.map((year) => daysOutside(close, year))))
  if (datesB.some(({ role, grain }) => role !== 'on' || grain !== 'day')) return 0
  return Math.min(...gaps)
}

/** The number of a season identifies the occasion. The day in a ticker may then be that of the first episode. */
function isSameSeason(a: Proposition, b: Proposition): boolean {
  const seasons = b.marks.get('season')
  if (seasons === undefined) return false
  return [...(a.marks.get('season') ?? a.words)].some((season) => seasons.has(season))
}

const isOfHandle = ({ source }: DecisionDate): boolean => source === 'handle'

function daysOutside(at: DecisionDate, period: DecisionDate): number {
  return Math.max(0, at.last - period.last, period.first - at.last)
}

/**
 * True if an event states no day and all days of each of its markets are at least half a year from all days of the
 * other event.
 */
export function isMissedByMarkets(event: Proposition, other: Proposition): boolean {
  const days = event.children(MARKETS_READ).map(({ statedDates }) => statedDates)
  const others = other.statedDates
  if (event.statedDates.length > 0 || others.length === 0 || days.length === 0) return false
  const isFar = (one: DecisionDate): boolean =>
    others.every((day) => gapOf(one, day) > HALF_YEAR_DAYS)
  return days.every((dated) => dated.length > 0 && dated.every(isFar))
}

function compareHints(
  a: readonly DecisionDate[],
  b: readonly DecisionDate[],
  closeGap: number | null,
): DateComparison {
  let gap = Number.POSITIVE_INFINITY
  for (const one of a) {
    for (const other of b) {
      // A closing time within a stated period does not differ from it.
      const isWithin = isInside(one, other) || isInside(other, one)
      gap = Math.min(gap, isWithin ? Math.min(2, gapOf(one, other)) : gapOf(one, other))
    }
  }
  return Number.isFinite(gap)
    ? { result: 'hint', gap, closeGap }
    : { result: 'unknown', gap: 0, closeGap }
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

function compareStated(
  a: readonly DecisionDate[],
  b: readonly DecisionDate[],
  closeGap: number | null,
): DateComparison {
  let best = Number.POSITIVE_INFINITY
  let isSame = false
  let isDayOfPeriod = false
  for (const one of a) {
    for (const other of b) {
      const gap = gapOf(one, other)
      best = Math.min(best, gap)
      if (gap <= toleranceOf(one, other) && !isPart(one, other)) isSame = true
      if (isDayIn(one, other) || isDayIn(other, one)) isDayOfPeriod = true
      // "The 2027 championship" may be held in January 2027. Both are the same if they close at about the same time.
      const isPartOfYear = isInYear(one, other) || isInYear(other, one)
      if (isPartOfYear && closeGap !== null && closeGap <= MISSED_DAYS) isDayOfPeriod = true
      // "By June" may mean before June or until its end. Equal closing times decide.
      const isMonthOff =
        one.role === 'by' && other.role === 'by' && gap > NEAR_DAYS && gap <= MONTH_DAYS
      if (isMonthOff && closeGap !== null && closeGap <= NEAR_DAYS) isDayOfPeriod = true
    }
  }
  if (isSame) return { result: 'same', gap: best, closeGap }
  // "On Sep 17" and "in September" may be the same occasion, but this is not stated.
  if (isDayOfPeriod) return { result: 'hint', gap: 0, closeGap }
  return { result: 'other', gap: best, closeGap }
}

/** The last week of a month ends with the month but is another period. */
const isPart = (one: DecisionDate, other: DecisionDate): boolean =>
  one.role === 'in' && other.role === 'in' && (one.grain === 'week') !== (other.grain === 'week')

function isDayIn(day: DecisionDate, period: DecisionDate): boolean {
  // The figure of a period is published after the period, and calls about it are held then.
  if (day.source === 'handle' && period.source !== 'handle' && /month|quarter/.test(period.grain))
    return Math.abs(day.last - period.last) <= RELEASE_DAYS
  return day.role === 'on' && day.grain === 'day' && period.role === 'in' && isInside(day, period)
}

const isInYear = (part: DecisionDate, year: DecisionDate): boolean =>
  year.grain === 'year' && /month|quarter/.test(part.grain) && isInside(part, year)

/**
 * Maximum difference in days. A deadline may differ by a day from a date or from the end of a period. Two deadlines or
 * two dates must be equal, except at the turn of a year.
 */
function toleranceOf(one: DecisionDate, other: DecisionDate): number {
  if ((one.role === 'by') !== (other.role === 'by')) return NEAR_DAYS
  const [first, second] = one.last < other.last ? [one, other] : [other, one]
  if (second.last !== first.last + 1) return 0
  const day = new Date(second.last * 86_400_000)
  return day.getUTCMonth() === 0 && day.getUTCDate() === 1 ? NEAR_DAYS : 0
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
