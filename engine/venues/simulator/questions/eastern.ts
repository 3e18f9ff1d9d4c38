// The US Eastern calendar, which both venues use for dates of games, tickers and titles. Since 2007 daylight saving
// lasts from the second Sunday of March to the first Sunday of November.

import { DAY_MS, HOUR_MS, MINUTE_MS, type TimeMs, timeMs } from '../../../units.ts'

export interface EasternTime {
  readonly year: number
  /** Month, 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  /** Days since 1970-01-01. */
  readonly dayNumber: number
  readonly isDaylight: boolean
  /** True in the hour that is repeated when daylight saving ends. */
  readonly isRepeated: boolean
}

export function easternTime(atMs: number): EasternTime {
  const { startMs, endMs } = daylightOf(new Date(atMs).getUTCFullYear())
  const isDaylight = atMs >= startMs && atMs < endMs
  const local = new Date(atMs - (isDaylight ? 4 : 5) * HOUR_MS)
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    dayNumber: Math.floor(local.getTime() / DAY_MS),
    isDaylight,
    isRepeated: atMs >= endMs && atMs < endMs + HOUR_MS,
  }
}

/** The time at which New York's clock shows `minuteOfDay` on a date (days since 1970-01-01). */
export function easternMs(moment: { dayNumber: number; minuteOfDay: number }): TimeMs {
  const standardMs = moment.dayNumber * DAY_MS + moment.minuteOfDay * MINUTE_MS + 5 * HOUR_MS
  const { startMs, endMs } = daylightOf(new Date(standardMs).getUTCFullYear())
  const daylightMs = standardMs - HOUR_MS
  return timeMs(daylightMs >= startMs && daylightMs < endMs ? daylightMs : standardMs)
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

export const monthName = (month: number): string => MONTHS[(month + 11) % 12] ?? 'January'

export const longDay = (at: EasternTime): string => `${monthName(at.month)} ${at.day}`

export const longDate = (at: EasternTime): string => `${longDay(at)}, ${at.year}`

export const shortDay = (at: EasternTime): string => `${monthName(at.month).slice(0, 3)} ${at.day}`

export const shortDate = (at: EasternTime): string => `${shortDay(at)}, ${at.year}`

export const isoDate = (at: EasternTime): string =>
  `${at.year}-${twoDigits(at.month)}-${twoDigits(at.day)}`

/** "4PM", "4:15PM": the time in Polymarket's format, without " ET". */
export function clockUpper(at: EasternTime): string {
  const minutes = at.minute === 0 ? '' : `:${twoDigits(at.minute)}`
  return `${at.hour % 12 === 0 ? 12 : at.hour % 12}${minutes}${at.hour < 12 ? 'AM' : 'PM'}`
}

/** "ET", or "EST" in the repeated hour, so that questions of both hours differ. */
export const zoneName = (at: EasternTime): string => (at.isRepeated ? 'EST' : 'ET')

/** "4pm EST": the time in Kalshi's format. */
export const clockLower = (at: EasternTime): string =>
  `${clockUpper(at).toLowerCase()} ${at.isDaylight ? 'EDT' : 'EST'}`

/** 26NOV20: the date in Kalshi's format. */
export const stampDay = (at: EasternTime): string => `${stampMonth(at)}${twoDigits(at.day)}`

export const stampMonth = (at: EasternTime): string =>
  `${twoDigits(at.year % 100)}${monthName(at.month).slice(0, 3).toUpperCase()}`

/** 26NOV2015: date and hour. In the repeated hour of November the text ends in S, so that tickers stay unique. */
export const stampHour = (at: EasternTime): string =>
  `${stampDay(at)}${twoDigits(at.hour)}${at.isRepeated ? 'S' : ''}`

export const stampMinute = (at: EasternTime): string =>
  `${stampDay(at)}${twoDigits(at.hour)}${twoDigits(at.minute)}${at.isRepeated ? 'S' : ''}`

export const twoDigits = (value: number): string => String(value).padStart(2, '0')

interface Daylight {
  readonly startMs: number
  readonly endMs: number
}

const daylightByYear = new Map<number, Daylight>()

function daylightOf(year: number): Daylight {
  const cached = daylightByYear.get(year)
  if (cached !== undefined) return cached
  const march = Date.UTC(year, 2, 1)
  const november = Date.UTC(year, 10, 1)
  const daylight = {
    startMs: march + (((7 - new Date(march).getUTCDay()) % 7) + 7) * DAY_MS + 7 * HOUR_MS,
    endMs: november + ((7 - new Date(november).getUTCDay()) % 7) * DAY_MS + 6 * HOUR_MS,
  }
  daylightByYear.set(year, daylight)
  return daylight
}
