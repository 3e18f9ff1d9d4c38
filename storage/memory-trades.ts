// The table of trades in sorted arrays: the naive twin of trades.ts, part of memory.ts.

import { assert } from '../engine/errors.ts'
import type { MarketNumber } from '../engine/market.ts'
import type { TimeMs } from '../engine/units.ts'
import type { StoredTrade, TradePosition, TradeTable } from './storage.ts'
import { storedTrade } from './trade-record.ts'

const HOUR_MS = 3_600_000

export class MemoryTrades implements TradeTable {
  /** Each market's trades by time, then ordinal. */
  readonly #byMarket = new Map<MarketNumber, StoredTrade[]>()
  readonly #byId = new Map<string, StoredTrade>()

  has(market: MarketNumber, nativeId: string): boolean {
    return this.#byId.has(`${market} ${nativeId}`)
  }

  put(market: MarketNumber, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade {
    assert(!this.has(market, trade.nativeId), 'a trade is stored once')
    const list = this.#byMarket.get(market) ?? []
    const end = lowerBound(list, trade.timeMs + 1)
    const before = list[end - 1]
    const ordinal = before !== undefined && before.timeMs === trade.timeMs ? before.ordinal + 1 : 0
    const stored = storedTrade(trade, { ordinal, maker: trade.maker })
    list.splice(end, 0, stored)
    this.#byMarket.set(market, list)
    this.#byId.set(`${market} ${trade.nativeId}`, stored)
    return stored
  }

  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void {
    const known = this.get(market, nativeId)
    const list = this.#byMarket.get(market)
    if (known === null || list === undefined) return
    const changed = { ...known, maker }
    list[list.indexOf(known)] = changed
    this.#byId.set(`${market} ${nativeId}`, changed)
  }

  get(market: MarketNumber, nativeId: string): StoredTrade | null {
    return this.#byId.get(`${market} ${nativeId}`) ?? null
  }

  range(query: {
    market: MarketNumber
    fromMs: TimeMs
    toMs: TimeMs
    after: TradePosition | null
    order: 'asc' | 'desc'
    limit: number
  }): readonly StoredTrade[] {
    const list = this.#byMarket.get(query.market) ?? []
    const rows = list.slice(lowerBound(list, query.fromMs), lowerBound(list, query.toMs + 1))
    if (query.order === 'desc') rows.reverse()
    const { after, order } = query
    const kept = after === null ? rows : rows.filter((row) => follows(row, after, order))
    return kept.slice(0, Math.max(query.limit, 0))
  }

  rangeByOffset(query: {
    run: number
    offset: number
    limit: number
  }): readonly { readonly market: MarketNumber; readonly trade: StoredTrade }[] {
    const found: { market: MarketNumber; trade: StoredTrade; offset: number }[] = []
    for (const [market, list] of this.#byMarket) {
      for (const trade of list) {
        const { run, offset } = trade
        if (run !== query.run || offset === null || offset <= query.offset) continue
        found.push({ market, trade, offset })
      }
    }
    found.sort((one, other) => one.offset - other.offset)
    return found.slice(0, Math.max(query.limit, 0)).map(({ market, trade }) => ({ market, trade }))
  }

  newestMs(market: MarketNumber): TimeMs | null {
    return this.#byMarket.get(market)?.at(-1)?.timeMs ?? null
  }

  count(): number {
    return this.#byId.size
  }

  /** Whether any trade names this run. */
  hasRun(run: number): boolean {
    return this.rangeByOffset({ run, offset: -1, limit: 1 }).length > 0
  }

  /** The oldest hour with trades, over all markets. */
  oldestHour(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const list of this.#byMarket.values()) {
      oldest = Math.min(oldest, Math.floor((list[0]?.timeMs ?? Number.POSITIVE_INFINITY) / HOUR_MS))
    }
    return oldest
  }

  /** Removes at most `rowsMax` trades of that hour and before; how many. */
  removeHour(hour: number, rowsMax: number): number {
    let removed = 0
    for (const [market, list] of this.#byMarket) {
      const end = lowerBound(list, (hour + 1) * HOUR_MS)
      for (const trade of list.splice(0, Math.min(end, rowsMax - removed))) {
        this.#byId.delete(`${market} ${trade.nativeId}`)
        removed += 1
      }
    }
    return removed
  }
}

/** Index of the first trade at or after `time`. */
function lowerBound(list: readonly StoredTrade[], time: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const trade = list[middle]
    if (trade !== undefined && trade.timeMs < time) low = middle + 1
    else high = middle
  }
  return low
}

function follows(row: StoredTrade, after: TradePosition, order: 'asc' | 'desc'): boolean {
  if (row.timeMs !== after.timeMs) {
    return order === 'asc' ? row.timeMs > after.timeMs : row.timeMs < after.timeMs
  }
  if (after.ordinal === null) return false
  return order === 'asc' ? row.ordinal > after.ordinal : row.ordinal < after.ordinal
}
