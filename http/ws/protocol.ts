// Parses client commands and rejects invalid commands. Never throws for client input.

import { type Static, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { isRecord } from '../../engine/json-record.ts'
import { commandBytesMax, marketIdsPerCommandMax } from '../../engine/limits.ts'
import { decodeMessagePack, nestedLevelsMax } from '../client/msgpack.ts'
import { CHANNELS } from './channels/channels.ts'
import {
  type Command,
  type CommandId,
  ID_CHARACTERS_MAX,
  type Refusal,
  type StreamErrorCode,
  type Target,
} from './command.ts'
import { VariantTable } from './fan-out/channel-variants.ts'

const Texts = Type.Array(Type.String({ maxLength: 256 }), { maxItems: marketIdsPerCommandMax })
const Shape = Type.Object({
  channel: Type.Optional(Type.String()),
  channels: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 16 })),
  market_ids: Type.Optional(Texts),
  event_slugs: Type.Optional(Texts),
  platform: Type.Optional(Type.String()),
  to: Type.Optional(Type.Integer({ minimum: 0 })),
  since: Type.Optional(
    Type.Object({ epoch: Type.String({ maxLength: 64 }), offset: Type.Integer({ minimum: 0 }) }),
  ),
})
// Without the meta-schema, for the reason stated in http/validation/query.ts.
const checkShape = new Ajv({ strict: true, meta: false, validateSchema: false }).compile<
  Static<typeof Shape>
>(Shape)

const ACTIONS = [
  ...(['subscribe', 'unsubscribe', 'snapshot', 'list', 'ping'] as const),
  ...(['pause', 'resume', 'seek'] as const),
] as const
const ACTION_NAMES = ['action', 'op', 'cmd', 'type']
const NO_COMMAND = `a command is a JSON object or a plain MessagePack map, in Unicode, nested at most ${nestedLevelsMax} levels deep`
const ID_RULE = `id is a text of at most ${ID_CHARACTERS_MAX} characters or a finite number`
const utf8 = new TextDecoder('utf-8', { fatal: true })
const JSON_START = 0x7b
/** Matches JSON escapes of surrogates, also of complete pairs. JSON can express a single surrogate, UTF-8 cannot. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

const VARIANTS = new VariantTable(CHANNELS)

/** JSON is accepted in text and binary frames, MessagePack in binary frames, whatever encoding the connection uses. */
export function parseCommand(
  bytes: Uint8Array,
  isBinary: boolean,
  variants = VARIANTS,
): Command | Refusal {
  if (bytes.byteLength > commandBytesMax) {
    return refused(null, 'MESSAGE_TOO_LARGE', `a command may have ${commandBytesMax} bytes`)
  }
  let value: unknown
  try {
    // In MessagePack, a first byte `{` would be the number 123, which is no command.
    const isJson = !isBinary || bytes[0] === JSON_START
    value = isJson ? readJson(utf8.decode(bytes)) : decodeMessagePack(bytes)
  } catch {
    return refused(null, 'PARSE_ERROR', NO_COMMAND)
  }
  if (!isRecord(value)) return refused(null, 'PARSE_ERROR', NO_COMMAND)
  return readCommand(value, variants)
}

/** Rejects JSON that MessagePack cannot express, so that both encodings accept the same commands. */
function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text, SURROGATE_ESCAPE.test(text) ? wellFormed : undefined)
  if (isDeeper(value, 0)) throw new RangeError('nested too deeply')
  return value
}

function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === 'string' && !isWellFormed(value)) throw new RangeError('not Unicode')
  return value
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

function isDeeper(value: unknown, level: number): boolean {
  if (level > nestedLevelsMax) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => isDeeper(item, level + 1))
}

function readCommand(
  value: Readonly<Record<string, unknown>>,
  variants: VariantTable,
): Command | Refusal {
  const given = idOf(value.id)
  const id = given ?? null
  const named = ACTION_NAMES.map((name) => value[name]).find((text) => text !== undefined)
  const action = ACTIONS.find((candidate) => candidate === named)
  if (action === undefined) {
    return refused(id, 'UNKNOWN_ACTION', `the actions are ${ACTIONS.join(', ')}`)
  }
  if (given === undefined) return refused(id, 'INVALID_FILTER', ID_RULE)
  const ids = value.market_ids ?? value.markets ?? value.market_id
  const shaped: unknown = {
    ...value,
    ...(ids === undefined ? {} : { market_ids: listOf(ids) }),
    ...(value.event_slugs === undefined ? {} : { event_slugs: listOf(value.event_slugs) }),
  }
  if (!checkShape(shaped)) {
    const error = checkShape.errors?.[0]
    const where = error?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    return refused(
      id,
      'INVALID_FILTER',
      `${where === '' ? 'the command' : where} ${error?.message}`,
    )
  }
  switch (action) {
    case 'list':
    case 'ping':
    case 'pause':
    case 'resume':
      return { kind: action, id }
    case 'seek':
      return shaped.to === undefined
        ? refused(id, 'INVALID_FILTER', 'give to: Unix milliseconds')
        : { kind: action, id, toMs: shaped.to }
  }
  if (action === 'snapshot') return snapshotCommand(id, shaped)
  return channelCommand({ kind: action, id, given: value, variants }, shaped)
}

function snapshotCommand(id: CommandId, shaped: Static<typeof Shape>): Command | Refusal {
  const marketIds = shaped.market_ids ?? []
  if (marketIds.length === 0 || marketIds.includes('*')) {
    return refused(id, 'INVALID_FILTER', 'a snapshot needs market_ids, one by one')
  }
  return { kind: 'snapshot', id, marketIds }
}

/** `given`: option values by name. */
function channelCommand(
  request: {
    kind: 'subscribe' | 'unsubscribe'
    id: CommandId
    given: Readonly<Record<string, unknown>>
    variants: VariantTable
  },
  shaped: Static<typeof Shape>,
): Command | Refusal {
  const { kind, id, given, variants: table } = request
  const names = shaped.channels ?? (shaped.channel === undefined ? [] : [shaped.channel])
  const channelNames = table.names.join(', ')
  if (names.length === 0) return refused(id, 'UNKNOWN_CHANNEL', `give a channel: ${channelNames}`)
  if (!names.every((name) => table.has(name))) {
    return refused(id, 'UNKNOWN_CHANNEL', `the channels are ${channelNames}`)
  }
  const channels = [...new Set(names)]
  const target = targetOf(shaped)
  if (target === null) {
    return refused(id, 'INVALID_FILTER', 'give market_ids, event_slugs or platform (one kind)')
  }
  const variants = table.variantsOf(channels, given)
  if ('message' in variants) return refused(id, 'INVALID_FILTER', variants.message)
  if (kind === 'unsubscribe') return { kind, id, channels, target }
  if (shaped.since !== undefined && channels.length > 1) {
    return refused(id, 'INVALID_FILTER', 'since goes with one channel')
  }
  return { kind, id, variants, target, since: shaped.since ?? null }
}

function targetOf(shaped: Static<typeof Shape>): Target | null {
  const marketIds = shaped.market_ids ?? []
  const eventSlugs = shaped.event_slugs ?? []
  const hasList = marketIds.length > 0 || eventSlugs.length > 0
  if (shaped.platform !== undefined) {
    return hasList ? null : { kind: 'venue', platform: shaped.platform }
  }
  if (marketIds.includes('*')) return { kind: 'all' }
  return hasList ? { kind: 'markets', marketIds, eventSlugs } : null
}

function refused(id: CommandId, code: StreamErrorCode, message: string): Refusal {
  return { kind: 'refused', id, code, message }
}

/** Null if the command has no id or a null id. Undefined if the id is invalid. */
function idOf(value: unknown): CommandId | undefined {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && isAtMost(value, ID_CHARACTERS_MAX) ? value : undefined
}

/** Counts code points, as `maxLength` in a JSON schema does. */
function isAtMost(text: string, characters: number): boolean {
  return text.length <= 2 * characters && Array.from(text).length <= characters
}

function listOf(value: unknown): unknown {
  return typeof value === 'string' ? [value] : value
}
