// Storage interfaces that actors use, one per table. Reads are synchronous and include uncommitted puts of this
// process. Writes of one event-loop tick commit together; message processing does not wait for them. Writes of
// accounts, keys and webhooks resolve only when durable. test/contract/storage.ts tests these
// interfaces.

import type { KeyScope } from '../../engine/accounts/account.ts'
import type { Level, Trade, Whale } from '../../engine/events.ts'
import type { AccountId, KeyId, NativeEventId, NativeMarketId, VenueKey } from '../../engine/ids.ts'
import type { Bar, BarSize } from '../../engine/market/candle.ts'
import type {
  EventListing,
  JsonRecord,
  MarketListing,
  MarketNumber,
  MarketRef,
} from '../../engine/market/market.ts'
import type { OpenOpportunity, PastOpportunity } from '../../engine/opportunity.ts'
import type { PriceMicros, SizeMicros, TimeMs } from '../../engine/units.ts'
import type { MatchTable, OverrideTable } from './matches.ts'
import type { WalletTable } from './wallets.ts'
import type { OutboxTable, WebhookTable } from './webhooks.ts'

/** The part of a listing that is held in memory; `description` and `native` stay on disk. */
export type MarketSummary = Omit<MarketListing, 'description' | 'native'>
export type EventSummary = Omit<EventListing, 'description' | 'native'>
export interface ListingDetails {
  readonly description: string | null
  readonly native: JsonRecord
}

export interface MarketTable {
  /** Stores or replaces a listing; assigns a permanent number to a new market. */
  put(listing: MarketListing): MarketNumber
  /**
   * Replaces only the summary (status, prices, volumes) and leaves the details. Does nothing if the market is not
   * stored.
   */
  putSummary(number: MarketNumber, summary: MarketSummary): void
  /**
   * Removes summary, details, native id lookup, checkpoint, hour bars and past prices. Does nothing if the market is
   * not stored. The number is never reused, in this run or a later one. Retention removes trades, minute bars,
   * snapshots and ticks later. A market that still has some leaves rows without a listing, including rows in the
   * venue's trade index.
   */
  remove(number: MarketNumber): void
  number(venue: VenueKey, nativeId: NativeMarketId): MarketNumber | null
  details(number: MarketNumber): ListingDetails | null
  /** All markets in order of number; read at startup. */
  all(): Iterable<{ readonly number: MarketNumber; readonly summary: MarketSummary }>
  count(): number
}

export interface EventTable {
  put(listing: EventListing): void
  /** Removes summary and details; does nothing if the event is not stored. */
  remove(venue: VenueKey, nativeId: NativeEventId): void
  details(venue: VenueKey, nativeId: NativeEventId): ListingDetails | null
  all(): Iterable<EventSummary>
  count(): number
}

/** A stored trade: the published trade with its run number and stamp. */
export interface StoredTrade extends Trade {
  readonly receivedAtMs: TimeMs
  /** The run that published it (RunTable); null for history, which is stored but not published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** A position between trades, exclusive: the rows after it are older (desc) or newer (asc). */
export interface TradePosition {
  readonly timeMs: TimeMs
  /** Null: after every row of this millisecond. */
  readonly ordinal: number | null
}

/** Rows of [fromMs, toMs] strictly after `after`, at most `limit`. */
export interface SliceQuery {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TradePosition | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Rows that a run published with an offset above `offset`, in order of offset, at most `limit`. */
export interface OffsetQuery {
  readonly run: number
  readonly offset: number
  readonly limit: number
}

export type TradedMarket = Pick<MarketRef, 'number' | 'venue'>

/** The storage position of a published trade. */
export interface OffsetLocation {
  readonly offset: number
  readonly market: MarketNumber
  readonly timeMs: TimeMs
  readonly ordinal: number
}

/** A trade and its market. */
export interface TradeOfMarket {
  readonly market: MarketNumber
  readonly trade: StoredTrade
}

/** A trade with its position among all trades of its venue. */
export interface VenueTrade extends TradeOfMarket {
  /** Position among the venue's trades of the same millisecond. */
  readonly venueOrdinal: number
}

export interface TradeTable {
  /** Whether a trade with this native id is stored for the market, committed or not. */
  has(market: MarketNumber, nativeId: string): boolean
  /**
   * Stores a trade, indexes it by venue and assigns its ordinal. The caller must check `has` first: storing a
   * duplicate throws.
   */
  put(market: TradedMarket, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade
  /** Sets a maker that became known later; does nothing if the trade was deleted. */
  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void
  /** Sets a taker that became known later; does nothing if the trade was deleted. */
  setTaker(market: MarketNumber, nativeId: string, taker: string): void
  get(market: MarketNumber, nativeId: string): StoredTrade | null
  /** Trades of [fromMs, toMs], newest first or oldest first, at most `limit` rows. */
  range(query: SliceQuery & { readonly market: MarketNumber }): readonly StoredTrade[]
  /** Trades that a run published with an offset above `offset`, in order of offset; for resuming streams. */
  rangeByOffset(query: OffsetQuery): readonly TradeOfMarket[]
  /** Positions of those trades, without reading the trades: ten times as fast. */
  locationsByOffset(query: OffsetQuery): readonly OffsetLocation[]
  /** The newest offset of a run's stored trades; 0 if it has none. */
  newestOffset(run: number): number
  /** Time of the market's newest trade; null if it has none. */
  newestMs(market: MarketNumber): TimeMs | null
  oldestMs(market: MarketNumber): TimeMs | null
  /**
   * Trades of every market of a venue, newest or oldest first. Positions use the venue's ordinals. An ordinal is
   * assigned when the trade is stored, starts at 0 in each millisecond and never changes.
   */
  rangeOfVenue(query: SliceQuery & { readonly venue: VenueKey }): readonly VenueTrade[]
  /** Times of the venue's oldest and newest trade; null if it has none. Costs two lookups. */
  extentOfVenue(venue: VenueKey): { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null
  /** Number of stored trades. */
  count(): number
}

/** Prices of one market in one hour: the last price of each second. */
export interface HourTicks {
  /** Seconds of the hour, ascending, 0..3599. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

export interface TickTable {
  /** Replaces the hour's ticks. `hour` is floor(timeMs / 3,600,000). */
  put(market: MarketNumber, hour: number, ticks: HourTicks): void
  get(market: MarketNumber, hour: number): HourTicks | null
  /** The newest tick at or before `timeMs`; null if none is stored. */
  at(market: MarketNumber, timeMs: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null
  /** The hour of the oldest stored tick; null if there is none. */
  oldestHour(market: MarketNumber): number | null
}

/** Bars of one size that start in [fromMs, toMs], at most `limit`. */
export interface BarQuery {
  readonly size: BarSize
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Trade bars, written in the event-loop tick of the trade. Hour bars outlive their trades. */
export interface BarTable {
  put(market: MarketNumber, size: BarSize, bar: Bar): void
  get(market: MarketNumber, size: BarSize, startMs: TimeMs): Bar | null
  range(query: BarQuery & { readonly market: MarketNumber }): readonly Bar[]
}

/**
 * A book at one moment of the local clock: at most `bookSnapshotLevels` levels a side, best first, and the full depth
 * of each side.
 */
export interface BookSnapshot {
  readonly timeMs: TimeMs
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly bidDepth: SizeMicros
  readonly askDepth: SizeMicros
}

/** Snapshots of [fromMs, toMs] strictly after `after`, at most `limit`. There is one per millisecond, so no ordinal. */
export interface SnapshotQuery {
  readonly market: MarketNumber
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TimeMs | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface SnapshotTable {
  /** Stores one snapshot per millisecond; a second one replaces the first. Drops levels beyond `bookSnapshotLevels`. */
  put(market: MarketNumber, snapshot: BookSnapshot): void
  range(query: SnapshotQuery): readonly BookSnapshot[]
  oldestMs(market: MarketNumber): TimeMs | null
  count(): number
}

/** A UTC day of a market's prices, as the venue reports them. */
export interface PastDay {
  /** When it was last read from the venue. Size-based eviction starts with the smallest value. */
  readonly readAtMs: TimeMs
  /** Prices are complete up to this time; the day's end if no further price can be added. */
  readonly completeToMs: TimeMs
  /** Seconds of the day, ascending, 0..86399. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/** Days have no age limit: they are deleted with their market or when the size limit is exceeded. */
export interface PastPriceTable {
  /** Replaces the day. `day` is floor(timeMs / 86,400,000). */
  put(market: MarketNumber, day: number, past: PastDay): void
  get(market: MarketNumber, day: number): PastDay | null
}

/** Intervals in which a venue's feed was live. Within one, a missing tick means that the price did not change. */
export interface CoverageTable {
  /** Starts an interval, or updates the end of the one that starts at `fromMs`. */
  put(venue: VenueKey, fromMs: TimeMs, toMs: TimeMs): void
  /**
   * The interval that contains a time, both ends included; null if the feed was not live. A venue's intervals do not
   * overlap: only the last one that starts at or before the time is checked.
   */
  at(venue: VenueKey, atMs: TimeMs): { readonly fromMs: TimeMs; readonly toMs: TimeMs } | null
}

/**
 * The state from which a market actor is restored. Written every few seconds while it changes, and when the actor
 * sleeps.
 */
export interface Checkpoint {
  readonly writtenAtMs: TimeMs
  readonly price: PriceMicros | null
  readonly priceSource: string
  readonly lastTradePrice: PriceMicros | null
  readonly lastTradeMs: TimeMs | null
  readonly bookTimeMs: TimeMs | null
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
}

export interface CheckpointTable {
  put(market: MarketNumber, checkpoint: Checkpoint): void
  get(market: MarketNumber): Checkpoint | null
}

/** One run of the engine. */
export interface Run {
  readonly number: number
  readonly epoch: string
  readonly startedAtMs: TimeMs
  /** The offset of the newest stored trade when the next run began; null if unknown. */
  readonly endOffset: number | null
}

export interface RunTable {
  /** Numbers ascend and are never reused. */
  begin(epoch: string, startedAtMs: TimeMs): Run
  /** Records where a run ended; does nothing if the run is not stored. */
  end(number: number, endOffset: number): void
  /** Stored runs, oldest first; see Storage.prune. */
  all(): readonly Run[]
}

/**
 * Trades that could not be recovered and were announced as a gap, with the gap's position among the published trades.
 */
export interface TradeLoss {
  readonly run: number
  /** The newest trade offset of the run when the gap was announced. */
  readonly offset: number
  readonly venue: VenueKey
  /** Null: the gap may affect any market of the venue. */
  readonly market: MarketNumber | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** Number of lost trades; null if unknown. */
  readonly count: number | null
}

export interface LossTable {
  /** Stored until the run is removed; at most the first 10,000 of a run. */
  put(loss: TradeLoss): void
  /** Losses of a run at or after an offset, in order. */
  range(query: { run: number; offset: number }): readonly TradeLoss[]
}

/** Named numbers that outlive a run, such as the time of the last catalogue refresh or of the newest trade. */
export interface MarkTable {
  get(name: string): number | null
  put(name: string, value: number): void
}

export interface AccountRecord {
  readonly id: AccountId
  /** Lower case. */
  readonly email: string
  /** Encoded argon2id hash; null for the local account, which has no password. */
  readonly passwordHash: string | null
  readonly tier: 'free' | 'pro' | 'enterprise'
  /** Requests a minute and sockets that the operator set; null: the tier's default. */
  readonly requestsPerMinute: number | null
  readonly socketsMax: number | null
  /** Webhook deliveries a second that the operator set; null or omitted: the tier's default. */
  readonly deliveriesPerSecond?: number | null
  readonly createdAtMs: TimeMs
  /** Set by the operator: while true, all credentials of the account are rejected. */
  readonly isDisabled: boolean
  /** Incremented to revoke all login tokens: a token states the generation in which it was issued. */
  readonly tokenGeneration: number
}

export interface KeyRecord {
  readonly id: KeyId
  readonly accountId: AccountId
  /** SHA-256 of the complete key, lower-case hex. */
  readonly hash: string
  /** The first characters, for display. */
  readonly prefix: string
  readonly label: string
  /** Permissions of the key; keys older than scopes have all of them. */
  readonly scopes: readonly KeyScope[]
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** A login token that was revoked before it expired. */
export interface EndedToken {
  /** Its `jti`, 1 to 128 characters. */
  readonly tokenId: string
  readonly accountId: AccountId
  /** When the token expires; the row is not needed after that. */
  readonly expiresAtMs: TimeMs
}

/** Puts and removes resolve when durable, and reject if that fails or takes more than 5 s. */
export interface AccountTable {
  accounts(): Iterable<AccountRecord>
  keys(): Iterable<KeyRecord>
  putAccount(record: AccountRecord): Promise<void>
  endedTokens(): Iterable<EndedToken>
  /** Removes only the account. The caller removes its keys, revoked tokens and webhooks first. */
  removeAccount(id: AccountId): Promise<void>
  putKey(record: KeyRecord): Promise<void>
  removeKey(id: KeyId): Promise<void>
  putEndedToken(record: EndedToken): Promise<void>
  removeEndedToken(tokenId: string): Promise<void>
}

/** Retention limits, and how many rows one call may remove. */
export interface PruneLimits {
  readonly nowMs: TimeMs
  readonly retentionDays: number
  readonly sizeBytesMax: number
  readonly rowsMax: number
}

export interface Storage {
  readonly markets: MarketTable
  readonly events: EventTable
  readonly trades: TradeTable
  readonly whales: WhaleTable
  readonly opportunities: OpportunityTable
  readonly bars: BarTable
  readonly snapshots: SnapshotTable
  readonly ticks: TickTable
  readonly pastPrices: PastPriceTable
  readonly coverage: CoverageTable
  readonly checkpoints: CheckpointTable
  readonly runs: RunTable
  readonly losses: LossTable
  readonly marks: MarkTable
  readonly accounts: AccountTable
  readonly webhooks: WebhookTable
  readonly outbox: OutboxTable
  readonly matches: MatchTable
  readonly matchOverrides: OverrideTable
  readonly wallets: WalletTable
  /** Number of puts that are not yet committed. */
  outstandingWrites(): number
  /** False after a failed commit: until space is free after a full disk, or until a restart after any other failure. */
  isHealthy(): boolean
  /** Bytes of the pages in use in both environments. LMDB files never shrink, so their length is not used. */
  sizeBytes(): number
  /**
   * Deletes expired rows, at most `rowsMax` a call; call again while it returns true. In this order:
   * - trades, minute bars and ticks older than `retentionDays` (see engine/retention-time.ts), and book snapshots
   * older than `snapshotRetentionDays`;
   * - above `sizeBytesMax`, the oldest remaining rows, and days of past prices in the order of their reading; hour
   * bars stay;
   * - coverage and past opportunities older than `retentionDays`;
   * - runs older than the oldest run of a stored trade, and all but the last `retainedRunsMax`, with their losses.
   * The newest run always stays. Whales are never deleted, even if their run is.
   */
  prune(limits: PruneLimits): boolean
  /** Incremented by each `prune`: earlier reads may be out of date. */
  readonly pruneCount: number
  /**
   * Rewrites the accounts into a new file if they changed, so that deleted rows cannot be read in freed pages. Never
   * rejects. `backupAccounts` does this too.
   */
  overwriteDeleted(): Promise<void>
  /**
   * Copies accounts, keys and webhooks into a new folder under DATA_DIR/backups (backup.ts) while writes continue.
   * Never rejects: a failure is logged and counted.
   */
  backupAccounts(nowMs: TimeMs): Promise<void>
  /** Resolves when all puts so far are committed; rejects if a commit failed. */
  committed(): Promise<void>
  /** Commits, flushes and closes. No method may be called afterwards. */
  close(): Promise<void>
}

/** A past opportunity with its position among those that ended in the same millisecond. */
export interface PastOpportunityRow {
  readonly past: PastOpportunity
  readonly ordinal: number
}

/** Committed together with all other market rows of the event-loop tick; expires like trades. */
export interface OpportunityTable {
  put(past: PastOpportunity): void
  /** Stores an open opportunity; replaces the one with the same id. */
  putOpen(open: OpenOpportunity): void
  removeOpen(id: string): void
  /** Removes and returns all open opportunities; omits those of unknown markets. */
  takeOpen(marketOf: (number: MarketNumber) => MarketRef | null): readonly OpenOpportunity[]
  /** In order of their end. */
  range(query: SliceQuery): readonly PastOpportunityRow[]
  oldestMs(): TimeMs | null
}

/** A stored whale with the run and stamp of its message. */
export interface StoredWhale extends Whale {
  /** When its first fill was received, on the local clock. */
  readonly receivedAtMs: TimeMs
  /** The run that published it; null, like its stamp, until it is published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** The whale's market. It includes the native id, since whales outlive their market's listing. */
export type WhaleMarket = Pick<MarketRef, 'number' | 'venue' | 'nativeId'>

export interface WhaleRow {
  readonly market: MarketNumber
  readonly venue: VenueKey
  readonly nativeMarket: NativeMarketId
  readonly whale: StoredWhale
}

/** Whales, which are never deleted. Ordinals number all whales of a millisecond, across markets. */
export interface WhaleTable {
  /** A whale by its id, which is the id of its first fill. */
  get(market: MarketNumber, nativeId: string): StoredWhale | null
  /** Stores a whale and assigns its ordinal. The caller must check `get` first: storing a duplicate throws. */
  put(market: WhaleMarket, whale: Omit<StoredWhale, 'ordinal'>): StoredWhale
  /**
   * Replaces the stored whale of the same id, time and ordinal, after more fills or its publication. Does nothing if
   * it is not stored (a full disk rejected the put).
   */
  replace(market: WhaleMarket, whale: StoredWhale): void
  /** Whales of all markets in [fromMs, toMs] strictly after `after`, at most `limit`. */
  range(query: SliceQuery): readonly WhaleRow[]
  /** As `range`, of one market. */
  rangeOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Whales that a run published with an offset above `offset`, in order of offset; for resuming streams. */
  rangeByOffset(query: OffsetQuery): readonly WhaleRow[]
  /** The newest offset of a run's whales; 0 if it has none. */
  newestOffset(run: number): number
  /** Time of the oldest whale; null if there is none. */
  oldestMs(): TimeMs | null
  count(): number
}
