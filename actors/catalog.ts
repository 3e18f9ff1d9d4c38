// Which markets exist: takes the venues' catalogues, spawns one actor a market, finds markets by any
// of their ids, lists them, and forgets them once they are history.
// Not for: when a venue is read (actors/venue.ts), or how long history is kept (the configuration).
// Upholds CAT1 to CAT10.

import type { Clock } from '../engine/clock.ts'
import type { NativeMarketId, OutcomeId, VenueKey, VenueNames } from '../engine/ids.ts'
import type { EventListing, MarketListing, MarketNumber, MarketStatus } from '../engine/market.ts'
import type { TimeMs } from '../engine/units.ts'
import type { EventSummary, MarketSummary, Storage } from '../storage/storage.ts'
import { Events } from './events.ts'
import { MarketActor, type MarketMessage } from './market.ts'
import type { MarketParts } from './market-parts.ts'
import { MarketSearch } from './market-search.ts'
import { type MarketSeat, MarketSeats } from './market-seats.ts'
import { OldMarkets } from './old-markets.ts'
import { filterKey, passes, rank } from './ranking-rules.ts'
import { Rankings } from './rankings.ts'
import type { System } from './system.ts'
import type { CatalogView, MarketFilter, MarketOrder, MarketPage, MarketView } from './views.ts'

export type { MarketSeat } from './market-seats.ts'

const RELEVANCE_MAX = 10_000
const DAY_MS = 86_400_000

export class Catalog implements CatalogView {
  readonly names: VenueNames
  isLoaded = false
  readonly #system: System
  readonly #storage: Storage
  readonly #parts: MarketParts
  readonly #search = new MarketSearch()
  readonly #rankings: Rankings
  readonly #seats = new MarketSeats()
  readonly #events: Events
  readonly #old: OldMarkets

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
    this.#events = new Events(parts.storage.events)
    this.#old = new OldMarkets(parts.storage)
  }

  /** Comes back with everything the last run knew; returns how many markets. */
  load(): number {
    this.#events.load()
    for (const { number, summary } of this.#storage.markets.all()) this.#seat(number, summary)
    this.#events.forgetEmpty()
    return this.#seats.count
  }

  /**
   * Takes a page of a venue's catalogue; returns the markets that were not known before. Left out
   * are unknown markets that `forget` would drop again, and events of which no market is known.
   */
  take(page: {
    readonly markets: readonly MarketListing[]
    readonly events: readonly EventListing[]
  }): MarketSeat[] {
    const markets = page.markets.filter(
      (listing) =>
        this.seatOfNative(listing.venue, listing.nativeId) !== null || !this.#old.isOld(listing),
    )
    // Events first, since a market's search text has its event's title.
    const named = new Set(markets.map(({ venue, event }) => `${venue}${event}`))
    for (const listing of page.events) {
      const { venue, nativeId } = listing
      const isNamed = named.has(`${venue}${nativeId}`)
      if (isNamed || this.#events.hasMarkets(venue, nativeId)) this.#events.take(listing)
    }
    const fresh: MarketSeat[] = []
    for (const listing of markets) {
      const known = this.seatOfNative(listing.venue, listing.nativeId)
      if (known === null) {
        const number = this.#storage.markets.put(listing)
        fresh.push(this.#seat(number, summaryOf(listing)))
      } else {
        this.#takeKnown(known, listing)
      }
    }
    return fresh
  }

  #takeKnown(seat: MarketSeat, listing: MarketListing): void {
    const summary = summaryOf(listing)
    if (isSame(seat.actor.summary, summary)) return
    if (seat.actor.summary.question !== summary.question) {
      this.#storage.markets.put(listing)
      this.#search.put(seat.actor.ref.number, summary, this.#eventTitle(summary))
    }
    this.#seats.rekey(seat.actor.ref.number, summary)
    this.#events.place(seat.actor.ref, summary.event)
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
    const seat = this.#seats.add({ actor, cell: this.#system.spawn<MarketMessage>(actor) })
    this.#events.place(ref, summary.event)
    this.#search.put(number, summary, this.#eventTitle(summary))
    return seat
  }

  #eventTitle(summary: MarketSummary): string | null {
    return summary.event === null ? null : (this.event(summary.venue, summary.event)?.title ?? null)
  }

  // Forgetting

  /**
   * Forgets at most `countMax` markets that are resolved, ended over `retentionDays` ago and have
   * neither trades nor ticks left, each event with its last market; returns how many. Looks at a
   * slice of the markets, so it is called again and again. From then on a page that lists a market
   * so old does not bring it back.
   */
  forget(nowMs: TimeMs, retentionDays: number, countMax: number): number {
    this.#old.keepFrom(nowMs - retentionDays * DAY_MS)
    const seats = this.#old.next(this.#seats.all(), countMax)
    for (const { actor } of seats) {
      const { number } = actor.ref
      this.#storage.markets.remove(number)
      this.#seats.remove(number)
      this.#search.remove(number)
      this.#events.place(actor.ref, null)
      this.#parts.publisher.forget(number)
    }
    return seats.length
  }

  // Finding

  seatOfOutcome(venue: VenueKey, outcome: OutcomeId): MarketSeat | null {
    return this.#seats.ofOutcome(venue, outcome)
  }

  seatOfNative(venue: VenueKey, nativeId: NativeMarketId): MarketSeat | null {
    return this.#seats.ofNative(venue, nativeId)
  }

  seats(): Iterable<MarketSeat> {
    return this.#seats.all()
  }

  /** Whether markets of both venues are known. */
  get hasEveryVenue(): boolean {
    return this.#seats.has('a') && this.#seats.has('b')
  }

  get marketCount(): number {
    return this.#seats.count
  }

  find(id: string): MarketView | null {
    const split = this.names.split(id)
    if (split === null) return null
    return this.#seats.ofNative(split.venue, split.native)?.actor ?? null
  }

  findBySlug(slug: string): MarketView | null {
    let best: MarketActor | null = null
    for (const { actor } of this.#seats.ofSlug(slug)) {
      if (best === null || actor.volume24h > best.volume24h) best = actor
    }
    return best
  }

  event(venue: VenueKey, nativeId: string): EventSummary | null {
    return this.#events.get(venue, nativeId)
  }

  *markets(venue: VenueKey | null): Iterable<MarketView> {
    for (const { actor } of this.#seats.all()) {
      if (venue === null || actor.ref.venue === venue) yield actor
    }
  }

  counts(): Record<VenueKey, Record<MarketStatus, number>> {
    const none = () => ({ open: 0, closed: 0, resolved: 0 })
    const counts = { a: none(), b: none() }
    for (const { actor } of this.#seats.all()) {
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
    const page = this.#page(opened.markets, query.offset, query.limit)
    const next = page.next === null ? null : { pin: opened.pin, offset: page.next }
    return { markets: page.markets, total: opened.markets.length, next }
  }

  /**
   * The markets of a ranking from `offset` on, and where the next page begins, if anything is left
   * for it: a market forgotten since the ranking was cut has no place in either.
   */
  #page(
    ranking: ArrayLike<MarketNumber>,
    offset: number,
    limit: number,
  ): { markets: MarketView[]; next: number | null } {
    const markets: MarketView[] = []
    for (let position = offset; position < ranking.length; position += 1) {
      const seat = this.#seats.get(ranking[position] ?? 0)
      if (seat === null) continue
      if (markets.length === limit) return { markets, next: position }
      markets.push(seat.actor)
    }
    return { markets, next: null }
  }

  #cut(filter: MarketFilter, sortBy: MarketOrder, order: 'asc' | 'desc'): Uint32Array {
    if (filter.search === null) {
      const passing: MarketActor[] = []
      for (const { actor } of this.#seats.all()) if (passes(actor, filter)) passing.push(actor)
      return rank(passing, sortBy, order)
    }
    const found: MarketActor[] = []
    for (const { number } of this.#search.find(filter.search)) {
      const actor = this.#seats.get(number)?.actor
      if (actor !== undefined && passes(actor, filter)) found.push(actor)
    }
    if (sortBy !== 'relevance') return rank(found, sortBy, order)
    return Uint32Array.from(found.slice(0, RELEVANCE_MAX), (actor) => actor.ref.number)
  }
}

/** Field by field: a rest pattern gives every one of the many summaries a hidden class of its own. */
function summaryOf(listing: MarketListing): MarketSummary {
  return {
    venue: listing.venue,
    nativeId: listing.nativeId,
    slug: listing.slug,
    question: listing.question,
    status: listing.status,
    isUnopened: listing.isUnopened,
    outcomes: listing.outcomes,
    event: listing.event,
    eventSlug: listing.eventSlug,
    category: listing.category,
    tags: listing.tags,
    image: listing.image,
    url: listing.url,
    createdAtMs: listing.createdAtMs,
    openAtMs: listing.openAtMs,
    closeAtMs: listing.closeAtMs,
    tickMicros: listing.tickMicros,
    lastPrice: listing.lastPrice,
    bestBid: listing.bestBid,
    bestAsk: listing.bestAsk,
    volume24h: listing.volume24h,
    volumeTotal: listing.volumeTotal,
    openInterest: listing.openInterest,
    settlementPrice: listing.settlementPrice,
  }
}

/** Equal as JSON: summaries are plain records with keys in one order. */
function isSame(one: MarketSummary, other: MarketSummary): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
