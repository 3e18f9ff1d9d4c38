import type { KeyScope } from '../../engine/accounts/account.ts'
import type { Level, Trade, Whale } from '../../engine/events.ts'
import type { AccountId, KeyId, NativeMarketId, VenueKey } from '../../engine/ids.ts'
import type { BarSize } from '../../engine/market/candle.ts'
import type {
  EventListing,
  JsonRecord,
  MarketListing,
  MarketNumber,
  MarketRef,
} from '../../engine/market/market.ts'
import type { PastOpportunity } from '../../engine/opportunity.ts'
import type { PriceMicros, SizeMicros, TimeMs } from '../../engine/units.ts'

/** The part of a listing that is held in memory. `description` and `native` stay on disk. */
export type MarketSummary = Omit<MarketListing, 'description' | 'native'>
export type EventSummary = Omit<EventListing, 'description' | 'native'>
export interface ListingDetails {
  readonly description: string | null
  readonly native: JsonRecord
}

export interface StoredTrade extends Trade {
  readonly receivedAtMs: TimeMs
  /** Number of the run that published the trade. Null for a past trade, which is stored but not published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/**
 * A position between two trades. Lists in descending order continue with older trades, ascending lists with newer
 * trades.
 */
export interface TradePosition {
  readonly timeMs: TimeMs
  /** Null: the position is after all rows of the millisecond. */
  readonly ordinal: number | null
}

/** Selects at most `limit` rows within [fromMs, toMs] and strictly after `after`. */
export interface SliceQuery {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TradePosition | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Selects at most `limit` rows that a run published with an offset above `offset`, in order of offset. */
export interface OffsetQuery {
  readonly run: number
  readonly offset: number
  readonly limit: number
}

export type TradedMarket = Pick<MarketRef, 'number' | 'venue'>

export interface OffsetLocation {
  readonly offset: number
  readonly market: MarketNumber
  readonly timeMs: TimeMs
  readonly ordinal: number
}

export interface TradeOfMarket {
  readonly market: MarketNumber
  readonly trade: StoredTrade
}

export interface VenueTrade extends TradeOfMarket {
  /** Position among all trades of the venue in the same millisecond. */
  readonly venueOrdinal: number
}

export interface HourTicks {
  /** Seconds of the hour, ascending, 0..3599. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/** Selects at most `limit` bars of one size that start within [fromMs, toMs]. */
export interface BarQuery {
  readonly size: BarSize
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/**
 * A book at one moment of the local clock. It has at most `bookSnapshotLevels` levels a side, best first, and the full
 * depth of each side.
 */
export interface BookSnapshot {
  readonly timeMs: TimeMs
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly bidDepth: SizeMicros
  readonly askDepth: SizeMicros
}

/**
 * Selects at most `limit` snapshots within [fromMs, toMs] and strictly after `after`. A market has at most one snapshot
 * per millisecond.
 */
export interface SnapshotQuery {
  readonly market: MarketNumber
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TimeMs | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** A UTC day of a market's prices, as the venue reports them. */
export interface PastDay {
  /**
   * When the day was last read from the venue. Above the storage size limit, the day with the smallest value is deleted
   * first.
   */
  readonly readAtMs: TimeMs
  /** Prices are complete up to this time. The end of the day means that no more prices can be added. */
  readonly completeToMs: TimeMs
  /** Seconds of the day, ascending, 0..86399. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/**
 * The state from which a market actor is restored. It is written every few seconds while it changes, and when the actor
 * is unloaded.
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

export interface Run {
  readonly number: number
  readonly epoch: string
  readonly startedAtMs: TimeMs
  /** The offset of the newest stored trade when the next run began; null if unknown. */
  readonly endOffset: number | null
}

/** Trades that could not be recovered. Clients were informed by a gap message at this position among the run's trades. */
export interface TradeLoss {
  readonly run: number
  /** The run's newest trade offset when the gap was sent. */
  readonly offset: number
  readonly venue: VenueKey
  /** Null: any market of the venue may be affected. */
  readonly market: MarketNumber | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** Number of lost trades; null if unknown. */
  readonly count: number | null
}

export interface AccountRecord {
  readonly id: AccountId
  /** Lower case. */
  readonly email: string
  /** Encoded argon2id hash; null for the local account, which has no password. */
  readonly passwordHash: string | null
  readonly tier: 'free' | 'pro' | 'enterprise'
  /** Requests per minute and sockets, set by the operator. Null: the tier's default. */
  readonly requestsPerMinute: number | null
  readonly socketsMax: number | null
  /** Webhook deliveries per second, set by the operator. Null or omitted: the tier's default. */
  readonly deliveriesPerSecond?: number | null
  readonly createdAtMs: TimeMs
  /** While true, all credentials of the account are rejected. */
  readonly isDisabled: boolean
  /** Login tokens of an earlier generation are invalid. Incrementing the number revokes all tokens. */
  readonly tokenGeneration: number
  /** Ids of markets, oldest first. Omitted: none. */
  readonly watchlist?: readonly string[]
}

export interface KeyRecord {
  readonly id: KeyId
  readonly accountId: AccountId
  /** SHA-256 of the complete key, in lower-case hex. */
  readonly hash: string
  readonly prefix: string
  readonly label: string
  /** Permissions of the key. A key without stored scopes has all permissions. */
  readonly scopes: readonly KeyScope[]
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

export interface EndedToken {
  /** The token's `jti`, 1 to 128 characters. */
  readonly tokenId: string
  readonly accountId: AccountId
  /** The row may be deleted after this time. */
  readonly expiresAtMs: TimeMs
}

export interface PruneLimits {
  readonly nowMs: TimeMs
  readonly retentionDays: number
  readonly sizeBytesMax: number
  readonly rowsMax: number
}

export interface PastOpportunityRow {
  readonly past: PastOpportunity
  readonly ordinal: number
}

export interface StoredWhale extends Whale {
  readonly receivedAtMs: TimeMs
  /** Number of the run that published the whale. `run`, `offset` and `seq` are null until the whale is published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** The whale's market. The native id is included because the whale is stored longer than the market's listing. */
export type WhaleMarket = Pick<MarketRef, 'number' | 'venue' | 'nativeId'>

export interface WhaleRow {
  readonly market: MarketNumber
  readonly venue: VenueKey
  readonly nativeMarket: NativeMarketId
  readonly whale: StoredWhale
}
