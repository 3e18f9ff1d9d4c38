// Takes the venues' catalogues, spawns one actor per market, finds markets and events by any of their ids, and removes
// old ones.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId, VenueKey } from '../../engine/ids.ts'
import {
  type MarketNumber,
  mayFollow,
  type ReadEvent,
  type ReadListing,
} from '../../engine/market/market.ts'
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

/** Figures of a trading market are saved within this time, even under load. */
const UNSAVED_MS_MAX = 60_000
const UNSAVED_TRADES_MAX = 10_000
/** Markets checked per call: 1 ms of work. */
const CHECKED_MAX = 5_000
/** Markets whose trades and ticks are looked up per call: a few disk reads each. */
const LOOKUPS_MAX = 200

export class Catalog extends CatalogLookup<MarketActorRef> {
  readonly #system: System
  readonly #storage: Storage
  /** Start of the first recorded run. */
  #recordsSinceMs: TimeMs | null = null
  readonly #parts: MarketParts
  readonly #old: OldMarkets
  /** Fingerprints of stored details, as far as this run knows them. Bounded by the markets. */
  readonly #fingerprints = new Map<MarketNumber, number>()
  /** The venue's change time of each listing that this run has read. Bounded by the markets. */
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

  /** Loads the catalogue of the last run; returns its number of markets. */
  load(): number {
    this.events.load()
    for (const { number, summary } of this.#storage.markets.all()) {
      // Markets of a venue that was removed from the table stay on disk, unused.
      if (this.names.has(summary.venue)) this.#addMarket(number, summary)
    }
    this.events.removeEmpty()
    for (const venue of this.names.keys) this.#countUnsaved(venue)
    return this.registry.count
  }

  /** Counts the last trades of a run that was killed before it saved the figures of their markets. */
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
   * Takes a page of a venue's catalogue; returns the new markets. Omits new markets that `removeOld` would remove
   * again, events without a known market, and copies older than the known one. Calls `onOlder` for such copies.
   */
  take(
    page: { readonly markets: readonly ReadListing[]; readonly events: readonly ReadEvent[] },
    onOlder: (market: NativeMarketId) => void = () => undefined,
  ): MarketActorRef[] {
    const markets = page.markets.filter(
      (listing) =>
        this.entryOfNative(listing.venue, listing.nativeId) !== null || !this.#old.isOld(listing),
    )
    // Events first, because the search text of a market contains its event's title.
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
        // The first crawl announces no market: all are new.
        if (this.isLoaded && listing.status === 'open') this.#publishOpened(market.actor)
        fresh.push(market)
      } else {
        const { summary } = existing.actor
        const isOlder = this.#isOlder(existing, listing)
        // A resolved market stays resolved, whichever other fields of the listing are taken.
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
    // The watchers were already called for a relisted market in this tick.
    if (!hasNewDetails || isRelisted(before, actor.summary)) return
    this.notifyListed(actor)
  }

  /** Stores changed descriptions and native listings. The market's actor writes the summary. */
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

  /** Adds the time of the figures; now, if the venue states none. */
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

  // Removal

  /**
   * Removes at most `countMax` markets that are resolved, ended over `retentionDays` ago and have no trades or ticks
   * left. Removes each event with its last market. Returns the number of markets. One call checks a slice of the
   * markets. A page that lists such an old market does not add it again.
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

  // Data on disk only

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

/**
 * Finds old markets: resolved, ended before the retention period of trades, and without trades or ticks. Only their
 * names are lost with them. Each call checks a slice of all markets in rotation.
 */
class OldMarkets {
  readonly #storage: Pick<Storage, 'trades' | 'ticks'>
  #retainedFromMs = Number.NEGATIVE_INFINITY
  #round: Iterator<MarketActorRef> | null = null

  constructor(storage: Pick<Storage, 'trades' | 'ticks'>) {
    this.#storage = storage
  }

  /** Markets that ended before this time are old. Before the first call no market is old. */
  setRetainedFrom(atMs: number): void {
    this.#retainedFromMs = atMs
  }

  /** Returns whether a market ended so long ago that the catalogue does not take it. */
  isOld(market: MarketSummary): boolean {
    return market.status === 'resolved' && endedAtMs(market) < this.#retainedFromMs
  }

  /**
   * Returns at most `countMax` markets to remove, starting where the last call stopped. A call stops at the end of the
   * markets.
   */
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
   * A market that resolved in this run is retained for the full period from then on, even if the venue states an
   * earlier end. A market with queued messages is retained until they are handled.
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

/** Settlement time of a resolved market, else its end or creation as its listing states it. 0 without any time. */
function endedAtMs(market: MarketSummary): number {
  return market.settledAtMs ?? market.closeAtMs ?? market.createdAtMs ?? 0
}
