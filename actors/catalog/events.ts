// The events of all venues and their markets. An event exists while at least one of its markets does. Listings of
// events without markets are ignored, so that a crawl does not restore a removed event.

import { ByVenue } from '../../engine/by-venue.ts'
import { type NativeEventId, nativeEventId, type VenueKey } from '../../engine/ids.ts'
import type {
  MarketNumber,
  MarketRef,
  MarketStatus,
  ReadEvent,
} from '../../engine/market/market.ts'
import type { SlicedWork } from '../../engine/time-slices.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type { EventSummary, EventTable } from '../../storage/contract/storage.ts'
import type { EventFilter, EventView, MarketView } from '../views.ts'
import { eventSummaryOf, fingerprint, isEqualRecord, isOlder } from './changes.ts'
import { EventColumns } from './event-columns.ts'
import { EventTitles } from './event-titles.ts'

interface EventSources {
  readonly table: EventTable
  readonly columns: EventColumns
  readonly platform: (venue: VenueKey) => string
  readonly market: (number: MarketNumber) => MarketView | null
  readonly volume24h: (number: MarketNumber) => number
}

/** Events per step of loading, about 0.2 ms of work. */
const EVENTS_PER_STEP = 16
const NO_MARKETS: ReadonlySet<MarketNumber> = new Set()

export class Events {
  readonly columns = new EventColumns()
  readonly #table: EventTable
  readonly #sources: EventSources
  readonly #titles = new EventTitles()
  readonly #byNumber = new Map<number, NamedEvent>()
  readonly #byNative = new ByVenue(() => new Map<string, NamedEvent>())
  readonly #bySlug = new Map<string, readonly NamedEvent[]>()
  readonly #bySeries = new ByVenue(() => new Map<string, Set<NamedEvent>>())
  readonly #eventOf = new Map<MarketNumber, NamedEvent>()
  #lastNumber = 0
  #listedCount = 0

  constructor(table: EventTable, sources: Omit<EventSources, 'table' | 'columns'>) {
    this.#table = table
    this.#sources = { ...sources, table, columns: this.columns }
  }

  /** Loads the events of the last run in time slices, before their markets are added. */
  *loading(): SlicedWork<void> {
    for (const summary of this.#table.all()) {
      const named = this.#namedOf(summary.venue, summary.nativeId)
      this.#list(named, summary)
      if (named.number % EVENTS_PER_STEP === 0) yield
    }
  }

  get count(): number {
    return this.#listedCount
  }

  *listed(): Iterable<EventSummary> {
    for (const { view } of this.#byNumber.values()) if (view !== null) yield view.summary
  }

  get(venue: VenueKey, nativeId: string): EventSummary | null {
    return this.#find(venue, nativeId)?.view?.summary ?? null
  }

  byNumber(number: number): EventView | null {
    return this.#byNumber.get(number)?.view ?? null
  }

  /** Case-insensitive. If several venues use the slug, returns the event with the highest volume. */
  bySlug(slug: string): EventView | null {
    let best: ListedEvent | null = null
    for (const { view } of this.#bySlug.get(slug.toLowerCase()) ?? []) {
      if (view !== null && (best === null || view.volume24h > best.volume24h)) best = view
    }
    return best
  }

  marketsOf(venue: VenueKey, nativeId: string): ReadonlySet<MarketNumber> {
    return this.#find(venue, nativeId)?.markets ?? NO_MARKETS
  }

  /** The name of the series is case-insensitive. */
  *marketsOfSeries(venue: VenueKey, series: string): Iterable<MarketNumber> {
    for (const { markets } of this.#bySeries.of(venue).get(series.toLowerCase()) ?? [])
      yield* markets
  }

  hasMarkets(venue: VenueKey, nativeId: string): boolean {
    return this.marketsOf(venue, nativeId).size > 0
  }

  select(filter: EventFilter): Uint32Array {
    const isTitled = filter.search === null ? null : this.#titles.find(filter.search)
    return this.columns.select(filter, isTitled)
  }

  take(read: ReadEvent): { readonly isChanged: boolean; readonly isRetitled: boolean } {
    const named = this.#namedOf(read.venue, read.nativeId)
    const changedAtMs = read.changedAtMs ?? null
    if (isOlder(changedAtMs, named.changedAtMs)) return { isChanged: false, isRetitled: false }
    named.changedAtMs = changedAtMs ?? named.changedAtMs
    const current = named.view?.summary ?? null
    const listing =
      read.lacksMarkets === true ? { ...read, winnerAmong: current?.winnerAmong ?? null } : read
    const summary = eventSummaryOf(listing)
    const details = fingerprint(listing)
    if (named.fingerprint === null && current !== null) {
      const stored = this.#table.details(listing.venue, listing.nativeId)
      if (stored !== null) named.fingerprint = fingerprint(stored)
    }
    const isSame = current !== null && isEqualRecord(current, summary)
    if (isSame && named.fingerprint === details) return { isChanged: false, isRetitled: false }
    this.#table.put(listing)
    named.fingerprint = details
    if (!isSame) this.#list(named, summary)
    return { isChanged: !isSame, isRetitled: current?.title !== summary.title }
  }

  /**
   * Null removes the market from its event. The caller must first subtract the market's figures from the previous
   * event, then call `removeIfEmpty` for that event.
   */
  assignMarket({ venue, number }: MarketRef, event: NativeEventId | null): NamedEvent | null {
    const before = this.#eventOf.get(number) ?? null
    const named = event === null ? null : this.#namedOf(venue, event)
    if (before === named) return named
    if (named === null) this.#eventOf.delete(number)
    else {
      this.#eventOf.set(number, named)
      named.markets.add(number)
    }
    before?.markets.delete(number)
    return named
  }

  eventOf(market: MarketNumber): NamedEvent | null {
    return this.#eventOf.get(market) ?? null
  }

  removeIfEmpty(named: NamedEvent): void {
    if (named.markets.size > 0) return
    const { number, venue, nativeId } = named
    const key = nativeId.toLowerCase()
    if (this.#byNative.of(venue).get(key) !== named) return
    this.#byNative.of(venue).delete(key)
    this.#byNumber.delete(number)
    if (named.view !== null) {
      this.#unlist(named, named.view.summary)
      this.#listedCount -= 1
      this.#table.remove(venue, named.view.summary.nativeId)
    }
    this.columns.remove(number)
  }

  /** Must be called after the markets are loaded. */
  removeEmpty(): void {
    for (const ofVenue of this.#byNative.values()) {
      for (const named of ofVenue.values()) this.removeIfEmpty(named)
    }
  }

  #find(venue: VenueKey, nativeId: string): NamedEvent | null {
    return this.#byNative.of(venue).get(nativeId.toLowerCase()) ?? null
  }

  #namedOf(venue: VenueKey, nativeId: string): NamedEvent {
    const existing = this.#find(venue, nativeId)
    if (existing !== null) return existing
    this.#lastNumber += 1
    const named = new NamedEvent(this.#lastNumber, venue, nativeEventId(nativeId))
    this.#byNative.of(venue).set(nativeId.toLowerCase(), named)
    this.#byNumber.set(named.number, named)
    this.columns.add(named.number)
    return named
  }

  #list(named: NamedEvent, summary: EventSummary): void {
    const { venue, number, view } = named
    if (view === null) this.#listedCount += 1
    else this.#unlist(named, view.summary)
    named.view = new ListedEvent(named, summary, this.#sources)
    this.columns.describe(number, summary)
    this.#titles.put(number, summary.title)
    const slug = summary.slug.toLowerCase()
    this.#bySlug.set(slug, [...(this.#bySlug.get(slug) ?? []), named])
    if (summary.series !== null) addTo(this.#bySeries.of(venue), summary.series, named)
  }

  #unlist(named: NamedEvent, { title, slug, series }: EventSummary): void {
    this.#titles.remove(named.number, title)
    const key = slug.toLowerCase()
    const others = this.#bySlug.get(key)?.filter((other) => other !== named) ?? []
    if (others.length > 0) this.#bySlug.set(key, others)
    else this.#bySlug.delete(key)
    if (series !== null) removeFrom(this.#bySeries.of(named.venue), series, named)
  }
}

function addTo(byKey: Map<string, Set<NamedEvent>>, text: string, named: NamedEvent): void {
  const key = text.toLowerCase()
  const sharing = byKey.get(key)
  if (sharing === undefined) byKey.set(key, new Set([named]))
  else sharing.add(named)
}

function removeFrom(byKey: Map<string, Set<NamedEvent>>, text: string, named: NamedEvent): void {
  const key = text.toLowerCase()
  const sharing = byKey.get(key)
  sharing?.delete(named)
  if (sharing?.size === 0) byKey.delete(key)
}

/** An event that at least one market references. `view` is null until the event's own listing is read. */
class NamedEvent {
  /** Ascending and unique in this run. */
  readonly number: number
  readonly venue: VenueKey
  readonly nativeId: NativeEventId
  readonly markets = new Set<MarketNumber>()
  view: ListedEvent | null = null
  fingerprint: number | null = null
  changedAtMs: TimeMs | null = null

  constructor(number: number, venue: VenueKey, nativeId: NativeEventId) {
    this.number = number
    this.venue = venue
    this.nativeId = nativeId
  }
}

class ListedEvent implements EventView {
  readonly #named: NamedEvent
  readonly #sources: EventSources
  readonly summary: EventSummary

  constructor(named: NamedEvent, summary: EventSummary, sources: EventSources) {
    this.#named = named
    this.#sources = sources
    this.summary = summary
  }

  get platform(): string {
    return this.#sources.platform(this.summary.venue)
  }

  get status(): MarketStatus {
    return this.#sources.columns.status(this.#named.number)
  }

  get marketCount(): number {
    return this.#sources.columns.marketCount(this.#named.number)
  }

  get volume24h(): UsdMicros {
    return this.#sources.columns.volume24h(this.#named.number)
  }

  get volumeTotal(): UsdMicros {
    return this.#sources.columns.volumeTotal(this.#named.number)
  }

  description(): string | null {
    const { venue, nativeId } = this.summary
    return this.#sources.table.details(venue, nativeId)?.description ?? null
  }

  /** Sorts only the best `limit` markets, because an event may have thousands. */
  markets(limit: number): MarketView[] {
    const { volume24h, market } = this.#sources
    const best: { readonly number: MarketNumber; readonly volume: number }[] = []
    for (const number of this.#named.markets) {
      const volume = volume24h(number)
      const last = best[best.length - 1]
      if (best.length === limit && (last === undefined || !isBefore(number, volume, last))) continue
      if (best.length === limit) best.pop()
      let position = best.length
      for (; position > 0; position -= 1) {
        const before = best[position - 1]
        if (before === undefined || !isBefore(number, volume, before)) break
      }
      best.splice(position, 0, { number, volume })
    }
    return best.flatMap(({ number }) => market(number) ?? [])
  }
}

function isBefore(
  number: MarketNumber,
  volume: number,
  other: { readonly number: MarketNumber; readonly volume: number },
): boolean {
  return volume === other.volume ? number < other.number : volume > other.volume
}
