// Types of the server's messages and of the client's own events, discriminated by `type`. Field names are
// those of the protocol.

export const CHANNELS = [
  'orderbook',
  'depth',
  'prices',
  'trades',
  'whales',
  'lifecycle',
  'candles',
  'arbitrage',
] as const
export type Channel = (typeof CHANNELS)[number]

/** A resume position: an epoch (one run of the engine) and an offset within a channel. */
export interface Position {
  readonly epoch: string
  readonly offset: number
}

/** A level of a book: price in dollars, size in contracts; a size of 0 removes the level. */
export interface WireLevel {
  readonly price: number
  readonly size: number
  readonly platform?: string
}

/** Common fields of data messages. `seq` counts from 1 for each market and channel. */
interface Counted<Type extends string, Name extends Channel, Data> {
  readonly type: Type
  readonly channel: Name
  readonly market_id: string
  readonly epoch: string
  readonly offset: number
  readonly seq: number
  /** The venue's time. */
  readonly timestamp_ms: number | null
  /** The server's time of arrival. */
  readonly received_ms: number | null
  /** When the server serialized the message. A repeated message has a new time. */
  readonly published_ms: number
  readonly data: Data
}

interface Sides {
  readonly bids: readonly WireLevel[]
  readonly asks: readonly WireLevel[]
}

/** A full book. A stale snapshot is followed by a gap and another snapshot, or by `fresh`. */
export interface SnapshotMessage extends Counted<'snapshot', 'orderbook', Sides> {
  readonly stale: boolean
  readonly checksum?: number | null
}

/** Changed levels of a book, with absolute sizes. */
export interface UpdateMessage extends Counted<'update', 'orderbook', Sides> {
  readonly checksum?: number | null
}

/** The top levels of a book, complete in each message. */
export type DepthMessage = Counted<'depth', 'depth', Sides & Readonly<Record<string, unknown>>>

export type PriceMessage = Counted<
  'price',
  'prices',
  {
    readonly price: number
    readonly price_cents: number
    readonly best_bid: number | null
    readonly best_ask: number | null
    readonly mid_price: number | null
    readonly spread: number | null
    readonly source: string
  }
>

interface TradeData {
  readonly id: string
  readonly market_id: string
  readonly platform: string
  readonly price: number
  readonly size: number
  readonly side: string
  /** The traded outcome. Price and side refer to the market's first outcome. */
  readonly outcome: string
  readonly size_usd: number
  readonly timestamp_ms: number
  /** Label of the outcome that the taker traded. */
  readonly taker_outcome: string | null
  /** The taker's side: `buy` or `sell`. */
  readonly taker_side: string
  /** The taker's price, 0 to 1. */
  readonly taker_price: number
}

type Fields = Readonly<Record<string, unknown>>

export type TradeMessage = Counted<'trade', 'trades', TradeData & Fields>
export type WhaleMessage = Counted<'whale', 'whales', TradeData & Fields>
export type LifecycleMessage = Counted<'lifecycle', 'lifecycle', Fields>
/** The bar that changed or closed; null after a gap if the market has none. `seq` counts per market and interval. */
export type CandleMessage = Counted<'candle', 'candles', Fields | null>

/** An opportunity opened, changed or closed. `market_id` is the market of its first leg. */
export type ArbitrageMessage = Counted<'arbitrage', 'arbitrage', Fields>

export type DataMessage =
  | SnapshotMessage
  | UpdateMessage
  | DepthMessage
  | PriceMessage
  | TradeMessage
  | WhaleMessage
  | LifecycleMessage
  | CandleMessage
  | ArbitrageMessage

/** Channels that deliver every message; a resume fetches lost ones. */
export type FlowMessage = TradeMessage | WhaleMessage | LifecycleMessage | ArbitrageMessage
/** Messages that contain the full state. */
export type StateMessage = DepthMessage | PriceMessage | CandleMessage

export interface ConnectedMessage {
  readonly type: 'connected'
  readonly connection_id: string
  readonly server_time_ms: number
  readonly heartbeat_s: number
  readonly limits: {
    readonly subscriptions: number
    readonly commands_per_s: number
    readonly message_bytes: number
  }
}

export interface HeartbeatMessage {
  readonly type: 'heartbeat'
  readonly timestamp_ms: number
  readonly counter: number
  readonly epoch: string
  readonly offsets?: Readonly<Record<string, number>>
  readonly catching_up?: boolean
}

export interface StatusMessage {
  readonly type: 'status'
  readonly platform: string
  readonly state: 'live' | 'stale' | 'down'
  /** Recent latency from the venue to the server, in milliseconds. */
  readonly lag_ms: number | null
  /** The longest queueing delay within the server during the last two seconds, in milliseconds. */
  readonly delay_ms: number
  /** Why the feed is not live. `books` is the number of stale books. Both are absent while it is live. */
  readonly reason?: string
  readonly books?: number
  /** Only for a venue with two trade sources: `last_trade_price` while the stream with wallet addresses is down. */
  readonly trades_source?: 'activity' | 'last_trade_price'
  /** Set after an outage or a restart: all trades up to this time were sent, except those that a `gap` names. */
  readonly complete_to_ms?: number
}

export interface Rejected {
  readonly market_id: string
  readonly code: string
}

/** Replies to commands; `id` is the command's. */
export type ReplyMessage =
  | {
      readonly type: 'subscribed'
      readonly id: number
      readonly channel: Channel
      readonly accepted: readonly string[]
      readonly rejected: readonly Rejected[]
    }
  | { readonly type: 'unsubscribed'; readonly id: number; readonly channel: Channel }
  | ({ readonly type: 'synced'; readonly id: number; readonly channel: Channel } & Position)
  | ({
      readonly type: 'resumed'
      readonly id: number
      readonly channel: Channel
      readonly replayed: number
    } & Position)
  | ({ readonly type: 'resume_limited'; readonly id: number } & Position)
  | {
      readonly type: 'subscriptions'
      readonly id: number
      readonly subscriptions: readonly Fields[]
    }
  | { readonly type: 'pong'; readonly id: number; readonly timestamp_ms: number }
  | {
      readonly type: 'error'
      readonly id: number | string | null
      readonly code: string
      readonly message: string
    }

/** The server reports that a market's state is out of sync; a new state follows. */
export interface ResyncMessage {
  readonly type: 'resync'
  readonly channel: Channel
  readonly market_id: string
  readonly reason: string
}

/** Earlier messages of a market may be wrong. No update follows until a gap with a new state, or `fresh`. */
export interface StaleMessage {
  readonly type: 'stale'
  readonly channel: Channel
  readonly market_id: string
  readonly reason: string
  /** Last time at which the book was known to be correct. */
  readonly since_ms: number
}

/** A stale market turned out to be unchanged. All messages up to `seq` are correct. */
export interface FreshMessage {
  readonly type: 'fresh'
  readonly channel: Channel
  readonly market_id: string
  readonly seq: number
}

/** The server reports that messages are permanently lost. */
export interface LostMessage {
  readonly type: 'gap'
  readonly channel: Channel
  readonly market_id?: string
  readonly platform?: string
  readonly from_ms: number | null
  readonly to_ms: number | null
  /** Number of lost messages of the channel; absent if unknown. */
  readonly count?: number
}

export type ServerMessage =
  | DataMessage
  | ConnectedMessage
  | HeartbeatMessage
  | StatusMessage
  | ReplyMessage
  | ResyncMessage
  | StaleMessage
  | FreshMessage
  | LostMessage

/** Cause of a gap. The server reports the first four; the client detects the others. */
export type GapCause =
  | 'venue_gap'
  | 'slow_consumer'
  | 'restart'
  | 'delayed'
  | 'lost'
  | 'seq_hole'
  | 'checksum'
  | 'no_base'
  | 'replay_short'
  | 'away'
  | 'reader_slow'

/** Messages are missing. Emitted once for each loss, with the known details. */
export interface GapEvent {
  readonly type: 'gap'
  /** Null when the reader's own queue was full. */
  readonly channel: Channel | null
  readonly market_id: string | null
  readonly platform: string | null
  readonly cause: GapCause
  /** True if the current state follows (books, prices, depth, candles); false if the messages are lost. */
  readonly state_follows: boolean
  readonly from_ms: number | null
  readonly to_ms: number | null
  /** First and last missing `seq`; null if unknown. */
  readonly from_seq: number | null
  readonly to_seq: number | null
  /** Number of missing messages; null if unknown. */
  readonly lost: number | null
}

export type ClientState = 'connecting' | 'live' | 'catching_up' | 'waiting' | 'closed'

export interface StateEvent {
  readonly type: 'state'
  readonly state: ClientState
  /** Close code of the connection that ended; 1006 also when the client itself cut it. */
  readonly code: number | null
  readonly reason: string
  /** Milliseconds until the next attempt; null if none is scheduled. */
  readonly retry_ms: number | null
}

/** The client received data that it cannot parse. */
export interface FaultEvent {
  readonly type: 'fault'
  readonly reason: string
}

/** All events of a client. The server's `resync` and `gap` arrive as {@link GapEvent}. */
export type StreamEvent =
  | Exclude<ServerMessage, ResyncMessage | LostMessage>
  | GapEvent
  | StateEvent
  | FaultEvent

/**
 * Validates a decoded value. `unknown`: a message type that this client does not know. `damaged`: an
 * invalid message.
 */
export function readMessage(value: unknown): ServerMessage | 'unknown' | 'damaged' {
  if (!isRecord(value) || typeof value.type !== 'string') return 'damaged'
  const check = checks.get(value.type)
  if (check === undefined) return 'unknown'
  return check(value) && isMessage(value) ? value : 'damaged'
}

/** Only for values that passed their entry in `checks`. */
function isMessage(value: Fields): value is Fields & ServerMessage {
  return typeof value.type === 'string'
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isText = (value: unknown): boolean => typeof value === 'string'
const isPosition = (value: Fields): boolean => isText(value.epoch) && isCount(value.offset)
const isChannel = (value: unknown): boolean => CHANNELS.some((channel) => channel === value)

const counted =
  (channel: Channel, isData: (data: Fields) => boolean = () => true) =>
  (value: Fields): boolean =>
    value.channel === channel &&
    isText(value.market_id) &&
    isPosition(value) &&
    isCount(value.seq) &&
    isRecord(value.data) &&
    isData(value.data)

const hasSides = (data: Fields): boolean => Array.isArray(data.bids) && Array.isArray(data.asks)
const hasId = (data: Fields): boolean => isText(data.id)

const checks: ReadonlyMap<string, (value: Fields) => boolean> = new Map([
  ['snapshot', counted('orderbook', hasSides)],
  ['update', counted('orderbook', hasSides)],
  ['depth', counted('depth', hasSides)],
  ['price', counted('prices')],
  ['trade', counted('trades', hasId)],
  ['whale', counted('whales', hasId)],
  ['lifecycle', counted('lifecycle')],
  ['candle', (value) => counted('candles')(value.data === null ? { ...value, data: {} } : value)],
  ['arbitrage', counted('arbitrage')],
  [
    'connected',
    (value) =>
      Number(value.heartbeat_s) > 0 &&
      isRecord(value.limits) &&
      Number(value.limits.commands_per_s) > 0,
  ],
  [
    'heartbeat',
    (value) => isText(value.epoch) && (value.offsets === undefined || isRecord(value.offsets)),
  ],
  ['status', (value) => isText(value.platform) && isText(value.state)],
  [
    'subscribed',
    (value) =>
      isCount(value.id) &&
      isChannel(value.channel) &&
      Array.isArray(value.accepted) &&
      value.accepted.every(isText) &&
      Array.isArray(value.rejected) &&
      value.rejected.every((entry) => isRecord(entry) && isText(entry.market_id)),
  ],
  ['unsubscribed', (value) => isCount(value.id)],
  ['synced', (value) => isCount(value.id) && isChannel(value.channel) && isPosition(value)],
  [
    'resumed',
    (value) =>
      isCount(value.id) && isChannel(value.channel) && isPosition(value) && isCount(value.replayed),
  ],
  ['resume_limited', (value) => isCount(value.id) && isPosition(value)],
  [
    'subscriptions',
    (value) =>
      isCount(value.id) &&
      Array.isArray(value.subscriptions) &&
      value.subscriptions.every(isRecord),
  ],
  ['pong', (value) => isCount(value.id)],
  ['error', (value) => isText(value.code)],
  ['resync', (value) => isChannel(value.channel) && isText(value.market_id)],
  ['stale', (value) => isChannel(value.channel) && isText(value.market_id) && isText(value.reason)],
  ['fresh', (value) => isChannel(value.channel) && isText(value.market_id) && isCount(value.seq)],
  ['gap', (value) => isChannel(value.channel)],
])
