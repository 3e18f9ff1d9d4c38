// Key ranges of queries for trades, whales and past opportunities. A range covers the query's times, strictly after the
// previous page's position.

import type { SliceQuery } from './contract/rows.ts'
import type { KeyRange } from './lmdb/pending.ts'
import type { Row } from './lmdb/table.ts'

/** The ordinal must be the last 4 bytes of the key. */
export type KeyOf = (timeMs: number, ordinal: number) => Buffer

/** Null if the range is empty. */
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

/** The last ordinal of a millisecond plus one. */
export function nextOrdinal(
  table: { first(range: KeyRange): Row | null },
  keyOf: KeyOf,
  timeMs: number,
): number {
  const range = { from: keyOf(timeMs, 0), to: keyOf(timeMs + 1, 0), isReverse: true }
  const last = table.first(range)
  return last === null ? 0 : last.key.readUInt32BE(last.key.length - 4) + 1
}
