// Groups stored trades into whales again: the last minute of each ended run, fills lost at a full mailbox, and fills of
// evicted groups.

import { whaleRegroupMs, whaleSpreadMs } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import { FillSum, type WhaleFill, whaleKey } from '../../engine/whale.ts'
import type { Storage, StoredTrade, TradePosition } from '../../storage/contract/storage.ts'

/** Storage key of the number of the first run that may have ungrouped trades. */
const MARK = 'whales_grouped_run'
const PIECE_MS = 30_000
const READ_ROWS = 256

/** The fills of one whale and their trade ids. If the whale's row exists, its id is one of these ids. */
interface Gathered {
  readonly sum: FillSum
  readonly ids: string[]
}

export interface Stretch {
  readonly market: MarketNumber
  readonly groups: ReadonlyMap<string, Gathered>
  readonly alone: readonly WhaleFill[]
}

interface Range {
  fromMs: TimeMs
  toMs: TimeMs
}

export class WhaleRegroup {
  readonly #storage: Pick<Storage, 'trades' | 'runs' | 'marks'>
  readonly #run: number
  readonly #ranges = new Map<MarketNumber, Range>()
  /**
   * Ended runs whose last minute must be grouped, oldest first. `offset` is null until the start of that minute is
   * found.
   */
  #tails: { readonly run: number; offset: number | null }[] = []
  #isMarkDue = false

  constructor(storage: Pick<Storage, 'trades' | 'runs' | 'marks'>, run: number) {
    this.#storage = storage
    this.#run = run
  }

  /** Schedules the last minutes of earlier runs. Must be called once, at startup. */
  begin(): void {
    const past = this.#storage.runs.all().filter(({ number }) => number < this.#run)
    const marked = this.#storage.marks.get(MARK)
    const firstRun = marked ?? past.at(-1)?.number ?? this.#run
    if (marked === null) this.#storage.marks.put(MARK, firstRun)
    this.#tails = past
      .filter(({ number }) => number >= firstRun)
      .map(({ number }) => ({ run: number, offset: null }))
    this.#isMarkDue = true
  }

  get hasWork(): boolean {
    return this.#isMarkDue || this.#ranges.size > 0
  }

  add(market: MarketNumber, atMs: TimeMs): void {
    const range = this.#ranges.get(market)
    if (range === undefined) this.#ranges.set(market, { fromMs: atMs, toMs: atMs })
    else if (atMs < range.fromMs) range.fromMs = atMs
    else if (atMs > range.toMs) range.toMs = atMs
  }

  removeMarket(market: MarketNumber): void {
    this.#ranges.delete(market)
  }

  /** Reads the next trades. Returns the groups among them, or null if there are none. */
  step(): Stretch | null {
    const tail = this.#tails[0]
    if (tail !== undefined) {
      if (!this.#readTail(tail)) this.#tails.shift()
      return null
    }
    for (const [market, range] of this.#ranges) return this.#takePiece(market, range)
    if (this.#isMarkDue) this.#storage.marks.put(MARK, this.#run)
    this.#isMarkDue = false
    return null
  }

  /** All groups of a market with at least one fill in [fromMs, toMs], each with all of its fills. See whaleSpreadMs. */
  gather(market: MarketNumber, fromMs: TimeMs, toMs: TimeMs): Stretch {
    const found = new Map<string, Gathered>()
    const alone: WhaleFill[] = []
    const from = timeMs(fromMs - whaleSpreadMs)
    const to = timeMs(toMs + whaleSpreadMs)
    for (const row of this.#rows(market, from, to)) {
      const key = whaleKey(row)
      const fill = fillOf(row)
      const group = key === null ? undefined : found.get(key)
      if (group !== undefined) {
        group.sum.add(fill)
        group.ids.push(row.nativeId)
      } else if (key !== null) {
        found.set(key, { sum: new FillSum(fill), ids: [row.nativeId] })
      } else if (row.timeMs >= fromMs && row.timeMs <= toMs) {
        alone.push(fill)
      }
    }
    for (const [key, { sum }] of found) {
      // All fills of this group are outside the range, so the group may be incomplete.
      if (sum.newestMs < fromMs || sum.oldestMs > toMs) found.delete(key)
    }
    return { market, groups: found, alone }
  }

  /** Groups the next trades of a range. Shortens the range first, so that an exception does not repeat them. */
  #takePiece(market: MarketNumber, range: Range): Stretch | null {
    const { trades } = this.#storage
    const { fromMs, toMs } = range
    const [first] = trades.range({ market, fromMs, toMs, after: null, order: 'asc', limit: 1 })
    const endMs = first === undefined ? toMs : timeMs(Math.min(toMs, first.timeMs + PIECE_MS))
    if (endMs >= toMs) this.#ranges.delete(market)
    else range.fromMs = timeMs(endMs + 1)
    return first === undefined ? null : this.gather(market, first.timeMs, endMs)
  }

  *#rows(market: MarketNumber, fromMs: TimeMs, toMs: TimeMs): Generator<StoredTrade> {
    const query = { market, fromMs, toMs, order: 'asc' as const, limit: READ_ROWS }
    let after: TradePosition | null = null
    for (;;) {
      const rows: readonly StoredTrade[] = this.#storage.trades.range({ ...query, after })
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < READ_ROWS) return
      after = last
    }
  }

  #readTail(tail: { readonly run: number; offset: number | null }): boolean {
    const { run } = tail
    tail.offset ??= this.#tailStart(run)
    const rows = this.#storage.trades.rangeByOffset({ run, offset: tail.offset, limit: READ_ROWS })
    for (const { market, trade } of rows) {
      this.add(market, trade.timeMs)
      tail.offset = trade.offset ?? tail.offset
    }
    return rows.length === READ_ROWS
  }

  /** Offset before the first trade of a run's last minute, by receive time. Binary search. */
  #tailStart(run: number): number {
    const newest = this.#storage.trades.newestOffset(run)
    const last = this.#tradeAt(run, newest - 1)
    let low = 0
    let high = newest
    const sinceMs = (last?.receivedAtMs ?? 0) - whaleRegroupMs
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = this.#tradeAt(run, middle)
      if (row !== null && row.receivedAtMs < sinceMs) low = row.offset ?? middle + 1
      else high = middle
    }
    return low
  }

  #tradeAt(run: number, offset: number): StoredTrade | null {
    return this.#storage.trades.rangeByOffset({ run, offset, limit: 1 })[0]?.trade ?? null
  }
}

function fillOf(trade: StoredTrade): WhaleFill {
  const { receivedAtMs, run, offset } = trade
  return { trade, receivedAtMs, run, offset }
}
