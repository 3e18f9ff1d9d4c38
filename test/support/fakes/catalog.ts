// Every lookup is a loop over all markets. A pinned list is a stored array.

import type {
  CatalogView,
  EventPage,
  EventView,
  MarketFilter,
  MarketPage,
  MarketView,
  PageQuery,
  SearchQuery,
  SliceQuery,
} from '../../../actors/views.ts'
import { ByVenue } from '../../../engine/by-venue.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import type { EventListing, MarketNumber, MarketStatus } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import { NOON } from '../worlds/builders.ts'
import { FakeEvent, hasTag, hasWords, isSame, isWantedEvent } from './events.ts'
import { type FakeMarket, slice } from './market.ts'

type ListQuery = Parameters<CatalogView['list']>[0]
type VenueTrade = ReturnType<CatalogView['venueTrades']>[number]
type EventQuery = Parameters<CatalogView['listEvents']>[0]

export class FakeCatalog implements CatalogView {
  readonly names: VenueTable
  isLoaded = true
  /** By unified market id in lower case. */
  readonly byId = new Map<string, FakeMarket>()
  readonly events: FakeEvent[] = []
  /** Pinned lists by number. A test deletes a list to let it expire. */
  readonly pins = new Map<number, readonly FakeMarket[]>()
  readonly eventPins = new Map<number, readonly FakeEvent[]>()
  readonly #tradesAt = new Map<string, number>()
  readonly #trades = new ByVenue((): VenueTrade[] => [])
  #pinCount = 0

  constructor(names: VenueTable) {
    this.names = names
  }

  /** The event is visible once a market refers to it. */
  addEvent(listing: EventListing): FakeEvent {
    const children = () => this.#childrenOf(listing.venue, listing.nativeId)
    const event = new FakeEvent(listing, this.names.platform(listing.venue), children)
    this.events.push(event)
    return event
  }

  noteTrade({ ref }: MarketView, trade: VenueTrade['trade']): void {
    const rows = this.#trades.of(ref.venue)
    const moment = `${ref.venue} ${trade.timeMs}`
    const venueOrdinal = this.#tradesAt.get(moment) ?? 0
    this.#tradesAt.set(moment, venueOrdinal + 1)
    rows.push({ market: ref.number, venueOrdinal, trade })
  }

  find(id: string): FakeMarket | null {
    return this.byId.get(id.toLowerCase()) ?? null
  }

  findBySlug(slug: string): FakeMarket | null {
    const found = this.#where(({ summary }) => isSame(summary.slug, slug))
    return found.sort((one, two) => two.volume24h - one.volume24h)[0] ?? null
  }

  findByOutcome(venue: VenueKey, outcome: string): FakeMarket | null {
    const found = this.#where(
      ({ ref, summary }) =>
        ref.venue === venue && summary.outcomes.some(({ id }) => id === outcome),
    )
    return found[0] ?? null
  }

  allBySlug(venue: VenueKey, slug: string): readonly FakeMarket[] {
    return this.#where(({ ref, summary }) => ref.venue === venue && isSame(summary.slug, slug))
  }

  event(venue: VenueKey, nativeId: string) {
    return this.#listed().find(({ summary }) => isEvent(summary, venue, nativeId))?.summary ?? null
  }

  marketsOfEvent(venue: VenueKey, nativeId: string): readonly FakeMarket[] {
    return this.#childrenOf(venue, nativeId)
  }

  marketsOfSeries(venue: VenueKey, series: string): readonly FakeMarket[] {
    return this.events
      .filter(({ summary }) => summary.venue === venue && isSame(summary.series, series))
      .flatMap(({ summary }) => this.#childrenOf(venue, summary.nativeId))
  }

  eventBySlug(slug: string): EventView | null {
    const found = this.#listed().filter(({ summary }) => isSame(summary.slug, slug))
    return found.sort((one, two) => two.volume24h - one.volume24h)[0] ?? null
  }

  listEvents(query: EventQuery): EventPage | 'expired' {
    const page = this.#page(this.eventPins, query, () =>
      this.#listed()
        .filter((event) => isWantedEvent(event, query.filter))
        .sort((one, two) => two.volume24h - one.volume24h),
    )
    if (page === 'expired') return 'expired'
    const { rows, total, next } = page
    return { events: rows, total, next }
  }

  venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[] {
    const rows = this.#trades.of(venue).map((row) => ({ ...row, timeMs: row.trade.timeMs }))
    const found = slice(rows, query, (row) => row.venueOrdinal)
    return found.map(({ market, venueOrdinal, trade }) => ({ market, venueOrdinal, trade }))
  }

  oldestVenueTradeMs(venue: VenueKey): TimeMs | null {
    const times = this.#trades.of(venue).map(({ trade }) => trade.timeMs)
    return times.sort((one, two) => one - two)[0] ?? null
  }

  byNumber(number: MarketNumber): FakeMarket | null {
    return this.#where(({ ref }) => ref.number === number)[0] ?? null
  }

  markets(venue: VenueKey | null): readonly FakeMarket[] {
    return this.#where(({ ref }) => venue === null || ref.venue === venue)
  }

  list(query: ListQuery): MarketPage | 'expired' {
    return this.#marketPage(query, () => this.#where(() => true))
  }

  async search(query: SearchQuery): Promise<MarketPage | 'expired'> {
    const { text, sortBy } = query
    // All matches have the same relevance here, so they are sorted by volume.
    const wanted = { ...query, sortBy: sortBy === 'relevance' ? ('volume' as const) : sortBy }
    return this.#marketPage(wanted, () =>
      this.#where(({ summary }) =>
        hasWords(`${summary.question} ${summary.slug} ${summary.tags.join(' ')}`, text),
      ),
    )
  }

  recordsSinceMs = NOON

  eventCount(): number {
    return this.#listed().length
  }

  counts() {
    const counts: Partial<Record<VenueKey, Record<MarketStatus, number>>> = {}
    for (const venue of this.names.keys) {
      const ofVenue = { open: 0, closed: 0, resolved: 0 }
      for (const { summary } of this.markets(venue)) ofVenue[summary.status] += 1
      counts[venue] = ofVenue
    }
    return counts
  }

  #where(isWanted: (market: FakeMarket) => boolean): FakeMarket[] {
    return [...this.byId.values()].filter(isWanted)
  }

  #listed(): FakeEvent[] {
    return this.events.filter(({ marketCount }) => marketCount > 0)
  }

  #childrenOf(venue: VenueKey, nativeId: string): FakeMarket[] {
    return this.#where(({ ref, summary }) => ref.venue === venue && isSame(summary.event, nativeId))
  }

  #marketPage(query: ListQuery, candidates: () => FakeMarket[]): MarketPage | 'expired' {
    const page = this.#page(this.pins, query, () =>
      candidates()
        .filter((market) => isWanted(market, query.filter))
        .sort((one, two) => compared(one, two, query)),
    )
    if (page === 'expired') return 'expired'
    const { rows, total, next } = page
    return { markets: rows, total, next }
  }

  #page<Row>(
    pins: Map<number, readonly Row[]>,
    { pin, offset, limit }: PageQuery,
    cut: () => readonly Row[],
  ) {
    const rows = pin === null ? cut() : pins.get(pin)
    if (rows === undefined) return 'expired' as const
    const same = [...pins].find(([, stored]) => isEqual(stored, rows))?.[0]
    const number = pin ?? same ?? ++this.#pinCount
    pins.set(number, rows)
    const end = offset + limit
    const next = end < rows.length ? { pin: number, offset: end } : null
    return { rows: rows.slice(offset, end), total: rows.length, next }
  }
}

function isEvent(
  summary: { readonly venue: VenueKey; readonly nativeId: string },
  venue: VenueKey,
  nativeId: string,
): boolean {
  return summary.venue === venue && isSame(summary.nativeId, nativeId)
}

function isWanted(market: FakeMarket, filter: MarketFilter): boolean {
  const { summary, ref } = market
  if (filter.venue !== null && ref.venue !== filter.venue) return false
  if (filter.status !== null && summary.status !== filter.status) return false
  if (filter.resolution !== null && summary.resolutionStatus !== filter.resolution) return false
  if (!isInPhase(market, filter)) return false
  if (filter.among !== null && !filter.among.markets.includes(ref.number)) return false
  if (filter.eventSlug !== null && !isSame(summary.eventSlug, filter.eventSlug)) return false
  if (filter.category !== null && !isSame(summary.category, filter.category)) return false
  if (!hasTag(summary.tags, filter.tags)) return false
  return (
    isWithin(market.volume24h, filter.volume24hMin, null) &&
    isWithin(market.volumeTotal, filter.volumeTotalMin, null) &&
    isWithin(summary.createdAtMs, filter.createdFromMs, filter.createdToMs)
  )
}

/** Markets that do not trade yet are listed only if the filter requests their status or phase. */
function isInPhase({ summary }: FakeMarket, { phase, status }: MarketFilter): boolean {
  if (phase === null) return !summary.isUnopened || status === 'closed'
  if (phase === 'any') return true
  if (summary.isUnopened) return phase === 'unopened'
  if (summary.status === 'open') return phase === 'open'
  return phase === 'ended' || phase === (summary.status === 'closed' ? 'closed' : 'settled')
}

/** Returns true if there are no bounds. An unknown value is never within bounds. */
function isWithin(value: number | null, least: number | null, most: number | null): boolean {
  if (least === null && most === null) return true
  return value !== null && value >= (least ?? value) && value <= (most ?? value)
}

/** Unknown values are last in both directions. Equal values are ordered by number. */
function compared(one: FakeMarket, other: FakeMarket, { sortBy, order }: ListQuery): number {
  const figure = (market: FakeMarket) => {
    if (sortBy === 'volume') return market.volume24h
    return sortBy === 'created_at' ? market.summary.createdAtMs : market.summary.closeAtMs
  }
  const [first, second] = [figure(one), figure(other)]
  if (first === null || second === null) {
    if (first !== second) return first === null ? 1 : -1
    return one.ref.number - other.ref.number
  }
  return (first - second) * (order === 'asc' ? 1 : -1) || one.ref.number - other.ref.number
}

function isEqual<Row>(one: readonly Row[], other: readonly Row[]): boolean {
  return one.length === other.length && one.every((row, position) => row === other[position])
}
