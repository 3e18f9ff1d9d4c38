// Webhook deliveries as items of the cluster log: accepted deliveries and their outcomes. They refer to the webhook's
// id and the event's `webhook-id`, since each engine assigns its own numbers.

import { timeMs } from '../../engine/units.ts'
import { DELIVERY_STATUSES, type StoredDelivery } from '../../engine/webhooks/webhook.ts'
import type { FieldReader } from './records.ts'

interface DeliveryRef {
  readonly webhook: string
  readonly eventId: string
}

/** A delivery that was accepted. */
export type Posting = DeliveryRef &
  Pick<StoredDelivery, 'eventType' | 'createdAtMs'> & {
    readonly kind: 'posting'
    readonly dueAtMs: StoredDelivery['createdAtMs']
    readonly body: Uint8Array
  }

/** The outcome of an attempt, or the delivery's end. */
export type Posted = DeliveryRef &
  Pick<StoredDelivery, 'status' | 'dueAtMs' | 'attempts'> & { readonly kind: 'posted' }

export type DeliveryItem = Posting | Posted

export function deliveryItemFields(item: DeliveryItem): readonly unknown[] {
  const { webhook, eventId } = item
  if (item.kind === 'posted') return [webhook, eventId, item.status, item.dueAtMs, item.attempts]
  const { eventType, createdAtMs, dueAtMs, body } = item
  return [webhook, eventId, eventType, createdAtMs, dueAtMs, Buffer.from(body).toString('utf8')]
}

const readDeliveryRef = (fields: FieldReader): DeliveryRef => ({
  webhook: fields.text(),
  eventId: fields.text(),
})

export function readPosting(fields: FieldReader): Posting {
  return {
    kind: 'posting',
    ...readDeliveryRef(fields),
    eventType: fields.text(),
    createdAtMs: timeMs(fields.number()),
    dueAtMs: timeMs(fields.number()),
    body: Buffer.from(fields.text(), 'utf8'),
  }
}

export function readPosted(fields: FieldReader): Posted {
  return {
    kind: 'posted',
    ...readDeliveryRef(fields),
    status: fields.choice(DELIVERY_STATUSES),
    dueAtMs: fields.orNull(timeMs),
    attempts: fields.number(),
  }
}
