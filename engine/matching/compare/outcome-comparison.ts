// The outcomes of two events: whether numbers are cut into the same grid.

import type { Proposition } from '../understand/proposition.ts'
import { type Quantity, relateRanges } from '../understand/quantity.ts'

export interface OutcomeComparison {
  readonly isOtherGrid: boolean
  /** Only one of the two lists ranges, or asks how many where the other lists names. */
  readonly isGridUnmatched: boolean
}

/** Compares what two events' markets stand for. */
export function compareOutcomes(a: Proposition, b: Proposition): OutcomeComparison {
  // A price cut into bands against one cut at thresholds.
  const [bandsA, bandsB] = [hasBands(a), hasBands(b)]
  if (bandsA !== null && bandsB !== null && bandsA !== bandsB) {
    return { isOtherGrid: true, isGridUnmatched: false }
  }
  const isListed = a.children().length >= 2 && b.children().length >= 2
  const [gridA, gridB] = [gridOf(a), gridOf(b)]
  const [isGridA, isGridB] = [gridA.length >= 2, gridB.length >= 2]
  // Grids without a common cell are others.
  const isShared = gridA.some((range) =>
    gridB.some((other) => /same|boundary/.test(relateRanges(range, other))),
  )
  return {
    isOtherGrid: isGridA && isGridB && !isShared,
    isGridUnmatched:
      (isListed && isGridA !== isGridB) || isCountOfListed(a, b) || isCountOfListed(b, a),
  }
}

/** The margin of a victory is none of the candidates that another event lists. */
function isCountOfListed(one: Proposition, other: Proposition): boolean {
  const isCountOnly = one.form === 'count' && other.form !== 'count'
  return isCountOnly && other.children().length >= 2 && gridOf(other).length === 0
}

/**
 * True when a range with two ends shows bands, or the venue says that at most one can be right; false when several
 * ranges have one end; null: cannot be known.
 */
function hasBands(event: Proposition): boolean | null {
  const grid = gridOf(event, GRID_SAMPLE)
  if (grid.some(({ low, high }) => Number.isFinite(low) && Number.isFinite(high))) return true
  if (grid.length >= 2) return false
  return event.asset === null ? null : event.isExclusive
}

/** Markets that show how a grid is cut: only its two ends may be open in one of bands. */
const GRID_SAMPLE = 6

function gridOf({ children }: Proposition, most?: number): readonly Quantity[] {
  return children(most).flatMap(({ quantity }) => (quantity === null ? [] : [quantity]))
}
