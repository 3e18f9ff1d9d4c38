// Events (groups of markets): the summary is loaded into memory, the details stay on disk.

import type { NativeEventId, VenueKey } from '../engine/ids.ts'
import type { EventListing } from '../engine/market/market.ts'
import type { EventSummary, EventTable, ListingDetails } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { nativeKey } from './records/keys.ts'
import {
  DETAILS_SCHEMA,
  detailsFields,
  detailsSchemas,
  EVENT_SCHEMA,
  eventFields,
  eventSchemas,
} from './records/listings.ts'
import { TABLES } from './tables.ts'

export class Events implements EventTable {
  readonly #summaries: Table
  readonly #details: Table
  #count: number

  constructor(environment: Environment) {
    this.#summaries = environment.table(TABLES.events)
    this.#details = environment.table(TABLES.eventDetails)
    this.#count = this.#summaries.committedCount()
  }

  put(listing: EventListing): void {
    const key = nativeKey(listing.venue, listing.nativeId)
    if (!this.#summaries.has(key)) this.#count += 1
    this.#summaries.putIfChanged(
      key,
      this.#summaries.encode(key, EVENT_SCHEMA, eventFields(listing)),
    )
    this.#details.putIfChanged(
      key,
      this.#details.encode(key, DETAILS_SCHEMA, detailsFields(listing)),
    )
  }

  remove(venue: VenueKey, nativeId: NativeEventId): void {
    const key = nativeKey(venue, nativeId)
    if (!this.#summaries.has(key)) return
    this.#details.remove(key)
    this.#summaries.remove(key)
    this.#count -= 1
  }

  details(venue: VenueKey, nativeId: NativeEventId): ListingDetails | null {
    return this.#details.getRecord(nativeKey(venue, nativeId), detailsSchemas)
  }

  *all(): Iterable<EventSummary> {
    for (const row of chunkedRows(this.#summaries)) {
      const summary = this.#summaries.decode(row, eventSchemas)
      if (summary !== null) yield summary
    }
  }

  count(): number {
    return this.#count
  }
}
