// What a venue's answer about past prices comes to for a range of time.

import type { PriceMicros, TimeMs } from '../units.ts'

/** A price at a time. */
export interface PastPoint {
  readonly timeMs: TimeMs
  readonly price: PriceMicros
}

/** The points from `fromMs` on, the oldest first, behind the newest one before it, which stood when the range began. */
export function pointsFrom(fromMs: TimeMs, points: readonly PastPoint[]): readonly PastPoint[] {
  const sorted = points.toSorted((one, other) => one.timeMs - other.timeMs)
  const first = sorted.findIndex((point) => point.timeMs >= fromMs)
  return sorted.slice(Math.max(0, (first < 0 ? sorted.length : first) - 1))
}
