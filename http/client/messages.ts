// The stream's messages as the server sends them, and the client's own events beside them: one union
// told apart by `type`. Fields keep the names of the wire, so that the protocol's page describes both.

/** The channels of the stream. */
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

/** Up to where a client has everything: a run of the engine, and an offset of a channel in it. */
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

/** What every counted message begins with. `seq` is the market's in the channel, from 1. */
interface Counted<Type extends string, Name extends Channel, Data> {
  readonly type: Type
  readonly channel: Name
  readonly market_id: string
  readonly epoch: string
  readonly offset: number
  readonly seq: number
  /** The venue's time. */
  readonly timestamp_ms: number | null
  /** The server's time on arrival. */
  readonly received_ms: number | null
  /** When the server wrote the message; one that is repeated is written anew. */
  readonly published_ms: number
  readonly data: Data
}

interface Sides {
  readonly bids: readonly WireLevel[]
  readonly asks: readonly WireLevel[]
}

/** A whole book. A stale one is followed by a gap and another snapshot, or by `fresh`. */
export interface SnapshotMessage extends Counted<'snapshot', 'orderbook', Sides> {
  readonly stale: boolean
  readonly checksum?: number | null
}

/** Changed levels of a book, with absolute sizes. */
export interface UpdateMessage extends Counted<'update', 'orderbook', Sides> {
  readonly checksum?: number | null
}

/** The top levels of a book, whole. */
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
  /** The outcome that was traded; price and side are in the market's first. */
  readonly outcome: string
  readonly size_usd: number
  readonly timestamp_ms: number
  /** Label of the outcome that the taker traded. */
  readonly taker_outcome: string | null
  /** What the taker did with it: `buy` or `sell`. */
  readonly taker_side: string
  /** Its price, 0 to 1. */
  readonly taker_price: number
}

type Fields = Readonly<Record<string, unknown>>

export type TradeMessage = Counted<'trade', 'trades', TradeData & Fields>
export type WhaleMessage = Counted<'whale', 'whales', TradeData & Fields>
export type LifecycleMessage = Counted<'lifecycle', 'lifecycle', Fields>
/** The bar that just changed or closed; null behind a gap: the market has none. `seq` counts one interval of one market. */
export type CandleMessage = Counted<'candle', 'candles', Fields | null>

/** An opportunity opened, changed or closed; `market_id` is that of its first leg. */
export type ArbitrageMessage = Counted<'arbitrage', 'arbitrage', Fields>

/** Messages that carry something of a market. */
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

/** Trades, whales, lifecycle and arbitrage: every message counts, and a lost one is fetched by a resume. */
export type FlowMessage = TradeMessage | WhaleMessage | LifecycleMessage | ArbitrageMessage
/** Messages that are the whole state each time. */
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

/** How a venue's feed is. */
export interface StatusMessage {
  readonly type: 'status'
  readonly platform: string
  readonly state: 'live' | 'stale' | 'down'
  /** Milliseconds from the venue to the server, of late. */
  readonly lag_ms: number | null
  /** The longest that anything waited within the server during the last two seconds, in milliseconds. */
  readonly delay_ms: number
  /** Why it is not live, and how many of its books are stale; absent while it is. */
  readonly reason?: string
  readonly books?: number
  /** Of a venue with two sources of trades: `last_trade_price` while the stream that names wallets has ended. */
  readonly trades_source?: 'activity' | 'last_trade_price'
  /** After an outage or a restart: up to then all trades were sent, but for those that a `gap` named. */
  readonly complete_to_ms?: number
}

export interface Rejected {
  readonly market_id: string
  readonly code: string
}

/** Answers to commands; `id` is the command's. */
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

/** The server says that a market's state is out of sync; a new state follows. */
export interface ResyncMessage {
  readonly type: 'resync'
  readonly channel: Channel
  readonly market_id: string
  readonly reason: string
}

/** What was sent of a market may be wrong; no update follows until a gap with a new state, or `fresh`. */
export interface StaleMessage {
  readonly type: 'stale'
  readonly channel: Channel
  readonly market_id: string
  readonly reason: string
  /** When the book was last known to be right. */
  readonly since_ms: number
}

/** A stale market was found unchanged: what was sent up to `seq` is right. */
export interface FreshMessage {
  readonly type: 'fresh'
  readonly channel: Channel
  readonly market_id: string
  readonly seq: number
}

/** The server says that messages are lost for good. */
export interface LostMessage {
  readonly type: 'gap'
  readonly channel: Channel
  readonly market_id?: string
  readonly platform?: string
  readonly from_ms: number | null
  readonly to_ms: number | null
  /** How many messages of the channel; absent where it is not known. */
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

/** Why something is missing. The first four are the server's words, the others the client's finding. */
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

/** The user's view lacks something. Told once for each loss, with what is known of it. */
export interface GapEvent {
  readonly type: 'gap'
  /** Null when the reader's own queue was full. */
  readonly channel: Channel | null
  readonly market_id: string | null
  readonly platform: string | null
  readonly cause: GapCause
  /** Whether the present state follows (books, prices, depth, candles) or the messages are gone. */
  readonly state_follows: boolean
  readonly from_ms: number | null
  readonly to_ms: number | null
  /** First and last `seq` that are missing, where known. */
  readonly from_seq: number | null
  readonly to_seq: number | null
  /** How many messages are missing, where known. */
  readonly lost: number | null
}

export type ClientState = 'connecting' | 'live' | 'catching_up' | 'waiting' | 'closed'

/** The client's own state has changed. */
export interface StateEvent {
  readonly type: 'state'
  readonly state: ClientState
  /** The close code of the connection that ended; 1006 also when the client itself gave it up. */
  readonly code: number | null
  readonly reason: string
  /** How long until the next attempt; null when none is due. */
  readonly retry_ms: number | null
}

/** Something arrived that the client could not read. */
export interface FaultEvent {
  readonly type: 'fault'
  readonly reason: string
}

/** Every event that a user can get. The server's `resync` and `gap` come as {@link GapEvent}. */
export type StreamEvent =
  | DataMessage
  | ConnectedMessage
  | HeartbeatMessage
  | StatusMessage
  | StaleMessage
  | FreshMessage
  | ReplyMessage
  | GapEvent
  | StateEvent
  | FaultEvent

/** A decoded value as a message: `unknown` for a kind this client does not know, else damaged. */
export function readMessage(value: unknown): ServerMessage | 'unknown' | 'damaged' {
  if (!isRecord(value) || typeof value.type !== 'string') return 'damaged'
  const check = checks.get(value.type)
  if (check === undefined) return 'unknown'
  return check(value) && isMessage(value) ? value : 'damaged'
}

/** The fields have been checked by the kind's own entry of `checks`. */
function isMessage(value: Fields): value is Fields & ServerMessage {
  return typeof value.type === 'string'
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isId = (value: unknown): boolean => isCount(value)
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
      isId(value.id) &&
      isChannel(value.channel) &&
      Array.isArray(value.accepted) &&
      value.accepted.every(isText) &&
      Array.isArray(value.rejected) &&
      value.rejected.every((entry) => isRecord(entry) && isText(entry.market_id)),
  ],
  ['unsubscribed', (value) => isId(value.id)],
  ['synced', (value) => isId(value.id) && isChannel(value.channel) && isPosition(value)],
  [
    'resumed',
    (value) =>
      isId(value.id) && isChannel(value.channel) && isPosition(value) && isCount(value.replayed),
  ],
  ['resume_limited', (value) => isId(value.id) && isPosition(value)],
  [
    'subscriptions',
    (value) =>
      isId(value.id) && Array.isArray(value.subscriptions) && value.subscriptions.every(isRecord),
  ],
  ['pong', (value) => isId(value.id)],
  ['error', (value) => isText(value.code)],
  ['resync', (value) => isChannel(value.channel) && isText(value.market_id)],
  ['stale', (value) => isChannel(value.channel) && isText(value.market_id) && isText(value.reason)],
  ['fresh', (value) => isChannel(value.channel) && isText(value.market_id) && isCount(value.seq)],
  ['gap', (value) => isChannel(value.channel)],
])
