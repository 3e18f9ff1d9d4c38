// US Eastern dates. Daylight saving since 2007: from the second Sunday of March to the first Sunday of November.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../units.ts'

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/** YYYY-MM-DD in New York at a time. */
export function easternDate(atMs: number): string {
  return new Date(wallClockMs(atMs)).toISOString().slice(0, 10)
}

/** The time at which New York's clock shows this many minutes after midnight of a date. */
export function easternMs(date: string, minute: number): number {
  const summerMs = Date.parse(date) + minute * MINUTE_MS + 4 * HOUR_MS
  return wallClockMs(summerMs) === summerMs - 4 * HOUR_MS ? summerMs : summerMs + HOUR_MS
}

/** Adds days to a date. `date` must be valid, `days` may be negative. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10)
}

export function isCalendarDate(date: string): boolean {
  const match = DATE.exec(date)
  if (match === null) return false
  const atMs = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  // Date.UTC maps years below 100 to 19xx. No game has a year below 100.
  return new Date(atMs).toISOString().startsWith(date)
}

/** Day of the week. Sunday is 0. */
export function weekday(date: string): number {
  return new Date(Date.parse(date)).getUTCDay()
}

/** New York's wall clock, expressed as if it were UTC. */
function wallClockMs(atMs: number): number {
  const year = new Date(atMs).getUTCFullYear()
  const startMs = sunday(year, 2, 2) + 7 * HOUR_MS
  const endMs = sunday(year, 10, 1) + 6 * HOUR_MS
  return atMs - (atMs >= startMs && atMs < endMs ? 4 : 5) * HOUR_MS
}

function sunday(year: number, month: number, n: number): number {
  const firstMs = Date.UTC(year, month, 1)
  return firstMs + (((7 - new Date(firstMs).getUTCDay()) % 7) + 7 * (n - 1)) * DAY_MS
}
