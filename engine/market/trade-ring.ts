// Ring buffer of the newest trades of one market, sorted by time and ordinal. A newer trade evicts the oldest. A full
// ring ignores trades that are older than its oldest trade. Rows are the stored objects, so reading a page copies
// nothing.

import type { Trade } from '../events.ts'

export class TradeRing<Row extends Trade> {
  readonly #capacity: number
  /** Oldest first. Trades arrive almost in order, so `push` searches from the end. */
  readonly #rows: Row[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#rows.length
  }

  /** Whether trades may exist that are older than the ring's trades. */
  get isFull(): boolean {
    return this.#rows.length >= this.#capacity
  }

  push(row: Row): void {
    let position = this.#rows.length
    while (position > 0 && isNewer(this.#rows[position - 1], row)) position -= 1
    if (position === 0 && this.isFull) return
    if (position === this.#rows.length) this.#rows.push(row)
    else this.#rows.splice(position, 0, row)
    if (this.#rows.length > this.#capacity) this.#rows.shift()
  }

  /** Replaces the row with the same native id, if the ring still contains it. */
  replace(row: Row): void {
    const position = this.#rows.findLastIndex((existing) => existing.nativeId === row.nativeId)
    if (position >= 0) this.#rows[position] = row
  }

  has(isSuch: (row: Row) => boolean): boolean {
    return this.#rows.some(isSuch)
  }

  newest(): Row[] {
    return this.#rows.toReversed()
  }
}

function isNewer(existing: Trade | undefined, row: Trade): boolean {
  if (existing === undefined) return false
  return existing.timeMs === row.timeMs
    ? existing.ordinal > row.ordinal
    : existing.timeMs > row.timeMs
}
