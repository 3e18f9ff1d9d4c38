// The records of the outbox: a delivery with its body, what a webhook's deliveries come to, and what a
// finished delivery leaves in its index.

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
/** 2 since throttled events and bytes are counted. */
export const STATE_SCHEMA = 2
export const LAST_PRICE_SCHEMA = 1

/** A webhook's numbers as they are kept; what is finished beside `prunedCount` is stored. */
export interface OutboxTotals {
  /** The number of the newest delivery ever made; 0 before the first. */
  lastNumber: number
  delivered: number
  exhausted: number
  dropped: number
  pending: number
  /** Of `dropped`: never stored, and so in `prunedCount` too. */
  throttled: number
  /** Of the bodies of pending ones. */
  pendingBytes: number
  /** Finished deliveries that `prune` removed; they stay counted above. */
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

/** The counts that users see. */
export function countsOf(totals: OutboxTotals): DeliveryCounts {
  const { delivered, exhausted, dropped, pending } = totals
  const created = delivered + exhausted + dropped + pending
  return { created, delivered, exhausted, dropped, pending }
}

/** Finished deliveries whose rows are there. */
export function storedFinished(totals: OutboxTotals): number {
  return totals.delivered + totals.exhausted + totals.dropped - totals.prunedCount
}

/** Nine numbers of 8 bytes: packed by hand, since the row is written with every delivery made. */
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

/** About the body of a trade: taken for rows that were written before bytes were counted. */
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

/** The answer stands last: rows that were written before answers were kept end without it, as those without any do. */
function outcomeFields({ atMs, durationMs, status, error, answer }: AttemptOutcome) {
  const fields = [atMs, durationMs, status, error]
  return answer === undefined
    ? fields
    : [...fields, answer.headers.flat(), answer.body, answer.isCut]
}

/** The decoders of a delivery under this key (webhook, number). */
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

/** What `update` replaces, on what is stored. */
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

/** A delivery as lists show it. */
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

/** A finished delivery in its index: status and time, so that neither needs its row to be read. */
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
