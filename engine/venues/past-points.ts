import type { PriceMicros, TimeMs } from '../units.ts'

export interface PastPoint {
  readonly timeMs: TimeMs
  readonly price: PriceMicros
}

/** Returns the points from `fromMs` on, sorted. Includes the newest point before it, whose price is valid at `fromMs`. */
export function pointsFrom(fromMs: TimeMs, points: readonly PastPoint[]): readonly PastPoint[] {
  const sorted = points.toSorted((one, other) => one.timeMs - other.timeMs)
  const first = sorted.findIndex((point) => point.timeMs >= fromMs)
  return sorted.slice(Math.max(0, (first < 0 ? sorted.length : first) - 1))
}
