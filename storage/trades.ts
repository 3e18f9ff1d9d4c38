// Trades by market, time and ordinal. Indexes find trades by native id, by run and offset, and by venue. A put writes
// all rows in one event-loop tick, so that they commit atomically. The id index contains 64-bit hashes; ids with equal
// hashes are compared as text.

import { assert } from '../engine/errors.ts'
import type { VenueKey } from '../engine/ids.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../engine/units.ts'
import type {
  OffsetLocation,
  OffsetQuery,
  SliceQuery,
  StoredTrade,
  TradedMarket,
  TradeOfMarket,
  VenueTrade,
} from './contract/rows.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import { PackedTable } from './lmdb/packed-table.ts'
import type { Removed, Row, Table } from './lmdb/table.ts'
import {
  FIRST,
  groupKey,
  hashNativeId,
  LAST,
  readInteger,
  tradeIdKey,
  tradeKey,
} from './records/keys.ts'
import { decodeRecord, encodeRecord, type RecordCodec } from './records/records.ts'
import { storedTrade, type TradeRecord, tradeCodec } from './records/trade.ts'
import { idRowOf, keyOfOffsetRow, keysOfIdRow, offsetRow } from './records/trade-locations.ts'
import { TABLES } from './tables.ts'
import { nextOrdinal, rangeOfTrades } from './trade-range.ts'
import { TradeTokens } from './trade-tokens.ts'
import { type VenuePosition, VenueTrades } from './venue-trades.ts'

/** Approximate bytes of a trade's index rows on disk. */
const INDEX_BYTES = 85
const CACHED_MAX = 20_000

/** The next ordinal of a market, for trades that are not older than the market's newest trade. */
interface OrdinalState {
  newestMs: number
  lastMs: number
  nextOrdinal: number
}

/** The row of the id index for a hash. Null if no trade has the hash. */
interface IdLookup {
  readonly market: MarketNumber
  readonly nativeId: string
  readonly hash: readonly [number, number]
  readonly row: Buffer | null
}

export class Trades {
  readonly #trades: PackedTable
  readonly #tokens: TradeTokens
  readonly #codec: RecordCodec<TradeRecord>
  readonly #ids: Table
  readonly #offsets: PackedTable
  readonly #byVenue: VenueTrades
  readonly #hours: Hours
  readonly #hash: (nativeId: string) => readonly [number, number]
  readonly #ordinals = new Map<MarketNumber, OrdinalState>()
  #lastLookup: IdLookup | null = null
  #count: number

  /** `hash` is a parameter so that a test can cause collisions. */
  constructor(environment: Environment, hours: Hours, hash = hashNativeId) {
    this.#trades = new PackedTable(environment.table(TABLES.trades))
    this.#tokens = new TradeTokens(environment)
    this.#codec = tradeCodec(this.#tokens)
    this.#ids = environment.table(TABLES.tradeIds)
    this.#offsets = new PackedTable(environment.table(TABLES.tradeOffsets))
    this.#byVenue = new VenueTrades(environment)
    this.#hours = hours
    this.#hash = hash
    // The count of index rows is exact unless trades have equal hashes, which is negligibly rare.
    this.#count = this.#ids.committedCount()
  }

  has(market: MarketNumber, nativeId: string): boolean {
    this.#lastLookup = this.#lookUp(market, nativeId)
    return this.#lastLookup.row !== null && this.#find(market, nativeId) !== null
  }

  /** Stores a trade, indexes it by venue and assigns its ordinal. The caller must call `has` first: a duplicate throws. */
  put({ number: market, venue }: TradedMarket, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade {
    const { hash, row } = this.#lookUp(market, trade.nativeId)
    if (row !== null) {
      assert(this.#find(market, trade.nativeId) === null, 'a trade is stored once')
    }
    const { timeMs: time } = trade
    const ordinal = this.#nextOrdinal(market, time)
    const location = { market, timeMs: time, ordinal }
    const stored = storedTrade(trade, { ordinal, maker: trade.maker })
    const key = tradeKey(market, time, ordinal)
    this.#putRecord(key, stored, this.#byVenue.put(venue, location))
    const others = row === null ? [] : keysOfIdRow(row, market)
    this.#ids.put(tradeIdKey(market, hash), idRowOf([...others, key]))
    this.#lastLookup = null
    if (trade.run !== null && trade.offset !== null) {
      this.#offsets.put(groupKey(trade.run, trade.offset), offsetRow(location))
    }
    this.#hours.add('trades', market, Math.floor(trade.timeMs / HOUR_MS))
    this.#count += 1
    return stored
  }

  /** Sets a maker that became known later. Does nothing if the trade was deleted. */
  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void {
    const found = this.#find(market, nativeId)
    if (found === null || found.trade.maker === maker) return
    const { key, trade } = found
    this.#putRecord(key, storedTrade(trade, { ordinal: trade.ordinal, maker }), found.venuePosition)
  }

  /** Sets a taker that became known later. Does nothing if the trade was deleted. */
  setTaker(market: MarketNumber, nativeId: string, taker: string): void {
    const found = this.#find(market, nativeId)
    if (found === null || found.trade.taker === taker) return
    const { key, trade, venuePosition } = found
    const { ordinal, maker } = trade
    this.#putRecord(key, storedTrade(trade, { ordinal, maker, taker }), venuePosition)
  }

  get(market: MarketNumber, nativeId: string): StoredTrade | null {
    return this.#find(market, nativeId)?.trade ?? null
  }

  /** At most `limit` trades within [fromMs, toMs], newest first or oldest first. */
  range(query: SliceQuery & { readonly market: MarketNumber }): readonly StoredTrade[] {
    const { market, limit } = query
    const trades: StoredTrade[] = []
    const range = rangeOfTrades(query, (time, ordinal) => tradeKey(market, time, ordinal))
    if (limit < 1 || range === null) return trades
    this.#trades.scan(range, (row) => {
      const record = this.#decode(row)
      if (record !== null) trades.push(record.trade)
      return trades.length < limit
    })
    return trades
  }

  /** Trades that a run published with an offset above `offset`, in order of offset. */
  rangeByOffset(query: OffsetQuery): readonly TradeOfMarket[] {
    const { run, offset, limit } = query
    const from = groupKey(run, offset + 1)
    const found: TradeOfMarket[] = []
    if (limit < 1) return found
    this.#offsets.scan({ from, to: groupKey(run, LAST) }, (row) => {
      const key = keyOfOffsetRow(row.value)
      const trade = this.#read(key)?.trade
      if (trade !== undefined) found.push({ market: key.readUInt32BE(0), trade })
      return found.length < limit
    })
    return found
  }

  /** Like `rangeByOffset`, but returns only positions. It is faster because it does not read the trades. */
  locationsByOffset(query: OffsetQuery): readonly OffsetLocation[] {
    const { run, offset, limit } = query
    const locations: OffsetLocation[] = []
    const range = { from: groupKey(run, offset + 1), to: groupKey(run, LAST) }
    if (limit < 1) return locations
    this.#offsets.scan(range, (row) => {
      const key = keyOfOffsetRow(row.value)
      locations.push({
        offset: readInteger(row.key, 4),
        market: key.readUInt32BE(0),
        timeMs: timeMs(readInteger(key, 4)),
        ordinal: key.readUInt32BE(12),
      })
      return locations.length < limit
    })
    return locations
  }

  /** 0 if the run has no stored trades. */
  newestOffset(run: number): number {
    const to = groupKey(run, LAST)
    const row = this.#offsets.first({ from: groupKey(run, 0), to, isReverse: true })
    return row === null ? 0 : readInteger(row.key, 4)
  }

  /** Null if the market has no trades. */
  newestMs(market: MarketNumber): TimeMs | null {
    const newest = this.#ordinalState(market).newestMs
    return newest === Number.NEGATIVE_INFINITY ? null : timeMs(newest)
  }

  oldestMs(market: MarketNumber): TimeMs | null {
    const oldest = this.#trades.first(marketRange(market))
    return oldest === null ? null : timeMs(readInteger(oldest.key, 4))
  }

  /**
   * Trades of all markets of a venue, newest or oldest first. A position's ordinal counts the venue's trades of the
   * millisecond from 0. It is assigned when the trade is stored and never changes.
   */
  rangeOfVenue(query: SliceQuery & { readonly venue: VenueKey }): readonly VenueTrade[] {
    const found: VenueTrade[] = []
    if (query.limit < 1) return found
    this.#byVenue.scan(query, (key, venueOrdinal) => {
      const trade = this.#read(key)?.trade
      if (trade !== undefined) found.push({ market: key.readUInt32BE(0), venueOrdinal, trade })
      return found.length < query.limit
    })
    return found
  }

  /** Times of the venue's oldest and newest trade. Null if the venue has none. */
  extentOfVenue(venue: VenueKey): { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null {
    return this.#byVenue.extent(venue)
  }

  count(): number {
    return this.#count
  }

  hasRun(run: number): boolean {
    const to = groupKey(run, LAST)
    return this.#offsets.first({ from: groupKey(run, 0), to }) !== null
  }

  /** Removes at most `rowsMax` trades of a market before `beforeMs`, oldest first. */
  removeBefore(range: { market: MarketNumber; beforeMs: number; rowsMax: number }): Removed {
    const { market, beforeMs, rowsMax } = range
    const rows: Row[] = []
    if (rowsMax < 1) return { rowCount: 0, byteCount: 0 }
    const from = tradeKey(market, FIRST, 0)
    this.#trades.scan({ from, to: tradeKey(market, beforeMs, 0) }, (row) => {
      return rows.push(row) < rowsMax
    })
    let byteCount = 0
    for (const row of rows) byteCount += this.#remove(market, row.key, row.value)
    this.#ordinals.delete(market)
    if (rows.length > 0 && this.oldestMs(market) === null) this.#tokens.remove(market)
    return { rowCount: rows.length, byteCount }
  }

  #remove(market: MarketNumber, key: Buffer, value: Buffer): number {
    const record = this.#decode({ key, value })
    this.#trades.remove(key)
    this.#byVenue.remove(key, record?.venuePosition ?? null)
    this.#count -= 1
    if (record === null) return key.length + value.length
    const { nativeId, run, offset } = record.trade
    if (run !== null && offset !== null) this.#offsets.remove(groupKey(run, offset))
    const { hash, row } = this.#lookUp(market, nativeId)
    const remaining = row === null ? [] : keysOfIdRow(row, market).filter((one) => !one.equals(key))
    const idKey = tradeIdKey(market, hash)
    if (remaining.length === 0) this.#ids.remove(idKey)
    else this.#ids.put(idKey, idRowOf(remaining))
    this.#lastLookup = null
    return key.length + value.length + INDEX_BYTES
  }

  #putRecord(key: Buffer, trade: StoredTrade, venuePosition: VenuePosition | null): void {
    const value = encodeRecord(TABLES.trades, key, this.#codec, { trade, venuePosition })
    this.#trades.put(key, value)
  }

  #read(key: Buffer): TradeRecord | null {
    const value = this.#trades.get(key)
    return value === null ? null : this.#decode({ key, value })
  }

  #decode(row: Row): TradeRecord | null {
    const record = decodeRecord(TABLES.trades, row, this.#codec)
    if (record === null) this.#trades.blocks.reportDamage()
    return record
  }

  #find(market: MarketNumber, nativeId: string): (TradeRecord & { key: Buffer }) | null {
    const { row } = this.#lookUp(market, nativeId)
    if (row === null) return null
    for (const key of keysOfIdRow(row, market)) {
      const record = this.#read(key)
      if (record !== null && isSameText(record.trade.nativeId, nativeId)) return { key, ...record }
    }
    return null
  }

  #lookUp(market: MarketNumber, nativeId: string): IdLookup {
    const last = this.#lastLookup
    if (last !== null && last.nativeId === nativeId && last.market === market) return last
    const hash = this.#hash(nativeId)
    const row = this.#ids.get(tradeIdKey(market, hash))
    return { market, nativeId, hash, row }
  }

  /** The last ordinal of the millisecond plus one. Needs no read if trades arrive in order. */
  #nextOrdinal(market: MarketNumber, time: number): number {
    const state = this.#ordinalState(market)
    if (time > state.newestMs) {
      state.newestMs = time
      state.nextOrdinal = 0
    } else if (time !== state.lastMs) {
      const keyOf = (atMs: number, ordinal: number) => tradeKey(market, atMs, ordinal)
      state.nextOrdinal = nextOrdinal(this.#trades, keyOf, time)
    }
    state.lastMs = time
    const ordinal = state.nextOrdinal
    state.nextOrdinal += 1
    return ordinal
  }

  #ordinalState(market: MarketNumber): OrdinalState {
    const cached = this.#ordinals.get(market)
    if (cached !== undefined) return cached
    const newest = this.#trades.first({ ...marketRange(market), isReverse: true })
    const state: OrdinalState =
      newest === null
        ? { newestMs: Number.NEGATIVE_INFINITY, lastMs: Number.NaN, nextOrdinal: 0 }
        : {
            newestMs: readInteger(newest.key, 4),
            lastMs: readInteger(newest.key, 4),
            nextOrdinal: newest.key.readUInt32BE(12) + 1,
          }
    if (this.#ordinals.size >= CACHED_MAX) this.#ordinals.clear()
    this.#ordinals.set(market, state)
    return state
  }
}

function marketRange(market: MarketNumber) {
  return { from: tradeKey(market, FIRST, 0), to: tradeKey(market, LAST, 0) }
}

/** UTF-8 cannot represent a lone surrogate, so ids are compared in their stored form. */
function isSameText(stored: string, requested: string): boolean {
  return stored === requested || stored === Buffer.from(requested).toString()
}
