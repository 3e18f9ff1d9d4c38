import {
  boolean,
  bytes,
  choice,
  type Field,
  flat,
  lastOrNull,
  mapped,
  number,
  orNull,
  record,
  stated,
  text,
  time,
} from '../../engine/codec.ts'
import { priceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import {
  type AttemptOutcome,
  DELIVERY_STATUSES,
  type DeliveryCounts,
  type DeliveryStatus,
  type ReceiverAnswer,
  type StoredDelivery,
} from '../../engine/webhooks/webhook.ts'
import { readInteger, writeInteger } from './keys.ts'
import { listed, type RecordCodec } from './records.ts'

export interface OutboxTotals {
  lastNumber: number
  delivered: number
  exhausted: number
  dropped: number
  pending: number
  /** Number of finished deliveries whose rows are deleted. The counts include them. */
  prunedCount: number
  failingSinceMs: TimeMs | null
  /** Number of events that were dropped without storing them. `dropped` and `prunedCount` include them. */
  throttled: number
  pendingBytes: number
}

export function noTotals(): OutboxTotals {
  return {
    ...{ lastNumber: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0 },
    ...{ prunedCount: 0, failingSinceMs: null, throttled: 0, pendingBytes: 0 },
  }
}

export function countsOf(totals: OutboxTotals): DeliveryCounts {
  const { delivered, exhausted, dropped, pending } = totals
  const created = delivered + exhausted + dropped + pending
  return { created, delivered, exhausted, dropped, pending }
}

export function storedFinished(totals: OutboxTotals): number {
  return totals.delivered + totals.exhausted + totals.dropped - totals.prunedCount
}

/** Estimated body size for stored deliveries without a byte count. */
const BODY_BYTES_USUAL = 1_000

/** Nine numbers of 8 bytes. Schema 1 had seven. */
export const totalsCodec: RecordCodec<OutboxTotals> = {
  newest: 2,
  encode: (totals) => {
    const body = Buffer.allocUnsafe(72)
    const { lastNumber, delivered, exhausted, dropped, pending, prunedCount } = totals
    const failingSince = totals.failingSinceMs ?? Number.MIN_SAFE_INTEGER
    let at = 0
    for (const value of [lastNumber, delivered, exhausted, dropped, pending, prunedCount])
      at = writeInteger(body, at, value)
    for (const value of [failingSince, totals.throttled, totals.pendingBytes])
      at = writeInteger(body, at, value)
    return body
  },
  decode: (body, _, schema) => {
    const [pending, failingSince] = [readInteger(body, 32), readInteger(body, 48)]
    return {
      lastNumber: readInteger(body, 0),
      delivered: readInteger(body, 8),
      exhausted: readInteger(body, 16),
      dropped: readInteger(body, 24),
      pending,
      prunedCount: readInteger(body, 40),
      failingSinceMs: failingSince === Number.MIN_SAFE_INTEGER ? null : timeMs(failingSince),
      throttled: schema < 2 ? 0 : readInteger(body, 56),
      pendingBytes: schema < 2 ? pending * BODY_BYTES_USUAL : readInteger(body, 64),
    }
  },
}

const header: Field<readonly [name: string, value: string]> = {
  put: (to, pair) => {
    to.push(...pair)
  },
  take: (from) => [text.take(from), text.take(from)],
}

interface StoredOutcome extends Omit<AttemptOutcome, 'answer'> {
  readonly answer: ReceiverAnswer | null
}

const outcome = mapped<StoredOutcome, AttemptOutcome>(
  record<StoredOutcome>({
    atMs: time,
    durationMs: number,
    status: orNull(number),
    error: orNull(text),
    answer: lastOrNull(
      record<ReceiverAnswer>({ headers: flat(header), body: bytes, isCut: boolean }),
    ),
  }),
  ({ answer: given = null, ...rest }) => ({ ...rest, answer: given }),
  ({ answer: given, ...rest }) => (given === null ? rest : { ...rest, answer: given }),
)

/** The webhook and the delivery's number are in the key. */
export const deliveryCodec = listed(
  1,
  record<StoredDelivery>({
    number: stated(({ key }) => readInteger(key, 4)),
    eventId: text,
    eventType: text,
    createdAtMs: time,
    status: choice(DELIVERY_STATUSES),
    dueAtMs: orNull(time),
    attempts: number,
    body: bytes,
    last: lastOrNull(outcome),
  }),
)

/** Status and creation time of a finished delivery. Lists need not read the delivery itself. */
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

export const lastPriceCodec: RecordCodec<ReturnType<typeof priceMicros>> = {
  newest: 1,
  encode: (price) => {
    const body = Buffer.allocUnsafe(4)
    body.writeUInt32BE(price, 0)
    return body
  },
  decode: (body) => priceMicros(body.readUInt32BE(0)),
}
