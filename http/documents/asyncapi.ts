// Builds the AsyncAPI 3.0 document from the message schemas of ws/messages.ts. The stream has one URL, so the document
// has one AsyncAPI channel. Its operations are the stream's channels.

import type { VenueTable } from '../../engine/venue-table.ts'
import * as marketShapes from '../records/markets.ts'
import * as shapes from '../schemas.ts'
import { withVenueNames } from '../schemas.ts'
import type { Channel, MessageDocument } from '../ws/channels/channel.ts'
import { CHANNELS } from '../ws/channels/channels.ts'
import { closeCodes } from '../ws/close-codes.ts'
import {
  clientCommands,
  connectionShapes,
  type DescribedCommand,
  serverMessages,
} from '../ws/messages.ts'
import { replayParameters } from '../ws/replay/replay-request.ts'
import { constants } from './constants.ts'
import { fieldMeanings } from './field-meanings.ts'
import { INTERFACE_VERSION } from './names.ts'
import type { SpecificationFacts } from './openapi.ts'
import { Components, type Json, type JsonObject } from './schemas-of.ts'

const { stream } = constants
const STREAM = { $ref: '#/channels/stream' }
const SECURITY = Object.keys(stream.securitySchemes).map((name) => ({
  $ref: `#/components/securitySchemes/${name}`,
}))

export interface StreamFacts extends Pick<SpecificationFacts, 'version' | 'names'> {
  /** Default: all channels. */
  readonly channels?: readonly Channel[]
}

/** Equal input gives an equal document. */
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
  const ofReplays = Object.fromEntries(
    Object.entries(replayParameters).map(([name, schema]) => [name, components.schema(schema)]),
  )
  const named = Object.keys(written).map((name) => {
    return [name, { $ref: `#/components/messages/${name}` }] as const
  })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Twinbook stream',
      version: INTERFACE_VERSION,
      'x-service-version': version,
      description: stream.description,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    servers: { here: { ...stream.server, security: SECURITY } },
    channels: {
      stream: {
        address: '/v1/ws',
        title: 'The stream',
        description:
          'One connection carries every channel; refusals of the upgrade are HTTP answers.',
        servers: [{ $ref: '#/servers/here' }],
        messages: Object.fromEntries(named),
        bindings: {
          ws: {
            method: 'GET',
            query: { type: 'object', properties: { ...stream.queryParameters, ...ofReplays } },
            bindingVersion: '0.1.0',
          },
        },
      },
    },
    operations: { ...received(commands), ...sent(channels) },
    components: {
      schemas: components.all,
      messages: written,
      securitySchemes: stream.securitySchemes,
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

export function asyncapiText(facts: StreamFacts): string {
  return JSON.stringify(asyncapi(facts))
}

/** The suffix distinguishes a message and a command of the same name, such as `snapshot`. */
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

/** Operations that the server receives: the client's commands, with their replies. */
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

/** Operations that the server sends: one for each channel, and one for messages about the connection. */
function sent(channels: readonly Channel[]): JsonObject {
  const entries = channels.map(({ name, delivery, hasState, updateKinds, messages }) => {
    const ends = updateKinds.includes('bookStale') ? ['stale', 'fresh'] : []
    const carried = [...Object.keys(messages), hasState ? 'resync' : 'gap', ...ends]
    const begins = hasState ? ' A subscription begins with the present state.' : ''
    const operation = {
      action: 'send',
      channel: STREAM,
      title: `channel ${name}`,
      summary: `${stream.deliveries[delivery]}${begins}`,
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
    messages: messagesOf(
      ['connected', 'status', 'heartbeat', 'disconnect', 'replay_end'],
      'Message',
    ),
  }
  return { ...Object.fromEntries(entries), tellConnection: connection }
}
