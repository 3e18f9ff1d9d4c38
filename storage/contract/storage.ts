// The contract that actors see of the disk: one small interface a table. Reads are synchronous and
// see every put of this process at once (rows not yet committed are merged in). Writes of one event
// turn are committed together, and are not awaited on the path of a message. Accounts, keys and webhooks
// are awaited to the platter before their caller is answered. LmdbStorage and MemoryStorage keep this
// contract; test/contract/storage.ts proves both.

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

/** The part of a listing that lives in memory; `description` and `native` stay on disk. */
export type MarketSummary = Omit<MarketListing, 'description' | 'native'>
export type EventSummary = Omit<EventListing, 'description' | 'native'>
export interface ListingDetails {
  readonly description: string | null
  readonly native: JsonRecord
}

export interface MarketTable {
  /** Stores or replaces; gives a new market its number, which it keeps for ever. */
  put(listing: MarketListing): MarketNumber
  /**
   * Replaces the summary alone (status, prices, volumes), leaving the details as they are; does
   * nothing for a market that is not stored.
   */
  putSummary(number: MarketNumber, summary: MarketSummary): void
  /**
   * Removes summary, details, look-up by native id, checkpoint, hour bars and past prices; does
   * nothing for a market that is not stored. The number is never given again, in this run or a later
   * one. Trades, minute bars, snapshots and ticks are left to retention: removing a market
   * that still has some leaves rows without a name, those among the venue's trades included.
   */
  remove(number: MarketNumber): void
  number(venue: VenueKey, nativeId: NativeMarketId): MarketNumber | null
  details(number: MarketNumber): ListingDetails | null
  /** Every market, for the start; in order of number. */
  all(): Iterable<{ readonly number: MarketNumber; readonly summary: MarketSummary }>
  count(): number
}

export interface EventTable {
  put(listing: EventListing): void
  /** Removes summary and details; does nothing for an event that is not stored. */
  remove(venue: VenueKey, nativeId: NativeEventId): void
  details(venue: VenueKey, nativeId: NativeEventId): ListingDetails | null
  all(): Iterable<EventSummary>
  count(): number
}

/** A trade on disk: what was published, with the run's epoch number and its stamp then. */
export interface StoredTrade extends Trade {
  readonly receivedAtMs: TimeMs
  /** Which run published it (RunTable); null when it was only stored (history). */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** A place between trades: rows strictly older (desc) or newer (asc) than it follow. */
export interface TradePosition {
  readonly timeMs: TimeMs
  /** Null: the whole millisecond has been read. */
  readonly ordinal: number | null
}

/** A slice of rows with ordinals: those of [fromMs, toMs] strictly behind `after`, at most `limit`. */
export interface SliceQuery {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TradePosition | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Rows published in a run with offset above `offset`, by offset, at most `limit`. */
export interface OffsetQuery {
  readonly run: number
  readonly offset: number
  readonly limit: number
}

export type TradedMarket = Pick<MarketRef, 'number' | 'venue'>

/** Where a published trade is stored. */
export interface OffsetLocation {
  readonly offset: number
  readonly market: MarketNumber
  readonly timeMs: TimeMs
  readonly ordinal: number
}

/** A trade with its market. */
export interface TradeOfMarket {
  readonly market: MarketNumber
  readonly trade: StoredTrade
}

/** A trade among all of its venue's. */
export interface VenueTrade extends TradeOfMarket {
  /** Among the venue's trades of the same millisecond. */
  readonly venueOrdinal: number
}

export interface TradeTable {
  /** Whether this native id is stored for the market (committed or not). */
  has(market: MarketNumber, nativeId: string): boolean
  /**
   * Stores a trade, with its place among the venue's trades, and gives it its ordinal. The caller
   * has asked `has`; a repeat throws (our bug).
   */
  put(market: TradedMarket, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade
  /** Fills in a maker that became known later; does nothing when the trade is gone. */
  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void
  /** Fills in a taker that became known later; does nothing when the trade is gone. */
  setTaker(market: MarketNumber, nativeId: string, taker: string): void
  get(market: MarketNumber, nativeId: string): StoredTrade | null
  /** Trades of [fromMs, toMs], newest first or oldest first, at most `limit` rows. */
  range(query: SliceQuery & { readonly market: MarketNumber }): readonly StoredTrade[]
  /** Trades published in a run with offset above `offset`, by offset; for resuming streams. */
  rangeByOffset(query: OffsetQuery): readonly TradeOfMarket[]
  /** Where those trades are, without reading them: ten times as quick. */
  locationsByOffset(query: OffsetQuery): readonly OffsetLocation[]
  /** The newest offset of a run's stored trades; 0 when it has none. */
  newestOffset(run: number): number
  /** Time of the market's newest trade; null when it has none. */
  newestMs(market: MarketNumber): TimeMs | null
  oldestMs(market: MarketNumber): TimeMs | null
  /**
   * Trades of every market of a venue, newest or oldest first. Positions here are the venue's: its
   * own ordinals, given when a trade is stored, never changed, from 0 in each millisecond.
   */
  rangeOfVenue(query: SliceQuery & { readonly venue: VenueKey }): readonly VenueTrade[]
  /** Times of the venue's oldest and newest trade; null when it has none. Two look-ups. */
  extentOfVenue(venue: VenueKey): { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null
  /** All stored trades. */
  count(): number
}

/** Prices of one market in one hour: the last of each second. */
export interface HourTicks {
  /** Seconds of the hour, ascending, 0..3599. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

export interface TickTable {
  /** Replaces the hour's ticks. `hour` is floor(timeMs / 3,600,000). */
  put(market: MarketNumber, hour: number, ticks: HourTicks): void
  get(market: MarketNumber, hour: number): HourTicks | null
  /** The newest tick at or before `timeMs`; null when none is kept. */
  at(market: MarketNumber, timeMs: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null
  /** The oldest kept tick's hour; null when there is none. */
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

/** Bars of trades, written in the turn of the trade. Hour bars outlive their trades. */
export interface BarTable {
  put(market: MarketNumber, size: BarSize, bar: Bar): void
  get(market: MarketNumber, size: BarSize, startMs: TimeMs): Bar | null
  range(query: BarQuery & { readonly market: MarketNumber }): readonly Bar[]
}

/** A book at one moment of our clock: at most `bookSnapshotLevels` a side, best first, and both whole depths. */
export interface BookSnapshot {
  readonly timeMs: TimeMs
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly bidDepth: SizeMicros
  readonly askDepth: SizeMicros
}

/** Snapshots of [fromMs, toMs] strictly behind `after`, at most `limit`; one a millisecond has no ordinal. */
export interface SnapshotQuery {
  readonly market: MarketNumber
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TimeMs | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface SnapshotTable {
  /** One a millisecond; a second one replaces the first. Further levels than `bookSnapshotLevels` are not kept. */
  put(market: MarketNumber, snapshot: BookSnapshot): void
  range(query: SnapshotQuery): readonly BookSnapshot[]
  oldestMs(market: MarketNumber): TimeMs | null
  count(): number
}

/** A UTC day of a market's prices as its venue remembers them. */
export interface PastDay {
  /** When it was last read; the days that go first under size pressure are those read first. */
  readonly readAtMs: TimeMs
  /** The day's prices are known up to here; the day's end when no further price can come. */
  readonly completeToMs: TimeMs
  /** Seconds of the day, ascending, 0..86399. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/** A day has no age, since it is read once: it goes with its market, or when room is short. */
export interface PastPriceTable {
  /** Replaces the day. `day` is floor(timeMs / 86,400,000). */
  put(market: MarketNumber, day: number, past: PastDay): void
  get(market: MarketNumber, day: number): PastDay | null
}

/** When a venue's feed was live, so that the absence of a tick means that nothing changed. */
export interface CoverageTable {
  /** Starts an interval, or moves the end of the one that starts at `fromMs`. */
  put(venue: VenueKey, fromMs: TimeMs, toMs: TimeMs): void
  /**
   * The interval in which a time lies, both ends included; null when the feed was not live. A
   * venue's intervals do not overlap: only the last that starts at or before the time is looked at.
   */
  at(venue: VenueKey, atMs: TimeMs): { readonly fromMs: TimeMs; readonly toMs: TimeMs } | null
}

/**
 * What a market actor needs to come back: written every few seconds while it changes, and at sleep.
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
  /** The offset of the newest trade that it had stored when the next run began; null: not known. */
  readonly endOffset: number | null
}

export interface RunTable {
  /** Numbers ascend and are never given twice. */
  begin(epoch: string, startedAtMs: TimeMs): Run
  /** Notes where a run ended; does nothing for one that is not kept. */
  end(number: number, endOffset: number): void
  /** The kept runs, oldest first; see Storage.prune. */
  all(): readonly Run[]
}

/** Trades that were lost for good and announced as a gap, with its place among the published trades. */
export interface TradeLoss {
  readonly run: number
  /** The newest offset of the run's trades when it was announced. */
  readonly offset: number
  readonly venue: VenueKey
  /** Null: trades of any market of the venue. */
  readonly market: MarketNumber | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** How many; null: not known. */
  readonly count: number | null
}

export interface LossTable {
  /** Kept until the run is removed; of one run the first 10,000. */
  put(loss: TradeLoss): void
  /** Losses of a run at or behind an offset, in order. */
  range(query: { run: number; offset: number }): readonly TradeLoss[]
}

/** Small facts that outlive a run, by name: last refresh of a catalogue, newest trade seen, … */
export interface MarkTable {
  get(name: string): number | null
  put(name: string, value: number): void
}

export interface AccountRecord {
  readonly id: AccountId
  /** Lower case. */
  readonly email: string
  /** Encoded argon2id; null for the local account, which has no password. */
  readonly passwordHash: string | null
  readonly tier: 'free' | 'pro' | 'enterprise'
  /** Requests a minute and sockets where the operator set them; null: the tier's own. */
  readonly requestsPerMinute: number | null
  readonly socketsMax: number | null
  /** Webhook deliveries a second where the operator set them; null or left out: the tier's own. */
  readonly deliveriesPerSecond?: number | null
  readonly createdAtMs: TimeMs
  /** Set by the operator: while true, no credential of the account is accepted. */
  readonly isDisabled: boolean
  /** Counts up when all login tokens are ended: a token names the generation that it was issued in. */
  readonly tokenGeneration: number
}

export interface KeyRecord {
  readonly id: KeyId
  readonly accountId: AccountId
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string
  /** The first characters, for display. */
  readonly prefix: string
  readonly label: string
  /** What the key allows; keys from before there were scopes allow everything. */
  readonly scopes: readonly KeyScope[]
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** A login token that was logged out before it expired. */
export interface EndedToken {
  /** Its `jti`, 1 to 128 characters. */
  readonly tokenId: string
  readonly accountId: AccountId
  /** When it would have expired: from then on the row is not needed. */
  readonly expiresAtMs: TimeMs
}

/** Every put and remove resolves once it is on the platter, and rejects when that fails in 5 s. */
export interface AccountTable {
  accounts(): Iterable<AccountRecord>
  keys(): Iterable<KeyRecord>
  putAccount(record: AccountRecord): Promise<void>
  endedTokens(): Iterable<EndedToken>
  /** Removes the account alone; its keys, ended tokens and webhooks are the caller's to remove before. */
  removeAccount(id: AccountId): Promise<void>
  putKey(record: KeyRecord): Promise<void>
  removeKey(id: KeyId): Promise<void>
  putEndedToken(record: EndedToken): Promise<void>
  removeEndedToken(tokenId: string): Promise<void>
}

/** What retention keeps, and how many rows one call may remove. */
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
  /** Writes handed over and not yet committed. */
  outstandingWrites(): number
  /** False after a commit failed: until there is room again, or, after any other failure, until a restart. */
  isHealthy(): boolean
  /**
   * Bytes of the pages in use of both environments; not the files' length, since LMDB files never
   * shrink.
   */
  sizeBytes(): number
  /**
   * Removes what retention no longer keeps, at most `rowsMax` rows a call (call again while it
   * returns true): trades, minute bars and ticks over `retentionDays` old (see engine/retention-time.ts),
   * book snapshots over `snapshotDaysKept`; beyond `sizeBytesMax` the oldest of the rest first, days
   * of past prices by when they were read (hour bars stay); then coverage and past opportunities over `retentionDays` old;
   * then runs older than the oldest that a stored trade names, and all but the last `runsKeptMax`,
   * with their losses. The newest run always stays. Whales stay, also when their run is gone.
   */
  prune(limits: PruneLimits): boolean
  /** Grows with each `prune`: what was read before may be gone since. */
  readonly pruneCount: number
  /**
   * Moves accounts into a new file when they changed, so that nothing deleted can be read in freed pages. Never rejects.
   * `backupAccounts` does so too.
   */
  overwriteDeleted(): Promise<void>
  /**
   * Copies the accounts, keys and webhooks into a folder of its own under DATA_DIR/backups (backup.ts),
   * while all else goes on. Never rejects: a failure is logged and counted. Nothing in memory.
   */
  backupAccounts(nowMs: TimeMs): Promise<void>
  /** Resolves when everything put so far is committed; rejects when a commit failed. */
  committed(): Promise<void>
  /** Commits, flushes and closes. Nothing may be called afterwards. */
  close(): Promise<void>
}

/** With its place among those that ended in the same millisecond. */
export interface PastOpportunityRow {
  readonly past: PastOpportunity
  readonly ordinal: number
}

/** Committed with all other market rows of the turn; pruned by age like trades. */
export interface OpportunityTable {
  put(past: PastOpportunity): void
  /** Stores an open one in place of the one with its id. */
  putOpen(open: OpenOpportunity): void
  removeOpen(id: string): void
  /** Removes all open ones; those of markets that are no longer known are left out. */
  takeOpen(marketOf: (number: MarketNumber) => MarketRef | null): readonly OpenOpportunity[]
  /** By when they ended. */
  range(query: SliceQuery): readonly PastOpportunityRow[]
  oldestMs(): TimeMs | null
}

/** A whale row on disk, with the run and stamp of its message. */
export interface StoredWhale extends Whale {
  /** Our time of its first fill. */
  readonly receivedAtMs: TimeMs
  /** Which run published it; null, like its stamp, while it was not published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** Whose whale it is; by native id too, since whales outlive their markets in the catalogue. */
export type WhaleMarket = Pick<MarketRef, 'number' | 'venue' | 'nativeId'>

export interface WhaleRow {
  readonly market: MarketNumber
  readonly venue: VenueKey
  readonly nativeMarket: NativeMarketId
  readonly whale: StoredWhale
}

/** Whale rows, kept for ever; their ordinals count all whales of a millisecond, of whatever market. */
export interface WhaleTable {
  /** By its id, which is that of its first fill. */
  get(market: MarketNumber, nativeId: string): StoredWhale | null
  /** Stores a whale and gives it its ordinal. The caller has asked `get`; a repeat throws (our bug). */
  put(market: WhaleMarket, whale: Omit<StoredWhale, 'ordinal'>): StoredWhale
  /**
   * Replaces the stored whale of the same id, time and ordinal: more fills, or published at last. Does
   * nothing for one that is not stored (a full disk took no puts).
   */
  replace(market: WhaleMarket, whale: StoredWhale): void
  /** Whales of [fromMs, toMs] strictly behind `after`, of all markets, at most `limit`. */
  range(query: SliceQuery): readonly WhaleRow[]
  /** The same of one market. */
  rangeOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Whales published in a run with offset above `offset`, by offset; for resuming streams. */
  rangeByOffset(query: OffsetQuery): readonly WhaleRow[]
  /** The newest offset of a run's whales; 0 when it has none. */
  newestOffset(run: number): number
  /** Time of the oldest whale; null when there is none. */
  oldestMs(): TimeMs | null
  count(): number
}
