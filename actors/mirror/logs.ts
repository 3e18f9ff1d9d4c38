// The newest trades and whales of the log by run, for streams that resume at this gateway. Trades that are not in
// memory are requested from the engine (older-trades.ts). Whales that are not in memory are reported as lost.

import type { TradeUpdate, WhaleUpdate } from '../../engine/events.ts'
import { ringTradesMax, ringWhalesMax } from '../../engine/limits.ts'
import type {
  OffsetQuery,
  StoredTrade,
  StoredWhale,
  TradeLoss,
  TradeOfMarket,
  WhaleRow,
} from '../../storage/contract/storage.ts'
import type { RunView, TradeLogView, WhaleLogView } from '../views.ts'
import type { OlderTrades, RunOffset, TradeRow } from './older-trades.ts'

interface WithOffset {
  readonly offset: number
}

/** Rows by run and offset. The rows of the oldest runs are evicted first. */
class OffsetRows<Row extends WithOffset> {
  readonly #capacity: number
  readonly #runs = new Map<number, Row[]>()
  #count = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  push(run: number, row: Row): void {
    const rows = this.#runs.get(run)
    if (rows === undefined) this.#runs.set(run, [row])
    else {
      const at = indexAfter(rows, row.offset)
      if (rows[at - 1]?.offset === row.offset) return
      rows.splice(at, 0, row)
    }
    this.#count += 1
    if (this.#count > this.#capacity * 1.1) this.#evict()
  }

  /** At most `limit` rows of a run after `offset` (exclusive). */
  range({ run, offset, limit }: OffsetQuery): readonly Row[] {
    const rows = this.#runs.get(run) ?? []
    const at = indexAfter(rows, offset)
    return rows.slice(at, at + limit)
  }

  /** Evicts a tenth of the rows at once, because each removal copies the array. */
  #evict(): void {
    for (const [run, rows] of [...this.#runs].sort(([one], [other]) => one - other)) {
      const surplus = this.#count - this.#capacity
      if (surplus <= 0) return
      this.#count -= rows.splice(0, surplus).length
      if (rows.length === 0) this.#runs.delete(run)
    }
  }
}

function indexAfter(rows: readonly WithOffset[], offset: number): number {
  let [low, high] = [0, rows.length]
  if ((rows.at(-1)?.offset ?? -1) <= offset) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.offset ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low
}

export class MirrorTradeLog implements TradeLogView {
  readonly present: RunView
  readonly #runs: readonly RunView[]
  readonly #rows = new OffsetRows<TradeRow>(ringTradesMax)
  readonly #losses: TradeLoss[] = []
  readonly #older: OlderTrades | null

  /** `runs`: oldest first, the current run last. `older`: null if trades that are not in memory count as lost. */
  constructor(runs: readonly RunView[], present: RunView, older: OlderTrades | null) {
    this.#runs = runs
    this.present = present
    this.#older = older
  }

  push(run: number, { market, trade, offset, seq, receivedAtMs }: TradeUpdate): void {
    const stored: StoredTrade = { ...trade, receivedAtMs, run, offset, seq }
    this.#rows.push(run, { offset, market: market.number, trade: stored })
  }

  runs(): readonly RunView[] {
    return this.#runs
  }

  range(query: OffsetQuery): readonly TradeOfMarket[] {
    return this.#rowsAfter(query)
  }

  arrival(position: RunOffset): Promise<void> | null {
    if (this.#older === null || this.#holds(position)) return null
    const end = this.#runs.find(({ number }) => number === position.run)?.endOffset ?? null
    return end !== null && position.offset >= end ? null : this.#older.arrival(position)
  }

  #holds({ run, offset }: RunOffset): boolean {
    return this.#rows.range({ run, offset, limit: 1 })[0]?.offset === offset + 1
  }

  /** Returns rows up to the first gap. The next call requests the missing rows from the engine. */
  #rowsAfter(query: OffsetQuery): readonly TradeRow[] {
    const rows = this.#rows.range(query)
    const { offset, limit } = query
    const gapIndex = rows.findIndex((row, index) => row.offset !== offset + 1 + index)
    if (gapIndex > 0) return rows.slice(0, gapIndex)
    if (gapIndex < 0 && rows.length > 0) return rows
    const older = this.#older?.tradesAfter(query) ?? []
    return older.length > 0 ? older.slice(0, limit) : rows
  }

  rangeOf({ isWanted, ...query }: Parameters<TradeLogView['rangeOf']>[0]) {
    return this.#rowsAfter(query).map(({ offset, market, trade }) => ({
      offset,
      market,
      trade: isWanted(market) ? trade : null,
    }))
  }

  /** A checkpoint and the log may contain the same loss. */
  addLoss(loss: TradeLoss): void {
    const isDuplicate = this.#losses.some((other) => isSameLoss(other, loss))
    if (!isDuplicate && this.#losses.length < LOSSES_MAX) this.#losses.push(loss)
  }

  losses({ run, offset }: { run: number; offset: number }): readonly TradeLoss[] {
    return this.#losses.filter((loss) => loss.run === run && loss.offset >= offset)
  }
}

const LOSSES_MAX = 10_000

/** Ignores offsets, which count trades of all venues and may differ slightly between engine and gateway. */
const isSameLoss = (one: TradeLoss, other: TradeLoss): boolean =>
  one.run === other.run &&
  one.venue === other.venue &&
  one.market === other.market &&
  one.fromMs === other.fromMs &&
  one.toMs === other.toMs

interface WhaleWithOffset extends WithOffset, WhaleRow {}

export class MirrorWhaleLog implements WhaleLogView {
  readonly present: RunView
  readonly #rows = new OffsetRows<WhaleWithOffset>(ringWhalesMax)

  constructor(present: RunView) {
    this.present = present
  }

  push(run: number, { market, whale, offset, seq, receivedAtMs }: WhaleUpdate): void {
    const stored: StoredWhale = { ...whale, receivedAtMs, run, offset, seq }
    const { number, venue, nativeId: nativeMarket } = market
    this.#rows.push(run, { offset, market: number, venue, nativeMarket, whale: stored })
  }

  runs(): readonly RunView[] {
    return [this.present]
  }

  range(query: OffsetQuery): readonly WhaleRow[] {
    return this.#rows.range(query)
  }

  history(): readonly never[] {
    return []
  }

  historyOfMarket(): readonly never[] {
    return []
  }

  oldestMs(): null {
    return null
  }
}
