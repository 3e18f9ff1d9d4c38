// The stream as an AsyncAPI 3.0 document, from the schemas that tests hold every message against
// (ws/messages.ts). One address carries everything, so there is one channel of AsyncAPI, and ours are
// operations on it. Not for: serving it (routes/documents.ts), or what a message means in detail.
// Upholds ASYNC1 to ASYNC3.

import type { TSchema } from '@sinclair/typebox'
import * as shapes from '../schemas.ts'
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from '../ws/channels.ts'
import { closeCodes } from '../ws/close-codes.ts'
import * as messages from '../ws/messages.ts'
import {
  CLIENT_COMMANDS,
  type ClientCommandName,
  SERVER_MESSAGES,
  type ServerMessageName,
} from '../ws/messages.ts'
import type { SpecificationFacts } from './openapi.ts'
import { Components, type Json, type JsonObject } from './schemas-of.ts'

const DESCRIPTION = `Order books, prices and trades of two prediction-market venues as they happen.

Nothing is left out without a word, and a repeat can be recognised: by channel, market, epoch and \`seq\`,
or by the id of a trade. Messages are JSON text, or with \`encoding=msgpack\` MessagePack with the same
fields. Prices are numbers from 0 to 1, sizes are contracts, money is US dollars; a name that ends in
\`_ms\` is Unix milliseconds. Commands may come in either form, with \`op\`, \`cmd\` or \`type\` for \`action\`
and \`markets\` or \`market_id\` for \`market_ids\`. Within v1 there are only additions.`

const SUMMARIES: Readonly<Record<ServerMessageName, string>> = {
  connected: 'The first message of a connection, with its limits',
  snapshot: 'A whole book; a stale one is followed by `resync` and another',
  update: 'Changed levels of a book, with absolute sizes; 0 removes a level',
  depth: 'The best levels of a book, whole each time',
  price: 'The present price',
  trade: 'A trade',
  whale: 'A large trade, summed up over its fills',
  lifecycle: 'Something happened to the market itself',
  candle: 'The bar that just changed or closed',
  heartbeat: 'Every few seconds, behind the data that its offsets count',
  resync: 'What was sent of the market no longer holds; its state follows',
  gap: 'Messages were lost and could not be brought back; `from_ms` null: since we do not know when; `count`: how many of the channel, where it is known',
  status:
    'How the feed of a venue is; after `connected` and at every change. `complete_to_ms`: after an outage or a restart, up to when all its trades have been told',
  subscribed: 'Which markets of the command are known',
  synced: 'Every state of the command is out; live from here',
  resumed: 'Every missed message of the command is out; live from here',
  resume_limited: 'Only the oldest missed messages are out; to be repeated from here',
  unsubscribed: 'No message of these follows',
  subscriptions: 'All subscriptions, with the newest `seq` of each market',
  pong: 'The answer to a ping',
  error: 'The command was refused',
}

const COMMAND_SUMMARIES: Readonly<Record<ClientCommandName, string>> = {
  subscribe: 'Subscribe to markets, a venue or `*`; with `since`, from there on',
  unsubscribe: 'Take subscriptions out',
  snapshot: 'Ask for fresh books, subscribed or not',
  list: 'Ask for all subscriptions',
  ping: 'Ask for a `pong`',
}

/** What may answer a command, in the order in which it does. */
const ANSWERS: Readonly<Record<ClientCommandName, readonly ServerMessageName[]>> = {
  subscribe: ['subscribed', 'synced', 'resumed', 'resume_limited', 'error'],
  unsubscribe: ['unsubscribed', 'error'],
  snapshot: ['snapshot', 'synced', 'error'],
  list: ['subscriptions', 'error'],
  ping: ['pong', 'error'],
}

/** What comes in a channel. */
const CARRIED: Readonly<Record<ChannelName, readonly ServerMessageName[]>> = {
  orderbook: ['snapshot', 'update', 'resync'],
  depth: ['depth', 'resync'],
  prices: ['price', 'resync'],
  trades: ['trade', 'gap'],
  whales: ['whale', 'gap'],
  lifecycle: ['lifecycle', 'gap'],
  candles: ['candle', 'resync'],
}

const DELIVERIES: Readonly<Record<(typeof CHANNELS)[ChannelName]['delivery'], string>> = {
  every: 'Every one, never conflated.',
  conflated: 'At most every `conflate_ms`; the last state of a window is always sent.',
  everyOrConflated: 'Every change, or at most every `conflate_ms`.',
  perSecond: 'At most once a second a market; the closing message is always sent.',
}

const STREAM = { $ref: '#/channels/stream' }
const SECURITY = ['ApiKey', 'ApiKeyHeader', 'AccessToken', 'Bearer'].map((name) => ({
  $ref: `#/components/securitySchemes/${name}`,
}))

/** The document as a value; the same facts give the same. */
export function asyncapi({ version }: Pick<SpecificationFacts, 'version'>): JsonObject {
  const components = new Components({ ...shapes, ...messages })
  const written = {
    ...writtenMessages(SERVER_MESSAGES, SUMMARIES, 'Message', components),
    ...writtenMessages(CLIENT_COMMANDS, COMMAND_SUMMARIES, 'Command', components),
  }
  const named = Object.keys(written).map((name) => {
    return [name, { $ref: `#/components/messages/${name}` }] as const
  })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Twinbook stream',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    servers: { here: SERVER },
    channels: {
      stream: {
        address: '/v1/ws',
        title: 'The stream',
        description:
          'One connection carries every channel; refusals of the upgrade are HTTP answers.',
        servers: [{ $ref: '#/servers/here' }],
        messages: Object.fromEntries(named),
        bindings: { ws: { method: 'GET', query: QUERY, bindingVersion: '0.1.0' } },
      },
    },
    operations: { ...received(), ...sent() },
    components: {
      schemas: components.all,
      messages: written,
      securitySchemes: SECURITY_SCHEMES,
      correlationIds: {
        command: {
          description: 'What the client called its command.',
          location: '$message.payload#/id',
        },
      },
    },
    'x-close-codes': Object.values(closeCodes).map(({ code, reason, mayReturn }) => {
      return { code, reason, may_return: mayReturn }
    }),
  }
}

/** The document as it is served. */
export function asyncapiText(facts: Pick<SpecificationFacts, 'version'>): string {
  return JSON.stringify(asyncapi(facts))
}

const SERVER: JsonObject = {
  host: '{host}',
  protocol: 'ws',
  description: 'This service; `wss` behind a proxy that speaks TLS.',
  variables: { host: { default: 'localhost:8080', description: 'Host and port of the service.' } },
  security: SECURITY,
}

const QUERY: JsonObject = {
  type: 'object',
  properties: {
    api_key: { type: 'string', description: 'A key of `/v1/keys`.' },
    access_token: { type: 'string', description: 'The `access_token` of a login.' },
    encoding: {
      type: 'string',
      enum: ['json', 'msgpack'],
      default: 'json',
      description: 'How the server writes its messages.',
    },
  },
}

const SECURITY_SCHEMES: JsonObject = {
  ApiKey: { type: 'httpApiKey', in: 'query', name: 'api_key', description: 'A key of `/v1/keys`.' },
  ApiKeyHeader: {
    type: 'httpApiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key of `/v1/keys`, where the client can set headers.',
  },
  AccessToken: {
    type: 'httpApiKey',
    in: 'query',
    name: 'access_token',
    description: 'The `access_token` of `/v1/auth/login` or `/v1/auth/signup`.',
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The same token, or a key, where the client can set headers.',
  },
}

/** Names of messages and commands do not meet: a snapshot is both. */
function messageKey(name: string, ending: 'Message' | 'Command'): string {
  return `${name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}${ending}`
}

function writtenMessages<Name extends string>(
  schemas: Readonly<Record<Name, TSchema>>,
  summaries: Readonly<Record<Name, string>>,
  ending: 'Message' | 'Command',
  components: Components,
): JsonObject {
  const entries = Object.entries<TSchema>(schemas).map(([name, schema]) => {
    const key = messageKey(name, ending)
    const summary: unknown = Reflect.get(summaries, name)
    const hasId = 'id' in schema.properties
    const message: JsonObject = {
      name,
      title: `${name} (${ending.toLowerCase()})`,
      summary: String(summary),
      payload: components.named(schema, `${key.charAt(0).toUpperCase()}${key.slice(1)}`),
      ...(hasId ? { correlationId: { $ref: '#/components/correlationIds/command' } } : {}),
    }
    return [key, message] as const
  })
  return Object.fromEntries(entries)
}

function messagesOf(names: readonly string[], ending: 'Message' | 'Command'): Json {
  return names.map((name) => ({ $ref: `#/channels/stream/messages/${messageKey(name, ending)}` }))
}

/** The commands that we receive, with their answers. */
function received(): JsonObject {
  const entries = Object.entries(ANSWERS).map(([name, answers]) => {
    const operation = {
      action: 'receive',
      channel: STREAM,
      title: name,
      summary: String(Reflect.get(COMMAND_SUMMARIES, name)),
      security: SECURITY,
      messages: messagesOf([name], 'Command'),
      reply: { channel: STREAM, messages: messagesOf(answers, 'Message') },
    }
    return [name, operation] as const
  })
  return Object.fromEntries(entries)
}

/** What we send of our own accord: by channel, and about the connection itself. */
function sent(): JsonObject {
  const entries = CHANNEL_NAMES.map((channel) => {
    const { delivery, hasState } = CHANNELS[channel]
    const begins = hasState ? ' A subscription begins with the present state.' : ''
    const operation = {
      action: 'send',
      channel: STREAM,
      title: `channel ${channel}`,
      summary: `${DELIVERIES[delivery]}${begins}`,
      security: SECURITY,
      messages: messagesOf(CARRIED[channel], 'Message'),
    }
    return [`tell${channel.charAt(0).toUpperCase()}${channel.slice(1)}`, operation] as const
  })
  const connection = {
    action: 'send',
    channel: STREAM,
    title: 'the connection',
    summary: 'What is told on every connection, subscribed to anything or not.',
    security: SECURITY,
    messages: messagesOf(['connected', 'status', 'heartbeat'], 'Message'),
  }
  return { ...Object.fromEntries(entries), tellConnection: connection }
}
