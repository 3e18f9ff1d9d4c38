// The outcomes of two events: which answers both list, and whether numbers are cut into the same grid.
// Not for: aligning them one to one (match-corpus.ts). Upholds PROP13, VETO12.

import type { Proposition } from '../understand/proposition.ts'
import { type Quantity, relateRanges } from '../understand/quantity.ts'

export interface OutcomeComparison {
  /** Share of the shorter list's answers that the other has too, 0 to 1; null: too little is listed. */
  readonly overlap: number | null
  readonly isOtherGrid: boolean
  /** Only one of the two lists ranges. */
  readonly isLoneGrid: boolean
}

const NOTHING: OutcomeComparison = { overlap: null, isOtherGrid: false, isLoneGrid: false }
/** Placeholders: "Player AB", "Candidate K", "another party". */
const PLACEHOLDER = new Set(
  'player candidate person party show team option contestant chef other another field someone nobody'.split(
    ' ',
  ),
)

/** Compares what two events' markets stand for. */
export function compareOutcomes(a: Proposition, b: Proposition): OutcomeComparison {
  if (isOtherCut(a, b)) return { ...NOTHING, isOtherGrid: true }
  if (a.children().length < 2 || b.children().length < 2) return NOTHING
  const [gridA, gridB] = [gridOf(a), gridOf(b)]
  if (gridA.length >= 2 && gridB.length >= 2) return compareGrids(gridA, gridB)
  const [one, other] = [answersOf(a), answersOf(b)]
  const isLoneGrid = gridA.length >= 2 !== gridB.length >= 2
  if (one.length < 2 || other.length < 2) return { ...NOTHING, isLoneGrid }
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  const hits = short.filter((answer) =>
    long.some((candidate) => isSameAnswer(answer, candidate)),
  ).length
  return { overlap: hits / short.length, isOtherGrid: false, isLoneGrid }
}

/**
 * A price cut into bands against one cut at thresholds: by the markets, or by the venue's word that at most one
 * can be right, which holds of bands alone.
 */
function isOtherCut(a: Proposition, b: Proposition): boolean {
  const [one, other] = [hasBands(a), hasBands(b)]
  return one !== null && other !== null && one !== other
}

/** True when a range with two ends shows bands, false when several ranges have one end; null: cannot be known. */
function hasBands(event: Proposition): boolean | null {
  const grid = gridOf(event, CUT_SHOWN)
  if (grid.some(({ low, high }) => Number.isFinite(low) && Number.isFinite(high))) return true
  if (grid.length >= 2) return false
  return event.asset === null ? null : event.isExclusive
}

/** Markets that show how a grid is cut: only its two ends may be open in one of bands. */
const CUT_SHOWN = 6

function gridOf({ children }: Proposition, most?: number): readonly Quantity[] {
  return children(most).flatMap(({ quantity }) => (quantity === null ? [] : [quantity]))
}

/** Grids without a common cell among many are others. */
function compareGrids(a: readonly Quantity[], b: readonly Quantity[]): OutcomeComparison {
  const shared = a.filter((cell) =>
    b.some((other) => /same|boundary/.test(relateRanges(cell, other))),
  ).length
  const overlap = shared / Math.min(a.length, b.length)
  return { overlap, isOtherGrid: shared === 0, isLoneGrid: false }
}

/** What distinguishes an event's markets: their answers, or the words that few of them share. */
function answersOf(event: Proposition): readonly (readonly string[])[] {
  const children = event.children()
  const counts = new Map<string, number>()
  const texts = children.map(({ words, answer }) => (answer.length > 0 ? answer : words))
  for (const words of texts) {
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const most = Math.max(1, children.length * 0.5)
  return texts
    .map((words) =>
      words.filter(
        (word) => word.length > 2 && (counts.get(word) ?? 0) <= most && !PLACEHOLDER.has(word),
      ),
    )
    .filter((words) => words.length > 0)
}

function isSameAnswer(one: readonly string[], other: readonly string[]): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  const hits = short.filter((word) => long.includes(word)).length
  return hits > 0 && hits * 3 >= short.length * 2
}
