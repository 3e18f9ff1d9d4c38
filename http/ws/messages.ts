// Schemas of the server's messages and the clients' commands. The files of channels/ define the schemas of channel
// messages.

import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { DATA_SOURCES } from '../../engine/data-source.ts'
import { type FeedState, STALE_REASONS, TRADES_SOURCES } from '../../engine/events.ts'
import { marketIdsPerCommandMax } from '../../engine/limits.ts'
import { LOST_CAUSES } from '../../engine/tape/lost.ts'
import { choice, EXAMPLE_IDS, nullable } from '../schemas.ts'
import type { Channel, MessageDocument } from './channels/channel.ts'
import type { StreamErrorCode } from './command.ts'
import type { ResyncReason } from './encode/encoder.ts'
import { type OptionValue, VariantTable } from './fan-out/channel-variants.ts'

const RESYNC_REASONS: readonly ResyncReason[] = [
  ...(['venue_gap', 'slow_consumer', 'restart', 'delayed', 'seek'] as const),
]
/** `disconnect` reports the other causes. */
const GAP_CAUSES = LOST_CAUSES.filter((cause) => cause !== 'stopped' && cause !== 'killed')
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
const commandId = () => nullable(Type.Union([Type.String({ maxLength: 64 }), Type.Number()]))
const position = { epoch: text(), offset: nonNegativeInteger() }

const written = {
  published_ms: Type.Integer({
    minimum: 0,
    description:
      'when the message was written, Unix milliseconds; a repeated message has a new time',
  }),
}

const EXAMPLE_WRITTEN = { published_ms: 1_763_700_000_013 }
const EXAMPLE_POSITION = { epoch: 'k3f9c2', offset: 41 }
const EXAMPLE_MARKET = `venue_a_${EXAMPLE_IDS.condition}`

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

/** `fields` are the fields after the counters. Both times are null before the first book. */
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

/** The example answers command 1. */
function reply(type: string, { summary, fields, example }: Described): MessageDocument {
  return message(type, {
    summary,
    fields: { id: commandId(), ...fields },
    example: { id: 1, ...example },
  })
}

const RejectedSchema = Type.Object({
  market_id: Type.Optional(text()),
  event_slug: Type.Optional(text()),
  code: choice(['UNKNOWN_MARKET', 'NEVER_TOLD']),
  message: Type.Optional(text()),
})

/** A position in a channel: the client has every message up to the position. */
const PositionSchema = Type.Object({
  epoch: Type.String({ maxLength: 64 }),
  offset: nonNegativeInteger(),
})

/** Named schemas that belong to no channel. */
export const connectionShapes = { RejectedSchema, PositionSchema }

/** Schemas of the options, by their names in commands and replies. */
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
    data: choice(DATA_SOURCES),
    replay: Type.Optional(
      Type.Object({
        from_ms: nonNegativeInteger(),
        to_ms: nonNegativeInteger(),
        speed: Type.Number({ minimum: 0 }),
      }),
    ),
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
    data: 'live',
    limits: { subscriptions: 1_000, commands_per_s: 20, message_bytes: 16_384 },
  },
})

/** Messages of the server that are neither replies nor channel messages. */
function ownMessages(channels: readonly Channel[]) {
  const counters = channels.filter(({ delivery }) => delivery === 'every')
  const states = channels.filter(({ hasState }) => hasState)
  const ofBooks = channels.filter(({ updateKinds }) => updateKinds.includes('bookStale'))
  const market = { market_id: EXAMPLE_MARKET }
  return {
    heartbeat: message('heartbeat', {
      summary: 'Sent every few seconds. Its offsets cover the messages sent before it',
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
      summary: 'The state sent before for the market is out of sync; a new state follows',
      fields: { channel: oneOf(states), market_id: text(), reason: choice(RESYNC_REASONS) },
      example: { channel: states[0]?.name, ...market, reason: 'venue_gap' },
    }),
    stale: message('stale', {
      summary:
        'Earlier messages of the market may be wrong. No update follows until `resync` with a new state, or `fresh`. `since_ms`: when its book was last known to be correct',
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
      summary: 'The book of a stale market is unchanged: all messages up to `seq` are correct',
      fields: { channel: oneOf(ofBooks), market_id: text(), seq: nonNegativeInteger() },
      example: { channel: ofBooks[0]?.name, ...market, seq: 7 },
    }),
    gap: message('gap', {
      summary:
        'Messages are permanently lost. `from_ms` null: the start is unknown. `count`: the number of lost messages of the channel, if known',
      fields: {
        channel: oneOf(channels),
        market_id: Type.Optional(text()),
        platform: Type.Optional(text()),
        from_ms: nullable(nonNegativeInteger()),
        to_ms: nonNegativeInteger(),
        count: Type.Optional(nonNegativeInteger()),
        reason: Type.Optional(choice(GAP_CAUSES)),
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
    ...ofReplays,
  }
}

const ofReplays = {
  disconnect: message('disconnect', {
    summary:
      'Replays only: the service did not run. Snapshots of a new `epoch` follow. `stopped`: it was stopped. `killed`: it ended without a stop, and the messages of its last second may be missing',
    fields: {
      platform: text(),
      reason: choice(['stopped', 'killed']),
      from_ms: nonNegativeInteger(),
      to_ms: nonNegativeInteger(),
    },
    example: {
      ...{ platform: 'venue_a', reason: 'stopped' },
      ...{ from_ms: 1_763_699_940_000, to_ms: 1_763_700_000_000 },
    },
  }),
  replay_end: message('replay_end', {
    summary: 'Replays only: `replay_to` is reached. The connection closes with 1000',
    fields: { position_ms: nonNegativeInteger() },
    example: { position_ms: 1_763_700_000_000 },
  }),
}

const status = message('status', {
  summary:
    'State of a venue’s feed, sent after `connected` and at every change. Unless it is `live`, `reason` is the cause and `books` the number of stale books. If many books become stale together, this replaces a `stale` for each of them; a book recovers with `resync` or `fresh`, or all with `live`. `complete_to_ms`: after an outage or a restart, all trades up to this time were sent. `trades_source`: only for a venue with two trade sources; `last_trade_price` while the source with wallets is down',
  fields: {
    platform: text(),
    state: choice(FEED_STATES),
    lag_ms: nullable(
      Type.Integer({
        minimum: 0,
        description: 'recent latency from the venue to the server, in milliseconds',
      }),
    ),
    delay_ms: Type.Integer({
      minimum: 0,
      description: 'longest wait in the server during the last two seconds, in milliseconds',
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
      summary: 'All states of the command are sent; live from here',
      fields: { channel, ...position },
      example: synced,
    }),
    resumed: reply('resumed', {
      summary: 'All missed messages of the command are sent; live from here',
      fields: { channel, replayed: nonNegativeInteger(), ...position },
      example: { ...synced, replayed: 12 },
    }),
    resume_limited: reply('resume_limited', {
      summary: 'Only the oldest missed messages are sent; repeat the command from this position',
      fields: { channel, ...position },
      example: synced,
    }),
    unsubscribed: reply('unsubscribed', {
      summary: 'No message of these subscriptions follows',
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
    replay: reply('replay', {
      summary: 'State of a replay. `waiting`: there is no subscription yet, and time stands',
      fields: {
        state: choice(['playing', 'paused', 'waiting']),
        position_ms: nonNegativeInteger(),
        speed: Type.Number({ minimum: 0 }),
      },
      example: { state: 'paused', position_ms: 1_763_700_000_000, speed: 10 },
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

export interface DescribedCommand extends MessageDocument {
  readonly answers: readonly string[]
}

/** Commands of a client by `action`, with the preferred field names. */
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
      summary: 'Subscribe to markets, a venue or `*`; with `since`, from that position',
      schema: command('subscribe', { ...target, ...optionsOf(channels), since }),
      example: { action: 'subscribe', id: 1, ...of },
      answers: ['subscribed', 'synced', 'resumed', 'resume_limited', 'error'],
    },
    unsubscribe: {
      summary: 'Remove subscriptions',
      schema: command('unsubscribe', target),
      example: { action: 'unsubscribe', id: 2, ...of },
      answers: ['unsubscribed', 'error'],
    },
    snapshot: {
      summary: 'Request current books, subscribed or not',
      schema: command('snapshot', { market_ids: ids() }),
      example: { action: 'snapshot', id: 3, market_ids: of.market_ids },
      answers: ['snapshot', 'synced', 'error'],
    },
    list: {
      summary: 'Request all subscriptions',
      schema: command('list', {}),
      example: { action: 'list', id: 4 },
      answers: ['subscriptions', 'error'],
    },
    ping: {
      summary: 'Request a `pong`',
      schema: command('ping', {}),
      example: { action: 'ping', id: 5 },
      answers: ['pong', 'error'],
    },
    pause: {
      summary: 'Stop the time of a replay',
      schema: command('pause', {}),
      example: { action: 'pause', id: 6 },
      answers: ['replay', 'error'],
    },
    resume: {
      summary: 'Continue a paused replay',
      schema: command('resume', {}),
      example: { action: 'resume', id: 7 },
      answers: ['replay', 'error'],
    },
    seek: {
      summary:
        'Continue a replay at another time. Each state follows after a `resync` with reason `seek`',
      schema: command('seek', { to: nonNegativeInteger() }),
      example: { action: 'seek', id: 8, to: 1_763_700_000_000 },
      answers: ['replay', 'synced', 'error'],
    },
  }
}
