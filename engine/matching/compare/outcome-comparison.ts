import type { Proposition } from '../understand/proposition.ts'
import { type Quantity, relateRanges } from '../understand/quantity.ts'

export interface OutcomeComparison {
  readonly isOtherGrid: boolean
  /** Whether only one event lists ranges, or one asks for a count and the other lists names. */
  readonly isGridUnmatched: boolean
}

export function compareOutcomes(a: Proposition, b: Proposition): OutcomeComparison {
  const [bandsA, bandsB] = [hasBands(a), hasBands(b)]
  if (bandsA !== null && bandsB !== null && bandsA !== bandsB) {
    return { isOtherGrid: true, isGridUnmatched: false }
  }
  const isListed = a.children().length >= 2 && b.children().length >= 2
  const [gridA, gridB] = [gridOf(a), gridOf(b)]
  const [isGridA, isGridB] = [gridA.length >= 2, gridB.length >= 2]
  const isShared = gridA.some((range) =>
    gridB.some((other) => /same|boundary/.test(relateRanges(range, other))),
  )
  return {
    isOtherGrid: isGridA && isGridB && !isShared,
    isGridUnmatched:
      (isListed && isGridA !== isGridB) || isCountOfListed(a, b) || isCountOfListed(b, a),
  }
}

/** Whether one event asks for a count, such as the margin of a victory, and the other lists candidates. */
function isCountOfListed(one: Proposition, other: Proposition): boolean {
  const isCountOnly = one.form === 'count' && other.form !== 'count'
  return isCountOnly && other.children().length >= 2 && gridOf(other).length === 0
}

/**
 * Whether an event lists bands. True if a range has two bounds or the venue states that at most one outcome is right.
 * False if several ranges have one bound. Null: unknown.
 */
function hasBands(event: Proposition): boolean | null {
  const grid = gridOf(event, GRID_SAMPLE)
  if (grid.some(({ low, high }) => Number.isFinite(low) && Number.isFinite(high))) return true
  if (grid.length >= 2) return false
  return event.asset === null ? null : event.isExclusive
}

/** Number of ranges that are checked. If an event lists bands, only its first and last range may have one bound. */
const GRID_SAMPLE = 6

function gridOf({ children }: Proposition, most?: number): readonly Quantity[] {
  return children(most).flatMap(({ quantity }) => (quantity === null ? [] : [quantity]))
}
