// Markets. Summaries are loaded into memory, details stay on disk. Each market has a permanent number, assigned
// consecutively and never reused.

import type { NativeMarketId, VenueKey } from '../engine/ids.ts'
import type { MarketListing, MarketNumber } from '../engine/market/market.ts'
import type { ListingDetails, MarketSummary } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY, type Table } from './lmdb/table.ts'
import { Marks } from './marks.ts'
import { nativeKey, numberKey } from './records/keys.ts'
import { detailsCodec, marketCodec } from './records/listings.ts'
import { TABLES } from './tables.ts'

/** This row preserves the highest number after the market with that number is removed. */
const LAST_NUMBER_MARK = 'last_market_number'

interface MarketOwned {
  removeMarket(market: MarketNumber): void
}

export class Markets {
  readonly #numbers: Table
  readonly #summaries: RecordTable<MarketSummary>
  readonly #details: RecordTable<ListingDetails>
  readonly #checkpoints: Table
  readonly #marks: Marks
  readonly #owned: readonly MarketOwned[]
  #last: MarketNumber
  #count: number

  /** `owned`: tables whose rows are deleted together with their market. */
  constructor(environment: Environment, owned: readonly MarketOwned[]) {
    this.#owned = owned
    this.#numbers = environment.table(TABLES.marketNumbers)
    this.#summaries = new RecordTable(environment.table(TABLES.markets), marketCodec)
    this.#details = new RecordTable(environment.table(TABLES.marketDetails), detailsCodec)
    this.#checkpoints = environment.table(TABLES.checkpoints)
    this.#marks = new Marks(environment.table(TABLES.marks))
    const { rows } = this.#summaries
    const last = rows.first({ ...EVERY_KEY, isReverse: true })?.key.readUInt32BE(0) ?? 0
    this.#last = Math.max(last, this.#marks.get(LAST_NUMBER_MARK) ?? 0)
    this.#count = rows.committedCount()
  }

  /** Stores or replaces a listing. Assigns a permanent number to a new market. */
  put(listing: MarketListing): MarketNumber {
    const idKey = nativeKey(listing.venue, listing.nativeId)
    const existing = this.#numbers.get(idKey)
    const number = existing === null ? this.#last + 1 : existing.readUInt32BE(0)
    const key = numberKey(number)
    if (existing === null) {
      this.#last = number
      this.#count += 1
      this.#numbers.put(idKey, key)
    }
    this.#summaries.putIfChanged(key, listing)
    this.#details.putIfChanged(key, listing)
    return number
  }

  /** Replaces only the summary (status, prices, volumes). Does nothing if the market is not stored. */
  putSummary(number: MarketNumber, summary: MarketSummary): void {
    const key = numberKey(number)
    if (this.#summaries.rows.has(key)) this.#summaries.putIfChanged(key, summary)
  }

  /**
   * Removes the listing, the native id lookup, the checkpoint, hour bars and past prices. Does nothing if the market is
   * not stored. Retention later removes trades, minute bars, snapshots and ticks. Until then they refer to a market
   * without a listing.
   */
  remove(number: MarketNumber): void {
    const key = numberKey(number)
    const summary = this.#summaries.get(key)
    if (summary === null) return
    // The summary is removed last. If the disk becomes full before that, `all` still lists the market and a later call
    // can remove it.
    this.#marks.put(LAST_NUMBER_MARK, this.#last)
    this.#numbers.remove(nativeKey(summary.venue, summary.nativeId))
    this.#details.rows.remove(key)
    this.#checkpoints.remove(key)
    for (const table of this.#owned) table.removeMarket(number)
    this.#summaries.rows.remove(key)
    this.#count -= 1
  }

  number(venue: VenueKey, nativeId: NativeMarketId): MarketNumber | null {
    return this.#numbers.get(nativeKey(venue, nativeId))?.readUInt32BE(0) ?? null
  }

  details(number: MarketNumber): ListingDetails | null {
    return this.#details.get(numberKey(number))
  }

  /** In order of number. */
  *all(): Iterable<{ readonly number: MarketNumber; readonly summary: MarketSummary }> {
    for (const row of this.#summaries.rows.all()) {
      const summary = this.#summaries.decode(row)
      if (summary !== null) yield { number: row.key.readUInt32BE(0), summary }
    }
  }

  count(): number {
    return this.#count
  }
}
