// The data types of the storage tables.

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

/** The part of a listing that is held in memory; `description` and `native` stay on disk. */
export type MarketSummary = Omit<MarketListing, 'description' | 'native'>
export type EventSummary = Omit<EventListing, 'description' | 'native'>
export interface ListingDetails {
  readonly description: string | null
  readonly native: JsonRecord
}

/** A stored trade: the published trade with the run that published it and its stamp. */
export interface StoredTrade extends Trade {
  readonly receivedAtMs: TimeMs
  /** The run that published it (runs.ts). Null for a past trade, which is stored but not published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** A position between trades. Descending lists continue with older trades, ascending lists with newer ones. */
export interface TradePosition {
  readonly timeMs: TimeMs
  /** Null: the position is after all rows of this millisecond. */
  readonly ordinal: number | null
}

/** Selects rows within [fromMs, toMs] and strictly after `after`, at most `limit`. */
export interface SliceQuery {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TradePosition | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Selects rows that a run published with an offset above `offset`, in order of offset, at most `limit`. */
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

export interface VenueTrade extends TradeOfMarket {
  /** Position among the venue's trades of the same millisecond. */
  readonly venueOrdinal: number
}

/** Prices of one market in one hour. Each second has its last price. */
export interface HourTicks {
  /** Seconds of the hour, ascending, 0..3599. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/** Selects bars of one size that start within [fromMs, toMs], at most `limit`. */
export interface BarQuery {
  readonly size: BarSize
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly order: 'asc' | 'desc'
  readonly limit: number
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

/** Selects snapshots within [fromMs, toMs] and strictly after `after`, at most `limit`. A millisecond has at most one. */
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
  /** When it was last read from the venue. Above the size limit, the day with the smallest value is deleted first. */
  readonly readAtMs: TimeMs
  /** Prices are complete up to this time. It is the end of the day if no more prices can be added. */
  readonly completeToMs: TimeMs
  /** Seconds of the day, ascending, 0..86399. */
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
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

/** One run of the engine. */
export interface Run {
  readonly number: number
  readonly epoch: string
  readonly startedAtMs: TimeMs
  /** The offset of the newest stored trade when the next run began; null if unknown. */
  readonly endOffset: number | null
}

/** Trades that could not be recovered. A gap announced them to clients at this position among the run's trades. */
export interface TradeLoss {
  readonly run: number
  /** The newest trade offset of the run when the gap was announced. */
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
  /** Permissions of the key. Keys that were created before scopes existed have all permissions. */
  readonly scopes: readonly KeyScope[]
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** A login token that was revoked before it expired. */
export interface EndedToken {
  /** Its `jti`, 1 to 128 characters. */
  readonly tokenId: string
  readonly accountId: AccountId
  /** When the token expires. The row is not needed after that. */
  readonly expiresAtMs: TimeMs
}

/** Limits of one call of `prune`. */
export interface PruneLimits {
  readonly nowMs: TimeMs
  readonly retentionDays: number
  readonly sizeBytesMax: number
  readonly rowsMax: number
}

/** A past opportunity. The ordinal distinguishes opportunities that ended in the same millisecond. */
export interface PastOpportunityRow {
  readonly past: PastOpportunity
  readonly ordinal: number
}

/** A stored whale with the run and stamp of its message. */
export interface StoredWhale extends Whale {
  /** When its first fill was received, by the local clock. */
  readonly receivedAtMs: TimeMs
  /** The run that published it. Null until it is published, as are `offset` and `seq`. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** The whale's market. It includes the native id, because the market's listing may be deleted before the whale. */
export type WhaleMarket = Pick<MarketRef, 'number' | 'venue' | 'nativeId'>

export interface WhaleRow {
  readonly market: MarketNumber
  readonly venue: VenueKey
  readonly nativeMarket: NativeMarketId
  readonly whale: StoredWhale
}
