// Binary keys of the outbox tables. All keys begin with the webhook (u32), so that a webhook's rows are contiguous.

import { createHash } from 'node:crypto'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { AttemptKind } from '../contract/webhooks.ts'
import type { KeyRange } from '../lmdb/pending.ts'
import { FIRST, keyOf, numberKey } from './keys.ts'

/** Internal event ids have 30 bytes. A longer id is replaced by its SHA-256. */
const EVENT_ID_BYTES_MAX = 64
const ATTEMPT_KIND_CODES: Readonly<Record<AttemptKind, number>> = { first: 0, retry: 1 }
/** Byte offsets of the due time and of the number in a due key. */
export const DUE_TIME_AT = 5
export const DUE_NUMBER_AT = 13
/** Sorts after the remaining bytes of any key. */
const END = Buffer.alloc(EVENT_ID_BYTES_MAX + 1, 0xff)

const dueOf = keyOf(4, 1, 8, 8)

export function dueKey(
  webhook: WebhookNumber,
  attemptKind: AttemptKind,
  entry: { readonly dueAtMs: number; readonly number: number },
): Buffer {
  return dueOf(webhook, ATTEMPT_KIND_CODES[attemptKind], entry.dueAtMs, entry.number)
}

/** The range of pending deliveries of one attempt kind, strictly after `after`. Null: all of them. */
export function dueRange(
  webhook: WebhookNumber,
  attemptKind: AttemptKind,
  after: { readonly dueAtMs: number; readonly number: number } | null,
): KeyRange {
  const { dueAtMs, number } = after ?? { dueAtMs: FIRST, number: -1 }
  const from = dueKey(webhook, attemptKind, { dueAtMs, number: number + 1 })
  return { from, to: Buffer.concat([from.subarray(0, DUE_TIME_AT), END]) }
}

/** Ids that differ only in lone surrogates would collide, but internal ids are ASCII. */
export function eventKey(webhook: WebhookNumber, eventId: string): Buffer {
  const text = Buffer.from(eventId)
  const isLong = text.length > EVENT_ID_BYTES_MAX
  const id = isLong ? createHash('sha256').update(text).digest() : text
  return Buffer.concat([numberKey(webhook), id])
}

export function webhookRange(webhook: WebhookNumber): KeyRange {
  const from = numberKey(webhook)
  return { from, to: Buffer.concat([from, END]) }
}
