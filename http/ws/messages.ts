// The shape of every message of the stream, in both directions: what the AsyncAPI document says, and
// what the tests hold every captured message against. Not for: reading commands, which is more lenient
// (protocol.ts), or writing messages (http/ws/encode/json.ts, http/ws/encode/msgpack.ts). Upholds ASYNC1, ASYNC2.

import { type TProperties, Type } from '@sinclair/typebox'
import type { FeedState, LifecycleUpdate } from '../../engine/events.ts'
import { marketIdsPerCommandMax } from '../../engine/limits.ts'
import { MARKET_STATUSES } from '../../engine/market/market.ts'
import {
  CandleSchema,
  choice,
  LevelSchema,
  nullable,
  PriceSchema,
  TradeSchema,
} from '../schemas.ts'
import {
  CHANNEL_NAMES,
  type ChannelName,
  DEPTH_CONFLATE_MS,
  DEPTH_LEVELS,
  INTERVALS,
  PRICE_CONFLATE_MS,
} from './channels.ts'
import type { ResyncReason } from './encode/encoder.ts'
import type { StreamErrorCode } from './protocol.ts'

const RESYNC_REASONS: readonly ResyncReason[] = ['venue_gap', 'slow_consumer', 'restart', 'delayed']
const FEED_STATES: readonly FeedState[] = ['live', 'stale', 'down']
const LIFECYCLE_EVENTS: readonly LifecycleUpdate['event'][] = [
  'opened',
  'closed',
  'resolved',
  'changed',
  'matched',
  'unmatched',
]
const ERROR_CODES: readonly StreamErrorCode[] = [
  'PARSE_ERROR',
  'UNKNOWN_ACTION',
  'UNKNOWN_CHANNEL',
  'UNKNOWN_MARKET',
  'INVALID_FILTER',
  'SUBSCRIPTION_LIMIT',
  'RATE_LIMITED',
  'MESSAGE_TOO_LARGE',
]

const text = () => Type.String()
const whole = () => Type.Integer({ minimum: 0 })
const price = () => Type.Number({ minimum: 0, maximum: 1 })
const ofNumbers = (values: readonly number[]) => Type.Integer({ enum: [...values] })
const channels = (names: readonly ChannelName[] = CHANNEL_NAMES) => choice(names)
/** What a client called its command; null when it did not. */
const commandId = () => nullable(Type.Union([Type.String({ maxLength: 64 }), Type.Number()]))
const place = { epoch: text(), offset: whole() }
/** Options as the answers name them: those of the channel. */
const options = {
  levels: Type.Optional(ofNumbers(DEPTH_LEVELS)),
  conflate_ms: Type.Optional(ofNumbers([...new Set([...DEPTH_CONFLATE_MS, ...PRICE_CONFLATE_MS])])),
  interval: Type.Optional(choice(INTERVALS)),
}

/** Every message says when it was written. */
const written = {
  published_ms: Type.Integer({
    minimum: 0,
    description: 'when we wrote the message; one that is repeated is written anew',
  }),
}

/** What every counted message has; times are null before a first book. */
function counted<P extends TProperties>(type: string, channel: ChannelName, rest: P) {
  return Type.Object({
    type: Type.Literal(type),
    channel: Type.Literal(channel),
    market_id: text(),
    ...place,
    seq: whole(),
    timestamp_ms: nullable(whole()),
    received_ms: nullable(whole()),
    ...written,
    ...rest,
  })
}

const reply = <P extends TProperties>(type: string, rest: P) =>
  Type.Object({ type: Type.Literal(type), id: commandId(), ...rest, ...written })

export const BookSidesSchema = Type.Object({
  bids: Type.Array(LevelSchema),
  asks: Type.Array(LevelSchema),
})

export const StreamBookSchema = Type.Object({
  bids: Type.Array(LevelSchema),
  asks: Type.Array(LevelSchema),
  spread: nullable(Type.Number()),
  mid_price: nullable(Type.Number()),
})

export const StreamPriceSchema = Type.Object({
  price: PriceSchema.properties.price,
  price_cents: Type.Integer({ minimum: 0, maximum: 100 }),
  best_bid: nullable(price()),
  best_ask: nullable(price()),
  spread: nullable(Type.Number()),
  mid_price: nullable(price()),
  source: PriceSchema.properties.source,
})

/** A whale row: a Trade, with its market as it was called then. */
export const WhaleSchema = Type.Object({
  ...TradeSchema.properties,
  outcome: nullable(text()),
  question: text(),
  slug: text(),
  event_slug: nullable(text()),
  category: nullable(text()),
  wallet: nullable(text()),
  fills: Type.Integer({ minimum: 1 }),
})

export const LifecycleSchema = Type.Object({
  event: choice(LIFECYCLE_EVENTS),
  platform: text(),
  status: choice(MARKET_STATUSES),
  question: text(),
  slug: text(),
  event_slug: nullable(text()),
  outcomes: Type.Array(text()),
  close_time: nullable(Type.Integer()),
  settlement_price: nullable(price()),
  twin_market_id: nullable(text()),
})

export const StreamCandleSchema = Type.Object({
  interval: choice(INTERVALS),
  ...CandleSchema.properties,
})

/** A target of a command that means nothing here. */
export const RejectedSchema = Type.Object({
  market_id: Type.Optional(text()),
  event_slug: Type.Optional(text()),
  code: Type.Literal('UNKNOWN_MARKET'),
})

/** Up to where a client has everything in a channel. */
export const PositionSchema = Type.Object({
  epoch: Type.String({ maxLength: 64 }),
  offset: whole(),
})

const checksum = () => Type.Integer({ minimum: 0, maximum: 0xffff_ffff })

/** What the server sends, by the message's `type`. */
export const SERVER_MESSAGES = {
  connected: Type.Object({
    type: Type.Literal('connected'),
    connection_id: text(),
    server_time_ms: whole(),
    heartbeat_s: Type.Number({ exclusiveMinimum: 0 }),
    limits: Type.Object({
      subscriptions: whole(),
      commands_per_s: whole(),
      message_bytes: whole(),
    }),
    ...written,
  }),
  snapshot: counted('snapshot', 'orderbook', {
    stale: Type.Boolean(),
    checksum: checksum(),
    data: StreamBookSchema,
  }),
  update: counted('update', 'orderbook', {
    checksum: Type.Optional(checksum()),
    data: BookSidesSchema,
  }),
  depth: counted('depth', 'depth', { stale: Type.Boolean(), data: StreamBookSchema }),
  price: counted('price', 'prices', { data: StreamPriceSchema }),
  trade: counted('trade', 'trades', { data: TradeSchema }),
  whale: counted('whale', 'whales', { data: WhaleSchema }),
  lifecycle: counted('lifecycle', 'lifecycle', { data: LifecycleSchema }),
  candle: counted('candle', 'candles', { data: StreamCandleSchema }),
  heartbeat: Type.Object({
    type: Type.Literal('heartbeat'),
    timestamp_ms: whole(),
    counter: whole(),
    epoch: text(),
    offsets: Type.Optional(
      Type.Object({ orderbook: whole(), trades: whole(), whales: whole(), lifecycle: whole() }),
    ),
    catching_up: Type.Optional(Type.Literal(true)),
    ...written,
  }),
  resync: Type.Object({
    type: Type.Literal('resync'),
    channel: channels(['orderbook', 'depth', 'prices', 'candles']),
    market_id: text(),
    reason: choice(RESYNC_REASONS),
    ...written,
  }),
  gap: Type.Object({
    type: Type.Literal('gap'),
    channel: channels(),
    market_id: Type.Optional(text()),
    platform: Type.Optional(text()),
    from_ms: nullable(whole()),
    to_ms: whole(),
    count: Type.Optional(whole()),
    ...written,
  }),
  status: Type.Object({
    type: Type.Literal('status'),
    platform: text(),
    state: choice(FEED_STATES),
    lag_ms: nullable(
      Type.Integer({ minimum: 0, description: 'from the venue to us, of late; in milliseconds' }),
    ),
    delay_ms: Type.Integer({
      minimum: 0,
      description: 'the longest that anything waited within us during the last two seconds',
    }),
    complete_to_ms: Type.Optional(whole()),
    ...written,
  }),
  subscribed: reply('subscribed', {
    channel: channels(),
    ...options,
    platform: Type.Optional(text()),
    accepted: Type.Array(text()),
    rejected: Type.Array(RejectedSchema),
  }),
  synced: reply('synced', { channel: channels(), ...place }),
  resumed: reply('resumed', { channel: channels(), replayed: whole(), ...place }),
  resume_limited: reply('resume_limited', { channel: channels(), ...place }),
  unsubscribed: reply('unsubscribed', {
    channel: channels(),
    platform: Type.Optional(text()),
    accepted: Type.Array(text()),
    rejected: Type.Array(RejectedSchema),
  }),
  subscriptions: reply('subscriptions', {
    subscriptions: Type.Array(
      Type.Object({
        channel: channels(),
        ...options,
        market_id: Type.Optional(text()),
        seq: Type.Optional(whole()),
        market_ids: Type.Optional(Type.Array(Type.Literal('*'))),
        platform: Type.Optional(text()),
        seqs: Type.Optional(Type.Record(Type.String(), whole())),
      }),
    ),
  }),
  pong: reply('pong', { timestamp_ms: whole() }),
  error: reply('error', { code: choice(ERROR_CODES), message: text() }),
}

const command = <P extends TProperties>(action: string, rest: P) =>
  Type.Object({
    action: Type.Literal(action),
    id: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Number()])),
    ...rest,
  })
const ids = () => Type.Array(Type.String({ maxLength: 256 }), { maxItems: marketIdsPerCommandMax })
const target = {
  channel: Type.Optional(channels()),
  channels: Type.Optional(Type.Array(channels(), { minItems: 1, maxItems: 16 })),
  market_ids: Type.Optional(ids()),
  event_slugs: Type.Optional(ids()),
  platform: Type.Optional(text()),
}

/** What a client sends, by the command's `action`, under the names that the protocol prefers. */
export const CLIENT_COMMANDS = {
  subscribe: command('subscribe', { ...target, ...options, since: Type.Optional(PositionSchema) }),
  unsubscribe: command('unsubscribe', target),
  snapshot: command('snapshot', { market_ids: ids() }),
  list: command('list', {}),
  ping: command('ping', {}),
}

export type ServerMessageName = keyof typeof SERVER_MESSAGES
export type ClientCommandName = keyof typeof CLIENT_COMMANDS
