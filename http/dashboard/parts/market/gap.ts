// How far the prices of one question are apart at two venues, and what of that is left to who trades it: bought at the
// one venue's best ask, sold at the other's best bid. Not for: laying both quotes on one side, and the gap of the
// midpoints (http/dashboard/parts/views/prices.ts). Upholds DASH44.

import type { Quote } from '../views/prices.ts'

export interface Crossing {
  /** What is left of a contract of one dollar, before fees; below zero: nothing is. Null: a side is empty. */
  readonly left: number | null
  /** Where it would be bought; null: nowhere. */
  readonly buyAt: 'ours' | 'theirs' | null
}

/** The better of the two directions; both quotes are for one outcome. */
export function crossingOf(ours: Quote, theirs: Quote): Crossing {
  const here = difference(theirs.bid, ours.ask)
  const there = difference(ours.bid, theirs.ask)
  if (here === null && there === null) return { left: null, buyAt: null }
  const isHere = there === null || (here !== null && here >= there)
  return { left: isHere ? here : there, buyAt: isHere ? 'ours' : 'theirs' }
}

/** Prices are whole millionths: no binary fraction is left of their difference. */
function difference(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : Math.round((bid - ask) * 1e6) / 1e6
}
