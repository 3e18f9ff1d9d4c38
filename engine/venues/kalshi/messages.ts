// Kalshi's stream messages after validation (README.md, Messages). Prices and counts are still decimal strings.

/** [price in dollars, count of contracts]. */
export type LevelText = readonly [price: string, count: string]

interface Sequenced {
  /** Subscription id, new after each connect. */
  readonly sid: number
  /** Numbers all messages of the sid, including replies, from 1. */
  readonly seq: number
}

interface MaybeSequenced {
  readonly sid: number | null
  readonly seq: number | null
}

/** The complete book of a market: bids for Yes and bids for No. The wire message omits an empty side. */
export interface OrderbookSnapshot extends Sequenced {
  readonly kind: 'orderbookSnapshot'
  readonly ticker: string
  readonly yes: readonly LevelText[]
  readonly no: readonly LevelText[]
}

/** Adds `delta` contracts to one price of one side, or removes them if negative. */
export interface OrderbookDelta extends Sequenced {
  readonly kind: 'orderbookDelta'
  readonly ticker: string
  readonly price: string
  readonly delta: string
  readonly side: 'yes' | 'no'
  /** Milliseconds; null if absent or unreadable. */
  readonly timeMs: number | null
}

/** One fill. REST rows have the same shape, with sid and seq 0. */
export interface TradeMessage extends Sequenced {
  readonly kind: 'trade'
  readonly tradeId: string
  readonly ticker: string
  readonly yesPrice: string
  /** null in some old rows, where it is 1 − yesPrice. */
  readonly noPrice: string | null
  readonly count: string
  readonly taker: 'yes' | 'no'
  readonly timeMs: number
  /** Unparsed flag of block trades, which are matched off the book. */
  readonly block: unknown
}

/** Quotes and figures of a market, sent without seq after each trade and quote change. null: absent. */
export interface TickerMessage {
  readonly kind: 'ticker'
  readonly sid: number
  readonly ticker: string
  readonly price: string | null
  /** Contracts traded in total. */
  readonly volume: string | null
  readonly openInterest: string | null
  readonly timeMs: number | null
  /** The figures include trades up to this time: the end of the second if only the second is known. */
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

export interface LifecycleMessage extends Sequenced {
  readonly kind: 'lifecycle'
  readonly change: LifecycleChange
  readonly ticker: string
  readonly openAtMs: number | null
  readonly closeAtMs: number | null
  /** Time at which the market was determined or settled. */
  readonly timeMs: number | null
  readonly result: string | null
  /** Payout of Yes in dollars. */
  readonly settlementValue: string | null
  readonly priceRanges: unknown
}

/** Fee type and multiplier, unparsed, from a row or a message; null if absent. */
export interface FeeTerms {
  readonly type: unknown
  readonly multiplier: unknown
}

/** A fee override of an event, on the lifecycle subscription. null: the series' terms apply. */
export interface FeeMessage extends MaybeSequenced {
  readonly kind: 'fee'
  readonly event: string
  readonly terms: FeeTerms
}

/** A message with a sequence number that is not used: events, and unknown kinds. */
export interface UnreadMessage extends MaybeSequenced {
  readonly kind: 'unread'
  readonly name: string
  /** An unknown state change of a market; null if this kind of message has none. */
  readonly change: string | null
  /** The market of the state change, or the market whose book the message may concern. */
  readonly ticker: string | null
  readonly isOfBook: boolean
}

interface SubscribedReply {
  readonly kind: 'subscribed'
  readonly commandId: number
  readonly channel: string
  readonly sid: number
}

/** Success. `sid` and `seq` are absent if the command is not about one subscription. */
interface PlainReply extends MaybeSequenced {
  readonly kind: 'ok' | 'unsubscribed'
  readonly commandId: number
}

export interface ErrorReply extends MaybeSequenced {
  readonly kind: 'error'
  /** 0 if unsolicited. */
  readonly commandId: number
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
export type Reply = SubscribedReply | PlainReply | ErrorReply
export type KalshiMessage = DataMessage | Reply | FeeMessage | UnreadMessage
