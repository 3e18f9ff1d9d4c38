// Reads the venues' catalogues, creates one actor per market, and removes old markets.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId, VenueKey } from '../../engine/ids.ts'
import {
  type MarketNumber,
  mayFollow,
  type ReadEvent,
  type ReadListing,
} from '../../engine/market/market.ts'
import { runToEnd, type SlicedWork } from '../../engine/time-slices.ts'
import { DAY_MS, TIME_END, type TimeMs, timeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { MarketSummary, Storage, VenueTrade } from '../../storage/contract/storage.ts'
import { MarketActor } from '../market/market.ts'
import type { MarketMessage, MarketParts } from '../market/parts.ts'
import { publishLifecycle } from '../market/updates.ts'
import type { System } from '../system.ts'
import type { MarketView, SliceQuery } from '../views.ts'
import { CatalogLookup } from './catalog-lookup.ts'
import {
  fingerprint,
  isEqualSummary,
  isOlder,
  isRelisted,
  mergedSummary,
  summaryOf,
} from './changes.ts'
import type { SearchIndex } from './lists.ts'
import type { MarketActorRef } from './market-registry.ts'

export type { MarketActorRef as KnownMarket } from './market-registry.ts'

/** Maximum delay until a trading market's figures are saved. */
const UNSAVED_MS_MAX = 60_000
const UNSAVED_TRADES_MAX = 10_000
const CHECKED_MAX = 5_000
const LOOKUPS_MAX = 200
/** Markets per step of loading, about 0.2 ms of work. */
const MARKETS_PER_STEP = 16

export class Catalog extends CatalogLookup<MarketActorRef> {
  readonly #system: System
  readonly #storage: Storage
  #recordsSinceMs: TimeMs | null = null
  readonly #parts: MarketParts
  readonly #old: OldMarkets
  readonly #fingerprints = new Map<MarketNumber, number>()
  /** Change times that the venues stated in the last listings. Empty at process start. */
  readonly #changedAtMs = new Map<MarketNumber, TimeMs>()

  constructor(parts: {
    names: VenueTable
    clock: Clock
    system: System
    storage: Storage
    index: SearchIndex
    market: Omit<MarketParts, 'changed' | 'volumeUnit'>
  }) {
    super({ ...parts, table: parts.storage.events })
    this.#system = parts.system
    this.#storage = parts.storage
    this.#parts = {
      ...parts.market,
      changed: (market: MarketView) => this.note(market),
      volumeUnit: (venue: VenueKey) => this.names.of(venue).volumeUnit,
    }
    this.#old = new OldMarkets(parts.storage)
  }

  load(): number {
    return runToEnd(this.loading())
  }

  /** As `load`, in time slices. Nothing else may read or change the catalogue before the end. */
  *loading(): SlicedWork<number> {
    yield* this.events.loading()
    for (const { number, summary } of this.#storage.markets.all()) {
      if (this.names.has(summary.venue)) this.#addMarket(number, summary)
      if (number % MARKETS_PER_STEP === 0) yield
    }
    this.events.removeEmpty()
    yield* this.columns.sorting()
    for (const venue of this.names.keys) this.#countUnsaved(venue)
    return this.registry.count
  }

  /**
   * Adds stored trades to the figures of their markets, because the last run may have been killed before it saved those
   * figures.
   */
  #countUnsaved(venue: VenueKey): void {
    const newestMs = this.#storage.trades.extentOfVenue(venue)?.newestMs
    if (newestMs === undefined) return
    const countedToMs = new Map<MarketNumber, number>()
    const rows = this.#storage.trades.rangeOfVenue({
      venue,
      fromMs: timeMs(newestMs - UNSAVED_MS_MAX),
      toMs: TIME_END,
      after: null,
      order: 'desc',
      limit: UNSAVED_TRADES_MAX,
    })
    for (const { market, trade } of rows) {
      const entry = this.registry.get(market)
      if (entry === undefined || entry === null || trade.run === null || trade.isBlock) continue
      let toMs = countedToMs.get(market)
      if (toMs === undefined) {
        toMs = this.#storage.checkpoints.get(market)?.lastTradeMs ?? 0
        countedToMs.set(market, toMs)
      }
      if (trade.timeMs > toMs) entry.actor.countUnsaved(trade)
    }
    for (const market of countedToMs.keys()) {
      const entry = this.registry.get(market)
      if (entry !== null) this.note(entry.actor)
    }
  }

  /**
   * Takes a page of a venue's catalogue and returns the new markets. Ignores old markets that `removeOld` would remove,
   * events without a known market, and outdated copies. Calls `onOlder` for each outdated copy.
   */
  take(
    page: { readonly markets: readonly ReadListing[]; readonly events: readonly ReadEvent[] },
    onOlder: (market: NativeMarketId) => void = () => undefined,
  ): MarketActorRef[] {
    const markets = page.markets.filter(
      (listing) =>
        this.entryOfNative(listing.venue, listing.nativeId) !== null || !this.#old.isOld(listing),
    )
    // A market's search text contains the title of its event, so events are taken first.
    const named = new Set(markets.map(({ venue, event }) => `${venue}${event}`))
    for (const listing of page.events) {
      const { venue, nativeId } = listing
      const isNamed = named.has(`${venue}${nativeId}`)
      if (isNamed || this.events.hasMarkets(venue, nativeId)) this.takeEvent(listing)
    }
    const fresh: MarketActorRef[] = []
    for (const listing of markets) {
      const existing = this.entryOfNative(listing.venue, listing.nativeId)
      if (existing === null) {
        const number = this.#storage.markets.put(listing)
        this.#fingerprints.set(number, fingerprint(listing))
        this.#noteChanged(number, listing)
        const market = this.#addMarket(number, summaryOf(this.#read(listing)))
        // All markets are new to this process in its first crawl, so that crawl publishes no openings.
        if (this.isLoaded && listing.status === 'open') this.#publishOpened(market.actor)
        fresh.push(market)
      } else {
        const { summary } = existing.actor
        const isOlder = this.#isOlder(existing, listing)
        // A listing never reopens a resolved market. Its other fields are taken.
        if (isOlder || !mayFollow(summary.status, listing.status)) onOlder(listing.nativeId)
        if (!isOlder) this.#updateExisting(existing, listing)
      }
    }
    return fresh
  }

  #publishOpened({ ref, summary }: MarketActor): void {
    const now = this.#parts.nowMs()
    const times = { venueTimeMs: now, receivedAtMs: now }
    publishLifecycle(this.#parts.publisher, ref, times, { event: 'opened', facts: summary })
  }

  #isOlder({ actor }: MarketActorRef, { changedAtMs }: ReadListing): boolean {
    return isOlder(changedAtMs ?? null, this.#changedAtMs.get(actor.ref.number) ?? null)
  }

  #noteChanged(market: MarketNumber, { changedAtMs }: ReadListing): void {
    if (changedAtMs !== null && changedAtMs !== undefined) {
      this.#changedAtMs.set(market, changedAtMs)
    }
  }

  #updateExisting(existing: MarketActorRef, listing: ReadListing): void {
    const { actor } = existing
    const before = actor.present
    const summary = mergedSummary(before, this.#read(listing))
    this.#noteChanged(actor.ref.number, listing)
    const hasNewDetails = this.#takeDetails(actor, listing)
    if (isEqualSummary(before, summary)) {
      existing.send({ kind: 'confirmed', atMs: summary.figuresAtMs ?? this.#parts.nowMs() })
    } else {
      existing.send({ kind: 'summary', summary })
      this.note(actor)
    }
    // `note` has already called the watchers for a relisted market.
    if (!hasNewDetails || isRelisted(before, actor.summary)) return
    this.notifyListed(actor)
  }

  #takeDetails({ ref, present }: MarketActor, { description, native }: ReadListing): boolean {
    const { number } = ref
    const details = { description, native }
    const taken = fingerprint(details)
    const previous = this.#fingerprints.get(number) ?? this.#storedFingerprint(number)
    this.#fingerprints.set(number, taken)
    if (previous === taken) return false
    this.#storage.markets.put({ ...present, ...details })
    return true
  }

  #read(listing: ReadListing): ReadListing {
    const figuresAtMs = listing.figuresAtMs ?? this.#parts.nowMs()
    return { ...listing, figuresAtMs, dayFiguresAtMs: figuresAtMs }
  }

  #storedFingerprint(number: MarketNumber): number | null {
    const stored = this.#storage.markets.details(number)
    return stored === null ? null : fingerprint(stored)
  }

  #addMarket(number: MarketNumber, summary: MarketSummary): MarketActorRef {
    const { venue, nativeId } = summary
    const ref = {
      id: this.names.marketId(venue, nativeId),
      number,
      venue,
      platform: this.names.platform(venue),
      nativeId,
    }
    const actor = new MarketActor(ref, summary, this.#parts)
    return this.register(this.#system.spawn<MarketMessage, MarketActor>(actor))
  }

  /**
   * Removes markets that are resolved, ended over `retentionDays` ago, and have no trades or ticks left. Each call
   * checks a part of all markets. Returns the number of removed markets.
   */
  removeOld(nowMs: TimeMs, retentionDays: number, countMax: number): number {
    this.#old.setRetainedFrom(nowMs - retentionDays * DAY_MS)
    const markets = this.#old.next(this.registry.all(), countMax)
    for (const { actor } of markets) {
      const { number } = actor.ref
      this.#storage.markets.remove(number)
      this.#fingerprints.delete(number)
      this.#changedAtMs.delete(number)
      this.unregister(actor, this.#parts.publisher)
    }
    return markets.length
  }

  get recordsSinceMs(): TimeMs {
    this.#recordsSinceMs ??= this.#storage.runs.all()[0]?.startedAtMs ?? this.#parts.nowMs()
    return this.#recordsSinceMs
  }

  venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[] {
    return this.#storage.trades.rangeOfVenue({ venue, ...query })
  }

  oldestVenueTradeMs(venue: VenueKey): TimeMs | null {
    return this.#storage.trades.extentOfVenue(venue)?.oldestMs ?? null
  }
}

class OldMarkets {
  readonly #storage: Pick<Storage, 'trades' | 'ticks'>
  #retainedFromMs = Number.NEGATIVE_INFINITY
  #round: Iterator<MarketActorRef> | null = null

  constructor(storage: Pick<Storage, 'trades' | 'ticks'>) {
    this.#storage = storage
  }

  /** Resolved markets that ended before this time are old. Until the first call no market is old. */
  setRetainedFrom(atMs: number): void {
    this.#retainedFromMs = atMs
  }

  isOld(market: MarketSummary): boolean {
    return market.status === 'resolved' && endedAtMs(market) < this.#retainedFromMs
  }

  next(markets: Iterable<MarketActorRef>, countMax: number): MarketActorRef[] {
    const found: MarketActorRef[] = []
    let lookupCount = 0
    this.#round ??= markets[Symbol.iterator]()
    for (let checkedCount = 0; checkedCount < CHECKED_MAX; checkedCount += 1) {
      if (found.length >= countMax || lookupCount >= LOOKUPS_MAX) break
      const next = this.#round.next()
      if (next.done === true) {
        this.#round = null
        break
      }
      if (!this.#isOver(next.value)) continue
      lookupCount += 1
      if (!this.#hasHistory(next.value)) found.push(next.value)
    }
    return found
  }

  /**
   * A market that resolved in this run is retained for the full period, even if the venue states an earlier end. A
   * market with queued messages is retained too.
   */
  #isOver({ actor, isIdle }: MarketActorRef): boolean {
    return this.isOld(actor.summary) && (actor.resolvedAtMs ?? 0) < this.#retainedFromMs && isIdle
  }

  #hasHistory({ actor }: MarketActorRef): boolean {
    const { number } = actor.ref
    const { trades, ticks } = this.#storage
    return trades.newestMs(number) !== null || ticks.oldestHour(number) !== null
  }
}

function endedAtMs(market: MarketSummary): number {
  return market.settledAtMs ?? market.closeAtMs ?? market.createdAtMs ?? 0
}
