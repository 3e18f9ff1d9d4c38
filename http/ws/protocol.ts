// Commands of a client: their shape, their aliases, and the refusals. Bytes in, a command or a
// refusal out; nothing here throws for what a client sends. Not for: carrying them out (tasks.ts).
// Upholds WS3 to WS6.

import { type Static, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { isRecord } from '../../engine/json-record.ts'
import { commandBytesMax, marketIdsPerCommandMax } from '../../engine/limits.ts'
import { decodeMessagePack, nestedLevelsMax } from '../client/msgpack.ts'
import { CHANNEL_NAMES, type ChannelName, channelOf } from './channels.ts'
import { type Lane, lanesOf } from './fan-out/lanes.ts'

export type StreamErrorCode =
  | 'PARSE_ERROR'
  | 'UNKNOWN_ACTION'
  | 'UNKNOWN_CHANNEL'
  | 'UNKNOWN_MARKET'
  | 'INVALID_FILTER'
  | 'SUBSCRIPTION_LIMIT'
  | 'RATE_LIMITED'
  | 'MESSAGE_TOO_LARGE'

/** What a client calls its command: at most {@link ID_CHARACTERS_MAX} characters or a finite number; null when it
 * did not, or called it anything else. */
export type CommandId = string | number | null

/** Which markets a command means. */
export type Target =
  | { readonly kind: 'all' }
  | { readonly kind: 'venue'; readonly platform: string }
  | {
      readonly kind: 'markets'
      readonly marketIds: readonly string[]
      readonly eventSlugs: readonly string[]
    }

/** A client's position in a channel. */
export interface Since {
  readonly epoch: string
  readonly offset: number
}

export type Command =
  | {
      readonly kind: 'subscribe'
      readonly id: CommandId
      /** One a channel, with the options that the command chose. */
      readonly lanes: readonly Lane[]
      readonly target: Target
      readonly since: Since | null
    }
  | {
      readonly kind: 'unsubscribe'
      readonly id: CommandId
      readonly channels: readonly ChannelName[]
      readonly target: Target
    }
  | { readonly kind: 'snapshot'; readonly id: CommandId; readonly marketIds: readonly string[] }
  | { readonly kind: 'list'; readonly id: CommandId }
  | { readonly kind: 'ping'; readonly id: CommandId }

export interface Refusal {
  readonly kind: 'refused'
  readonly id: CommandId
  readonly code: StreamErrorCode
  readonly message: string
}

const Texts = Type.Array(Type.String({ maxLength: 256 }), { maxItems: marketIdsPerCommandMax })
const Shape = Type.Object({
  channel: Type.Optional(Type.String()),
  channels: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 16 })),
  market_ids: Type.Optional(Texts),
  event_slugs: Type.Optional(Texts),
  platform: Type.Optional(Type.String()),
  // Looked at in lanes.ts, which says what each channel takes.
  levels: Type.Optional(Type.Unknown()),
  conflate_ms: Type.Optional(Type.Unknown()),
  interval: Type.Optional(Type.Unknown()),
  since: Type.Optional(
    Type.Object({ epoch: Type.String({ maxLength: 64 }), offset: Type.Integer({ minimum: 0 }) }),
  ),
})
const checkShape = new Ajv({ strict: true }).compile<Static<typeof Shape>>(Shape)

const ACTIONS = ['subscribe', 'unsubscribe', 'snapshot', 'list', 'ping'] as const
const ACTION_NAMES = ['action', 'op', 'cmd', 'type']
const NO_COMMAND = `a command is a JSON object or a plain MessagePack map, in Unicode, nested at most ${nestedLevelsMax} levels deep`
const ID_CHARACTERS_MAX = 64
const ID_RULE = `id is a text of at most ${ID_CHARACTERS_MAX} characters or a finite number`
const utf8 = new TextDecoder('utf-8', { fatal: true })
const JSON_START = 0x7b
/** What JSON can write and UTF-8 cannot: half of a pair. Whole pairs match too. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/** A frame's bytes to a command. Either form may come at any time, JSON in binary frames too. */
export function parseCommand(bytes: Uint8Array, isBinary: boolean): Command | Refusal {
  if (bytes.byteLength > commandBytesMax) {
    return refused(null, 'MESSAGE_TOO_LARGE', `a command may have ${commandBytesMax} bytes`)
  }
  let value: unknown
  try {
    // `{` alone would be the number 123 in MessagePack, which no command is.
    const isJson = !isBinary || bytes[0] === JSON_START
    value = isJson ? readJson(utf8.decode(bytes)) : decodeMessagePack(bytes)
  } catch {
    return refused(null, 'PARSE_ERROR', NO_COMMAND)
  }
  if (!isRecord(value)) return refused(null, 'PARSE_ERROR', NO_COMMAND)
  return readCommand(value)
}

/** Takes exactly what MessagePack can carry as well, so that both forms of a command have one answer. */
function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text, SURROGATE_ESCAPE.test(text) ? wellFormed : undefined)
  if (isDeeper(value, 0)) throw new RangeError('nested too deeply')
  return value
}

function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === 'string' && !isWellFormed(value)) throw new RangeError('not Unicode')
  return value
}

/** Whether it has an equal in UTF-8. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

function isDeeper(value: unknown, level: number): boolean {
  if (level > nestedLevelsMax) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => isDeeper(item, level + 1))
}

function readCommand(value: Readonly<Record<string, unknown>>): Command | Refusal {
  const given = idOf(value.id)
  const id = given ?? null
  const named = ACTION_NAMES.map((name) => value[name]).find((text) => text !== undefined)
  const action = ACTIONS.find((known) => known === named)
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
  if (action === 'list' || action === 'ping') return { kind: action, id }
  if (action === 'snapshot') return snapshotCommand(id, shaped)
  return channelCommand(action, id, shaped)
}

function snapshotCommand(id: CommandId, shaped: Static<typeof Shape>): Command | Refusal {
  const marketIds = shaped.market_ids ?? []
  if (marketIds.length === 0 || marketIds.includes('*')) {
    return refused(id, 'INVALID_FILTER', 'a snapshot needs market_ids, one by one')
  }
  return { kind: 'snapshot', id, marketIds }
}

function channelCommand(
  kind: 'subscribe' | 'unsubscribe',
  id: CommandId,
  shaped: Static<typeof Shape>,
): Command | Refusal {
  const names = shaped.channels ?? (shaped.channel === undefined ? [] : [shaped.channel])
  if (names.length === 0) {
    return refused(id, 'UNKNOWN_CHANNEL', `give a channel: ${CHANNEL_NAMES.join(', ')}`)
  }
  const channels: ChannelName[] = []
  for (const name of names) {
    const channel = channelOf(name)
    if (channel === null) {
      return refused(id, 'UNKNOWN_CHANNEL', `the channels are ${CHANNEL_NAMES.join(', ')}`)
    }
    if (!channels.includes(channel)) channels.push(channel)
  }
  const target = targetOf(shaped)
  if (target === null) {
    return refused(id, 'INVALID_FILTER', 'give market_ids, event_slugs or platform (one kind)')
  }
  const lanes = lanesOf(channels, shaped)
  if ('message' in lanes) return refused(id, 'INVALID_FILTER', lanes.message)
  if (kind === 'unsubscribe') return { kind, id, channels, target }
  if (shaped.since !== undefined && channels.length > 1) {
    return refused(id, 'INVALID_FILTER', 'since goes with one channel')
  }
  return { kind, id, lanes, target, since: shaped.since ?? null }
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

/** Null, which is how a command without an id is answered, is no id; undefined: it cannot be one. */
function idOf(value: unknown): CommandId | undefined {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && isAtMost(value, ID_CHARACTERS_MAX) ? value : undefined
}

/** Characters beyond the first plane count once, as in the schema of the document. */
function isAtMost(text: string, characters: number): boolean {
  return text.length <= 2 * characters && Array.from(text).length <= characters
}

function listOf(value: unknown): unknown {
  return typeof value === 'string' ? [value] : value
}
