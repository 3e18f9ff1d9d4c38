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

const EXAMPLE_WRITTEN = { published_ms: 1_763_700_000_013 }
const EXAMPLE_POSITION = { epoch: 'k3f9c2', offset: 41 }
const EXAMPLE_MARKET = `venue_a_${EXAMPLE_IDS.condition}`

/** A message by its type: what it says, its fields after `type`, and an example of them. */
interface Described {
  readonly summary: string
  readonly fields: TProperties
  readonly example: Readonly<Record<string, unknown>>
}

function message(type: string, { summary, fields, example }: Described): MessageDocument {
  return {
    summary,
    schema: Type.Object({ type: Type.Literal(type), ...fields, ...written }),
    example: { type, ...example, ...EXAMPLE_WRITTEN },
  }
}

/** A counted message of a channel, given its fields after the head. Times are null before the first book. */
export function counted(
  type: string,
  channel: string,
  { summary, fields, example }: Described,
): MessageDocument {
  return {
    summary,
    schema: Type.Object({
      type: Type.Literal(type),
      channel: Type.Literal(channel),
      market_id: text(),
      ...position,
      seq: nonNegativeInteger(),
      timestamp_ms: nullable(nonNegativeInteger()),
      received_ms: nullable(nonNegativeInteger()),
      ...written,
      ...fields,
    }),
    example: {
      type,
      channel,
      market_id: EXAMPLE_MARKET,
      ...EXAMPLE_POSITION,
      seq: 7,
      timestamp_ms: 1_763_700_000_000,
      received_ms: 1_763_700_000_012,
      ...EXAMPLE_WRITTEN,
      ...example,
    },
  }
}

/** A reply to command 1. */
function reply(type: string, { summary, fields, example }: Described): MessageDocument {
  return message(type, {
    summary,
    fields: { id: commandId(), ...fields },
    example: { id: 1, ...example },
  })
}

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
export function serverMessages(
  channels: readonly Channel[],
): Readonly<Record<string, MessageDocument>> {
  return {
    connected,
    ...Object.fromEntries(channels.flatMap(({ messages }) => Object.entries(messages))),
    ...ownMessages(channels),
    ...replies(channels),
  }
}

const connected = message('connected', {
  summary: 'The first message of a connection, with its limits',
  fields: {
    connection_id: text(),
    server_time_ms: nonNegativeInteger(),
    heartbeat_s: Type.Number({ exclusiveMinimum: 0 }),
    limits: Type.Object({
      subscriptions: nonNegativeInteger(),
      commands_per_s: nonNegativeInteger(),
      message_bytes: nonNegativeInteger(),
    }),
  },
  example: {
    connection_id: 'c7f2a91d',
    server_time_ms: 1_763_700_000_000,
    heartbeat_s: 10,
    limits: { subscriptions: 1_000, commands_per_s: 20, message_bytes: 16_384 },
  },
})

/** Unsolicited messages of the server, except those of channels. */
function ownMessages(channels: readonly Channel[]) {
  const counters = channels.filter(({ delivery }) => delivery === 'every')
  const states = channels.filter(({ hasState }) => hasState)
  const ofBooks = channels.filter(({ updateKinds }) => updateKinds.includes('bookStale'))
  const market = { market_id: EXAMPLE_MARKET }
  return {
    heartbeat: message('heartbeat', {
      summary: 'Every few seconds, behind the data that its offsets count',
      fields: {
        timestamp_ms: nonNegativeInteger(),
        counter: nonNegativeInteger(),
        epoch: text(),
        offsets: Type.Optional(
          Type.Object(Object.fromEntries(counters.map(({ name }) => [name, nonNegativeInteger()]))),
        ),
        catching_up: Type.Optional(Type.Literal(true)),
      },
      example: {
        timestamp_ms: 1_763_700_000_000,
        counter: 12,
        epoch: EXAMPLE_POSITION.epoch,
        offsets: Object.fromEntries(counters.map(({ name }, index) => [name, 40 + index])),
      },
    }),
    resync: message('resync', {
      summary: 'What was sent of the market no longer holds; its state follows',
      fields: { channel: oneOf(states), market_id: text(), reason: choice(RESYNC_REASONS) },
      example: { channel: states[0]?.name, ...market, reason: 'venue_gap' },
    }),
    stale: message('stale', {
      summary:
        'What was sent of the market may be wrong, and no update follows until `resync` with a new state, or `fresh`; `since_ms`: when its book was last known to be right',
      fields: {
        channel: oneOf(ofBooks),
        market_id: text(),
        reason: choice(STALE_REASONS),
        since_ms: nonNegativeInteger(),
      },
      example: {
        channel: ofBooks[0]?.name,
        ...market,
        reason: 'contradicted_by_trade',
        since_ms: 1_763_699_990_000,
      },
    }),
    fresh: message('fresh', {
      summary: 'A stale market was found unchanged: what was sent up to `seq` is right',
      fields: { channel: oneOf(ofBooks), market_id: text(), seq: nonNegativeInteger() },
      example: { channel: ofBooks[0]?.name, ...market, seq: 7 },
    }),
    gap: message('gap', {
      summary:
        'Messages were lost and could not be brought back; `from_ms` null: it is not known since when; `count`: how many of the channel, where it is known',
      fields: {
        channel: oneOf(channels),
        market_id: Type.Optional(text()),
        platform: Type.Optional(text()),
        from_ms: nullable(nonNegativeInteger()),
        to_ms: nonNegativeInteger(),
        count: Type.Optional(nonNegativeInteger()),
      },
      example: {
        channel: channels[0]?.name,
        ...market,
        from_ms: 1_763_699_940_000,
        to_ms: 1_763_700_000_000,
        count: 3,
      },
    }),
    status,
  }
}

const status = message('status', {
  summary:
    'How the feed of a venue is; after `connected` and at every change. Unless it is `live`, `reason` says why and `books` how many of its books are stale: a venue whose books become stale together sends this instead of a `stale` for each, and each book is right again with `resync` or `fresh`, or all with `live`. `complete_to_ms`: after an outage or a restart, up to when all its trades have been sent. `trades_source`, of a venue with two sources of trades: `last_trade_price` while the stream that names wallets has ended',
  fields: {
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
  },
  example: { platform: 'venue_a', state: 'live', lag_ms: 48, delay_ms: 3 },
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
    subscribed: reply('subscribed', {
      summary: 'Which markets of the command are known',
      fields: { channel, ...options, ...targets },
      example: accepted,
    }),
    synced: reply('synced', {
      summary: 'Every state of the command is out; live from here',
      fields: { channel, ...position },
      example: synced,
    }),
    resumed: reply('resumed', {
      summary: 'Every missed message of the command is out; live from here',
      fields: { channel, replayed: nonNegativeInteger(), ...position },
      example: { ...synced, replayed: 12 },
    }),
    resume_limited: reply('resume_limited', {
      summary: 'Only the oldest missed messages are out; to be repeated from here',
      fields: { channel, ...position },
      example: synced,
    }),
    unsubscribed: reply('unsubscribed', {
      summary: 'No message of these follows',
      fields: { channel, ...targets },
      example: accepted,
    }),
    subscriptions: reply('subscriptions', {
      summary: 'All subscriptions, with the newest `seq` of each market',
      fields: { subscriptions: Type.Array(listed) },
      example: { subscriptions: [{ ...of, market_id: EXAMPLE_MARKET, seq: 7 }] },
    }),
    pong: reply('pong', {
      summary: 'The answer to a ping',
      fields: { timestamp_ms: nonNegativeInteger() },
      example: { timestamp_ms: 1_763_700_000_000 },
    }),
    error: reply('error', {
      summary: 'The command was refused',
      fields: { code: choice(ERROR_CODES), message: text() },
      example: { code: 'UNKNOWN_CHANNEL', message: 'give a channel: orderbook' },
    }),
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
export interface DescribedCommand extends MessageDocument {
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
