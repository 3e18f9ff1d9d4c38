// The interface of a venue (README.md). A venue is independent of actors and calls `emit` synchronously and in order.

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

/** A page of the catalogue. Unreadable rows are omitted, counted and logged. */
export interface CatalogPage {
  readonly markets: readonly ReadListing[]
  readonly events: readonly ReadEvent[]
  /** Requested markets that exist but cannot be listed. Requesting them again would not help. */
  readonly refused?: readonly NativeMarketId[]
}

/** If the venue does not respond after retries, calls reject with an Error. */
export interface VenueCatalog {
  /** Reads all markets that did not settle long ago. `onPage` is awaited, which limits the memory. */
  crawl(onPage: (page: CatalogPage) => void | Promise<void>, signal: AbortSignal): Promise<void>
  /** Reads markets that may have changed since `sinceMs`, including new, closed and resolved markets. */
  refresh(
    sinceMs: TimeMs,
    onPage: (page: CatalogPage) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
  /** Unknown ids are omitted. */
  fetchMarkets(ids: readonly NativeMarketId[], signal: AbortSignal): Promise<CatalogPage>
}

export interface WatchedMarket {
  readonly nativeId: NativeMarketId
  /** In listing order. Prices are of the first outcome. */
  readonly outcomes: readonly OutcomeId[]
  readonly status: MarketStatus
  readonly openAtMs: TimeMs | null
  readonly closeAtMs: TimeMs | null
}

export interface FeedHealth {
  /**
   * Number of open connections. A connection for books counts if it has delivered data since it opened and covered
   * markets need it.
   */
  readonly connectionsOpen: number
  readonly connectionsWanted: number
  /** Time of the last message with data, not heartbeats. Null before the first. */
  readonly lastDataAtMs: TimeMs | null
  readonly lastSignAtMs: TimeMs | null
  /**
   * Maximum delay of a book change in normal operation. 0 if books are streamed. The duration of a round if they are
   * polled.
   */
  readonly bookDelayMs: number
  /** The current source of trades. Null if the venue has only one. */
  readonly tradesSource: TradesSource | null
}

export type Readable = 'all' | 'books' | 'nothing'

/** A venue's live stream. It reconnects, sends heartbeats and subscribes again automatically. */
export interface VenueFeed {
  start(): void
  /** Emits no event afterwards. */
  stop(): Promise<void>
  /** Follows trades and status of these markets, but not their books (see `cover`). Repeated calls have no effect. */
  watch(markets: readonly WatchedMarket[]): void
  /** Also uncovers the markets. */
  unwatch(ids: readonly NativeMarketId[]): void
  /**
   * Subscribes to the books of watched markets, in this order of priority. Each book starts with a snapshot. Repeated
   * calls have no effect. Ids that are not watched are skipped.
   */
  cover(ids: readonly NativeMarketId[]): void
  /** Ends the subscriptions of these books. Trades and status continue. Unknown ids have no effect. */
  uncover(ids: readonly NativeMarketId[]): void
  /** Requests new snapshots of these covered outcomes' books. They arrive in order on the stream where possible. */
  resync(outcomes: readonly OutcomeId[]): void
  /**
   * Sets which streams are read. Data of other streams waits in the kernel and at the venue. A stream that is not read
   * never fails for silence or missing heartbeats. If the venue closes its connection, the connection counts as lost
   * since the stream was last read. Repeated calls have no effect.
   */
  read(what: Readable): void
  /** Reconnects to discard unread book data. The new connections start with snapshots. Trades are not affected. */
  reconnect(reason: string): void
  /** Emits the trades of [fromMs, toMs], oldest first per market. Rejects if the venue does not respond. */
  fetchTrades(range: TradesRange): Promise<TradesRead>
  health(): FeedHealth
  /** Reads books over REST and emits each as a `bookSnapshot`. See BookSnapshotEvent.isInOrder. */
  readBooks(outcomes: readonly OutcomeId[]): void
}

/** A range of trades to read over REST. `market` null: the whole venue. */
export interface TradesRange {
  readonly market: NativeMarketId | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly source: 'backfill' | 'history'
}

export interface TradesRead {
  /** Start of the complete part of the range. Earlier trades are lost. */
  readonly completeFromMs: TimeMs
  /** If not null, the response did not reach back to the range's start, so any trade of the range may be missing. */
  readonly suspectReason: SuspectReason | null
  /** Venue time of the newest row, used or not. Null if there was no row. */
  readonly newestMs: TimeMs | null
}

export interface PastMarket {
  readonly nativeId: NativeMarketId
  readonly event: NativeEventId | null
  /** Kalshi's series ticker, if the market's event is known. */
  readonly series: string | null
  readonly outcomes: readonly OutcomeId[]
}

export interface VenuePastPrices {
  /**
   * Prices of the first outcome in [fromMs, toMs], ascending. A range has at most 15 days. Up to a day has a price per
   * minute, a longer range one per `stepMs` if the venue provides them. Starts with the last price before `fromMs` if
   * the venue returns it. Empty if the venue has no prices. Rejects if the venue does not respond after retries.
   */
  read(
    market: PastMarket,
    range: { fromMs: TimeMs; toMs: TimeMs; stepMs?: number },
    signal: AbortSignal,
  ): Promise<readonly PastPoint[]>
}

export type { TeamListing }

/** `emit` must not throw. */
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
  /** Rejects if the venue does not respond after retries. */
  readonly teams: (signal: AbortSignal) => Promise<readonly TeamListing[]>
  /** Null: the venue does not publish who trades. */
  readonly wallets: VenueWallets | null
  readonly drift: Drift
  /** Number of books that fit the real venue's documented limits, and the reason. Absent: all books. */
  readonly booksWithinLimits?: { readonly count: number; readonly because: string }
}
