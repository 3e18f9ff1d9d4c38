// The part of the storage's contract that concerns webhooks: the webhooks (in `accounts`,
// each change awaited to the platter), and the outbox (in `market`, so that a delivery is committed in
// one turn with the trade or whale that caused it, or not at all).

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

/** Every change resolves once it is on the platter, and rejects when that fails in 5 s. */
export interface WebhookTable {
  all(): Iterable<Webhook>
  /** Gives the webhook its number; the number is never given again. */
  create(webhook: Omit<Webhook, 'number'>): Promise<Webhook>
  /** Replaces the webhook of the same id. */
  put(webhook: Webhook): Promise<void>
  remove(webhook: Webhook): Promise<void>
}

/** Which deliveries go first: those never tried, or those tried before. */
export type AttemptKind = 'first' | 'retry'

/** What an outbox remembers of a webhook beside its deliveries. */
export interface OutboxState {
  readonly counts: DeliveryCounts
  /** Of `counts.dropped`: events that were never stored (`throttle`). */
  readonly throttledCount: number
  /** The bodies of pending deliveries, bytes; about 1,000 for each that was stored before bytes were counted. */
  readonly pendingBytes: number
  /** Since when every attempt failed; null after a success or before the first attempt. */
  readonly failingSinceMs: TimeMs | null
}

/**
 * Deliveries by webhook. Reads are synchronous and see every put of this process. Puts of one event
 * turn are committed together with all other market rows of it. After a crash the counts fit the
 * rows, whatever was lost.
 */
export interface OutboxTable {
  /**
   * Stores a pending delivery, due at `dueAtMs`, in the 'first' lane, and counts it. Null, and
   * nothing stored, when the webhook has a delivery of that event already, or the disk takes no more.
   */
  create(
    webhook: WebhookNumber,
    delivery: Pick<StoredDelivery, 'eventId' | 'eventType' | 'createdAtMs' | 'body'> & {
      readonly dueAtMs: TimeMs
    },
  ): StoredDelivery | null
  get(webhook: WebhookNumber, number: number): StoredDelivery | null
  /** The number of the webhook's delivery of an event; null: it has none. */
  numberOf(webhook: WebhookNumber, eventId: string): number | null
  /**
   * Replaces status, dueAtMs, attempts and last of a stored delivery, and moves the counts with the
   * status; a pending one with attempts is in the 'retry' lane. False, and nothing changed, for one
   * that is gone, and while the disk takes no more.
   */
  update(webhook: WebhookNumber, delivery: Delivery): boolean
  /** Pending deliveries of a lane by due time, then number, strictly behind `after`, at most `limit`. */
  due(query: {
    webhook: WebhookNumber
    attemptKind: AttemptKind
    after: { readonly dueAtMs: TimeMs; readonly number: number } | null
    limit: number
  }): readonly { readonly dueAtMs: TimeMs; readonly number: number }[]
  /** Newest first, numbers strictly below `before` (null: all), at most `limit`; without bodies. */
  list(query: {
    webhook: WebhookNumber
    status: DeliveryStatus | null
    before: number | null
    limit: number
  }): readonly Delivery[]
  /** The oldest pending delivery; null when there is none. */
  oldestPending(webhook: WebhookNumber): Delivery | null
  state(webhook: WebhookNumber): OutboxState
  /** Counts events that were dropped without being stored. False, and nothing counted, while the disk takes no more. */
  throttle(webhook: WebhookNumber, count: number): boolean
  putFailingSince(webhook: WebhookNumber, sinceMs: TimeMs | null): void
  /** The price last sent to a webhook of a market, for price.changed; null when none was. */
  lastPrice(webhook: WebhookNumber, market: MarketNumber): PriceMicros | null
  putLastPrice(webhook: WebhookNumber, market: MarketNumber, price: PriceMicros): void
  removeLastPrice(webhook: WebhookNumber, market: MarketNumber): void
  /**
   * Removes finished deliveries beyond the newest `finishedMax` of the webhook or made before
   * `beforeMs`, at most `rowsMax`; the counts stay. True while there are more.
   */
  prune(query: {
    webhook: WebhookNumber
    finishedMax: number
    beforeMs: TimeMs
    rowsMax: number
  }): boolean
  /** Removes everything of a webhook, at most `rowsMax` rows a call. True while there are more. */
  clear(webhook: WebhookNumber, rowsMax: number): boolean
  /** Webhooks that have a state row: with those of WebhookTable, whose rows are left over. */
  webhooks(): Iterable<WebhookNumber>
}
