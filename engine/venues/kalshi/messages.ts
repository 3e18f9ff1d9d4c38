/** Price in dollars and number of contracts. */
export type LevelText = readonly [price: string, count: string]

interface Sequenced {
  /** Subscription id. A new connection has new ids. */
  readonly sid: number
  readonly seq: number
}

interface MaybeSequenced {
  readonly sid: number | null
  readonly seq: number | null
}

/** The complete book of a market: bids for Yes and bids for No. An absent side of a message becomes an empty list. */
export interface OrderbookSnapshot extends Sequenced {
  readonly kind: 'orderbookSnapshot'
  readonly ticker: string
  readonly yes: readonly LevelText[]
  readonly no: readonly LevelText[]
}

/** Adds `delta` contracts to one price of one side. A negative `delta` removes contracts. */
export interface OrderbookDelta extends Sequenced {
  readonly kind: 'orderbookDelta'
  readonly ticker: string
  readonly price: string
  readonly delta: string
  readonly side: 'yes' | 'no'
  /** Unix milliseconds. Null if absent or unreadable. */
  readonly timeMs: number | null
}

/** One fill. REST rows have the same shape, with sid and seq 0. */
export interface TradeMessage extends Sequenced {
  readonly kind: 'trade'
  readonly tradeId: string
  readonly ticker: string
  readonly yesPrice: string
  /** Null in some old rows. The price is then 1 − yesPrice. */
  readonly noPrice: string | null
  readonly count: string
  readonly taker: 'yes' | 'no'
  readonly timeMs: number
  /** Flag of block trades, which are matched outside the book. Not parsed. */
  readonly block: unknown
}

/**
 * Quotes and figures of a market, sent after each trade and quote change without a sequence number. Absent fields are
 * null.
 */
export interface TickerMessage {
  readonly kind: 'ticker'
  readonly sid: number
  readonly ticker: string
  readonly price: string | null
  readonly volume: string | null
  readonly openInterest: string | null
  readonly timeMs: number | null
  /** The figures include all trades up to this time. If only the second is known, the last millisecond of the second. */
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
  readonly timeMs: number | null
  readonly result: string | null
  readonly settlementValue: string | null
  readonly priceRanges: unknown
}

/** Fee type and multiplier as the venue wrote them. Null: absent. */
export interface FeeTerms {
  readonly type: unknown
  readonly multiplier: unknown
}

/** A fee override of an event, sent on the lifecycle subscription. Null: the series' terms apply. */
export interface FeeMessage extends MaybeSequenced {
  readonly kind: 'fee'
  readonly event: string
  readonly terms: FeeTerms
}

/** A message that is not used but has a sequence number, or a message of an unknown kind. */
export interface UnreadMessage extends MaybeSequenced {
  readonly kind: 'unread'
  readonly name: string
  /** Name of an unknown state change of a market. Null if the message is no state change. */
  readonly change: string | null
  readonly ticker: string | null
  readonly isOfBook: boolean
}

interface SubscribedReply {
  readonly kind: 'subscribed'
  readonly commandId: number
  readonly channel: string
  readonly sid: number
}

/** The reply to a successful command. `sid` and `seq` are absent if the command does not concern one subscription. */
interface PlainReply extends MaybeSequenced {
  readonly kind: 'ok' | 'unsubscribed'
  readonly commandId: number
}

export interface ErrorReply extends MaybeSequenced {
  readonly kind: 'error'
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
