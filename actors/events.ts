// The events of both venues, and which markets each has: an event is known for as long as a market
// of it is. What a venue says of an event without a market of ours is not taken, so that an event
// that went with its last market does not come back at the next crawl.
// Not for: the markets themselves (actors/catalog.ts). Upholds CAT6, CAT9.

import { type NativeEventId, VENUE_KEYS, type VenueKey } from '../engine/ids.ts'
import type { EventListing, MarketNumber, MarketRef } from '../engine/market.ts'
import type { EventSummary, EventTable } from '../storage/storage.ts'

/** Bounded by the markets. */
export class Events {
  readonly #table: EventTable
  readonly #summaries = { a: new Map<string, EventSummary>(), b: new Map<string, EventSummary>() }
  readonly #marketCounts = { a: new Map<string, number>(), b: new Map<string, number>() }
  readonly #eventOf = new Map<MarketNumber, NativeEventId>()

  constructor(table: EventTable) {
    this.#table = table
  }

  /** Comes back with everything the last run knew; before its markets do. */
  load(): void {
    for (const event of this.#table.all()) this.#summaries[event.venue].set(event.nativeId, event)
  }

  get(venue: VenueKey, nativeId: string): EventSummary | null {
    return this.#summaries[venue].get(nativeId) ?? null
  }

  hasMarkets(venue: VenueKey, nativeId: string): boolean {
    return this.#marketCounts[venue].has(nativeId)
  }

  /** Learns or changes an event; stored only when something changed. */
  take(listing: EventListing): void {
    const { description: _, native: __, ...summary } = listing
    const known = this.get(listing.venue, listing.nativeId)
    if (known !== null && JSON.stringify(known) === JSON.stringify(summary)) return
    this.#table.put(listing)
    this.#summaries[listing.venue].set(listing.nativeId, summary)
  }

  /** Puts a market under its event, or under none; an event left by its last market goes. */
  place({ venue, number }: MarketRef, event: NativeEventId | null): void {
    const before = this.#eventOf.get(number) ?? null
    if (before === event) return
    const counts = this.#marketCounts[venue]
    if (event === null) this.#eventOf.delete(number)
    else {
      this.#eventOf.set(number, event)
      counts.set(event, (counts.get(event) ?? 0) + 1)
    }
    if (before === null) return
    const left = (counts.get(before) ?? 0) - 1
    if (left > 0) counts.set(before, left)
    else {
      counts.delete(before)
      this.#forget(venue, before)
    }
  }

  /** After the markets came back: events that have none are of no use. */
  forgetEmpty(): void {
    for (const venue of VENUE_KEYS) {
      for (const { nativeId } of this.#summaries[venue].values()) {
        if (!this.hasMarkets(venue, nativeId)) this.#forget(venue, nativeId)
      }
    }
  }

  #forget(venue: VenueKey, nativeId: NativeEventId): void {
    if (this.#summaries[venue].delete(nativeId)) this.#table.remove(venue, nativeId)
  }
}
