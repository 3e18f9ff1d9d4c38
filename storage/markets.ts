// The table of markets: the summary that lives in memory, the details that stay on disk, and the
// dense number that each market keeps for ever. Not for: prices and trades.
// Upholds STORE2 (numbers), STORE7 (a quick start).

import type { NativeMarketId, VenueKey } from '../engine/ids.ts'
import type { MarketListing, MarketNumber } from '../engine/market.ts'
import type { Environment } from './environment.ts'
import { KEY_END, KEY_START, nativeKey, numberKey } from './keys.ts'
import {
  detailsFields,
  detailsSchemas,
  LISTING_SCHEMA,
  marketFields,
  marketSchemas,
} from './listing-records.ts'
import type { ListingDetails, MarketSummary, MarketTable } from './storage.ts'
import type { Row, Table } from './table.ts'
import { TABLES } from './tables.ts'

/** Rows read at once by `all`, so that no cursor stays open while the caller works. */
const CHUNK_ROWS = 1_000

export class Markets implements MarketTable {
  readonly #numbers: Table
  readonly #summaries: Table
  readonly #details: Table
  #last: MarketNumber

  constructor(environment: Environment) {
    this.#numbers = environment.table(TABLES.marketNumbers)
    this.#summaries = environment.table(TABLES.markets)
    this.#details = environment.table(TABLES.marketDetails)
    const last = this.#summaries.first({ from: KEY_START, to: KEY_END, isReverse: true })
    this.#last = last === null ? 0 : last.key.readUInt32BE(0)
  }

  put(listing: MarketListing): MarketNumber {
    const idKey = nativeKey(listing.venue, listing.nativeId)
    const known = this.#numbers.get(idKey)
    const number = known === null ? this.#last + 1 : known.readUInt32BE(0)
    if (known === null) {
      this.#last = number
      this.#numbers.put(idKey, numberKey(number))
    }
    this.putSummary(number, listing)
    const key = numberKey(number)
    this.#details.putIfChanged(
      key,
      this.#details.encode(key, LISTING_SCHEMA, detailsFields(listing)),
    )
    return number
  }

  putSummary(number: MarketNumber, summary: MarketSummary): void {
    const key = numberKey(number)
    this.#summaries.putIfChanged(
      key,
      this.#summaries.encode(key, LISTING_SCHEMA, marketFields(summary)),
    )
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
    return this.#last
  }
}

/** Every row of a table without groups, in key order, read in chunks. */
export function* chunkedRows(table: Table): Iterable<Row> {
  let from = KEY_START
  for (;;) {
    const rows: Row[] = []
    table.scan({ from, to: KEY_END }, (row) => {
      rows.push(row)
      return rows.length < CHUNK_ROWS
    })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < CHUNK_ROWS) return
    from = Buffer.concat([last.key, Buffer.of(0)])
  }
}
