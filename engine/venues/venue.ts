// The interface of a venue (README.md). It depends on no actor and calls `emit` synchronously and in order.

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

/** A page of the catalogue. Unreadable rows were counted and logged, and are absent. */
export interface CatalogPage {
  readonly markets: readonly ReadListing[]
  readonly events: readonly ReadEvent[]
  /** Requested markets that exist and cannot be listed. Repeating the request has no effect. */
  readonly refused?: readonly NativeMarketId[]
}

/** A venue's market list. All calls reject with an Error on network failure, after retries. */
export interface VenueCatalog {
  /** All markets that are not long settled. `onPage` is awaited, which provides backpressure. */
  crawl(onPage: (page: CatalogPage) => void | Promise<void>, signal: AbortSignal): Promise<void>
  /** Reads possible changes since `sinceMs` (new, closed, resolved, volumes). */
  refresh(
    sinceMs: TimeMs,
    onPage: (page: CatalogPage) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
  /** Reads single markets and their events. Unknown ids are absent from the page. */
  fetchMarkets(ids: readonly NativeMarketId[], signal: AbortSignal): Promise<CatalogPage>
}

export interface WatchedMarket {
  readonly nativeId: NativeMarketId
  readonly outcomes: readonly OutcomeId[]
  readonly status: MarketStatus
  readonly openAtMs: TimeMs | null
  readonly closeAtMs: TimeMs | null
}

/** A feed's state for /health, status messages and metrics. */
export interface FeedHealth {
  /** Open connections. Connections for books count only once they have delivered data since they opened. */
  readonly connectionsOpen: number
  readonly connectionsWanted: number
  /** Time of the last data message, without heartbeats; null before the first. */
  readonly lastDataAtMs: TimeMs | null
  /** Time of the last frame, including heartbeats. */
  readonly lastSignAtMs: TimeMs | null
  /** Maximum delay of a book change in normal operation: 0 if books are streamed, one round if they are polled. */
  readonly bookDelayMs: number
  /** null: the venue has only one source. */
  readonly tradesSource: TradesSource | null
}

export type Readable = 'all' | 'books' | 'nothing'

/** A venue's live stream. It handles reconnects, heartbeats and resubscription itself. */
export interface VenueFeed {
  start(): void
  /** Closes all sockets and timers. No event is emitted afterwards. */
  stop(): Promise<void>
  /** Subscribes to books (a snapshot first), trades and status of these markets. Repeated calls have no effect. */
  watch(markets: readonly WatchedMarket[]): void
  unwatch(ids: readonly NativeMarketId[]): void
  /** Requests new snapshots of these outcomes' books, in order on the stream where possible. */
  resync(outcomes: readonly OutcomeId[]): void
  /**
   * Sets which streams are read. Data of the others waits in the kernel and at the venue. Silence and missing
   * heartbeats during that time are not failures. A connection that the venue closes meanwhile is lost since the
   * start of that time. Repeated calls have no effect.
   */
  read(what: Readable): void
  /** Discards unread book data by reconnecting. The new connections start with snapshots. Trades are not affected. */
  reconnect(reason: string): void
  /** Emits the trades of [fromMs, toMs], oldest first per market. Rejects if there is no response. */
  fetchTrades(range: TradesRange): Promise<TradesRead>
  health(): FeedHealth
  /** Reads books over REST and emits each as a `bookSnapshot`; see BookSnapshotEvent.isInOrder. */
  readBooks(outcomes: readonly OutcomeId[]): void
}

/** A range of trades to read over REST: of one market, or of the whole venue if `market` is null. */
export interface TradesRange {
  readonly market: NativeMarketId | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly source: 'backfill' | 'history'
}

export interface TradesRead {
  /** Start of the complete part. If it is later than the range's start, the trades before it are lost. */
  readonly completeFromMs: TimeMs
  /** Not null: no response reached back before the venue's range, so any trade of it may be missing. */
  readonly suspectReason: SuspectReason | null
  /** Venue time of the newest row of any kind; null if there was none. */
  readonly newestMs: TimeMs | null
}

export interface PastMarket {
  readonly nativeId: NativeMarketId
  readonly event: NativeEventId | null
  /** Kalshi's series ticker, if the market's event is known. */
  readonly series: string | null
  /** In listing order. Prices are those of the first. */
  readonly outcomes: readonly OutcomeId[]
}

export interface VenuePastPrices {
  /**
   * Prices of the first outcome in [fromMs, toMs], at most 15 days, ascending: by the minute for up to a day,
   * beyond that in steps of `stepMs` if the venue has them. Empty if the venue has none. Starts with the last price
   * before `fromMs` if the venue returns it. Rejects if the venue does not respond after retries.
   */
  read(
    market: PastMarket,
    range: { fromMs: TimeMs; toMs: TimeMs; stepMs?: number },
    signal: AbortSignal,
  ): Promise<readonly PastPoint[]>
}

export type { TeamListing }

/** Dependencies of every venue. `emit` must not throw. */
export interface VenueParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly emit: (event: VenueEvent) => void
}

export interface Venue {
  readonly key: VenueKey
  readonly catalog: VenueCatalog
  readonly feed: VenueFeed
  readonly pastPrices: VenuePastPrices
  /** All teams of the venue. Rejects if it does not respond after retries. */
  readonly teams: (signal: AbortSignal) => Promise<readonly TeamListing[]>
  /** null: the venue does not publish who trades. */
  readonly wallets: VenueWallets | null
  readonly drift: Drift
}
