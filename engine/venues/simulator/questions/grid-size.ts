// How large the events of a world are: a small world has short grids, a large one the venues' own
// lengths. Upholds SIMCAL7.

import type { WorldSize } from './question.ts'

/** From `least` at 400 markets and below to `most` at 10,000 and above. */
export function gridSize(size: WorldSize, limits: { least: number; most: number }): number {
  const growth = Math.log(size.marketsPerVenue / 400) / Math.log(25)
  const part = Math.min(1, Math.max(0, growth))
  return Math.round(limits.least + part * (limits.most - limits.least))
}
