// Builds the AsyncAPI 3.0 document from the message schemas of ws/messages.ts. The document has one AsyncAPI channel,
// because the stream has one address. The stream's channels are operations of it.

import type { VenueTable } from '../../engine/venue-table.ts'
import * as marketShapes from '../records/markets.ts'
import * as shapes from '../schemas.ts'
import { withVenueNames } from '../schemas.ts'
import type { Channel, Delivery, MessageDocument } from '../ws/channels/channel.ts'
import { CHANNELS } from '../ws/channels/channels.ts'
import { closeCodes } from '../ws/close-codes.ts'
import {
  clientCommands,
  connectionShapes,
  type DescribedCommand,
  serverMessages,
} from '../ws/messages.ts'
import { fieldMeanings } from './field-meanings.ts'
import { INTERFACE_VERSION } from './names.ts'
import type { SpecificationFacts } from './openapi.ts'
import { Components, type Json, type JsonObject } from './schemas-of.ts'

const DESCRIPTION = `Order books, prices and trades of two prediction-market venues as they happen.

Nothing is left out without a word, and a repeat can be recognised: by channel, market, epoch and \`seq\`,
or by the id of a trade. Messages are JSON text, or with \`encoding=msgpack\` MessagePack with the same
fields; with \`batch=on\` a frame has several. Prices are numbers from 0 to 1, sizes are contracts, money
is US dollars; a name that ends in \`_ms\` is Unix milliseconds. Commands may come in either form, with \`op\`, \`cmd\` or \`type\` for \`action\`
and \`markets\` or \`market_id\` for \`market_ids\`. Within v1 there are only additions.`

const DELIVERIES: Readonly<Record<Delivery, string>> = {
  every: 'Every one, never conflated.',
  conflated: 'At most every `conflate_ms`; the last state of a window is always sent.',
  everyOrConflated: 'Every change, or at most every `conflate_ms`.',
  perSecond: 'At most once a second a market; the closing message is always sent.',
}

const STREAM = { $ref: '#/channels/stream' }
const SECURITY = ['ApiKey', 'ApiKeyHeader', 'AccessToken', 'Ticket', 'Bearer'].map((name) => ({
  $ref: `#/components/securitySchemes/${name}`,
}))

/** Input of the document. */
export interface StreamFacts extends Pick<SpecificationFacts, 'version' | 'names'> {
  /** Default: all of CHANNELS. */
  readonly channels?: readonly Channel[]
}

/** Returns the document. Equal input gives an equal document. */
export function asyncapi({ version, names, channels = CHANNELS }: StreamFacts): JsonObject {
  const own = Object.fromEntries(channels.flatMap((channel) => Object.entries(channel.shapes)))
  const components = new Components(
    { ...shapes, ...marketShapes, ...connectionShapes, ...own },
    { meaningOf: fieldMeanings(names), hasRefSiblings: false },
  )
  const commands = clientCommands(channels)
  const written = {
    ...writtenMessages(serverMessages(channels), 'Message', { components, names }),
    ...writtenMessages(commands, 'Command', { components, names }),
  }
  const named = Object.keys(written).map((name) => {
    return [name, { $ref: `#/components/messages/${name}` }] as const
  })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Twinbook stream',
      version: INTERFACE_VERSION,
      'x-service-version': version,
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
    operations: { ...received(commands), ...sent(channels) },
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

/** The document as JSON text. */
export function asyncapiText(facts: StreamFacts): string {
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
    ticket: { type: 'string', description: 'Of `POST /v1/ws/ticket`, for this handshake alone.' },
    encoding: {
      type: 'string',
      enum: ['json', 'msgpack'],
      default: 'json',
      description: 'How the server writes its messages.',
    },
    batch: {
      type: 'string',
      enum: ['off', 'on'],
      default: 'off',
      description:
        'Whether all messages of a turn of the server come in one frame: a JSON array of messages, or MessagePack messages one behind the other.',
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
  Ticket: {
    type: 'httpApiKey',
    in: 'query',
    name: 'ticket',
    description: 'Of `POST /v1/ws/ticket`: good for one handshake within a minute.',
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The same token, or a key, where the client can set headers.',
  },
}

/** Key of a message or command. The ending separates names that both have, such as `snapshot`. */
function messageKey(name: string, ending: 'Message' | 'Command'): string {
  return `${name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}${ending}`
}

function writtenMessages(
  described: Readonly<Record<string, MessageDocument>>,
  ending: 'Message' | 'Command',
  { components, names }: { readonly components: Components; readonly names: VenueTable },
): JsonObject {
  const entries = Object.entries(described).map(([name, { summary, schema, example }]) => {
    const key = messageKey(name, ending)
    const hasId = 'id' in schema.properties
    const message: JsonObject = {
      name,
      title: `${name} (${ending.toLowerCase()})`,
      summary,
      payload: components.named(schema, `${key.charAt(0).toUpperCase()}${key.slice(1)}`, summary),
      ...(hasId ? { correlationId: { $ref: '#/components/correlationIds/command' } } : {}),
      examples: [{ payload: withVenueNames(example, names) }],
    }
    return [key, message] as const
  })
  return Object.fromEntries(entries)
}

function messagesOf(names: readonly string[], ending: 'Message' | 'Command'): Json {
  return names.map((name) => ({ $ref: `#/channels/stream/messages/${messageKey(name, ending)}` }))
}

/** Operations for the client's commands, with their replies. */
function received(commands: Readonly<Record<string, DescribedCommand>>): JsonObject {
  const entries = Object.entries(commands).map(([name, { summary, answers }]) => {
    const operation = {
      action: 'receive',
      channel: STREAM,
      title: name,
      summary,
      security: SECURITY,
      messages: messagesOf([name], 'Command'),
      reply: { channel: STREAM, messages: messagesOf(answers, 'Message') },
    }
    return [name, operation] as const
  })
  return Object.fromEntries(entries)
}

/** Operations for the server's messages: one for each channel, one for the connection. */
function sent(channels: readonly Channel[]): JsonObject {
  const entries = channels.map(({ name, delivery, hasState, updateKinds, messages }) => {
    const ends = updateKinds.includes('bookStale') ? ['stale', 'fresh'] : []
    const carried = [...Object.keys(messages), hasState ? 'resync' : 'gap', ...ends]
    const begins = hasState ? ' A subscription begins with the present state.' : ''
    const operation = {
      action: 'send',
      channel: STREAM,
      title: `channel ${name}`,
      summary: `${DELIVERIES[delivery]}${begins}`,
      security: SECURITY,
      messages: messagesOf(carried, 'Message'),
    }
    return [`tell${name.charAt(0).toUpperCase()}${name.slice(1)}`, operation] as const
  })
  const connection = {
    action: 'send',
    channel: STREAM,
    title: 'the connection',
    summary: 'Messages of every connection, whether or not it has subscriptions.',
    security: SECURITY,
    messages: messagesOf(['connected', 'status', 'heartbeat'], 'Message'),
  }
  return { ...Object.fromEntries(entries), tellConnection: connection }
}
