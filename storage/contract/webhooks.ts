import type { TimeMs } from '../../engine/units.ts'
import type {
  Delivery,
  DeliveryCounts,
  StoredDelivery,
  WebhookNumber,
} from '../../engine/webhooks/webhook.ts'

/** Whether a delivery was attempted before. First attempts and retries have separate queues. */
export type AttemptKind = 'first' | 'retry'

/** State of a webhook's outbox, except its deliveries. */
export interface OutboxState {
  readonly counts: DeliveryCounts
  /** Part of `counts.dropped`: events that were never stored (`throttle`). */
  readonly throttledCount: number
  /** Bytes of pending deliveries' bodies. Deliveries stored before bytes were counted are estimated at 1,000 each. */
  readonly pendingBytes: number
  /** Since when all attempts have failed; null after a success or before the first attempt. */
  readonly failingSinceMs: TimeMs | null
}

export interface NewDelivery
  extends Pick<StoredDelivery, 'eventId' | 'eventType' | 'createdAtMs' | 'body'> {
  readonly dueAtMs: TimeMs
}

/** Called with each delivery that was created or updated. */
export interface OutboxWatcher {
  onCreated(webhook: WebhookNumber, delivery: NewDelivery): void
  onUpdated(webhook: WebhookNumber, delivery: Delivery): void
}
