// Migration from format 1 to 2: builds the venue index of trades and the minute and hour bars. Trade records are not
// rewritten; venue-trades.ts finds their index rows when they are removed. Transactions have a bounded number of
// trades, so memory is bounded. Format 1 does not know these tables: an interrupted migration starts again.

import type { Database, RootDatabase } from 'lmdb'
import type { VenueKey } from '../engine/ids.ts'
import { BAR_MS, type Bar, type BarSize, barOf, barStart, joined } from '../engine/market/candle.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import type { Log } from '../engine/process/log.ts'
import { barRow } from './bars.ts'
import type { StoredTrade } from './contract/storage.ts'
import { kindCode } from './hours.ts'
import { openTable } from './lmdb/environment.ts'
import type { Row } from './lmdb/table.ts'
import { hourKey, KEY_START, numberKey, readInteger, venueTradeKey } from './records/keys.ts'
import { marketSchemas } from './records/listings.ts'
import { decodeRecord } from './records/records.ts'
import { firstTradeSchemas } from './records/trade.ts'
import { TABLES } from './tables.ts'

/** Trades per transaction: some ten thousand pages (40 MB) at worst. */
const CHUNK_ROWS = 10_000
const PRESENT = Buffer.of(1)

type Bytes = Database<Buffer, Buffer>

/** Writes the new tables of format 2. Existing tables only gain rows of a new kind. */
export function prepareFormat2(
  root: RootDatabase<Buffer, Buffer>,
  log: Log,
  chunkRows = CHUNK_ROWS,
): void {
  const trades = openTable(root, TABLES.trades)
  const build = new Format2(root)
  build.clear()
  let from = KEY_START
  for (;;) {
    const rows: Row[] = []
    for (const row of trades.getRange({ start: from, limit: chunkRows })) rows.push(row)
    const last = rows.at(-1)
    const isLast = last === undefined || rows.length < chunkRows
    root.transactionSync(() => {
      for (const row of rows) build.add(row)
      if (isLast) build.finish()
    })
    if (isLast) break
    from = Buffer.concat([last.key, Buffer.of(0)])
  }
  log.info(build.counts, 'trades were indexed by venue and summed up in bars')
}

class Format2 {
  readonly #markets: Bytes
  readonly #venueTrades: Bytes
  readonly #bars: Bytes
  readonly #hours: Bytes
  /** The market whose trades are being read, and its venue; null if it is no longer listed. */
  #market: MarketNumber | null = null
  #venue: VenueKey | null = null
  /** Bars that the market's next trade may still change. */
  readonly #open: Record<BarSize, Bar | null> = { minute: null, hour: null }
  readonly counts = { tradeCount: 0, damagedCount: 0, unlistedCount: 0 }

  constructor(root: RootDatabase<Buffer, Buffer>) {
    this.#markets = openTable(root, TABLES.markets)
    this.#venueTrades = openTable(root, TABLES.venueTrades)
    this.#bars = openTable(root, TABLES.bars)
    this.#hours = openTable(root, TABLES.hours)
  }

  /** Deletes the rows of an interrupted migration. */
  clear(): void {
    this.#venueTrades.clearSync()
    this.#bars.clearSync()
  }

  /** Adds the next trade; trades must arrive in key order: market, time, ordinal. */
  add(row: Row): void {
    const market = row.key.readUInt32BE(0)
    if (market !== this.#market) {
      this.finish()
      this.#market = market
      this.#venue = this.#venueOf(market)
    }
    const trade = decodeRecord(TABLES.trades, row, firstTradeSchemas(row.key))
    if (trade === null) this.counts.damagedCount += 1
    else if (this.#venue === null) this.counts.unlistedCount += 1
    else {
      this.counts.tradeCount += 1
      this.#index(this.#venue, row.key)
      this.#sumUp(market, 'minute', trade)
      this.#sumUp(market, 'hour', trade)
    }
  }

  /** Writes the bars that no further trade changes. */
  finish(): void {
    if (this.#market === null) return
    this.#close(this.#market, 'minute')
    this.#close(this.#market, 'hour')
  }

  #venueOf(market: MarketNumber): VenueKey | null {
    const key = numberKey(market)
    const value = this.#markets.get(key)
    if (value === undefined) return null
    return decodeRecord(TABLES.markets, { key, value }, marketSchemas)?.venue ?? null
  }

  #index(venue: VenueKey, key: Buffer): void {
    const time = readInteger(key, 4)
    let ordinal = 0
    if (this.#venueTrades.doesExist(venueTradeKey(venue, time, 0))) {
      const range = { start: venueTradeKey(venue, time + 1, 0), reverse: true, limit: 1 }
      for (const last of this.#venueTrades.getKeys({ ...range, exclusiveStart: true })) {
        ordinal = last.readUInt32BE(9) + 1
      }
    }
    this.#venueTrades.putSync(venueTradeKey(venue, time, ordinal), venueRowValue(key))
  }

  #sumUp(market: MarketNumber, size: BarSize, trade: StoredTrade): void {
    const open = this.#open[size]
    if (open !== null && open.startMs === barStart(trade.timeMs, BAR_MS[size])) {
      this.#open[size] = joined(open, barOf(size, trade))
      return
    }
    this.#close(market, size)
    this.#open[size] = barOf(size, trade)
  }

  #close(market: MarketNumber, size: BarSize): void {
    const bar = this.#open[size]
    if (bar === null) return
    this.#open[size] = null
    const row = barRow(market, size, bar)
    this.#bars.putSync(row.key, row.value)
    if (size === 'minute') return
    const hour = Math.floor(bar.startMs / BAR_MS.hour)
    this.#hours.putSync(hourKey(hour, kindCode('minuteBars'), market), PRESENT)
  }
}

/** Market and ordinal of a trade's key, in the encoding of format 2. */
function venueRowValue(key: Buffer): Buffer {
  return Buffer.concat([key.subarray(0, 4), key.subarray(12, 16)])
}
