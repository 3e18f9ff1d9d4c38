// The contract that actors see of the disk: one small interface a table. Reads are synchronous and
// see every put of this process at once (rows not yet committed are merged in). Writes of one event
// turn are committed together; nobody awaits them on the path of a message. What a user was told
// is kept (accounts, keys) is awaited to the platter. LmdbStorage and MemoryStorage keep this
// contract; test/contract/storage.ts proves both. Upholds STORE1 to STORE9, STORE17 to STORE20.

import type { Level, Trade } from '../engine/events.ts'
import type { AccountId, KeyId, NativeEventId, NativeMarketId, VenueKey } from '../engine/ids.ts'
import type { EventListing, JsonRecord, MarketListing, MarketNumber } from '../engine/market.ts'
import type { PriceMicros, TimeMs } from '../engine/units.ts'

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
   * Removes summary, details, look-up by native id, and checkpoint; does nothing for a market that
   * is not stored. The number is never given again, in this run or a later one. Trades and ticks
   * are left to retention: whoever removes a market that still has some keeps rows without a name.
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

export interface TradeTable {
  /** Whether this native id is stored for the market (committed or not). */
  has(market: MarketNumber, nativeId: string): boolean
  /**
   * Stores a trade and gives it its ordinal. The caller has asked `has`; a repeat throws (our bug).
   */
  put(market: MarketNumber, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade
  /** Fills in a maker that became known later; does nothing when the trade is gone. */
  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void
  get(market: MarketNumber, nativeId: string): StoredTrade | null
  /** Trades of [fromMs, toMs], newest first or oldest first, at most `limit` rows. */
  range(query: {
    market: MarketNumber
    fromMs: TimeMs
    toMs: TimeMs
    after: TradePosition | null
    order: 'asc' | 'desc'
    limit: number
  }): readonly StoredTrade[]
  /** Trades published in a run with offset above `offset`, by offset; for resuming streams. */
  rangeByOffset(query: {
    run: number
    offset: number
    limit: number
  }): readonly { readonly market: MarketNumber; readonly trade: StoredTrade }[]
  /** Time of the market's newest trade; null when it has none. */
  newestMs(market: MarketNumber): TimeMs | null
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
}

export interface RunTable {
  /** Numbers ascend and are never given twice. */
  begin(epoch: string, startedAtMs: TimeMs): Run
  /** The kept runs, oldest first; see Storage.prune. */
  all(): readonly Run[]
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
  readonly createdAtMs: TimeMs
}

export interface KeyRecord {
  readonly id: KeyId
  readonly accountId: AccountId
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string
  /** The first characters, for display. */
  readonly prefix: string
  readonly label: string
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** Every put and remove resolves once it is on the platter, and rejects when that fails in 5 s. */
export interface AccountTable {
  accounts(): Iterable<AccountRecord>
  keys(): Iterable<KeyRecord>
  putAccount(record: AccountRecord): Promise<void>
  putKey(record: KeyRecord): Promise<void>
  removeKey(id: KeyId): Promise<void>
}

export interface Storage {
  readonly markets: MarketTable
  readonly events: EventTable
  readonly trades: TradeTable
  readonly ticks: TickTable
  readonly checkpoints: CheckpointTable
  readonly runs: RunTable
  readonly marks: MarkTable
  readonly accounts: AccountTable
  /** Writes handed over and not yet committed. */
  outstandingWrites(): number
  /** False after a commit failed: the process must stop in order (or is read-only after ENOSPC). */
  isHealthy(): boolean
  /**
   * Bytes of the pages in use of both environments; not the files' length, since LMDB files never
   * shrink.
   */
  sizeBytes(): number
  /**
   * Removes what retention no longer keeps, at most `rowsMax` rows a call (call again while it
   * returns true): trades and ticks of hours over `retentionDays` old; beyond `sizeBytesMax` the
   * oldest of the rest first; then runs older than the oldest that a stored trade names, and all
   * but the last `runsKeptMax`. The newest run always stays.
   */
  prune(limits: {
    nowMs: TimeMs
    retentionDays: number
    sizeBytesMax: number
    rowsMax: number
  }): boolean
  /** Resolves when everything put so far is committed; rejects when a commit failed. */
  committed(): Promise<void>
  /** Commits, flushes and closes. Nothing may be called afterwards. */
  close(): Promise<void>
}
