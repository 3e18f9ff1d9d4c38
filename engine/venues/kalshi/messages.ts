// Kalshi's stream messages as they send them, after narrowing: prices and counts are still their decimal
// strings. Field meanings: README.md, Messages.

/** [price in dollars, count of contracts]. */
export type LevelText = readonly [price: string, count: string]

interface Sequenced {
  /** Subscription id; new ones after each connection. */
  readonly sid: number
  /** Counts every message of the sid, replies included, from 1. */
  readonly seq: number
}

/** The whole book of a market: bids for Yes and bids for No. An empty side is absent on the wire. */
export interface OrderbookSnapshot extends Sequenced {
  readonly kind: 'orderbookSnapshot'
  readonly ticker: string
  readonly yes: readonly LevelText[]
  readonly no: readonly LevelText[]
}

/** `delta` contracts were added to (or, negative, taken from) one price of one side. */
export interface OrderbookDelta extends Sequenced {
  readonly kind: 'orderbookDelta'
  readonly ticker: string
  readonly price: string
  readonly delta: string
  readonly side: 'yes' | 'no'
  /** Milliseconds; null when absent or unreadable. */
  readonly timeMs: number | null
}

/** One fill; REST rows have the same shape, with sid and seq 0. */
export interface TradeMessage extends Sequenced {
  readonly kind: 'trade'
  readonly tradeId: string
  readonly ticker: string
  readonly yesPrice: string
  /** Null in some old rows: 1 − yesPrice. */
  readonly noPrice: string | null
  readonly count: string
  readonly taker: 'yes' | 'no'
  readonly timeMs: number
  /** Whether it was matched off the book, as it came. */
  readonly block: unknown
}

/** Quotes and figures of a market, sent without seq at each trade and move of a quote. Null: not in the message. */
export interface TickerMessage {
  readonly kind: 'ticker'
  readonly sid: number
  readonly ticker: string
  /** Last traded price. */
  readonly price: string | null
  /** Contracts ever traded. */
  readonly volume: string | null
  /** Contracts. */
  readonly openInterest: string | null
  readonly timeMs: number | null
  /** Trades up to then are in its figures: the end of a second where only that is known. */
  readonly tradesToMs: number | null
}

export const LIFECYCLE_CHANGES = [
  'created',
  'activated',
  'deactivated',
  'close_date_updated',
  'determined',
  'settled',
  'price_level_structure_updated',
  'metadata_updated',
] as const
type LifecycleChange = (typeof LIFECYCLE_CHANGES)[number]

/** A market was created or changed state. */
export interface LifecycleMessage extends Sequenced {
  readonly kind: 'lifecycle'
  readonly change: LifecycleChange
  readonly ticker: string
  readonly openAtMs: number | null
  readonly closeAtMs: number | null
  /** When it was determined or settled. */
  readonly timeMs: number | null
  readonly result: string | null
  /** Payout of Yes in dollars. */
  readonly settlementValue: string | null
  /** As they came; of a change of the price ranges. */
  readonly priceRanges: unknown
}

/** A type of fees and its multiplier as a row or message has them; null: it states none. */
export interface FeeTerms {
  readonly type: unknown
  readonly multiplier: unknown
}

/** Other fees of an event, on the subscription of the lifecycle; null: its series' own hold. */
export interface FeeMessage {
  readonly kind: 'fee'
  readonly sid: number | null
  readonly seq: number | null
  readonly event: string
  readonly terms: FeeTerms
}

/** Anything with a sequence number that we do not read: events, kinds yet unknown. */
export interface UnreadMessage {
  readonly kind: 'unread'
  readonly name: string
  /** A change of a market's state that has no name here; null: the kind of message has none. */
  readonly change: string | null
  /** Of a change, its market; else the market whose book the message may be of. */
  readonly ticker: string | null
  /** Whether it has what messages of the books have. */
  readonly isOfBook: boolean
  readonly sid: number | null
  readonly seq: number | null
}

interface SubscribedReply {
  readonly kind: 'subscribed'
  readonly commandId: number
  readonly channel: string
  readonly sid: number
}

/** Done. `sid`, `seq` are absent for commands that concern no one subscription. */
interface OkReply {
  readonly kind: 'ok'
  readonly commandId: number
  readonly sid: number | null
  readonly seq: number | null
}

interface UnsubscribedReply {
  readonly kind: 'unsubscribed'
  readonly commandId: number
  readonly sid: number | null
  readonly seq: number | null
}

export interface ErrorReply {
  readonly kind: 'error'
  /** 0 when no command caused it. */
  readonly commandId: number
  readonly sid: number | null
  readonly seq: number | null
  readonly code: number
  readonly text: string
  readonly ticker: string | null
}

export type DataMessage =
  | OrderbookSnapshot
  | OrderbookDelta
  | TradeMessage
  | TickerMessage
  | LifecycleMessage
export type Reply = SubscribedReply | OkReply | UnsubscribedReply | ErrorReply
export type KalshiMessage = DataMessage | Reply | FeeMessage | UnreadMessage
