// How far back rows are kept by their age: whole hours, so that an hour goes only when all of it is
// past. One place for the removal of rows (storage/) and for the refusal of questions about removed ones (actors/).

import { HOUR_MS, type TimeMs, timeMs } from './units.ts'

const DAY_HOURS = 24

/** The oldest hour of which rows are kept for `days`, as floor(timeMs / 3,600,000). */
export function firstRetainedHour(nowMs: number, days: number): number {
  return Math.floor(nowMs / HOUR_MS) - days * DAY_HOURS
}

/** The oldest moment of which rows are kept for `days`. */
export function firstRetainedMs(nowMs: number, days: number): TimeMs {
  return timeMs(firstRetainedHour(nowMs, days) * HOUR_MS)
}
