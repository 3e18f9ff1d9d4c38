// Trades by market and by venue in LMDB with the defaults of lmdb-js: one MessagePack row per trade, with shared
// structures.

import { type Database, open, type RootDatabase } from 'lmdb'
import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { StoredTrade, VenueTrade } from '../../storage/contract/storage.ts'
import { openDatabase } from '../../storage/lmdb/environment.ts'
import { tradeKey, venueTradeKey } from '../../storage/records/keys.ts'

export class BareTrades {
  readonly #root: RootDatabase<Buffer, Buffer>
  readonly #trades: Database<StoredTrade, Buffer>
  readonly #byVenue: Database<Buffer, Buffer>

  constructor(folder: string) {
    this.#root = openDatabase(folder)
    const sharedStructuresKey = Buffer.of(0xff)
    this.#trades = open<StoredTrade, Buffer>(`${folder}/trades`, {
      keyEncoding: 'binary',
      sharedStructuresKey,
    })
    this.#byVenue = this.#root.openDB<Buffer, Buffer>('byVenue', {
      encoding: 'binary',
      keyEncoding: 'binary',
    })
  }

  async put(venue: VenueKey, rows: readonly VenueTrade[]): Promise<void> {
    for (const { market, venueOrdinal, trade } of rows) {
      const key = tradeKey(market, trade.timeMs, trade.ordinal)
      void this.#trades.put(key, trade)
      void this.#byVenue.put(venueTradeKey(venue, trade.timeMs, venueOrdinal), key)
    }
    await Promise.all([this.#trades.flushed, this.#byVenue.flushed])
  }

  ofMarket(market: MarketNumber, { isReverse, limit }: BareQuery): readonly StoredTrade[] {
    const [low, high] = [tradeKey(market, 0, 0), tradeKey(market, Number.MAX_SAFE_INTEGER, 0)]
    return [...this.#trades.getRange(bareRange(low, high, { isReverse, limit }))].map(
      ({ value }) => value,
    )
  }

  ofVenue(venue: VenueKey, query: BareQuery): readonly StoredTrade[] {
    const [low, high] = [
      venueTradeKey(venue, 0, 0),
      venueTradeKey(venue, Number.MAX_SAFE_INTEGER, 0),
    ]
    const found: StoredTrade[] = []
    for (const { value } of this.#byVenue.getRange(bareRange(low, high, query))) {
      const trade = this.#trades.get(value)
      if (trade !== undefined) found.push(trade)
    }
    return found
  }

  async close(): Promise<void> {
    await Promise.all([this.#trades.close(), this.#root.close()])
  }
}

interface BareQuery {
  readonly isReverse: boolean
  readonly limit: number
}

function bareRange(low: Buffer, high: Buffer, { isReverse, limit }: BareQuery) {
  if (isReverse) return { start: high, end: low, reverse: true, limit }
  return { start: low, end: high, limit }
}
