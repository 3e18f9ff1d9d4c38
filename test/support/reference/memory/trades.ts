// Reference implementation of storage/trades.ts: sorted arrays.

import { assert } from '../../../../engine/errors.ts'
import type { VenueKey } from '../../../../engine/ids.ts'
import type { MarketNumber } from '../../../../engine/market/market.ts'
import { HOUR_MS, type TimeMs } from '../../../../engine/units.ts'
import type {
  OffsetLocation,
  OffsetQuery,
  SliceQuery,
  StoredTrade,
  TradedMarket,
  TradeOfMarket,
  TradePosition,
  TradeTable,
  VenueTrade,
} from '../../../../storage/contract/storage.ts'
import { storedTrade } from '../../../../storage/records/trade.ts'

/** A trade's row in its venue's index. The trade is looked up, since its maker may change. */
interface VenueRow {
  readonly market: MarketNumber
  readonly nativeId: string
  readonly timeMs: TimeMs
  readonly ordinal: number
}

export class MemoryTrades implements TradeTable {
  /** Each market's trades by time, then ordinal. */
  readonly #byMarket = new Map<MarketNumber, StoredTrade[]>()
  readonly #byId = new Map<string, StoredTrade>()
  /** Each venue's rows by time, then venue ordinal. */
  readonly #byVenue = new Map<VenueKey, VenueRow[]>()

  has(market: MarketNumber, nativeId: string): boolean {
    return this.#byId.has(`${market} ${nativeId}`)
  }

  put({ number: market, venue }: TradedMarket, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade {
    assert(!this.has(market, trade.nativeId), 'a trade is stored once')
    const { nativeId, timeMs: time } = trade
    const list = listOf(this.#byMarket, market)
    const { index, ordinal } = nextPlace(list, time)
    const stored = storedTrade(trade, { ordinal, maker: trade.maker })
    list.splice(index, 0, stored)
    this.#byId.set(`${market} ${nativeId}`, stored)
    const rows = listOf(this.#byVenue, venue)
    const among = nextPlace(rows, time)
    rows.splice(among.index, 0, { market, nativeId, timeMs: time, ordinal: among.ordinal })
    return stored
  }

  setTaker(market: MarketNumber, nativeId: string, taker: string): void {
    this.#change(market, nativeId, { taker })
  }

  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void {
    this.#change(market, nativeId, { maker })
  }

  #change(
    market: MarketNumber,
    nativeId: string,
    fields: { readonly maker: string | null } | { readonly taker: string },
  ): void {
    const existing = this.get(market, nativeId)
    const list = this.#byMarket.get(market)
    if (existing === null || list === undefined) return
    const changed = { ...existing, ...fields }
    list[list.indexOf(existing)] = changed
    this.#byId.set(`${market} ${nativeId}`, changed)
  }

  get(market: MarketNumber, nativeId: string): StoredTrade | null {
    return this.#byId.get(`${market} ${nativeId}`) ?? null
  }

  range(query: SliceQuery & { readonly market: MarketNumber }): readonly StoredTrade[] {
    return rangeOf(this.#byMarket.get(query.market) ?? [], query)
  }

  rangeOfVenue(query: SliceQuery & { readonly venue: VenueKey }): readonly VenueTrade[] {
    const found: VenueTrade[] = []
    for (const row of rangeOf(this.#byVenue.get(query.venue) ?? [], query)) {
      const trade = this.get(row.market, row.nativeId)
      assert(trade !== null, 'a row of the venue leads to its trade')
      found.push({ market: row.market, venueOrdinal: row.ordinal, trade })
    }
    return found
  }

  extentOfVenue(venue: VenueKey): { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null {
    const rows = this.#byVenue.get(venue) ?? []
    const [oldest, newest] = [rows[0], rows.at(-1)]
    if (oldest === undefined || newest === undefined) return null
    return { oldestMs: oldest.timeMs, newestMs: newest.timeMs }
  }

  rangeByOffset(query: OffsetQuery): readonly TradeOfMarket[] {
    const found: (TradeOfMarket & { readonly offset: number })[] = []
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

  locationsByOffset(query: OffsetQuery): readonly OffsetLocation[] {
    return this.rangeByOffset(query).map(({ market, trade }) => {
      const { offset, timeMs: at, ordinal } = trade
      assert(offset !== null, 'a published trade has an offset')
      return { offset, market, timeMs: at, ordinal }
    })
  }

  newestOffset(run: number): number {
    const all = this.rangeByOffset({ run, offset: -1, limit: Number.MAX_SAFE_INTEGER })
    return all.at(-1)?.trade.offset ?? 0
  }

  newestMs(market: MarketNumber): TimeMs | null {
    return this.#byMarket.get(market)?.at(-1)?.timeMs ?? null
  }

  oldestMs(market: MarketNumber): TimeMs | null {
    return this.#byMarket.get(market)?.[0]?.timeMs ?? null
  }

  count(): number {
    return this.#byId.size
  }

  /** Whether any trade belongs to this run. */
  hasRun(run: number): boolean {
    return this.rangeByOffset({ run, offset: -1, limit: 1 }).length > 0
  }

  /** The oldest hour with trades, over all markets. */
  firstHour(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const list of this.#byMarket.values()) {
      oldest = Math.min(oldest, Math.floor((list[0]?.timeMs ?? Number.POSITIVE_INFINITY) / HOUR_MS))
    }
    return oldest
  }

  /** Removes at most `rowsMax` trades of that hour and before; returns their count. */
  removeHour(hour: number, rowsMax: number): number {
    let removed = 0
    for (const [market, list] of this.#byMarket) {
      const end = lowerBound(list, (hour + 1) * HOUR_MS)
      for (const trade of list.splice(0, Math.min(end, rowsMax - removed))) {
        this.#byId.delete(`${market} ${trade.nativeId}`)
        removed += 1
      }
    }
    if (removed === 0) return 0
    for (const [venue, rows] of this.#byVenue) {
      this.#byVenue.set(
        venue,
        rows.filter((row) => this.has(row.market, row.nativeId)),
      )
    }
    return removed
  }
}

/** A row's position in its list. */
type Place = Pick<StoredTrade, 'timeMs' | 'ordinal'>

function listOf<Key, Row>(lists: Map<Key, Row[]>, key: Key): Row[] {
  const existing = lists.get(key)
  if (existing !== undefined) return existing
  const list: Row[] = []
  lists.set(key, list)
  return list
}

/** Index and ordinal of the next row of a millisecond. */
function nextPlace(list: readonly Place[], time: number): { index: number; ordinal: number } {
  const index = lowerBound(list, time + 1)
  const before = list[index - 1]
  return { index, ordinal: before?.timeMs === time ? before.ordinal + 1 : 0 }
}

function rangeOf<Row extends Place>(list: readonly Row[], query: SliceQuery): readonly Row[] {
  const rows = list.slice(lowerBound(list, query.fromMs), lowerBound(list, query.toMs + 1))
  if (query.order === 'desc') rows.reverse()
  const { after, order } = query
  const retained = after === null ? rows : rows.filter((row) => follows(row, after, order))
  return retained.slice(0, Math.max(query.limit, 0))
}

/** Index of the first row at or after `time`. */
function lowerBound(list: readonly Place[], time: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = list[middle]
    if (row !== undefined && row.timeMs < time) low = middle + 1
    else high = middle
  }
  return low
}

function follows(row: Place, after: TradePosition, order: 'asc' | 'desc'): boolean {
  if (row.timeMs !== after.timeMs) {
    return order === 'asc' ? row.timeMs > after.timeMs : row.timeMs < after.timeMs
  }
  if (after.ordinal === null) return false
  return order === 'asc' ? row.ordinal > after.ordinal : row.ordinal < after.ordinal
}
