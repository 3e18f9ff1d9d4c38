// The types that packages exchange. A VenueEvent arrives from a venue, an Update is sent to watchers. Outside a venue's
// map.ts only the field `venue` identifies the venue. Each event has the venue's time and the time of its arrival.

import { assert } from './errors.ts'
import type { NativeMarketId, OutcomeId, VenueKey, WalletAddress } from './ids.ts'
import type { MarketFacts, MarketRef, MarketStatus, ResolutionStatus } from './market/market.ts'
import type { CloseReason, Opportunity, OpportunityPeak } from './opportunity.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from './units.ts'
import type { WalletEvent } from './wallet.ts'

export type BookSide = 'bid' | 'ask'
export type TradeSide = 'buy' | 'sell'

/** `size` is above zero. */
export interface Level {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** A level's new absolute size (0 removes the level), or the signed difference if the event's `mode` is 'difference'. */
export interface LevelChange {
  readonly side: BookSide
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** The venue's reported best bid and ask. Null: the side is empty. */
export interface TopOfBook {
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
}

interface FromVenue {
  readonly venue: VenueKey
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

/** The whole book of one outcome, quoted for the same outcome. Levels are in any order. */
export interface BookSnapshotEvent extends FromVenue {
  readonly kind: 'bookSnapshot'
  readonly outcome: OutcomeId
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /**
   * True: received in order on the stream. False: read over REST, and may be older than changes that were already
   * applied.
   */
  readonly isInOrder: boolean
}

export interface BookChangeEvent extends FromVenue {
  readonly kind: 'bookChange'
  readonly outcome: OutcomeId
  /** 'absolute': `size` is the level's new total. 'difference': `size` is added to the level. */
  readonly mode: 'absolute' | 'difference'
  readonly changes: readonly LevelChange[]
  /** Null if the venue does not report it. */
  readonly top: TopOfBook | null
}

/** One fill, in the traded token. `nativeId` is the same in the stream and in a back-fill. */
export interface TradeEvent extends FromVenue {
  readonly kind: 'trade'
  readonly outcome: OutcomeId
  readonly market: NativeMarketId
  readonly nativeId: string
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly side: TradeSide
  readonly maker: string | null
  readonly taker: string | null
  readonly txHash: string | null
  /** A block trade: agreed between its parties off the book. It does not reflect the market's price. */
  readonly isBlock: boolean
  /**
   * Contracts of this outcome and side that the taker traded in the whole transaction, as far as the source shows.
   * Absent: equal to `size`. If other trades of the transaction are stored already, only the remainder is new.
   */
  readonly rowSize?: SizeMicros
  /** 'stream': live. 'backfill': fetched after a gap. 'history': older than the first contact with the venue. */
  readonly source: 'stream' | 'backfill' | 'history'
}

/** A further wallet that took part in a transaction. Only venue a reports it, to complete the makers of its trades. */
export interface TradeParticipantEvent extends FromVenue {
  readonly kind: 'tradeParticipant'
  readonly outcome: OutcomeId
  readonly txHash: string
  readonly wallet: string
}

/** A fill of a followed wallet, as taker or maker. The wallet's history later contains the same fill with its fee. */
export interface WalletFillEvent extends FromVenue {
  readonly kind: 'walletFill'
  readonly wallet: WalletAddress
  readonly fill: WalletEvent
}

/** The venue's last price of an outcome. It changes only the price. */
export interface LastPriceEvent extends FromVenue {
  readonly kind: 'lastPrice'
  readonly outcome: OutcomeId
  readonly price: PriceMicros
}

/**
 * The venue's trading figures of a market. Null: the message does not contain the value. Prices are of the first
 * outcome. The last price is at least as new as `venueTimeMs`.
 */
export interface FiguresEvent extends FromVenue {
  readonly kind: 'figures'
  readonly outcome: OutcomeId
  /** The figures contain every trade up to this time. */
  readonly tradesToMs: TimeMs
  readonly lastPrice: PriceMicros | null
  readonly previousPrice: PriceMicros | null
  /** In the venue's unit (VenueFacts.volumeUnit). */
  readonly volume24h: UsdMicros | null
  readonly volumeTotal: UsdMicros | null
  readonly openInterest: SizeMicros | null
}

export interface TickSizeEvent extends FromVenue {
  readonly kind: 'tickSize'
  readonly outcome: OutcomeId
  readonly tickMicros: PriceMicros
  /** True: resting orders stay. False: the book is void until its next snapshot. */
  readonly retainsBook: boolean
}

/** A market's status changed, by message or by timer. */
export interface MarketStatusEvent extends FromVenue {
  readonly kind: 'marketStatus'
  readonly market: NativeMarketId
  readonly status: MarketStatus
  /** Absent: the message does not contain it. */
  readonly resolutionStatus?: ResolutionStatus
  /** Payout of the first outcome when resolved, or as determined so far. */
  readonly settlementPrice: PriceMicros | null
}

/** A market appeared, or its metadata changed. Its catalogue entry must be fetched again. */
export interface MarketSeenEvent extends FromVenue {
  readonly kind: 'marketSeen'
  readonly market: NativeMarketId
}

/** A connection was opened, lost, or missed messages. `outcomes` are the outcomes of the connection. */
export interface FeedEvent extends FromVenue {
  readonly kind: 'feedUp' | 'feedDown' | 'feedGap'
  /** The books of one connection, or the trades of the venue. */
  readonly stream: 'books' | 'trades'
  readonly connection: number
  readonly outcomes: readonly OutcomeId[]
  readonly reason: string
  /** The time from which messages may be missing. Null for feedUp of a first connection. */
  readonly sinceMs: TimeMs | null
}

export type VenueEvent =
  | BookSnapshotEvent
  | BookChangeEvent
  | TradeEvent
  | TradeParticipantEvent
  | WalletFillEvent
  | LastPriceEvent
  | FiguresEvent
  | TickSizeEvent
  | MarketStatusEvent
  | MarketSeenEvent
  | FeedEvent

/** The publisher's counters at one message. See engine/publisher.ts. */
export interface Stamp {
  readonly offset: number
  readonly seq: number
}

/** The source of a price, best first. */
export type PriceSource =
  | 'midpoint'
  | 'last_trade'
  | 'venue'
  | 'one_side'
  | 'none'
  | 'history'
  | 'settlement'

interface Outgoing extends Stamp {
  readonly market: MarketRef
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

/** Changed levels of a market's book (absolute sizes, 0 removes), quoted for the first outcome. */
export interface BookUpdate extends Outgoing {
  readonly kind: 'book'
  readonly changes: readonly LevelChange[]
  /** CRC-32 of the top ten levels after the change, in every 50th update. Null in all other updates. */
  readonly checksum: number | null
}

/** The whole book was replaced, published as `resync` and a snapshot. Uses no offset or seq. */
export interface BookReplaced extends Outgoing {
  readonly kind: 'bookReplaced'
  readonly reason: 'venue_gap' | 'first' | 'restart' | 'delayed'
}

/**
 * Why a book is stale.
 * - `disconnected`: the venue's connection was lost.
 * - `silent`: the connection delivers nothing.
 * - `messages_lost`: the stream contradicts itself or has a gap.
 * - `contradicted_by_trade`: a trade outside the best prices changed no level of the book.
 * - `contradicted_by_rest`: two REST snapshots differ from the book.
 * - `delayed`: messages about the book waited too long.
 * - `tick_changed`: the venue sends a new book for the new tick size.
 * - `restarted`: the book's actor was restarted, or the book is from before a restart of the service.
 * - `no_leader`: a gateway receives nothing from the engine.
 * - `not_covered`: the book is not subscribed, or its first snapshot has not arrived.
 */
export const STALE_REASONS = [
  'disconnected',
  'silent',
  'messages_lost',
  'contradicted_by_trade',
  'contradicted_by_rest',
  'delayed',
  'tick_changed',
  'restarted',
  'no_leader',
  'not_covered',
] as const
export type StaleReason = (typeof STALE_REASONS)[number]

/** A live book became stale. It remains stale until `bookReplaced` or `bookConfirmed`. Uses no offset or seq. */
export interface BookStale extends Outgoing {
  readonly kind: 'bookStale'
  readonly reason: StaleReason
  /** Last time at which the book was known to be correct. */
  readonly sinceMs: TimeMs
  /** Whether a `status` of the venue announces the stale book together with all other stale books. */
  readonly isOfVenue: boolean
}

/** The book was confirmed unchanged. Uses no offset or seq. */
export interface BookConfirmed extends Outgoing {
  readonly kind: 'bookConfirmed'
  readonly wasStale: boolean
}

/** A published trade. Price and side are of the first outcome. */
export interface TradeUpdate extends Outgoing {
  readonly kind: 'trade'
  readonly trade: Trade
}

export interface PriceUpdate extends Outgoing {
  readonly kind: 'price'
  readonly price: MarketPrice
}

/** `settled`: the settlement price of a resolved market became known or changed. */
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number]
export const LIFECYCLE_EVENTS = [
  'opened',
  'closed',
  'resolved',
  'settled',
  'changed',
  'matched',
  'unmatched',
] as const

export interface LifecycleUpdate extends Outgoing {
  readonly kind: 'lifecycle'
  readonly event: LifecycleEvent
  /** The market after the event. The object is immutable, so that a replay sends the same data. */
  readonly facts: MarketFacts
  /** The other market of the pair, for `matched` and `unmatched`. */
  readonly matchedMarket: MarketRef | null
}

/** A whale that reached `whaleMessageUsdMin`. Smaller whales are neither stamped nor published. */
export interface WhaleUpdate extends Outgoing {
  readonly kind: 'whale'
  readonly whale: Whale
}

/**
 * The current source of a venue's trades.
 * - 'activity': a stream that names the wallets.
 * - 'last_trade_price': the activity stream has ended, and trades are from messages of the book channel. These
 *   messages exist for watched markets only. Their trades have no wallet until a later sync.
 */
export type TradesSource = (typeof TRADES_SOURCES)[number]
export const TRADES_SOURCES = ['activity', 'last_trade_price'] as const

/** An opportunity opened, changed or closed. `market` is the market of its first leg. */
export interface ArbitrageUpdate extends Outgoing {
  readonly kind: 'arbitrage'
  readonly event: 'opened' | 'changed' | 'closed'
  /** The current state. For `closed`: the last state. */
  readonly opportunity: Opportunity
  /** Null unless the event is `closed`. */
  readonly reason: CloseReason | null
  /** The maxima so far. For `closed`: the maxima of the previous update. */
  readonly peak: OpportunityPeak
  /** The maxima of the previous update. Null in the first update. */
  readonly previousPeak: OpportunityPeak | null
}

/** An open opportunity that did not change since it was last published. No stream carries it. */
export type ArbitrageRefresh = Omit<ArbitrageUpdate, 'offset' | 'seq'>

export interface FeedStatus {
  readonly venue: VenueKey
  readonly platform: string
  readonly state: FeedState
  /** Recent latency from the venue to this process, in milliseconds. Null before the first change of a book. */
  readonly lagMs: number | null
  /** The longest time that a message waited within this process during the last two seconds, in milliseconds. */
  readonly delayMs: number
  /**
   * All trades of the venue up to this time were published, except trades that a `gap` announced. Null: this run never
   * lost the stream of trades, and no earlier run is stored.
   */
  readonly completeToMs: TimeMs | null
  /** Null: the venue has only one source of trades. */
  readonly tradesSource: TradesSource | null
  /** Why the feed is not live. Null if it is live. */
  readonly reason: StaleReason | null
  readonly staleBooks: number
}

export interface StatusUpdate extends FeedStatus {
  readonly kind: 'status'
}

/** Trades of a market or a whole venue were lost and cannot be recovered. */
export interface GapUpdate {
  readonly kind: 'gap'
  readonly channel: 'trades'
  readonly market: MarketRef | null
  readonly venue: VenueKey
  readonly platform: string
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** Null: the number of lost trades is unknown. */
  readonly count: number | null
}

export type Update =
  | BookUpdate
  | BookReplaced
  | BookStale
  | BookConfirmed
  | TradeUpdate
  | PriceUpdate
  | WhaleUpdate
  | LifecycleUpdate
  | ArbitrageUpdate
  | StatusUpdate
  | GapUpdate

/**
 * The channels with an offset (over all markets) and a seq (per market), each with the kind of update that uses them.
 * The cluster log stores the channels in this order.
 */
const COUNTED_UPDATES = {
  orderbook: 'book',
  trades: 'trade',
  prices: 'price',
  whales: 'whale',
  lifecycle: 'lifecycle',
  arbitrage: 'arbitrage',
} as const satisfies Readonly<Record<string, Update['kind']>>

export type CountedChannel = keyof typeof COUNTED_UPDATES

const isCountedChannel = (name: string): name is CountedChannel => name in COUNTED_UPDATES

export const COUNTED_CHANNELS = Object.keys(COUNTED_UPDATES).filter(isCountedChannel)

const CHANNEL_OF_KIND = new Map<Update['kind'], CountedChannel>(
  COUNTED_CHANNELS.map((channel) => [COUNTED_UPDATES[channel], channel]),
)

/** The channel whose offset and seq an update of this kind uses. Null if it uses none. */
export const countedChannelOf = (kind: Update['kind']): CountedChannel | null =>
  CHANNEL_OF_KIND.get(kind) ?? null

/** Creates one value for each counted channel, in the order of {@link COUNTED_CHANNELS}. */
export function perChannel<Value>(
  make: (channel: CountedChannel) => Value,
): Readonly<Record<CountedChannel, Value>> {
  const values = Object.fromEntries(COUNTED_CHANNELS.map((channel) => [channel, make(channel)]))
  assert(hasEachChannel(values), 'each counted channel has a value')
  return values
}

function hasEachChannel<Value>(
  values: Readonly<Record<string, Value>>,
): values is Readonly<Record<CountedChannel, Value>> {
  return COUNTED_CHANNELS.every((channel) => channel in values)
}

export type FeedState = 'live' | 'stale' | 'down'

/** A stored and published trade. Price and side are of the first outcome. */
export interface Trade {
  readonly nativeId: string
  readonly timeMs: TimeMs
  /** Position among the trades of this market and millisecond, from 0. Never changes. */
  readonly ordinal: number
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly side: TradeSide
  readonly outcomeIndex: number
  readonly usd: UsdMicros
  readonly maker: string | null
  readonly taker: string | null
  readonly txHash: string | null
  /** A block trade: agreed between its parties off the book. It does not reflect the market's price. */
  readonly isBlock: boolean
}

/** The fills of one transaction by one taker in one token. The inherited fields contain their sums. */
export interface Whale extends Trade {
  readonly outcome: string | null
  readonly question: string
  readonly slug: string
  readonly eventSlug: string | null
  readonly category: string | null
  /** The taker. Null if the venue does not report it. */
  readonly wallet: string | null
  readonly fills: number
}

/** `bid`, `ask` null: the side is empty. */
export interface MarketPrice {
  readonly price: PriceMicros
  readonly source: PriceSource
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
  readonly observedAtMs: TimeMs
}
