// Binary keys of the outbox tables. All begin with the webhook (u32), so that one webhook's rows are contiguous.

import { createHash } from 'node:crypto'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { AttemptKind } from '../contract/webhooks.ts'
import type { KeyRange } from '../lmdb/table.ts'
import { writeInteger } from './keys.ts'

/** Internal event ids have 30 bytes; a longer one is replaced by its SHA-256. */
const EVENT_ID_BYTES_MAX = 64
const ATTEMPT_KIND_CODES: Readonly<Record<AttemptKind, number>> = { first: 0, retry: 1 }
/** Offset of time and number in a due key. */
export const DUE_TIME_AT = 5
export const DUE_NUMBER_AT = 13

/** webhook, attempt kind, due time, delivery number. */
export function dueKey(
  webhook: WebhookNumber,
  attemptKind: AttemptKind,
  entry: { readonly dueAtMs: number; readonly number: number },
): Buffer {
  const key = Buffer.allocUnsafe(21)
  key.writeUInt32BE(webhook, 0)
  key.writeUInt8(ATTEMPT_KIND_CODES[attemptKind], 4)
  writeInteger(key, DUE_TIME_AT, entry.dueAtMs)
  writeInteger(key, DUE_NUMBER_AT, entry.number)
  return key
}

/** Pending deliveries of one attempt kind, strictly after a position; null: all. */
export function dueRange(
  webhook: WebhookNumber,
  attemptKind: AttemptKind,
  after: { readonly dueAtMs: number; readonly number: number } | null,
): KeyRange {
  const start = after ?? { dueAtMs: -Number.MAX_SAFE_INTEGER, number: -1 }
  const from = dueKey(webhook, attemptKind, { dueAtMs: start.dueAtMs, number: start.number + 1 })
  return { from, to: Buffer.concat([from.subarray(0, DUE_TIME_AT), END]) }
}

/** webhook, event id. Ids that differ only in lone surrogates collide; internal ids are ASCII. */
export function eventKey(webhook: WebhookNumber, eventId: string): Buffer {
  const text = Buffer.from(eventId)
  const isLong = text.length > EVENT_ID_BYTES_MAX
  const id = isLong ? createHash('sha256').update(text).digest() : text
  const key = Buffer.allocUnsafe(4 + id.length)
  key.writeUInt32BE(webhook, 0)
  key.set(id, 4)
  return key
}

/** webhook, market. */
export function lastPriceKey(webhook: WebhookNumber, market: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUInt32BE(webhook, 0)
  key.writeUInt32BE(market, 4)
  return key
}

/** All rows of a webhook in a table whose keys begin with it. */
export function webhookRange(webhook: WebhookNumber): KeyRange {
  const from = Buffer.allocUnsafe(4)
  from.writeUInt32BE(webhook, 0)
  return { from, to: Buffer.concat([from, END]) }
}

/** Above the rest of any key: no table has keys with this many bytes of 0xff. */
const END = Buffer.alloc(EVENT_ID_BYTES_MAX + 1, 0xff)
