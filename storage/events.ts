import type { NativeEventId, VenueKey } from '../engine/ids.ts'
import type { EventListing } from '../engine/market/market.ts'
import type { EventSummary, ListingDetails } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { nativeKey } from './records/keys.ts'
import { detailsCodec, eventCodec } from './records/listings.ts'
import { TABLES } from './tables.ts'

export class Events {
  readonly #summaries: RecordTable<EventSummary>
  readonly #details: RecordTable<ListingDetails>
  #count: number

  constructor(environment: Environment) {
    this.#summaries = new RecordTable(environment.table(TABLES.events), eventCodec)
    this.#details = new RecordTable(environment.table(TABLES.eventDetails), detailsCodec)
    this.#count = this.#summaries.rows.committedCount()
  }

  put(listing: EventListing): void {
    const key = nativeKey(listing.venue, listing.nativeId)
    if (!this.#summaries.rows.has(key)) this.#count += 1
    this.#summaries.putIfChanged(key, listing)
    this.#details.putIfChanged(key, listing)
  }

  remove(venue: VenueKey, nativeId: NativeEventId): void {
    const key = nativeKey(venue, nativeId)
    if (!this.#summaries.rows.has(key)) return
    this.#details.rows.remove(key)
    this.#summaries.rows.remove(key)
    this.#count -= 1
  }

  details(venue: VenueKey, nativeId: NativeEventId): ListingDetails | null {
    return this.#details.get(nativeKey(venue, nativeId))
  }

  all(): Iterable<EventSummary> {
    return this.#summaries.all()
  }

  count(): number {
    return this.#count
  }
}
