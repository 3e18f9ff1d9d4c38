// Chooses which book states are stored as history: at most one every ten seconds, without repeats. A change that comes
// too early is stored when it is due, so that the last state before a quiet period is stored.

import { crc32 } from 'node:zlib'
import type { Level } from '../../engine/events.ts'
import { bookSnapshotEveryMs, bookSnapshotLevels } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { OrderBook } from '../../engine/market/order-book.ts'
import { TIME_END, TIME_ZERO, type TimeMs } from '../../engine/units.ts'
import type { BookSnapshot, SnapshotTable } from '../../storage/contract/storage.ts'

interface Last {
  readonly atMs: TimeMs
  /** Checksum: equal for equal snapshots. */
  readonly print: number
}

export class MarketSnapshots {
  readonly #market: MarketNumber
  readonly #table: SnapshotTable
  #last: Last | null

  constructor(market: MarketNumber, table: SnapshotTable) {
    this.#market = market
    this.#table = table
    this.#last = lastOf(market, table)
  }

  /** Stores a changed book unless it equals the last snapshot; false if it is not due yet. */
  save(book: OrderBook, nowMs: TimeMs): boolean {
    const last = this.#last
    // In both directions: a clock that is set back must not stop the history until it catches up.
    if (last !== null && Math.abs(nowMs - last.atMs) < bookSnapshotEveryMs) return false
    const snapshot: BookSnapshot = {
      timeMs: nowMs,
      bids: book.levels('bid', bookSnapshotLevels),
      asks: book.levels('ask', bookSnapshotLevels),
      bidDepth: book.depth('bid'),
      askDepth: book.depth('ask'),
    }
    const print = printOf(snapshot)
    if (last?.print === print) return true
    this.#table.put(this.#market, snapshot)
    this.#last = { atMs: nowMs, print }
    return true
  }
}

function lastOf(market: MarketNumber, table: SnapshotTable): Last | null {
  const [newest] = table.range({
    market,
    fromMs: TIME_ZERO,
    toMs: TIME_END,
    after: null,
    order: 'desc',
    limit: 1,
  })
  return newest === undefined ? null : { atMs: newest.timeMs, print: printOf(newest) }
}

function printOf({ bids, asks, bidDepth, askDepth }: BookSnapshot): number {
  return crc32(`${bidDepth}:${askDepth}:${sideText(bids)}/${sideText(asks)}`)
}

function sideText(levels: readonly Level[]): string {
  let text = ''
  for (const { price, size } of levels) text += `${price}:${size}:`
  return text
}
