// Read interface of the catalogue. `Catalog` fills it from the venues' listings, `MirrorCatalog` from the engine's log.

import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { type NativeMarketId, type OutcomeId, outcomeId, type VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketStatus, ReadEvent } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { SlicedWork } from '../../engine/time-slices.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type {
  EventSummary,
  EventTable,
  MarketSummary,
  VenueTrade,
} from '../../storage/contract/storage.ts'
import type {
  CatalogView,
  CatalogWatcher,
  EventFilter,
  EventPage,
  EventView,
  ListQuery,
  MarketPage,
  MarketView,
  PageQuery,
  SearchQuery,
  SliceQuery,
} from '../views.ts'
import { isRelisted, isReworded } from './changes.ts'
import { Events } from './events.ts'
import { CatalogLists, type SearchIndex } from './lists.ts'
import { MarketColumns, type VolumeRange } from './market-columns.ts'
import { type MarketEntry, MarketRegistry } from './market-registry.ts'
import type { MarketText } from './search.ts'

export abstract class CatalogLookup<Entry extends MarketEntry> implements CatalogView {
  readonly names: VenueTable
  isLoaded = false
  protected readonly registry = new MarketRegistry<Entry>()
  protected readonly events: Events
  protected readonly columns: MarketColumns
  protected readonly lists: CatalogLists
  readonly #index: SearchIndex
  readonly #watchers: CatalogWatcher[] = []

  constructor(parts: { names: VenueTable; clock: Clock; table: EventTable; index: SearchIndex }) {
    this.names = parts.names
    this.#index = parts.index
    const market = (number: MarketNumber) => this.byNumber(number)
    this.events = new Events(parts.table, {
      platform: (venue) => this.names.platform(venue),
      market,
      volume24h: (number) => this.columns.volume24h(number),
    })
    this.columns = new MarketColumns(this.events.columns)
    this.lists = new CatalogLists({
      clock: parts.clock,
      columns: this.columns,
      events: this.events,
      index: parts.index,
      market,
    })
  }

  abstract readonly recordsSinceMs: TimeMs
  abstract venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[]
  abstract oldestVenueTradeMs(venue: VenueKey): TimeMs | null

  /** Calls `onListed` for every known market before it returns. */
  watch(watcher: CatalogWatcher): void {
    this.#watchers.push(watcher)
    for (const { actor } of this.registry.all()) watcher.onListed(actor)
  }

  protected notifyListed(market: MarketView): void {
    for (const watcher of this.#watchers) watcher.onListed(market)
  }

  /** A new title also changes the search text of each market of the event. */
  protected takeEvent(listing: ReadEvent): void {
    const { isChanged, isRetitled } = this.events.take(listing)
    if (!isChanged) return
    const markets = this.marketsOfEvent(listing.venue, listing.nativeId)
    if (isRetitled) {
      for (const { ref, summary } of markets) this.#index.put(ref.number, summary, listing.title)
    }
    for (const watcher of this.#watchers) watcher.onEvent?.(markets)
  }

  protected register(entry: Entry): Entry {
    const { actor } = entry
    this.registry.add(entry)
    this.#assignEvent(actor)
    this.#index.put(actor.ref.number, actor.summary, this.eventTitle(actor.summary))
    this.notifyListed(actor)
    return entry
  }

  /** Also removes the market's event if the event has no other market. */
  protected unregister(market: MarketView, publisher: Pick<Publisher, 'removeMarket'>): void {
    const { number } = market.ref
    this.registry.remove(number, this.columns.summary(number) ?? market.summary)
    this.#index.remove(number)
    const event = this.events.eventOf(number)
    this.events.assignMarket(market.ref, null)
    this.columns.remove(number)
    if (event !== null) this.events.removeIfEmpty(event)
    publisher.removeMarket(number)
    for (const watcher of this.#watchers) watcher.onRemoved(market)
  }

  protected note(market: MarketView): void {
    const { summary } = market
    const { number } = market.ref
    const before = this.columns.summary(number)
    if (before === null) return
    if (before === summary) {
      this.columns.moveVolumes(market)
      for (const watcher of this.#watchers) watcher.onMoved?.(market)
      return
    }
    this.registry.rekey(number, before, summary)
    this.#assignEvent(market)
    if (isReworded(before, summary)) this.#index.put(number, summary, this.eventTitle(summary))
    for (const watcher of this.#watchers) watcher.onChanged?.(market)
    if (isRelisted(before, summary)) this.notifyListed(market)
  }

  /** Also removes the previous event if it has no market left. */
  #assignEvent(market: MarketView): void {
    const { number } = market.ref
    const before = this.events.eventOf(number)
    const event = this.events.assignMarket(market.ref, market.summary.event)
    this.columns.put(market, event?.number ?? 0)
    if (before !== null && before !== event) this.events.removeIfEmpty(before)
  }

  protected eventTitle(summary: MarketSummary): string | null {
    return summary.event === null ? null : (this.event(summary.venue, summary.event)?.title ?? null)
  }

  entryOfOutcome(venue: VenueKey, outcome: OutcomeId): Entry | null {
    return this.registry.ofOutcome(venue, outcome)
  }

  entryOfNative(venue: VenueKey, nativeId: NativeMarketId): Entry | null {
    return this.registry.ofNative(venue, nativeId)
  }

  entryOfNumber(number: MarketNumber): Entry | null {
    return this.registry.get(number)
  }

  openByVolume(venue: VenueKey, range: VolumeRange): SlicedWork<Uint32Array> {
    return this.columns.openByVolume(venue, range)
  }

  *texts(): Iterable<MarketText> {
    for (const { actor } of this.registry.all()) {
      const { ref, summary } = actor
      yield { number: ref.number, summary, eventTitle: this.eventTitle(summary) }
    }
  }

  entries(): Iterable<Entry> {
    return this.registry.all()
  }

  get hasEveryVenue(): boolean {
    return this.names.keys.every((venue) => this.registry.has(venue))
  }

  get marketCount(): number {
    return this.registry.count
  }

  find(id: string): MarketView | null {
    const split = this.names.split(id)
    if (split === null) return null
    return this.registry.ofNative(split.venue, split.native)?.actor ?? null
  }

  findBySlug(slug: string): MarketView | null {
    let best: MarketView | null = null
    for (const { actor } of this.registry.ofSlug(slug)) {
      if (best === null || actor.volume24h > best.volume24h) best = actor
    }
    return best
  }

  *markets(venue: VenueKey | null): Iterable<MarketView> {
    for (const { actor } of this.registry.all()) {
      if (venue === null || actor.ref.venue === venue) yield actor
    }
  }

  byNumber(number: MarketNumber): MarketView | null {
    return this.registry.get(number)?.actor ?? null
  }

  findByOutcome(venue: VenueKey, outcome: string): MarketView | null {
    return this.registry.ofOutcome(venue, outcomeId(outcome))?.actor ?? null
  }

  allBySlug(venue: VenueKey, slug: string): MarketView[] {
    const markets = this.registry.ofSlug(slug).filter(({ actor }) => actor.ref.venue === venue)
    return markets.map(({ actor }) => actor)
  }

  counts(): Readonly<Partial<Record<VenueKey, Record<MarketStatus, number>>>> {
    return this.columns.counts(this.names.keys)
  }

  event(venue: VenueKey, nativeId: string): EventSummary | null {
    return this.events.get(venue, nativeId)
  }

  eventBySlug(slug: string): EventView | null {
    return this.events.bySlug(slug)
  }

  /** In order of event numbers. */
  listedEvents(): Iterable<EventSummary> {
    return this.events.listed()
  }

  eventCount(): number {
    return this.events.count
  }

  marketsOfEvent(venue: VenueKey, nativeId: string): MarketView[] {
    return this.#viewsOf(this.events.marketsOf(venue, nativeId))
  }

  marketsOfSeries(venue: VenueKey, series: string): MarketView[] {
    return this.#viewsOf(this.events.marketsOfSeries(venue, series))
  }

  #viewsOf(numbers: Iterable<MarketNumber>): MarketView[] {
    const views: MarketView[] = []
    for (const number of numbers) {
      const view = this.byNumber(number)
      if (view !== null) views.push(view)
    }
    return views
  }

  list(query: ListQuery): MarketPage | 'expired' {
    return this.lists.list(query)
  }

  search(query: SearchQuery, requester?: Requester): MarketPage | 'expired' | Promise<MarketPage> {
    return this.lists.search(query, requester)
  }

  listEvents(query: PageQuery & { readonly filter: EventFilter }): EventPage | 'expired' {
    return this.lists.events(query)
  }
}
