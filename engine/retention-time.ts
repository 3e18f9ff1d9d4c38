// Retention by age in whole hours. An hour expires when all of it is older than the retention period.

import { HOUR_MS, type TimeMs, timeMs } from './units.ts'

const DAY_HOURS = 24

/** The oldest hour that is retained for `days` days, in hours since 1970. */
export function firstRetainedHour(nowMs: number, days: number): number {
  return Math.floor(nowMs / HOUR_MS) - days * DAY_HOURS
}

/** The earliest time that is retained for `days` days. */
export function firstRetainedMs(nowMs: number, days: number): TimeMs {
  return timeMs(firstRetainedHour(nowMs, days) * HOUR_MS)
}
