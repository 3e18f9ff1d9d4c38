// Parses dates in texts, tickers and slugs as whole days, and hours in New York. A date is a day, a deadline ("by Sep
// 30", "before Oct 2025") or a period ("in May", "Q1 2026", "week of Nov 10"). A date without a year gets the year that
// is nearest to an anchor date.

import { DAY_MS } from '../../units.ts'

/** Days since 1970-01-01. */
export type Day = number

interface Span {
  readonly grain: 'day' | 'week' | 'month' | 'quarter' | 'year'
  readonly first: Day
  readonly last: Day
}

/** One date in a text. Of a deadline only the last day has a meaning. */
export interface DateMention extends Span {
  /** `on`: on that day; `by`: until the end of that day; `in`: at some time within the period. */
  readonly role: 'on' | 'by' | 'in'
  /** Range of the date in the folded text. */
  readonly start: number
  readonly end: number
}

const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'
const NAME =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?'
const ROLE =
  '\\b(?<role>by|before|prior to|until|till|through|thru|on|in|during|end of|for|week of|after|from|since)(?: (?:the )?(?:end of |week of |chart dated |week ending ))?\\s*'
/** Date formats, tried in this order. */
const FORMS: readonly string[] = [
  String.raw`\b(?<iso>20\d\d-\d\d-\d\d)\b`,
  String.raw`\b(?<month>${NAME})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?\b(?:\s*(?:-|to|through)\s*(?:(?<toMonth>${NAME})\.? )?(?<toDay>\d{1,2})(?:st|nd|rd|th)?\b(?! ?(?:am|pm|:)))?(?:,? (?<year>20\d\d)\b)?`,
  String.raw`\b(?<monthOf>${NAME})\.?,? (?<ofYear>20\d\d)\b`,
  String.raw`\bq(?<quarter>[1-4])(?:,? (?<quarterOf>20\d\d))?\b`,
  // A number after one of these words is not a year.
  String.raw`(?<!(?:above|over|below|under|than|least|most|reach|hit|exceed|\$|#) ?)\b(?<bare>20\d\d)\b(?!-|\+| or (?:more|above|higher|fewer|less|below))`,
  String.raw`(?<=^|\b(?:by|before|until|through|in|during|end of|for|this|last|next|the|their|its|his|after) )(?<alone>${NAME})\b(?! \d)`,
]
const DATE = new RegExp(`(?:${ROLE})?(?:${FORMS.join('|')})`, 'g')
/** A text without a match contains no date. */
const DATED = /20\d\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\bq[1-4]\b/
const ROLE_CHARACTERS_MAX = 40
const HOUR = /\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b/
const WINDOW =
  /\b(\d{1,2}(?::\d\d)?\s?[ap]m)(?: (?:et|est|edt))?\s?(?:-|to)\s?(\d{1,2}(?::\d\d)?\s?[ap]m)\b/
const NOON = /\b(noon|midnight)\b/

export function dayOf(atMs: number): Day {
  return Math.floor(atMs / DAY_MS)
}

export function isoDay(day: Day): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** The day number of a date. Null if it does not exist. Months count from 1. */
export function dayOfDate(year: number, month: number, date: number): Day | null {
  if (month < 1 || month > 12 || date < 1 || date > 31) return null
  const atMs = Date.UTC(year, month - 1, date)
  return new Date(atMs).getUTCDate() === date ? atMs / DAY_MS : null
}

/** Dates of a folded text in order. A missing year is derived from `anchor`. */
export function datesOf(folded: string, anchor: Day | null): readonly DateMention[] {
  const hint = DATED.exec(folded)
  if (hint === null) return []
  const found: DateMention[] = []
  // The preposition of a date is at most this many characters before it.
  DATE.lastIndex = Math.max(0, hint.index - ROLE_CHARACTERS_MAX)
  for (let match = DATE.exec(folded); match !== null; match = DATE.exec(folded)) {
    const span = spanOf(match, anchor)
    if (span === null) continue
    const start = match.index
    const end = start + match[0].length
    found.push({ ...roleOf(match.groups?.role, match[0], span), start, end })
  }
  return found
}

export function withoutDates(
  folded: string,
  dates: readonly Pick<DateMention, 'start' | 'end'>[] = datesOf(folded, null),
  gap = ' ',
): string {
  return dates.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + gap + rest.slice(end),
    folded,
  )
}

function spanOf({ groups = {} }: RegExpExecArray, anchor: Day | null): Span | null {
  const { iso, month, monthOf, quarter, bare, alone } = groups
  if (iso !== undefined) {
    const [year = 0, inMonth = 0, date = 0] = iso.split('-').map(Number)
    return daySpan(dayOfDate(year, inMonth, date))
  }
  if (month !== undefined) return dayRange(groups, monthOfName(month), anchor)
  if (monthOf !== undefined) return monthAt(Number(groups.ofYear), monthOfName(monthOf))
  if (quarter !== undefined)
    return quarterAt(Number(groups.quarterOf ?? anchorYear(anchor)), Number(quarter))
  if (bare !== undefined) return yearAt(Number(bare))
  const monthNumber = monthOfName(alone ?? '')
  return monthAt(
    nearestYear((inYear) => dayOfDate(inYear, monthNumber, 15), anchor),
    monthNumber,
  )
}

function daySpan(day: Day | null): Span | null {
  return day === null ? null : { grain: 'day', first: day, last: day }
}

function dayRange(
  { day, year, toMonth, toDay }: Readonly<Record<string, string | undefined>>,
  month: number,
  anchor: Day | null,
): Span | null {
  const date = Number(day)
  const inYear = Number(year ?? nearestYear((at) => dayOfDate(at, month, date), anchor))
  const first = dayOfDate(inYear, month, date)
  if (first === null || toDay === undefined) return daySpan(first)
  const toName = toMonth === undefined ? month : monthOfName(toMonth)
  const last = dayOfDate(inYear, toName, Number(toDay))
  if (last === null || last < first || last - first > 40) return daySpan(first)
  return { grain: 'week', first, last }
}

function monthAt(year: number, month: number): Span | null {
  const first = dayOfDate(year, month, 1)
  const next = dayOfDate(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1)
  return first === null || next === null ? null : { grain: 'month', first, last: next - 1 }
}

function quarterAt(year: number, quarter: number): Span | null {
  const from = monthAt(year, quarter * 3 - 2)
  const to = monthAt(year, quarter * 3)
  return from && to && { grain: 'quarter', first: from.first, last: to.last }
}

function yearAt(year: number): Span {
  const first = Date.UTC(year, 0, 1) / DAY_MS
  return { grain: 'year', first, last: Date.UTC(year + 1, 0, 1) / DAY_MS - 1 }
}

/** "Before" ends on the day before the date, and "by" at the end of the date. A period keeps its days. */
function roleOf(
  preposition: string | undefined,
  matched: string,
  span: Span,
): Omit<DateMention, 'start' | 'end'> {
  if (preposition === 'before' || preposition === 'prior to') {
    // "Before the end of June" means until the end of June.
    if (matched.includes('end of')) return { ...span, first: span.last, role: 'by' }
    return { grain: 'day', first: span.first - 1, last: span.first - 1, role: 'by' }
  }
  if (/^(?:by|until|till|through|thru)$/.test(preposition ?? '')) {
    // Both venues use "by June" for "by June 30".
    return { ...span, grain: 'day', first: span.last, role: 'by' }
  }
  if (matched.startsWith('end of') || matched.includes(' end of ')) {
    return { grain: 'day', first: span.last, last: span.last, role: 'on' }
  }
  if (matched.includes('week of') && span.grain === 'day') {
    return { grain: 'week', first: span.first, last: span.first + 6, role: 'in' }
  }
  return { ...span, role: span.grain === 'day' ? 'on' : 'in' }
}

/** Hour of the day in a folded text, 0 to 24, where 24 is the midnight at the end of the day. Null if there is none. */
export function hourOf(folded: string): number | null {
  const match = HOUR.exec(folded)
  if (match === null) {
    const noonOrMidnight = NOON.exec(folded)?.[1]
    return noonOrMidnight === undefined ? null : noonOrMidnight === 'noon' ? 12 : 24
  }
  const hour = Number(match[1]) % 12
  const minute = Number(match[2] ?? 0)
  if (Number(match[1]) > 12 || minute > 59) return null
  return hour + (match[3] === 'p' ? 12 : 0) + minute / 60
}

/** Start and end hour of a window in a folded text, such as "4:00pm-4:15pm". Null if there is none. */
export function windowOf(folded: string): { readonly from: number; readonly to: number } | null {
  const match = WINDOW.exec(folded)
  const [from, to] = [hourOf(match?.[1] ?? ''), hourOf(match?.[2] ?? '')]
  return from === null || to === null ? null : { from, to }
}

export interface TickerDate extends Span {
  /** Eastern hour. Null: the ticker states none. */
  readonly hour: number | null
  /** The text after the date, such as the codes of a game's sides. */
  readonly rest: string
}

const TICKER_DATE =
  /^(\d\d)(?:(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)(\d\d)?(\d{4}(?=\D)|(?:[01]\d|2[0-3])[0-5]\d(?=\d{1,3}[A-Z])|\d\d(?=$))?)?(.*)$/

/**
 * Parses the date in a part of a ticker, such as `26MAY1021`, `26MAY091610HOUCIN`, `25OCT` or `26`. Null if there is
 * none.
 */
export function dateOfTicker(part: string): TickerDate | null {
  const match = TICKER_DATE.exec(part)
  if (match === null) return null
  const [, yy, name, dd, clock, rest = ''] = match
  const year = 2000 + Number(yy)
  if (name === undefined) {
    if (rest !== '' && /^\d/.test(rest)) return null
    return { ...yearAt(year), grain: 'year', hour: null, rest }
  }
  const month = monthOfName(name.toLowerCase())
  if (dd === undefined) {
    const span = monthAt(year, month)
    return span === null ? null : { ...span, grain: 'month', hour: null, rest }
  }
  const day = dayOfDate(year, month, Number(dd))
  if (day === null) return null
  const hour = clock === undefined ? null : Number(clock.slice(0, 2)) + Number(clock.slice(2)) / 60
  const isHour = hour !== null && hour <= 24
  const left = isHour || clock === undefined ? rest : clock + rest
  return { grain: 'day', first: day, last: day, hour: isHour ? hour : null, rest: left }
}

function monthOfName(name: string): number {
  return MONTHS.indexOf(name.slice(0, 3)) / 3 + 1
}

function anchorYear(anchor: Day | null): number {
  return anchor === null ? 1970 : new Date(anchor * DAY_MS).getUTCFullYear()
}

/** The year in which a day is nearest to the anchor. Without an anchor the year is 1970. */
function nearestYear(at: (year: number) => Day | null, anchor: Day | null): number {
  const year = anchorYear(anchor)
  if (anchor === null) return year
  let best = year
  let least = Number.POSITIVE_INFINITY
  for (const candidate of [year, year - 1, year + 1]) {
    const day = at(candidate)
    if (day !== null && Math.abs(day - anchor) < least) {
      least = Math.abs(day - anchor)
      best = candidate
    }
  }
  return best
}
