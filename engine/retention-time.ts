// Retention by age, in whole hours: an hour expires only when all of it is past. Shared by the deletion of
// rows (storage/) and the rejection of queries for deleted ones (actors/).

import { HOUR_MS, type TimeMs, timeMs } from './units.ts'

const DAY_HOURS = 24

/** The oldest hour that is retained for `days`, as floor(timeMs / 3,600,000). */
export function firstRetainedHour(nowMs: number, days: number): number {
  return Math.floor(nowMs / HOUR_MS) - days * DAY_HOURS
}

/** The oldest moment that is retained for `days`. */
export function firstRetainedMs(nowMs: number, days: number): TimeMs {
  return timeMs(firstRetainedHour(nowMs, days) * HOUR_MS)
}
