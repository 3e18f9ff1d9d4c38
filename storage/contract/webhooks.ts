import type { TimeMs } from '../../engine/units.ts'
import type {
  Delivery,
  DeliveryCounts,
  StoredDelivery,
  WebhookNumber,
} from '../../engine/webhooks/webhook.ts'

/** Whether a delivery was attempted before. First attempts and retries have separate queues. */
export type AttemptKind = 'first' | 'retry'

/** Totals of a webhook's deliveries. */
export interface OutboxState {
  readonly counts: DeliveryCounts
  /** Number of events that `throttle` dropped without storing them. `counts.dropped` includes them. */
  readonly throttledCount: number
  /** Bytes of the bodies of pending deliveries. A delivery from before bytes were counted is estimated at 1,000. */
  readonly pendingBytes: number
  /** Time since which all attempts have failed. Null after a success and before the first attempt. */
  readonly failingSinceMs: TimeMs | null
}

export interface NewDelivery
  extends Pick<StoredDelivery, 'eventId' | 'eventType' | 'createdAtMs' | 'body'> {
  readonly dueAtMs: TimeMs
}

/** Called with each delivery after it is created or updated. */
export interface OutboxWatcher {
  onCreated(webhook: WebhookNumber, delivery: NewDelivery): void
  onUpdated(webhook: WebhookNumber, delivery: Delivery): void
}
