// Which markets exist: takes the venues' catalogues, spawns one actor a market, finds markets by any
// of their ids, and lists them. Also routes each venue event to its owner by one map look-up.
// Not for: when a venue is read (actors/venue.ts). Upholds CAT1 to CAT6.

import type { Clock } from '../engine/clock.ts'
import type {
  NativeEventId,
  NativeMarketId,
  OutcomeId,
  VenueKey,
  VenueNames,
} from '../engine/ids.ts'
import type { EventListing, MarketListing, MarketNumber, MarketStatus } from '../engine/market.ts'
import type { EventSummary, MarketSummary, Storage } from '../storage/storage.ts'
import { MarketActor, type MarketMessage } from './market.ts'
import type { MarketParts } from './market-parts.ts'
import { MarketSearch } from './market-search.ts'
import { compareMarkets, filterKey, passes } from './ranking-rules.ts'
import { Rankings } from './rankings.ts'
import type { Cell, System } from './system.ts'
import type { CatalogView, MarketFilter, MarketOrder, MarketPage, MarketView } from './views.ts'

/** A market's actor, the door to its mailbox. */
export interface MarketSeat {
  readonly actor: MarketActor
  readonly cell: Cell<MarketMessage>
}

const RELEVANCE_MAX = 10_000

export class Catalog implements CatalogView {
  readonly names: VenueNames
  isLoaded = false
  readonly #system: System
  readonly #storage: Storage
  readonly #parts: MarketParts
  readonly #search = new MarketSearch()
  readonly #rankings: Rankings
  readonly #byNumber = new Map<MarketNumber, MarketSeat>()
  readonly #byNative = { a: new Map<string, MarketSeat>(), b: new Map<string, MarketSeat>() }
  readonly #byOutcome = { a: new Map<OutcomeId, MarketSeat>(), b: new Map<OutcomeId, MarketSeat>() }
  readonly #bySlug = new Map<string, MarketSeat[]>()
  readonly #events = { a: new Map<string, EventSummary>(), b: new Map<string, EventSummary>() }

  constructor(parts: {
    names: VenueNames
    clock: Clock
    system: System
    storage: Storage
    market: MarketParts
  }) {
    this.names = parts.names
    this.#system = parts.system
    this.#storage = parts.storage
    this.#parts = parts.market
    this.#rankings = new Rankings(parts.clock)
  }

  /** Comes back with everything the last run knew; returns how many markets. */
  load(): number {
    for (const event of this.#storage.events.all())
      this.#events[event.venue].set(event.nativeId, event)
    let count = 0
    for (const { number, summary } of this.#storage.markets.all()) {
      this.#seat(number, summary)
      count += 1
    }
    return count
  }

  /** Takes a page of a venue's catalogue; returns the markets that were not known before. */
  take(page: {
    readonly markets: readonly MarketListing[]
    readonly events: readonly EventListing[]
  }): MarketSeat[] {
    for (const listing of page.events) this.#takeEvent(listing)
    const fresh: MarketSeat[] = []
    for (const listing of page.markets) {
      const known = this.#byNative[listing.venue].get(listing.nativeId.toLowerCase())
      if (known === undefined) {
        const number = this.#storage.markets.put(listing)
        fresh.push(this.#seat(number, summaryOf(listing)))
      } else {
        this.#takeKnown(known, listing)
      }
    }
    return fresh
  }

  #takeEvent(listing: EventListing): void {
    const { description: _, native: __, ...summary } = listing
    const known = this.#events[listing.venue].get(listing.nativeId)
    if (known !== undefined && isSame(known, summary)) return
    this.#storage.events.put(listing)
    this.#events[listing.venue].set(listing.nativeId, summary)
  }

  #takeKnown(seat: MarketSeat, listing: MarketListing): void {
    const summary = summaryOf(listing)
    if (isSame(seat.actor.summary, summary)) return
    if (seat.actor.summary.question !== summary.question) {
      this.#storage.markets.put(listing)
      this.#search.put(seat.actor.ref.number, summary, this.#eventTitle(summary))
    }
    seat.cell.tell({ kind: 'summary', summary })
  }

  #seat(number: MarketNumber, summary: MarketSummary): MarketSeat {
    const { venue, nativeId } = summary
    const ref = {
      id: this.names.marketId(venue, nativeId),
      number,
      venue,
      platform: this.names.platform(venue),
      nativeId,
    }
    const actor = new MarketActor(ref, summary, this.#parts)
    const seat = { actor, cell: this.#system.spawn<MarketMessage>(actor) }
    this.#byNumber.set(number, seat)
    this.#byNative[venue].set(nativeId.toLowerCase(), seat)
    for (const outcome of summary.outcomes) this.#byOutcome[venue].set(outcome.id, seat)
    const slug = summary.slug.toLowerCase()
    const sharing = this.#bySlug.get(slug)
    if (sharing === undefined) this.#bySlug.set(slug, [seat])
    else sharing.push(seat)
    this.#search.put(number, summary, this.#eventTitle(summary))
    return seat
  }

  #eventTitle(summary: MarketSummary): string | null {
    return summary.event === null ? null : (this.event(summary.venue, summary.event)?.title ?? null)
  }

  // Finding

  seatOfOutcome(venue: VenueKey, outcome: OutcomeId): MarketSeat | null {
    return this.#byOutcome[venue].get(outcome) ?? null
  }

  seatOfNative(venue: VenueKey, nativeId: NativeMarketId): MarketSeat | null {
    return this.#byNative[venue].get(nativeId.toLowerCase()) ?? null
  }

  seats(): Iterable<MarketSeat> {
    return this.#byNumber.values()
  }

  get marketCount(): number {
    return this.#byNumber.size
  }

  find(id: string): MarketView | null {
    const split = this.names.split(id)
    if (split === null) return null
    return this.#byNative[split.venue].get(split.native.toLowerCase())?.actor ?? null
  }

  findBySlug(slug: string): MarketView | null {
    let best: MarketActor | null = null
    for (const { actor } of this.#bySlug.get(slug.toLowerCase()) ?? []) {
      if (best === null || actor.volume24h > best.volume24h) best = actor
    }
    return best
  }

  event(venue: VenueKey, nativeId: NativeEventId | string): EventSummary | null {
    return this.#events[venue].get(nativeId) ?? null
  }

  *markets(venue: VenueKey | null): Iterable<MarketView> {
    for (const { actor } of this.#byNumber.values()) {
      if (venue === null || actor.ref.venue === venue) yield actor
    }
  }

  counts(): Record<VenueKey, Record<MarketStatus, number>> {
    const none = () => ({ open: 0, closed: 0, resolved: 0 })
    const counts = { a: none(), b: none() }
    for (const { actor } of this.#byNumber.values()) {
      counts[actor.ref.venue][actor.summary.status] += 1
    }
    return counts
  }

  // Listing

  list(query: {
    filter: MarketFilter
    sortBy: MarketOrder
    order: 'asc' | 'desc'
    pin: number | null
    offset: number
    limit: number
  }): MarketPage | 'expired' {
    const key = filterKey(query)
    const cut = () => this.#cut(query.filter, query.sortBy, query.order)
    const kept = query.pin === null ? null : this.#rankings.resume(query.pin, key)
    if (query.pin !== null && kept === null) return 'expired'
    const opened =
      kept === null ? this.#rankings.open(key, cut) : { pin: query.pin ?? 0, markets: kept }
    const end = Math.min(opened.markets.length, query.offset + query.limit)
    const markets: MarketView[] = []
    for (let position = query.offset; position < end; position += 1) {
      const seat = this.#byNumber.get(opened.markets[position] ?? 0)
      if (seat !== undefined) markets.push(seat.actor)
    }
    const hasMore = end < opened.markets.length
    return {
      markets,
      total: opened.markets.length,
      next: hasMore ? { pin: opened.pin, offset: end } : null,
    }
  }

  #cut(filter: MarketFilter, sortBy: MarketOrder, order: 'asc' | 'desc'): Uint32Array {
    if (filter.search === null) {
      const passing: MarketActor[] = []
      for (const { actor } of this.#byNumber.values())
        if (passes(actor, filter)) passing.push(actor)
      return this.#rank(passing, sortBy, order)
    }
    const found: MarketActor[] = []
    for (const { number } of this.#search.find(filter.search)) {
      const actor = this.#byNumber.get(number)?.actor
      if (actor !== undefined && passes(actor, filter)) found.push(actor)
    }
    if (sortBy !== 'relevance') return this.#rank(found, sortBy, order)
    return Uint32Array.from(found.slice(0, RELEVANCE_MAX), (actor) => actor.ref.number)
  }

  #rank(actors: MarketActor[], sortBy: MarketOrder, order: 'asc' | 'desc'): Uint32Array {
    actors.sort(compareMarkets(sortBy, order))
    return Uint32Array.from(actors, (actor) => actor.ref.number)
  }
}

function summaryOf(listing: MarketListing): MarketSummary {
  const { description: _, native: __, ...summary } = listing
  return summary
}

/** Equal as JSON: summaries are plain records with keys in one order. */
function isSame(one: MarketSummary | EventSummary, other: MarketSummary | EventSummary): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
