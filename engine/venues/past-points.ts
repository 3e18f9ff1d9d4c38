import type { PriceMicros, TimeMs } from '../units.ts'

export interface PastPoint {
  readonly timeMs: TimeMs
  readonly price: PriceMicros
}

export function pointsFrom(fromMs: TimeMs, points: readonly PastPoint[]): readonly PastPoint[] {
  const sorted = points.toSorted((one, other) => one.timeMs - other.timeMs)
  const first = sorted.findIndex((point) => point.timeMs >= fromMs)
  return sorted.slice(Math.max(0, (first < 0 ? sorted.length : first) - 1))
}
