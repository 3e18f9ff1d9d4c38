// The US Eastern calendar, by which both venues date games, tickers and titles. Rule since 2007: daylight saving from
// the second Sunday of March to the first Sunday of November.

import { DAY_MS, HOUR_MS, MINUTE_MS, type TimeMs, timeMs } from '../../../units.ts'

export interface EasternTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  /** Days from 1970-01-01 to this date. */
  readonly dayNumber: number
  readonly isDaylight: boolean
  /** True in the hour that the clock repeats when daylight saving ends. */
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

/** "4PM", "4:15PM"; Polymarket's form before " ET". */
export function clockUpper(at: EasternTime): string {
  const minutes = at.minute === 0 ? '' : `:${twoDigits(at.minute)}`
  return `${at.hour % 12 === 0 ? 12 : at.hour % 12}${minutes}${at.hour < 12 ? 'AM' : 'PM'}`
}

/** "ET". "EST" in the repeated hour, so that no two questions are equal. */
export const zoneName = (at: EasternTime): string => (at.isRepeated ? 'EST' : 'ET')

/** "4pm EST", Kalshi's form. */
export const clockLower = (at: EasternTime): string =>
  `${clockUpper(at).toLowerCase()} ${at.isDaylight ? 'EDT' : 'EST'}`

/** Kalshi's date format: 26NOV20. */
export const stampDay = (at: EasternTime): string => `${stampMonth(at)}${twoDigits(at.day)}`

export const stampMonth = (at: EasternTime): string =>
  `${twoDigits(at.year % 100)}${monthName(at.month).slice(0, 3).toUpperCase()}`

/** 26NOV2015. The repeated hour of November gets an S, so that tickers stay unique. */
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
