// Key ranges of queries for trades of a market, trades of a venue, and whales: within the query's times, strictly after
// the previous page's position.

import type { SliceQuery } from './contract/storage.ts'
import type { KeyRange } from './lmdb/table.ts'

/** Builds a key from time and ordinal, within a market, a venue or all. */
export type KeyOf = (timeMs: number, ordinal: number) => Buffer

/** The key range of a query, with keys made by `keyOf`; null if it is empty. */
export function rangeOfTrades(
  { fromMs, toMs, after, order }: SliceQuery,
  keyOf: KeyOf,
): KeyRange | null {
  const isReverse = order === 'desc'
  let from = keyOf(fromMs, 0)
  let to = keyOf(toMs + 1, 0)
  if (after !== null && isReverse) {
    const before = keyOf(after.timeMs, after.ordinal ?? 0)
    if (before.compare(to) < 0) to = before
  } else if (after !== null) {
    const { timeMs, ordinal } = after
    const behind = ordinal === null ? keyOf(timeMs + 1, 0) : keyOf(timeMs, ordinal + 1)
    if (behind.compare(from) > 0) from = behind
  }
  return from.compare(to) < 0 ? { from, to, isReverse } : null
}
