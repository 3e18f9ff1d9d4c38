// Schemas of all stream messages in both directions, for the AsyncAPI document and the tests, which validate every
// captured message. Channel messages are described in channels/, all others here.

import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { type FeedState, STALE_REASONS, TRADES_SOURCES } from '../../engine/events.ts'
import { marketIdsPerCommandMax } from '../../engine/limits.ts'
import { choice, EXAMPLE_IDS, nullable } from '../schemas.ts'
import type { Channel, MessageDocument } from './channels/channel.ts'
import type { StreamErrorCode } from './command.ts'
import type { ResyncReason } from './encode/encoder.ts'
import { type OptionValue, VariantTable } from './fan-out/channel-variants.ts'

const RESYNC_REASONS: readonly ResyncReason[] = ['venue_gap', 'slow_consumer', 'restart', 'delayed']
const FEED_STATES: readonly FeedState[] = ['live', 'stale', 'down']
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
const nonNegativeInteger = () => Type.Integer({ minimum: 0 })
/** The client's id of its command; null without one. */
const commandId = () => nullable(Type.Union([Type.String({ maxLength: 64 }), Type.Number()]))
const position = { epoch: text(), offset: nonNegativeInteger() }

/** Every message contains its time of writing. */
const written = {
  published_ms: Type.Integer({
    minimum: 0,
    description: 'when the message was written, Unix milliseconds; a repeated one is written anew',
  }),
}

/** The schema of a counted message: its head and the given fields. Times are null before the first book. */
export function counted<P extends TProperties>(type: string, channel: string, rest: P) {
  return Type.Object({
    type: Type.Literal(type),
    channel: Type.Literal(channel),
    market_id: text(),
    ...position,
    seq: nonNegativeInteger(),
    timestamp_ms: nullable(nonNegativeInteger()),
    received_ms: nullable(nonNegativeInteger()),
    ...written,
    ...rest,
  })
}

const EXAMPLE_WRITTEN = { published_ms: 1_763_700_000_013 }
const EXAMPLE_POSITION = { epoch: 'k3f9c2', offset: 41 }
const EXAMPLE_MARKET = `venue_a_${EXAMPLE_IDS.condition}`

/** An example of a reply to command 1. */
const exampleReply = (type: string, rest: Readonly<Record<string, unknown>>) => ({
  type,
  id: 1,
  ...rest,
  ...EXAMPLE_WRITTEN,
})

/** An example of a counted message: its head and the given fields. */
export function exampleOf(type: string, channel: string, rest: Readonly<Record<string, unknown>>) {
  return {
    type,
    channel,
    market_id: EXAMPLE_MARKET,
    ...EXAMPLE_POSITION,
    seq: 7,
    timestamp_ms: 1_763_700_000_000,
    received_ms: 1_763_700_000_012,
    ...EXAMPLE_WRITTEN,
    ...rest,
  }
}

const reply = <P extends TProperties>(type: string, rest: P) =>
  Type.Object({ type: Type.Literal(type), id: commandId(), ...rest, ...written })

/** A target that is unknown or unsupported. */
const RejectedSchema = Type.Object({
  market_id: Type.Optional(text()),
  event_slug: Type.Optional(text()),
  code: choice(['UNKNOWN_MARKET', 'NEVER_TOLD']),
  message: Type.Optional(text()),
})

/** The position up to which a client has everything in a channel. */
const PositionSchema = Type.Object({
  epoch: Type.String({ maxLength: 64 }),
  offset: nonNegativeInteger(),
})

/** Named schemas of messages that belong to no channel. */
export const connectionShapes = { RejectedSchema, PositionSchema }

/** A message or command in the documents. */
export type Described = MessageDocument

/** Options as named in commands and replies. */
function optionsOf(channels: readonly Channel[]): Record<string, TSchema> {
  const table = new VariantTable(channels)
  const schemas = table.optionNames.map((name) => {
    return [name, Type.Optional(schemaOf(table.valuesOf(name)))] as const
  })
  return Object.fromEntries(schemas)
}

function schemaOf(values: readonly OptionValue[]): TSchema {
  const texts = values.filter((value) => typeof value === 'string')
  if (texts.length === values.length) return choice(texts)
  return values.every(Number.isInteger)
    ? Type.Integer({ enum: [...values] })
    : Type.Number({ enum: [...values] })
}

/** Messages of the server, by `type`. */
export function serverMessages(channels: readonly Channel[]): Readonly<Record<string, Described>> {
  return {
    connected,
    ...Object.fromEntries(channels.flatMap(({ messages }) => Object.entries(messages))),
    ...ownMessages(channels),
    ...replies(channels),
  }
}

const connected: Described = {
  summary: 'The first message of a connection, with its limits',
  schema: Type.Object({
    type: Type.Literal('connected'),
    connection_id: text(),
    server_time_ms: nonNegativeInteger(),
    heartbeat_s: Type.Number({ exclusiveMinimum: 0 }),
    limits: Type.Object({
      subscriptions: nonNegativeInteger(),
      commands_per_s: nonNegativeInteger(),
      message_bytes: nonNegativeInteger(),
    }),
    ...written,
  }),
  example: {
    type: 'connected',
    connection_id: 'c7f2a91d',
    server_time_ms: 1_763_700_000_000,
    heartbeat_s: 10,
    limits: { subscriptions: 1_000, commands_per_s: 20, message_bytes: 16_384 },
    ...EXAMPLE_WRITTEN,
  },
}

/** Unsolicited messages of the server, except those of channels. */
function ownMessages(channels: readonly Channel[]) {
  const counters = channels.filter(({ delivery }) => delivery === 'every')
  const states = channels.filter(({ hasState }) => hasState)
  return {
    heartbeat: {
      summary: 'Every few seconds, behind the data that its offsets count',
      schema: Type.Object({
        type: Type.Literal('heartbeat'),
        timestamp_ms: nonNegativeInteger(),
        counter: nonNegativeInteger(),
        epoch: text(),
        offsets: Type.Optional(
          Type.Object(Object.fromEntries(counters.map(({ name }) => [name, nonNegativeInteger()]))),
        ),
        catching_up: Type.Optional(Type.Literal(true)),
        ...written,
      }),
      example: {
        type: 'heartbeat',
        timestamp_ms: 1_763_700_000_000,
        counter: 12,
        epoch: EXAMPLE_POSITION.epoch,
        offsets: Object.fromEntries(counters.map(({ name }, index) => [name, 40 + index])),
        ...EXAMPLE_WRITTEN,
      },
    },
    resync: {
      summary: 'What was sent of the market no longer holds; its state follows',
      schema: Type.Object({
        type: Type.Literal('resync'),
        channel: oneOf(states),
        market_id: text(),
        reason: choice(RESYNC_REASONS),
        ...written,
      }),
      example: {
        type: 'resync',
        channel: states[0]?.name,
        market_id: EXAMPLE_MARKET,
        reason: 'venue_gap',
        ...EXAMPLE_WRITTEN,
      },
    },
    ...freshnessMessages(channels.filter(({ updateKinds }) => updateKinds.includes('bookStale'))),
    gap: {
      summary:
        'Messages were lost and could not be brought back; `from_ms` null: it is not known since when; `count`: how many of the channel, where it is known',
      schema: Type.Object({
        type: Type.Literal('gap'),
        channel: oneOf(channels),
        market_id: Type.Optional(text()),
        platform: Type.Optional(text()),
        from_ms: nullable(nonNegativeInteger()),
        to_ms: nonNegativeInteger(),
        count: Type.Optional(nonNegativeInteger()),
        ...written,
      }),
      example: { ...EXAMPLE_GAP, channel: channels[0]?.name },
    },
    status: {
      summary:
        'How the feed of a venue is; after `connected` and at every change. Unless it is `live`, `reason` says why and `books` how many of its books are stale: a venue whose books become stale together sends this instead of a `stale` for each, and each book is right again with `resync` or `fresh`, or all with `live`. `complete_to_ms`: after an outage or a restart, up to when all its trades have been sent. `trades_source`, of a venue with two sources of trades: `last_trade_price` while the stream that names wallets has ended',
      schema: STATUS,
      example: EXAMPLE_STATUS,
    },
  }
}

/** Messages about stale and fresh books, in the channels that show books. */
function freshnessMessages(ofBooks: readonly Channel[]) {
  return {
    stale: {
      summary:
        'What was sent of the market may be wrong, and no update follows until `resync` with a new state, or `fresh`; `since_ms`: when its book was last known to be right',
      schema: Type.Object({
        type: Type.Literal('stale'),
        channel: oneOf(ofBooks),
        market_id: text(),
        reason: choice(STALE_REASONS),
        since_ms: nonNegativeInteger(),
        ...written,
      }),
      example: {
        type: 'stale',
        channel: ofBooks[0]?.name,
        market_id: EXAMPLE_MARKET,
        reason: 'contradicted_by_trade',
        since_ms: 1_763_699_990_000,
        ...EXAMPLE_WRITTEN,
      },
    },
    fresh: {
      summary: 'A stale market was found unchanged: what was sent up to `seq` is right',
      schema: Type.Object({
        type: Type.Literal('fresh'),
        channel: oneOf(ofBooks),
        market_id: text(),
        seq: nonNegativeInteger(),
        ...written,
      }),
      example: {
        type: 'fresh',
        channel: ofBooks[0]?.name,
        market_id: EXAMPLE_MARKET,
        seq: 7,
        ...EXAMPLE_WRITTEN,
      },
    },
  }
}

const EXAMPLE_GAP = {
  type: 'gap',
  market_id: EXAMPLE_MARKET,
  from_ms: 1_763_699_940_000,
  to_ms: 1_763_700_000_000,
  count: 3,
  ...EXAMPLE_WRITTEN,
}

const EXAMPLE_STATUS = {
  type: 'status',
  platform: 'venue_a',
  state: 'live',
  lag_ms: 48,
  delay_ms: 3,
  ...EXAMPLE_WRITTEN,
}

const STATUS = Type.Object({
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
  reason: Type.Optional(choice(STALE_REASONS)),
  books: Type.Optional(
    Type.Integer({ minimum: 0, description: 'books of the venue that are stale' }),
  ),
  trades_source: Type.Optional(choice(TRADES_SOURCES)),
  complete_to_ms: Type.Optional(nonNegativeInteger()),
  ...written,
})

function oneOf(channels: readonly Channel[]): TSchema {
  return choice(channels.map(({ name }) => name))
}

/** The replies to commands. */
function replies(channels: readonly Channel[]) {
  const channel = oneOf(channels)
  const options = optionsOf(channels)
  const targets = {
    platform: Type.Optional(text()),
    accepted: Type.Array(text()),
    rejected: Type.Array(RejectedSchema),
  }
  const listed = Type.Object({
    channel,
    ...options,
    market_id: Type.Optional(text()),
    seq: Type.Optional(nonNegativeInteger()),
    market_ids: Type.Optional(Type.Array(Type.Literal('*'))),
    platform: Type.Optional(text()),
    seqs: Type.Optional(Type.Record(Type.String(), nonNegativeInteger())),
  })
  const of = { channel: channels[0]?.name }
  const accepted = { ...of, accepted: [EXAMPLE_MARKET], rejected: [] }
  const synced = { ...of, ...EXAMPLE_POSITION }
  return {
    subscribed: {
      summary: 'Which markets of the command are known',
      schema: reply('subscribed', { channel, ...options, ...targets }),
      example: exampleReply('subscribed', accepted),
    },
    synced: {
      summary: 'Every state of the command is out; live from here',
      schema: reply('synced', { channel, ...position }),
      example: exampleReply('synced', synced),
    },
    resumed: {
      summary: 'Every missed message of the command is out; live from here',
      schema: reply('resumed', { channel, replayed: nonNegativeInteger(), ...position }),
      example: exampleReply('resumed', { ...synced, replayed: 12 }),
    },
    resume_limited: {
      summary: 'Only the oldest missed messages are out; to be repeated from here',
      schema: reply('resume_limited', { channel, ...position }),
      example: exampleReply('resume_limited', synced),
    },
    unsubscribed: {
      summary: 'No message of these follows',
      schema: reply('unsubscribed', { channel, ...targets }),
      example: exampleReply('unsubscribed', accepted),
    },
    subscriptions: {
      summary: 'All subscriptions, with the newest `seq` of each market',
      schema: reply('subscriptions', { subscriptions: Type.Array(listed) }),
      example: exampleReply('subscriptions', {
        subscriptions: [{ ...of, market_id: EXAMPLE_MARKET, seq: 7 }],
      }),
    },
    pong: {
      summary: 'The answer to a ping',
      schema: reply('pong', { timestamp_ms: nonNegativeInteger() }),
      example: exampleReply('pong', { timestamp_ms: 1_763_700_000_000 }),
    },
    error: {
      summary: 'The command was refused',
      schema: reply('error', { code: choice(ERROR_CODES), message: text() }),
      example: exampleReply('error', {
        code: 'UNKNOWN_CHANNEL',
        message: 'give a channel: orderbook',
      }),
    },
  }
}

const command = <P extends TProperties>(action: string, rest: P) =>
  Type.Object({
    action: Type.Literal(action),
    id: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Number()])),
    ...rest,
  })
const ids = () => Type.Array(Type.String({ maxLength: 256 }), { maxItems: marketIdsPerCommandMax })

/** A command in the documents, with its possible replies in the order in which they are sent. */
export interface DescribedCommand extends Described {
  readonly answers: readonly string[]
}

/** Commands of a client, by `action`, under their preferred names. */
export function clientCommands(
  channels: readonly Channel[],
): Readonly<Record<string, DescribedCommand>> {
  const target = {
    channel: Type.Optional(oneOf(channels)),
    channels: Type.Optional(Type.Array(oneOf(channels), { minItems: 1, maxItems: 16 })),
    market_ids: Type.Optional(ids()),
    event_slugs: Type.Optional(ids()),
    platform: Type.Optional(text()),
  }
  const since = Type.Optional(PositionSchema)
  const of = { channel: channels[0]?.name, market_ids: [EXAMPLE_MARKET] }
  return {
    subscribe: {
      summary: 'Subscribe to markets, a venue or `*`; with `since`, from there on',
      schema: command('subscribe', { ...target, ...optionsOf(channels), since }),
      example: { action: 'subscribe', id: 1, ...of },
      answers: ['subscribed', 'synced', 'resumed', 'resume_limited', 'error'],
    },
    unsubscribe: {
      summary: 'Take subscriptions out',
      schema: command('unsubscribe', target),
      example: { action: 'unsubscribe', id: 2, ...of },
      answers: ['unsubscribed', 'error'],
    },
    snapshot: {
      summary: 'Ask for fresh books, subscribed or not',
      schema: command('snapshot', { market_ids: ids() }),
      example: { action: 'snapshot', id: 3, market_ids: of.market_ids },
      answers: ['snapshot', 'synced', 'error'],
    },
    list: {
      summary: 'Ask for all subscriptions',
      schema: command('list', {}),
      example: { action: 'list', id: 4 },
      answers: ['subscriptions', 'error'],
    },
    ping: {
      summary: 'Ask for a `pong`',
      schema: command('ping', {}),
      example: { action: 'ping', id: 5 },
      answers: ['pong', 'error'],
    },
  }
}
