// Outbox records: a delivery with its body, a webhook's totals, and the index value of a finished delivery.

import { type PriceMicros, priceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import {
  type AttemptOutcome,
  DELIVERY_STATUSES,
  type Delivery,
  type DeliveryCounts,
  type DeliveryStatus,
  type ReceiverAnswer,
  type StoredDelivery,
} from '../../engine/webhooks/webhook.ts'
import type { Schemas } from '../lmdb/table.ts'
import { readInteger, writeInteger } from './keys.ts'
import type { FieldReader, PackedSchemas } from './records.ts'

export const DELIVERY_SCHEMA = 1
/** 2 adds throttled events and pending bytes. */
export const STATE_SCHEMA = 2
export const LAST_PRICE_SCHEMA = 1

/** Stored totals of a webhook. Finished deliveries beyond `prunedCount` are stored. */
export interface OutboxTotals {
  /** The number of the newest delivery; 0 before the first. */
  lastNumber: number
  delivered: number
  exhausted: number
  dropped: number
  pending: number
  /** Part of `dropped`: events that were never stored, also counted in `prunedCount`. */
  throttled: number
  /** Bytes of pending deliveries' bodies. */
  pendingBytes: number
  /** Finished deliveries that `prune` removed; the counts above include them. */
  prunedCount: number
  failingSinceMs: TimeMs | null
}

export function noTotals(): OutboxTotals {
  return {
    lastNumber: 0,
    delivered: 0,
    exhausted: 0,
    dropped: 0,
    pending: 0,
    throttled: 0,
    pendingBytes: 0,
    prunedCount: 0,
    failingSinceMs: null,
  }
}

/** The public counts. */
export function countsOf(totals: OutboxTotals): DeliveryCounts {
  const { delivered, exhausted, dropped, pending } = totals
  const created = delivered + exhausted + dropped + pending
  return { created, delivered, exhausted, dropped, pending }
}

/** Finished deliveries whose rows are stored. */
export function storedFinished(totals: OutboxTotals): number {
  return totals.delivered + totals.exhausted + totals.dropped - totals.prunedCount
}

/** Nine numbers of 8 bytes, packed manually, since the row is written with every delivery. */
export function stateBody(totals: OutboxTotals): Buffer {
  const body = Buffer.allocUnsafe(72)
  let at = writeInteger(body, 0, totals.lastNumber)
  at = writeInteger(body, at, totals.delivered)
  at = writeInteger(body, at, totals.exhausted)
  at = writeInteger(body, at, totals.dropped)
  at = writeInteger(body, at, totals.pending)
  at = writeInteger(body, at, totals.prunedCount)
  at = writeInteger(body, at, totals.failingSinceMs ?? Number.MIN_SAFE_INTEGER)
  at = writeInteger(body, at, totals.throttled)
  writeInteger(body, at, totals.pendingBytes)
  return body
}

/** Estimated bytes of a trade's body, for rows written before bytes were counted. */
const BODY_BYTES_USUAL = 1_000

export const stateSchemas: PackedSchemas<OutboxTotals> = {
  1: (body) => {
    const totals = readTotals(body)
    return { ...totals, throttled: 0, pendingBytes: totals.pending * BODY_BYTES_USUAL }
  },
  2: (body) => ({
    ...readTotals(body),
    throttled: readInteger(body, 56),
    pendingBytes: readInteger(body, 64),
  }),
}

function readTotals(body: Buffer): Omit<OutboxTotals, 'throttled' | 'pendingBytes'> {
  const failingSince = readInteger(body, 48)
  return {
    lastNumber: readInteger(body, 0),
    delivered: readInteger(body, 8),
    exhausted: readInteger(body, 16),
    dropped: readInteger(body, 24),
    pending: readInteger(body, 32),
    prunedCount: readInteger(body, 40),
    failingSinceMs: failingSince === Number.MIN_SAFE_INTEGER ? null : timeMs(failingSince),
  }
}

export function deliveryFields(delivery: StoredDelivery): readonly unknown[] {
  const { eventId, eventType, createdAtMs, status, dueAtMs, attempts, last, body } = delivery
  const outcome = last === null ? [] : outcomeFields(last)
  return [eventId, eventType, createdAtMs, status, dueAtMs, attempts, body, ...outcome]
}

/** The response body is the last field; rows without one, including older rows, end before it. */
function outcomeFields({ atMs, durationMs, status, error, answer }: AttemptOutcome) {
  const fields = [atMs, durationMs, status, error]
  return answer === undefined
    ? fields
    : [...fields, answer.headers.flat(), answer.body, answer.isCut]
}

/** Decoders of the delivery under this key (webhook, number). */
export function deliverySchemas(key: Buffer): Schemas<StoredDelivery> {
  const number = readInteger(key, 4)
  return {
    1: (fields) => ({
      number,
      eventId: fields.text(),
      eventType: fields.text(),
      createdAtMs: timeMs(fields.number()),
      status: fields.choice(DELIVERY_STATUSES),
      dueAtMs: fields.orNull(timeMs),
      attempts: fields.number(),
      body: fields.bytes(),
      last: fields.isAtEnd() ? null : readOutcome(fields),
    }),
  }
}

function readOutcome(fields: FieldReader): AttemptOutcome {
  return {
    atMs: timeMs(fields.number()),
    durationMs: fields.number(),
    status: fields.numberOrNull(),
    error: fields.textOrNull(),
    ...(fields.isAtEnd() ? {} : { answer: readAnswer(fields) }),
  }
}

function readAnswer(fields: FieldReader): ReceiverAnswer {
  const texts = fields.texts()
  const headers = texts.flatMap((name, index) =>
    index % 2 === 0 ? [[name, texts[index + 1] ?? ''] as const] : [],
  )
  return { headers, body: fields.bytes(), isCut: fields.boolean() }
}

/** A stored delivery with the fields that `update` replaces. */
export function changedDelivery(stored: StoredDelivery, change: Delivery): StoredDelivery {
  return {
    number: stored.number,
    eventId: stored.eventId,
    eventType: stored.eventType,
    createdAtMs: stored.createdAtMs,
    status: change.status,
    dueAtMs: change.dueAtMs,
    attempts: change.attempts,
    body: stored.body,
    last: change.last,
  }
}

/** A delivery as lists return it. */
export function withoutBody(stored: StoredDelivery): Delivery {
  return {
    number: stored.number,
    eventId: stored.eventId,
    eventType: stored.eventType,
    createdAtMs: stored.createdAtMs,
    status: stored.status,
    dueAtMs: stored.dueAtMs,
    attempts: stored.attempts,
    last: stored.last,
  }
}

/** Index value of a finished delivery: status and time, so that its row need not be read. */
export function finishedValue(status: DeliveryStatus, createdAtMs: number): Buffer {
  const value = Buffer.allocUnsafe(9)
  value.writeUInt8(DELIVERY_STATUSES.indexOf(status), 0)
  writeInteger(value, 1, createdAtMs)
  return value
}

export function readFinished(value: Buffer): {
  readonly status: DeliveryStatus | null
  readonly createdAtMs: number
} {
  return {
    status: DELIVERY_STATUSES[value.readUInt8(0)] ?? null,
    createdAtMs: readInteger(value, 1),
  }
}

export function lastPriceBody(price: PriceMicros): Buffer {
  const body = Buffer.allocUnsafe(4)
  body.writeUInt32BE(price, 0)
  return body
}

export const lastPriceSchemas: PackedSchemas<PriceMicros> = {
  1: (body) => priceMicros(body.readUInt32BE(0)),
}
