// The contract of a venue: a catalogue over REST, and a feed of VenueEvents.
// A venue knows no actor; what it sees goes out through `emit`, synchronously, in order.
// How to add one: README.md beside this file.

import type { Clock } from '../clock.ts'
import type { TradesSource, VenueEvent } from '../events.ts'
import type { NativeEventId, NativeMarketId, OutcomeId, VenueKey } from '../ids.ts'
import type { MarketStatus, ReadEvent, ReadListing } from '../market/market.ts'
import type { Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Random } from '../random.ts'
import type { TeamListing } from '../team-listing.ts'
import type { TimeMs } from '../units.ts'
import type { VenueWallets } from '../wallet.ts'
import type { SuspectReason } from './answer-checks.ts'
import type { Drift } from './drift/drift.ts'
import type { PastPoint } from './past-points.ts'

/** A part of the catalogue. Rows that could not be read were counted and logged, and are absent. */
export interface CatalogPage {
  readonly markets: readonly ReadListing[]
  readonly events: readonly ReadEvent[]
  /** Markets that were requested by id, and that the venue has but we do not list: requesting them again brings nothing. */
  readonly refused?: readonly NativeMarketId[]
}

/** A venue's list of markets. All calls reject with an Error on network trouble, after retries. */
export interface VenueCatalog {
  /**
   * Reads everything that is not long settled, page by page; `onPage` is awaited, so that a slow
   * taker slows the crawl. Resolves when the last page was taken.
   */
  crawl(onPage: (page: CatalogPage) => void | Promise<void>, signal: AbortSignal): Promise<void>
  /** Reads what may have changed since `sinceMs` (new, closed, resolved, volumes). */
  refresh(
    sinceMs: TimeMs,
    onPage: (page: CatalogPage) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
  /** Reads single markets and their events; unknown ids are absent from the page. */
  fetchMarkets(ids: readonly NativeMarketId[], signal: AbortSignal): Promise<CatalogPage>
}

/** What a feed must know of a market to watch it and to name its status timers. */
export interface WatchedMarket {
  readonly nativeId: NativeMarketId
  /** Outcome ids in listing order. */
  readonly outcomes: readonly OutcomeId[]
  readonly status: MarketStatus
  readonly openAtMs: TimeMs | null
  readonly closeAtMs: TimeMs | null
}

/** A feed's figures for /health, status messages and metrics. */
export interface FeedHealth {
  /** Open ones; of those that carry books, only ones that have delivered data since they opened. */
  readonly connectionsOpen: number
  readonly connectionsWanted: number
  /** When the last data message (not heartbeat) arrived; null before the first. */
  readonly lastDataAtMs: TimeMs | null
  /** When the last sign of life, heartbeats included, arrived. */
  readonly lastSignAtMs: TimeMs | null
  /**
   * How long a change of a book may go unseen while everything works: 0 where books are streamed,
   * one round where they are asked for in turn.
   */
  readonly bookDelayMs: number
  /** Null: the venue has one source. */
  readonly tradesSource: TradesSource | null
}

/** What is read of a venue's streams. */
export type Readable = 'all' | 'books' | 'nothing'

/** A venue's live stream. Reconnects, heartbeats and resubscription are its own business. */
export interface VenueFeed {
  start(): void
  /** Closes every socket and timer; nothing is emitted afterwards. */
  stop(): Promise<void>
  /** Begins to stream books (a snapshot first), trades and status of these markets; repeats are ignored. */
  watch(markets: readonly WatchedMarket[]): void
  unwatch(ids: readonly NativeMarketId[]): void
  /** Asks for fresh snapshots of these outcomes' books, in order on the stream where possible. */
  resync(outcomes: readonly OutcomeId[]): void
  /**
   * From now on only this is read: the rest waits in the kernel and at the venue. Silence and missing
   * heartbeats of that time do not count against the venue; a connection that it closes meanwhile is
   * lost since then. Repeats are ignored.
   */
  read(what: Readable): void
  /** Drops what waits unread of books by new connections, which begin with snapshots; trades go on. */
  reconnect(reason: string): void
  /**
   * Fetches the trades of [fromMs, toMs] over REST and emits them with the given source, oldest
   * first per market. Rejects when the venue does not answer after retries.
   */
  fetchTrades(range: TradesRange): Promise<TradesRead>
  health(): FeedHealth
  /**
   * Reads these books over REST and emits each as a `bookSnapshot` that is not in order, or as the feed's own where books
   * are polled. What cannot be read is left out and counted.
   */
  readBooks(outcomes: readonly OutcomeId[]): void
}

/** Which trades are read over REST: of one market, or of the whole venue when `market` is null. */
export interface TradesRange {
  readonly market: NativeMarketId | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly source: 'backfill' | 'history'
}

/** What is known of a range of trades that was read over REST. */
export interface TradesRead {
  /** From when on the answer is complete; later than the range's start: the rest is lost. */
  readonly completeFromMs: TimeMs
  /**
   * Of a whole venue, not null: no answer reached back behind the range, so that any trade of it may
   * be missing unless the venue had none before.
   */
  readonly suspectReason: SuspectReason | null
  /** Venue time of the newest row of the answers, whatever it was of; null: there was none. */
  readonly newestMs: TimeMs | null
}

/** A market whose past is asked for. */
export interface PastMarket {
  readonly nativeId: NativeMarketId
  readonly event: NativeEventId | null
  /** Venue b's series ticker, where its event is known. */
  readonly series: string | null
  /** In listing order; prices are of the first. */
  readonly outcomes: readonly OutcomeId[]
}

/** What the venue remembers of a market's price. */
export interface VenuePastPrices {
  /**
   * Prices of the first outcome in [fromMs, toMs], at most 15 days, ascending, by the minute within a day and
   * beyond it in steps of `stepMs` where the venue has them; empty when the venue has none. The last price before `fromMs` comes first where the venue gives it. Rejects when the
   * venue does not answer after retries.
   */
  read(
    market: PastMarket,
    range: { fromMs: TimeMs; toMs: TimeMs; stepMs?: number },
    signal: AbortSignal,
  ): Promise<readonly PastPoint[]>
}

export type { TeamListing }

/** What every venue needs from outside; `emit` must not throw. */
export interface VenueParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly emit: (event: VenueEvent) => void
}

/** One venue, opened. */
export interface Venue {
  readonly key: VenueKey
  readonly catalog: VenueCatalog
  readonly feed: VenueFeed
  readonly pastPrices: VenuePastPrices
  /** Every team that the venue lists; rejects when it does not answer after retries. */
  readonly teams: (signal: AbortSignal) => Promise<readonly TeamListing[]>
  /** Null: the venue does not say who trades. */
  readonly wallets: VenueWallets | null
  /** What the venue sends that the code does not know. */
  readonly drift: Drift
}
