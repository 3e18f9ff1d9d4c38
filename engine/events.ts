// The vocabulary between the rooms: VenueEvent is what comes in from a venue, Update what goes out
// to watchers. After a venue's map.ts only the field `venue` says which venue it was.
// Two times on everything: the venue's and ours, stamped once on arrival.

import type { NativeMarketId, OutcomeId, VenueKey, WalletAddress } from './ids.ts'
import type { MarketFacts, MarketRef, MarketStatus, ResolutionStatus } from './market/market.ts'
import type { CloseReason, Opportunity, OpportunityPeak } from './opportunity.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from './units.ts'
import type { WalletEvent } from './wallet.ts'

export type BookSide = 'bid' | 'ask'
export type TradeSide = 'buy' | 'sell'

/** One price level; `size` above zero. */
export interface Level {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** A level's new size (absolute, 0 removes), or the signed difference where the event says so. */
export interface LevelChange {
  readonly side: BookSide
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** What a venue says is now its best bid and ask, for checking ours; null: that side is empty. */
export interface TopOfBook {
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
}

interface FromVenue {
  readonly venue: VenueKey
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

/** The whole book of one outcome, quoted for that outcome; levels in any order. */
export interface BookSnapshotEvent extends FromVenue {
  readonly kind: 'bookSnapshot'
  readonly outcome: OutcomeId
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Came in order on the stream (false: over REST, and may be older than changes already applied). */
  readonly isInOrder: boolean
}

/** Changed levels of one outcome's book. */
export interface BookChangeEvent extends FromVenue {
  readonly kind: 'bookChange'
  readonly outcome: OutcomeId
  /** 'absolute': size is the level's new total. 'difference': size is added to it. */
  readonly mode: 'absolute' | 'difference'
  readonly changes: readonly LevelChange[]
  /** Null when the venue does not say. */
  readonly top: TopOfBook | null
}

/** One fill, in the token traded. `nativeId` is the same from the stream and from a back-fill. */
export interface TradeEvent extends FromVenue {
  readonly kind: 'trade'
  readonly outcome: OutcomeId
  /** The market traded, so that an unknown one can be fetched. */
  readonly market: NativeMarketId
  readonly nativeId: string
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly side: TradeSide
  readonly maker: string | null
  readonly taker: string | null
  readonly txHash: string | null
  /** Agreed between its parties beside the book: it says what was traded, and nothing of the market's price. */
  readonly isBlock: boolean
  /**
   * Contracts that the taker traded of this outcome and on this side in the whole transaction, as far as its source
   * shows; absent: what this trade has. Of trades of a transaction that are stored already, only the rest is new.
   */
  readonly rowSize?: SizeMicros
  /** 'stream': live. 'backfill': fetched after a gap. 'history': older than the first contact with the venue. */
  readonly source: 'stream' | 'backfill' | 'history'
}

/** One more wallet took part in a transaction (venue a's `trades` rows complete the makers). */
export interface TradeParticipantEvent extends FromVenue {
  readonly kind: 'tradeParticipant'
  readonly outcome: OutcomeId
  readonly txHash: string
  readonly wallet: string
}

/** A fill of a wallet that is followed, taker or maker; the Data API gives it again, with its fee. */
export interface WalletFillEvent extends FromVenue {
  readonly kind: 'walletFill'
  readonly wallet: WalletAddress
  readonly fill: WalletEvent
}

/** The venue's last price of an outcome; moves only the price. */
export interface LastPriceEvent extends FromVenue {
  readonly kind: 'lastPrice'
  readonly outcome: OutcomeId
  readonly price: PriceMicros
}

/**
 * The venue's trading figures of a market; null: the message does not say. Prices are of the first outcome. The last
 * price is at least as new as `venueTimeMs`.
 */
export interface FiguresEvent extends FromVenue {
  readonly kind: 'figures'
  readonly outcome: OutcomeId
  /** The figures contain every trade up to then. */
  readonly tradesToMs: TimeMs
  readonly lastPrice: PriceMicros | null
  readonly previousPrice: PriceMicros | null
  /** In the venue's unit: VenueFacts.volumeUnit. */
  readonly volume24h: UsdMicros | null
  readonly volumeTotal: UsdMicros | null
  readonly openInterest: SizeMicros | null
}

/** The tick changed. */
export interface TickSizeEvent extends FromVenue {
  readonly kind: 'tickSize'
  readonly outcome: OutcomeId
  readonly tickMicros: PriceMicros
  /** Orders rest where they are (else the book is void until its next snapshot). */
  readonly retainsBook: boolean
}

/** A market's status moved, by message or by timer. */
export interface MarketStatusEvent extends FromVenue {
  readonly kind: 'marketStatus'
  readonly market: NativeMarketId
  readonly status: MarketStatus
  /** Absent: the message states nothing of it. */
  readonly resolutionStatus?: ResolutionStatus
  /** Payout of the first outcome when resolved, or as determined so far. */
  readonly settlementPrice: PriceMicros | null
}

/** A market appeared, or its metadata changed: its catalogue entry must be fetched again. */
export interface MarketSeenEvent extends FromVenue {
  readonly kind: 'marketSeen'
  readonly market: NativeMarketId
}

/** A connection is up, was lost, or missed messages; `outcomes` are those it serves. */
export interface FeedEvent extends FromVenue {
  readonly kind: 'feedUp' | 'feedDown' | 'feedGap'
  /** Which stream of the venue: books per connection, or its trades. */
  readonly stream: 'books' | 'trades'
  readonly connection: number
  readonly outcomes: readonly OutcomeId[]
  readonly reason: string
  /** From when on messages may be missing; null on feedUp of a first connection. */
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

/** The counters of the publisher at one message: see engine/publisher.ts. */
export interface Stamp {
  readonly offset: number
  readonly seq: number
}

/** Where a price comes from, best first. */
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
  /** CRC-32 of the top ten levels after the change, on every 50th seq; null otherwise. */
  readonly checksum: number | null
}

/** The whole book was replaced (`resync`, then a snapshot). Uses up no offset or seq. */
export interface BookReplaced extends Outgoing {
  readonly kind: 'bookReplaced'
  readonly reason: 'venue_gap' | 'first' | 'restart' | 'delayed'
}

/**
 * Why a book can no longer be trusted. `disconnected`: the venue's connection was lost. `silent`: it delivers nothing.
 * `messages_lost`: the stream contradicts itself or has a hole. `contradicted_by_trade`: a trade outside the best prices
 * changed nothing. `contradicted_by_rest`: two readings over REST differ from it. `delayed`: its messages waited for too
 * long. `tick_changed`: the venue sends a new book for the new tick. `restarted`: its owner was restarted. `no_leader`: a
 * gateway receives nothing from the engine.
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
] as const
export type StaleReason = (typeof STALE_REASONS)[number]

/** A live book became stale. It ends with `bookReplaced` or `bookConfirmed`. Uses up no offset or seq. */
export interface BookStale extends Outgoing {
  readonly kind: 'bookStale'
  readonly reason: StaleReason
  /** When the book was last known to be right. */
  readonly sinceMs: TimeMs
  /** A `status` of the venue announces it together with other books. */
  readonly isOfVenue: boolean
}

/** The book was confirmed unchanged. Uses up no offset or seq. */
export interface BookConfirmed extends Outgoing {
  readonly kind: 'bookConfirmed'
  /** It was stale until now. */
  readonly wasStale: boolean
}

/** One trade as users see it: price and side in the first outcome. */
export interface TradeUpdate extends Outgoing {
  readonly kind: 'trade'
  readonly trade: Trade
}

/** The market's price or its best levels changed. */
export interface PriceUpdate extends Outgoing {
  readonly kind: 'price'
  readonly price: MarketPrice
}

/**
 * What happened to a market. `settled`: it was resolved before, and its settlement price is known now, or is another one
 * than was known.
 */
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

/** Something happened to the market itself. */
export interface LifecycleUpdate extends Outgoing {
  readonly kind: 'lifecycle'
  readonly event: LifecycleEvent
  /** The market right after it: a reference that is never changed, so that a replay says the same. */
  readonly facts: MarketFacts
  /** The other market, of `matched` and `unmatched`. */
  readonly matchedMarket: MarketRef | null
}

/** A whale row that reached `whaleMessageUsdMin`; rows below it are not stamped, and not published. */
export interface WhaleUpdate extends Outgoing {
  readonly kind: 'whale'
  readonly whale: Whale
}

/**
 * Where a venue's trades come from now. 'activity': a stream that names the wallets. 'last_trade_price': that stream has
 * ended, and trades come from the messages beside the books: of watched markets, without a wallet until a later
 * reading completes them.
 */
export type TradesSource = (typeof TRADES_SOURCES)[number]
export const TRADES_SOURCES = ['activity', 'last_trade_price'] as const

/** A basket of outcomes began to earn, earns another amount, or ended; `market` is that of its first leg. */
export interface ArbitrageUpdate extends Outgoing {
  readonly kind: 'arbitrage'
  readonly event: 'opened' | 'changed' | 'closed'
  /** As it is now; of `closed`, as it last was. */
  readonly opportunity: Opportunity
  /** Of `closed`; else null. */
  readonly reason: CloseReason | null
  /** What it has come to; of `closed`, by what was told before. */
  readonly peak: OpportunityPeak
  /** The same before this update; null: it is the first. */
  readonly previousPeak: OpportunityPeak | null
}

/** An open opportunity is older than when it was last told, and else the same: no stream carries that. */
export type ArbitrageRefresh = Omit<ArbitrageUpdate, 'offset' | 'seq'>

/** How one venue's feed stands. */
export interface FeedStatus {
  readonly venue: VenueKey
  readonly platform: string
  readonly state: FeedState
  /** Milliseconds from the venue to us, of late; null before the first change of a book. */
  readonly lagMs: number | null
  /** The longest that a message waited within this process during the last two seconds, in milliseconds. */
  readonly delayMs: number
  /**
   * Up to then all trades of the venue have been published, but for those that a `gap` named; null: this run has never
   * lost the stream of trades, and followed no other run.
   */
  readonly completeToMs: TimeMs | null
  /** Null: the venue has one source of trades. */
  readonly tradesSource: TradesSource | null
  /** Why the feed is not live; null while it is. */
  readonly reason: StaleReason | null
  /** Books that became stale and are not live again. */
  readonly staleBooks: number
}

/** A venue's feed changed state. */
export interface StatusUpdate extends FeedStatus {
  readonly kind: 'status'
}

/** Trades of a market or a whole venue were lost and could not be brought back. */
export interface GapUpdate {
  readonly kind: 'gap'
  readonly channel: 'trades'
  readonly market: MarketRef | null
  readonly venue: VenueKey
  readonly platform: string
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** How many trades; null: not known. */
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

export type FeedState = 'live' | 'stale' | 'down'

/** A stored and published trade; price and side are in the first outcome. */
export interface Trade {
  readonly nativeId: string
  readonly timeMs: TimeMs
  /** Position among the market's trades of the same millisecond, from 0; never changes. */
  readonly ordinal: number
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly side: TradeSide
  /** Index of the outcome really traded. */
  readonly outcomeIndex: number
  /** What was paid for that outcome. */
  readonly usd: UsdMicros
  readonly maker: string | null
  readonly taker: string | null
  readonly txHash: string | null
  /** Agreed between its parties beside the book: it says what was traded, and nothing of the market's price. */
  readonly isBlock: boolean
}

/** Fills of one transaction by one taker in one token; the fields of a trade are their sums. */
export interface Whale extends Trade {
  /** Label of the outcome really traded. */
  readonly outcome: string | null
  readonly question: string
  readonly slug: string
  readonly eventSlug: string | null
  readonly category: string | null
  /** The taker; null where the venue does not say. */
  readonly wallet: string | null
  /** How many fills it is made of, from 1. */
  readonly fills: number
}

/** A market's present price. `bid`, `ask` null: that side is empty. */
export interface MarketPrice {
  readonly price: PriceMicros
  readonly source: PriceSource
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
  readonly observedAtMs: TimeMs
}
