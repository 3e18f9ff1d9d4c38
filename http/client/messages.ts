// Types of the server's messages and of the client's own events. Field names are those of the protocol.

import {
  CHANNELS,
  type Channel,
  type DataMessage,
  type Fields,
  isChannel,
  isRecord,
} from './channels.ts'

export type {
  ArbitrageMessage,
  CandleMessage,
  Channel,
  DataMessage,
  DepthMessage,
  FlowMessage,
  LifecycleMessage,
  PriceMessage,
  SnapshotMessage,
  StateMessage,
  TradeMessage,
  UpdateMessage,
  WhaleMessage,
  WireLevel,
} from './channels.ts'

/** A resume position. An epoch is one run of the engine. The offset counts the messages of a channel. */
export interface Position {
  readonly epoch: string
  readonly offset: number
}

export interface ConnectedMessage {
  readonly type: 'connected'
  readonly connection_id: string
  readonly server_time_ms: number
  readonly heartbeat_s: number
  /** Absent in messages of older servers. */
  readonly data?: 'simulated' | 'live' | 'replay'
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
  /** The longest queueing delay in the server during the last two seconds, in milliseconds. */
  readonly delay_ms: number
  /** `reason`: why the feed is not live. `books`: the number of stale books. Both are absent while the feed is live. */
  readonly reason?: string
  readonly books?: number
  /** Only for a venue with two trade sources. It is `last_trade_price` while the stream with wallet addresses is down. */
  readonly trades_source?: 'activity' | 'last_trade_price'
  /** Set after an outage or a restart. All trades up to this time were sent, except those that a `gap` covers. */
  readonly complete_to_ms?: number
}

export interface Rejected {
  readonly market_id: string
  readonly code: string
}

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

/** The state of a market is out of sync. A new state follows. */
export interface ResyncMessage {
  readonly type: 'resync'
  readonly channel: Channel
  readonly market_id: string
  readonly reason: string
}

/** Earlier messages of a market may be wrong. The server then sends either a gap and a new state, or `fresh`. */
export interface StaleMessage {
  readonly type: 'stale'
  readonly channel: Channel
  readonly market_id: string
  readonly reason: string
  /** The last time at which the book was known to be correct. */
  readonly since_ms: number
}

/** The book of a stale market has not changed. All messages up to `seq` are correct. */
export interface FreshMessage {
  readonly type: 'fresh'
  readonly channel: Channel
  readonly market_id: string
  readonly seq: number
}

/** Messages are permanently lost. */
export interface LostMessage {
  readonly type: 'gap'
  readonly channel: Channel
  readonly market_id?: string
  readonly platform?: string
  readonly from_ms: number | null
  readonly to_ms: number | null
  /** Number of lost messages of the channel. Absent if unknown. */
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

/** The server reports the first four causes. The client detects the remaining causes. */
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

/** Messages are missing. Each loss causes one event. Unknown fields are null. */
export interface GapEvent {
  readonly type: 'gap'
  /** Null if the reader's event queue was full. */
  readonly channel: Channel | null
  readonly market_id: string | null
  readonly platform: string | null
  readonly cause: GapCause
  /** True if a new state follows (books, prices, depth, candles). False if the messages are lost. */
  readonly state_follows: boolean
  readonly from_ms: number | null
  readonly to_ms: number | null
  /** The first and last missing `seq`. Null if unknown. */
  readonly from_seq: number | null
  readonly to_seq: number | null
  /** Number of missing messages. Null if unknown. */
  readonly lost: number | null
}

export type ClientState = 'connecting' | 'live' | 'catching_up' | 'waiting' | 'closed'

export interface StateEvent {
  readonly type: 'state'
  readonly state: ClientState
  /** Close code of the connection that ended. It is 1006 if the client cut the connection. */
  readonly code: number | null
  readonly reason: string
  /** Milliseconds until the next attempt. Null if none is scheduled. */
  readonly retry_ms: number | null
}

export interface FaultEvent {
  readonly type: 'fault'
  readonly reason: string
}

/** All events of a client. `resync` and `gap` of the server arrive as {@link GapEvent}. */
export type StreamEvent =
  | Exclude<ServerMessage, ResyncMessage | LostMessage>
  | GapEvent
  | StateEvent
  | FaultEvent

/** Returns `unknown` for a message type that the client does not know, and `damaged` for an invalid message. */
export function readMessage(value: unknown): ServerMessage | 'unknown' | 'damaged' {
  if (!isRecord(value) || typeof value.type !== 'string') return 'damaged'
  const check = checks.get(value.type)
  if (check === undefined) return 'unknown'
  return check(value) && isMessage(value) ? value : 'damaged'
}

const DATA_TYPES: ReadonlySet<string> = new Set(
  Object.values(CHANNELS).flatMap(({ messages }) => Object.keys(messages)),
)

/**
 * True if `type` is that of a data message. Checking for a field `data` would not suffice: later versions may add the
 * field to further types.
 */
export function isDataMessage(message: ServerMessage | StreamEvent): message is DataMessage {
  return DATA_TYPES.has(message.type)
}

function isMessage(value: Fields): value is Fields & ServerMessage {
  return typeof value.type === 'string'
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isText = (value: unknown): boolean => typeof value === 'string'
const isPosition = (value: Fields): boolean => isText(value.epoch) && isCount(value.offset)

const counted =
  (channel: string, isData: (data: unknown) => boolean) =>
  (value: Fields): boolean =>
    value.channel === channel &&
    isText(value.market_id) &&
    isPosition(value) &&
    isCount(value.seq) &&
    isData(value.data)

const checks: ReadonlyMap<string, (value: Fields) => boolean> = new Map([
  ...Object.entries(CHANNELS).flatMap(([channel, { messages }]) =>
    Object.entries(messages).map(([type, { isData }]) => [type, counted(channel, isData)] as const),
  ),
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
