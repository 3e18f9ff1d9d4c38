// Which markets exist: takes the venues' catalogues, spawns one actor a market, finds markets and events by any of their
// ids, and forgets old ones. An owner, called directly.
// Not for: when a venue is read (actors/venue/venue.ts), how lists are cut (actors/catalog/lists.ts), or how long history
// is kept (the configuration). Upholds CAT1 to CAT3, CAT6 to CAT11, CAT18, CAT19, CAT21.

import type { Clock } from '../../engine/clock.ts'
import { type NativeMarketId, type OutcomeId, outcomeId, type VenueKey } from '../../engine/ids.ts'
import {
  type MarketNumber,
  type MarketStatus,
  mayFollow,
  type ReadEvent,
  type ReadListing,
} from '../../engine/market/market.ts'
import { DAY_MS, type TimeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type {
  EventSummary,
  MarketSummary,
  Storage,
  VenueTrade,
} from '../../storage/contract/storage.ts'
import { MarketActor } from '../market/market.ts'
import type { MarketMessage, MarketParts } from '../market/parts.ts'
import { tellStatus } from '../market/updates.ts'
import type { System } from '../system.ts'
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
import {
  fingerprint,
  isEqualRecord,
  isOlder,
  isRelisted,
  isReworded,
  keptBeside,
  summaryOf,
} from './changes.ts'
import { Events } from './events.ts'
import { type KnownMarket, KnownMarkets } from './known-markets.ts'
import { CatalogLists, type SearchIndex } from './lists.ts'
import { MarketColumns } from './market-columns.ts'
import { OldMarkets } from './old-markets.ts'
import type { MarketText } from './search.ts'

export type { KnownMarket } from './known-markets.ts'

export class Catalog implements CatalogView {
  readonly names: VenueTable
  isLoaded = false
  readonly #system: System
  readonly #storage: Storage
  /** The start of the first remembered run. */
  #recordsSinceMs: TimeMs | null = null
  readonly #parts: MarketParts
  readonly #index: SearchIndex
  readonly #known = new KnownMarkets()
  readonly #events: Events
  readonly #columns: MarketColumns
  readonly #lists: CatalogLists
  readonly #old: OldMarkets
  readonly #watchers: CatalogWatcher[] = []
  /** Fingerprints of stored details, once this run knows them; bounded by the markets. */
  readonly #fingerprints = new Map<MarketNumber, number>()
  /** The venue's time of change of each listing that this run has read; bounded by the markets. */
  readonly #changedAtMs = new Map<MarketNumber, TimeMs>()

  constructor(parts: {
    names: VenueTable
    clock: Clock
    system: System
    storage: Storage
    index: SearchIndex
    market: Omit<MarketParts, 'changed'>
  }) {
    this.names = parts.names
    this.#system = parts.system
    this.#storage = parts.storage
    this.#index = parts.index
    const hook = { changed: (market: MarketView) => this.#note(market) }
    this.#parts = { ...parts.market, ...hook }
    const market = (number: MarketNumber) => this.byNumber(number)
    this.#events = new Events(parts.storage.events, {
      platform: (venue) => this.names.platform(venue),
      market,
      volume24h: (number) => this.#columns.volume24h(number),
    })
    this.#columns = new MarketColumns(this.#events.columns)
    this.#lists = new CatalogLists({
      clock: parts.clock,
      columns: this.#columns,
      events: this.#events,
      index: parts.index,
      market,
    })
    this.#old = new OldMarkets(parts.storage)
  }

  /** Adds a watcher behind those already there; `onListed` is called at once for every known market. */
  watch(watcher: CatalogWatcher): void {
    this.#watchers.push(watcher)
    for (const { actor } of this.#known.all()) watcher.onListed(actor)
  }

  /** Loads the catalogue of the last run; returns how many markets it has. */
  load(): number {
    this.#events.load()
    for (const { number, summary } of this.#storage.markets.all()) {
      // Markets of a venue that has left the table stay on disk, unseen.
      if (this.names.has(summary.venue)) this.#addKnown(number, summary)
    }
    this.#events.forgetEmpty()
    return this.#known.count
  }

  /**
   * Takes a page of a venue's catalogue; returns the markets that were not known before. Left out are unknown markets that
   * `forget` would drop again, events without a known market, and copies that are older than what is known; for those
   * `onOlder` is called.
   */
  take(
    page: { readonly markets: readonly ReadListing[]; readonly events: readonly ReadEvent[] },
    onOlder: (market: NativeMarketId) => void = () => undefined,
  ): KnownMarket[] {
    const markets = page.markets.filter(
      (listing) =>
        this.knownOfNative(listing.venue, listing.nativeId) !== null || !this.#old.isOld(listing),
    )
    // Events first, since a market's search text has its event's title.
    const named = new Set(markets.map(({ venue, event }) => `${venue}${event}`))
    for (const listing of page.events) {
      const { venue, nativeId } = listing
      const isNamed = named.has(`${venue}${nativeId}`)
      if (isNamed || this.#events.hasMarkets(venue, nativeId)) this.#takeEvent(listing)
    }
    const fresh: KnownMarket[] = []
    for (const listing of markets) {
      const known = this.knownOfNative(listing.venue, listing.nativeId)
      if (known === null) {
        const number = this.#storage.markets.put(listing)
        this.#fingerprints.set(number, fingerprint(listing))
        this.#noteChanged(number, listing)
        const market = this.#addKnown(number, summaryOf(listing))
        // In a first crawl every market is new: none is announced.
        if (this.isLoaded && listing.status === 'open') this.#tellOpened(market.actor)
        fresh.push(market)
      } else {
        const { summary } = known.actor
        const isOlder = this.#isOlder(known, listing)
        // A resolved market stays resolved, whatever else is taken of the listing.
        if (isOlder || !mayFollow(summary.status, listing.status)) onOlder(listing.nativeId)
        if (!isOlder) this.#takeKnown(known, listing)
      }
    }
    return fresh
  }

  #tellOpened({ ref, summary }: MarketActor): void {
    const now = this.#parts.nowMs()
    const times = { venueTimeMs: now, receivedAtMs: now }
    tellStatus(this.#parts.publisher, ref, times, summary)
  }

  /** Markets are found by the words of their event's title as well. */
  #takeEvent(listing: ReadEvent): void {
    const { isChanged, isRetitled } = this.#events.take(listing)
    if (!isChanged) return
    const markets = this.marketsOfEvent(listing.venue, listing.nativeId)
    if (isRetitled) {
      for (const { ref, summary } of markets) this.#index.put(ref.number, summary, listing.title)
    }
    for (const watcher of this.#watchers) watcher.onEvent?.(markets)
  }

  #isOlder({ actor }: KnownMarket, { changedAtMs }: ReadListing): boolean {
    return isOlder(changedAtMs ?? null, this.#changedAtMs.get(actor.ref.number) ?? null)
  }

  #noteChanged(market: MarketNumber, { changedAtMs }: ReadListing): void {
    if (changedAtMs !== null && changedAtMs !== undefined) {
      this.#changedAtMs.set(market, changedAtMs)
    }
  }

  #takeKnown({ actor, cell }: KnownMarket, listing: ReadListing): void {
    const before = actor.summary
    const summary = keptBeside(before, listing)
    this.#noteChanged(actor.ref.number, listing)
    const hasNewDetails = this.#takeDetails(actor, listing)
    if (!isEqualRecord(before, summary)) {
      cell.tell({ kind: 'summary', summary })
      this.#note(actor)
    }
    // For a relisted market the watchers were called already, in this turn.
    if (!hasNewDetails || isRelisted(before, actor.summary)) return
    for (const watcher of this.#watchers) watcher.onListed(actor)
  }

  /** Stores description and native listing when they changed; the summary is written by the market's actor. */
  #takeDetails({ ref, summary }: MarketActor, { description, native }: ReadListing): boolean {
    const { number } = ref
    const details = { description, native }
    const taken = fingerprint(details)
    const known = this.#fingerprints.get(number) ?? this.#storedFingerprint(number)
    this.#fingerprints.set(number, taken)
    if (known === taken) return false
    this.#storage.markets.put({ ...summary, ...details })
    return true
  }

  #storedFingerprint(number: MarketNumber): number | null {
    const stored = this.#storage.markets.details(number)
    return stored === null ? null : fingerprint(stored)
  }

  #addKnown(number: MarketNumber, summary: MarketSummary): KnownMarket {
    const { venue, nativeId } = summary
    const ref = {
      id: this.names.marketId(venue, nativeId),
      number,
      venue,
      platform: this.names.platform(venue),
      nativeId,
    }
    const actor = new MarketActor(ref, summary, this.#parts)
    const market = this.#known.add({ actor, cell: this.#system.spawn<MarketMessage>(actor) })
    this.#place(actor)
    this.#index.put(number, summary, this.#eventTitle(summary))
    for (const watcher of this.#watchers) watcher.onListed(actor)
    return market
  }

  /** A market changed, by a listing, a status or a trade: updates columns, keys and search texts. */
  #note(market: MarketView): void {
    const { summary } = market
    const { number } = market.ref
    const before = this.#columns.summary(number)
    if (before === null) return
    if (before === summary) return this.#columns.moveVolumes(market)
    this.#known.rekey(number, summary)
    this.#place(market)
    if (isReworded(before, summary)) this.#index.put(number, summary, this.#eventTitle(summary))
    if (!isRelisted(before, summary)) return
    for (const watcher of this.#watchers) watcher.onListed(market)
  }

  /** Puts a market under its event and into the columns; forgets an event that its last market left. */
  #place(market: MarketView): void {
    const { number } = market.ref
    const before = this.#events.eventOf(number)
    const event = this.#events.place(market.ref, market.summary.event)
    this.#columns.put(market, event?.number ?? 0)
    if (before !== null && before !== event) this.#events.leave(before)
  }

  #eventTitle(summary: MarketSummary): string | null {
    return summary.event === null ? null : (this.event(summary.venue, summary.event)?.title ?? null)
  }

  // Forgetting

  /**
   * Forgets at most `countMax` markets that are resolved, ended over `retentionDays` ago and have neither trades nor ticks
   * left, each event with its last market; returns how many. One call looks at a slice of the markets. A page that lists
   * so old a market does not bring it back.
   */
  forget(nowMs: TimeMs, retentionDays: number, countMax: number): number {
    this.#old.keepFrom(nowMs - retentionDays * DAY_MS)
    const markets = this.#old.next(this.#known.all(), countMax)
    for (const { actor } of markets) {
      const { number } = actor.ref
      this.#storage.markets.remove(number)
      this.#known.remove(number)
      this.#index.remove(number)
      this.#fingerprints.delete(number)
      this.#changedAtMs.delete(number)
      const event = this.#events.eventOf(number)
      this.#events.place(actor.ref, null)
      this.#columns.remove(number)
      if (event !== null) this.#events.leave(event)
      this.#parts.publisher.forget(number)
      for (const watcher of this.#watchers) watcher.onForgotten(actor)
    }
    return markets.length
  }

  // Finding

  knownOfOutcome(venue: VenueKey, outcome: OutcomeId): KnownMarket | null {
    return this.#known.ofOutcome(venue, outcome)
  }

  knownOfNative(venue: VenueKey, nativeId: NativeMarketId): KnownMarket | null {
    return this.#known.ofNative(venue, nativeId)
  }

  /** The texts by which markets are found, for an index that is built again. */
  *texts(): Iterable<MarketText> {
    for (const { actor } of this.#known.all()) {
      const { ref, summary } = actor
      yield { number: ref.number, summary, eventTitle: this.#eventTitle(summary) }
    }
  }

  known(): Iterable<KnownMarket> {
    return this.#known.all()
  }

  /** Whether markets of every venue are known. */
  get hasEveryVenue(): boolean {
    return this.names.keys.every((venue) => this.#known.has(venue))
  }

  get marketCount(): number {
    return this.#known.count
  }

  find(id: string): MarketView | null {
    const split = this.names.split(id)
    if (split === null) return null
    return this.#known.ofNative(split.venue, split.native)?.actor ?? null
  }

  findBySlug(slug: string): MarketView | null {
    let best: MarketActor | null = null
    for (const { actor } of this.#known.ofSlug(slug)) {
      if (best === null || actor.volume24h > best.volume24h) best = actor
    }
    return best
  }

  *markets(venue: VenueKey | null): Iterable<MarketView> {
    for (const { actor } of this.#known.all()) {
      if (venue === null || actor.ref.venue === venue) yield actor
    }
  }

  byNumber(number: MarketNumber): MarketView | null {
    return this.#known.get(number)?.actor ?? null
  }

  findByOutcome(venue: VenueKey, outcome: string): MarketView | null {
    return this.#known.ofOutcome(venue, outcomeId(outcome))?.actor ?? null
  }

  allBySlug(venue: VenueKey, slug: string): MarketView[] {
    const markets = this.#known.ofSlug(slug).filter(({ actor }) => actor.ref.venue === venue)
    return markets.map(({ actor }) => actor)
  }

  counts(): Readonly<Partial<Record<VenueKey, Record<MarketStatus, number>>>> {
    return this.#columns.counts(this.names.keys)
  }

  // Events

  event(venue: VenueKey, nativeId: string): EventSummary | null {
    return this.#events.get(venue, nativeId)
  }

  eventBySlug(slug: string): EventView | null {
    return this.#events.bySlug(slug)
  }

  get recordsSinceMs(): TimeMs {
    this.#recordsSinceMs ??= this.#storage.runs.all()[0]?.startedAtMs ?? this.#parts.nowMs()
    return this.#recordsSinceMs
  }

  eventCount(): number {
    return this.#events.count
  }

  marketsOfEvent(venue: VenueKey, nativeId: string): MarketView[] {
    return this.#viewsOf(this.#events.marketsOf(venue, nativeId))
  }

  marketsOfSeries(venue: VenueKey, series: string): MarketView[] {
    return this.#viewsOf(this.#events.marketsOfSeries(venue, series))
  }

  #viewsOf(numbers: Iterable<MarketNumber>): MarketView[] {
    const views: MarketView[] = []
    for (const number of numbers) {
      const view = this.byNumber(number)
      if (view !== null) views.push(view)
    }
    return views
  }

  // Trades of a whole venue

  venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[] {
    return this.#storage.trades.rangeOfVenue({ venue, ...query })
  }

  oldestVenueTradeMs(venue: VenueKey): TimeMs | null {
    return this.#storage.trades.extentOfVenue(venue)?.oldestMs ?? null
  }

  // Lists

  list(query: ListQuery): MarketPage | 'expired' {
    return this.#lists.list(query)
  }

  search(query: SearchQuery): MarketPage | 'expired' | Promise<MarketPage> {
    return this.#lists.search(query)
  }

  listEvents(query: PageQuery & { readonly filter: EventFilter }): EventPage | 'expired' {
    return this.#lists.events(query)
  }
}
