// Markets: the summary is loaded into memory, the details stay on disk, and each market has a dense, permanent number.
// Removing a market also removes its checkpoint, hour bars and past prices. Its number is not reused.

import type { NativeMarketId, VenueKey } from '../engine/ids.ts'
import type { MarketListing, MarketNumber } from '../engine/market/market.ts'
import type { ListingDetails, MarketSummary, MarketTable } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Row, Table } from './lmdb/table.ts'
import { Marks } from './marks.ts'
import { KEY_END, KEY_START, nativeKey, numberKey } from './records/keys.ts'
import {
  DETAILS_SCHEMA,
  detailsFields,
  detailsSchemas,
  MARKET_SCHEMA,
  marketFields,
  marketSchemas,
} from './records/listings.ts'
import { TABLES } from './tables.ts'

/** Rows read at once by `all`, so that no cursor stays open while the caller works. */
const CHUNK_ROWS = 1_000
/** Mark that preserves the highest number after that market is removed. */
const LAST_NUMBER_MARK = 'last_market_number'

/** A table whose rows are deleted only with their market. */
interface MarketOwned {
  removeMarket(market: MarketNumber): void
}

export class Markets implements MarketTable {
  readonly #numbers: Table
  readonly #summaries: Table
  readonly #details: Table
  readonly #checkpoints: Table
  readonly #marks: Marks
  readonly #owned: readonly MarketOwned[]
  #last: MarketNumber
  #count: number

  /** `owned`: tables whose rows of a market are deleted with it. */
  constructor(environment: Environment, owned: readonly MarketOwned[]) {
    this.#owned = owned
    this.#numbers = environment.table(TABLES.marketNumbers)
    this.#summaries = environment.table(TABLES.markets)
    this.#details = environment.table(TABLES.marketDetails)
    this.#checkpoints = environment.table(TABLES.checkpoints)
    this.#marks = new Marks(environment)
    const last = this.#summaries.first({ from: KEY_START, to: KEY_END, isReverse: true })
    const lastRow = last === null ? 0 : last.key.readUInt32BE(0)
    this.#last = Math.max(lastRow, this.#marks.get(LAST_NUMBER_MARK) ?? 0)
    this.#count = this.#summaries.committedCount()
  }

  put(listing: MarketListing): MarketNumber {
    const idKey = nativeKey(listing.venue, listing.nativeId)
    const existing = this.#numbers.get(idKey)
    const number = existing === null ? this.#last + 1 : existing.readUInt32BE(0)
    if (existing === null) {
      this.#last = number
      this.#count += 1
      this.#numbers.put(idKey, numberKey(number))
    }
    const key = numberKey(number)
    const summary = this.#summaries.encode(key, MARKET_SCHEMA, marketFields(listing))
    this.#summaries.putIfChanged(key, summary)
    this.#details.putIfChanged(
      key,
      this.#details.encode(key, DETAILS_SCHEMA, detailsFields(listing)),
    )
    return number
  }

  putSummary(number: MarketNumber, summary: MarketSummary): void {
    const key = numberKey(number)
    const existing = this.#summaries.get(key)
    if (existing === null) return
    const value = this.#summaries.encode(key, MARKET_SCHEMA, marketFields(summary))
    if (!value.equals(existing)) this.#summaries.put(key, value)
  }

  remove(number: MarketNumber): void {
    const key = numberKey(number)
    const summary = this.#summaries.getRecord(key, marketSchemas)
    if (summary === null) return
    // The summary is removed last: if the disk fills up before that, `all` still lists the market and it can be removed
    // again.
    this.#marks.put(LAST_NUMBER_MARK, this.#last)
    this.#numbers.remove(nativeKey(summary.venue, summary.nativeId))
    this.#details.remove(key)
    this.#checkpoints.remove(key)
    for (const table of this.#owned) table.removeMarket(number)
    this.#summaries.remove(key)
    this.#count -= 1
  }

  number(venue: VenueKey, nativeId: NativeMarketId): MarketNumber | null {
    return this.#numbers.get(nativeKey(venue, nativeId))?.readUInt32BE(0) ?? null
  }

  details(number: MarketNumber): ListingDetails | null {
    return this.#details.getRecord(numberKey(number), detailsSchemas)
  }

  *all(): Iterable<{ readonly number: MarketNumber; readonly summary: MarketSummary }> {
    for (const row of chunkedRows(this.#summaries)) {
      const summary = this.#summaries.decode(row, marketSchemas)
      if (summary !== null) yield { number: row.key.readUInt32BE(0), summary }
    }
  }

  count(): number {
    return this.#count
  }
}

/** All rows of a table without groups, or of a range, in key order, read in chunks. */
export function* chunkedRows(
  table: Table,
  range: { readonly from: Buffer; readonly to: Buffer } = { from: KEY_START, to: KEY_END },
): Iterable<Row> {
  let { from } = range
  for (;;) {
    const rows: Row[] = []
    table.scan({ from, to: range.to }, (row) => {
      rows.push(row)
      return rows.length < CHUNK_ROWS
    })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < CHUNK_ROWS) return
    from = Buffer.concat([last.key, Buffer.of(0)])
  }
}
