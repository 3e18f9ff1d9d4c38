// Storage interfaces of webhooks: the webhooks (in `accounts`; callers wait until each write is durable) and the outbox
// (in `market`). A delivery is thus committed atomically with the trade or whale that caused it.

import type { MarketNumber } from '../../engine/market/market.ts'
import type { PriceMicros, TimeMs } from '../../engine/units.ts'
import type {
  Delivery,
  DeliveryCounts,
  DeliveryStatus,
  StoredDelivery,
  Webhook,
  WebhookNumber,
} from '../../engine/webhooks/webhook.ts'

/** Changes resolve when durable, and reject if that fails or takes more than 5 s. */
export interface WebhookTable {
  all(): Iterable<Webhook>
  /** Assigns the webhook its number, which is never reused. */
  create(webhook: Omit<Webhook, 'number'>): Promise<Webhook>
  /** Replaces the webhook of the same id. */
  put(webhook: Webhook): Promise<void>
  remove(webhook: Webhook): Promise<void>
}

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

/**
 * Deliveries by webhook. Reads are synchronous and include all puts of this process. Puts of one event-loop tick
 * commit together with its other market rows. After a crash the counts match the stored rows.
 */
export interface OutboxTable {
  /**
   * Stores a pending delivery, due at `dueAtMs`, in the 'first' queue, and counts it. Returns null and stores nothing
   * if the webhook already has a delivery of that event, or if storage rejects writes.
   */
  create(webhook: WebhookNumber, delivery: NewDelivery): StoredDelivery | null
  /** Replaces the watcher. */
  watch(watcher: OutboxWatcher): void
  get(webhook: WebhookNumber, number: number): StoredDelivery | null
  /** The number of the webhook's delivery of an event, or null. */
  numberOf(webhook: WebhookNumber, eventId: string): number | null
  /**
   * Replaces status, dueAtMs, attempts and last of a stored delivery, and adjusts the counts. A pending delivery with
   * attempts is in the 'retry' queue. Returns false and changes nothing if the delivery was deleted or storage rejects
   * writes.
   */
  update(webhook: WebhookNumber, delivery: Delivery): boolean
  /** Pending deliveries of a queue in order of due time, then number, strictly after `after`, at most `limit`. */
  due(query: {
    webhook: WebhookNumber
    attemptKind: AttemptKind
    after: { readonly dueAtMs: TimeMs; readonly number: number } | null
    limit: number
  }): readonly { readonly dueAtMs: TimeMs; readonly number: number }[]
  /** Newest first, with numbers strictly below `before` (null: all), at most `limit`; without bodies. */
  list(query: {
    webhook: WebhookNumber
    status: DeliveryStatus | null
    before: number | null
    limit: number
  }): readonly Delivery[]
  /** The oldest pending delivery, or null. */
  oldestPending(webhook: WebhookNumber): Delivery | null
  state(webhook: WebhookNumber): OutboxState
  /**
   * Counts events that were dropped without being stored. Returns false and counts nothing while storage rejects
   * writes.
   */
  throttle(webhook: WebhookNumber, count: number): boolean
  putFailingSince(webhook: WebhookNumber, sinceMs: TimeMs | null): void
  /** The price of a market last sent to a webhook, for price.changed, or null. */
  lastPrice(webhook: WebhookNumber, market: MarketNumber): PriceMicros | null
  putLastPrice(webhook: WebhookNumber, market: MarketNumber, price: PriceMicros): void
  removeLastPrice(webhook: WebhookNumber, market: MarketNumber): void
  /**
   * Deletes finished deliveries beyond the newest `finishedMax` of the webhook or created before `beforeMs`, at most
   * `rowsMax`. The counts stay. Returns true while there are more.
   */
  prune(query: {
    webhook: WebhookNumber
    finishedMax: number
    beforeMs: TimeMs
    rowsMax: number
  }): boolean
  /** Deletes all rows of a webhook, at most `rowsMax` a call. Returns true while there are more. */
  clear(webhook: WebhookNumber, rowsMax: number): boolean
  /** Webhooks that have a state row. Those missing from WebhookTable have orphaned rows. */
  webhooks(): Iterable<WebhookNumber>
}
