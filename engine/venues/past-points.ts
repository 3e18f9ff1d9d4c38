import type { PriceMicros, TimeMs } from '../units.ts'

export interface PastPoint {
  readonly timeMs: TimeMs
  readonly price: PriceMicros
}

/** The points from `fromMs` on, oldest first, after the newest earlier one, which was valid at the start. */
export function pointsFrom(fromMs: TimeMs, points: readonly PastPoint[]): readonly PastPoint[] {
  const sorted = points.toSorted((one, other) => one.timeMs - other.timeMs)
  const first = sorted.findIndex((point) => point.timeMs >= fromMs)
  return sorted.slice(Math.max(0, (first < 0 ? sorted.length : first) - 1))
}
