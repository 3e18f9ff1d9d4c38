import type { TimeMs } from '../../engine/units.ts'
import type {
  Delivery,
  DeliveryCounts,
  StoredDelivery,
  WebhookNumber,
} from '../../engine/webhooks/webhook.ts'

/** First attempts and retries of deliveries have separate queues. */
export type AttemptKind = 'first' | 'retry'

export interface OutboxState {
  readonly counts: DeliveryCounts
  /** Number of events that were dropped without storing them. `counts.dropped` includes them. */
  readonly throttledCount: number
  /** Bytes of the bodies of pending deliveries. */
  readonly pendingBytes: number
  /** Time since which all attempts have failed. Null after a success and before the first attempt. */
  readonly failingSinceMs: TimeMs | null
}

export interface NewDelivery
  extends Pick<StoredDelivery, 'eventId' | 'eventType' | 'createdAtMs' | 'body'> {
  readonly dueAtMs: TimeMs
}

export interface OutboxWatcher {
  onCreated(webhook: WebhookNumber, delivery: NewDelivery): void
  onUpdated(webhook: WebhookNumber, delivery: Delivery): void
}
