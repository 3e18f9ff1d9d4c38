// Read interface of webhooks for the API server.

import type { AccountId } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type {
  Delivery,
  DeliveryCounts,
  DeliveryStatus,
  StoredDelivery,
  Webhook,
  WebhookEventType,
  WebhookFilters,
} from '../../engine/webhooks/webhook.ts'

/** A webhook for its owner: without secrets. */
export interface WebhookView extends Omit<Webhook, 'secret' | 'previousSecrets' | 'number'> {
  readonly counts: DeliveryCounts
  /** Part of the dropped events: those rejected because the account used up its share. They have no delivery. */
  readonly throttledCount: number
  /** Since when every attempt has failed; null while attempts succeed. */
  readonly failingSinceMs: TimeMs | null
  /** Until when the previous secret also signs; null: only the current one signs. */
  readonly previousSecretUntilMs: TimeMs | null
}

/** The request for a new webhook. The API server has validated types, URL form, secret form and list lengths. */
export interface WebhookRequest {
  readonly url: string
  readonly eventTypes: readonly WebhookEventType[]
  readonly filters: WebhookFilters
  readonly description: string | null
  /** `whsec_…`; null: a new one is generated. */
  readonly secret: string | null
}

/** The fields to replace; absent ones are unchanged. */
export interface WebhookChange {
  readonly url?: string
  readonly eventTypes?: readonly WebhookEventType[]
  readonly filters?: WebhookFilters
  readonly description?: string | null
  /** True also enables a disabled webhook: attempts resume, and the failing time starts again. */
  readonly isActive?: boolean
}

/**
 * The webhooks of all accounts. Null: the account has no webhook or delivery of that id, even if another account has
 * one. Promises resolve once the change is flushed to disk, and reject only with EngineError.
 */
export interface WebhooksView {
  /** Oldest first. */
  list(account: AccountId): readonly WebhookView[]
  get(account: AccountId, id: string): WebhookView | null
  /** Only this result contains `secret`. BAD_REQUEST if the account has 25 webhooks. */
  create(
    account: AccountId,
    request: WebhookRequest,
  ): Promise<{ readonly webhook: WebhookView; readonly secret: string }>
  change(account: AccountId, id: string, change: WebhookChange): Promise<WebhookView | null>
  /** False if there is none. Aborts running attempts and begins no more. */
  remove(account: AccountId, id: string): Promise<boolean>
  /**
   * The previous secret also signs for 24 h. Only this result contains `secret` (`whsec_…`; null: a new one is
   * generated).
   */
  rotateSecret(
    account: AccountId,
    id: string,
    secret: string | null,
  ): Promise<{ readonly webhook: WebhookView; readonly secret: string } | null>
  /** Creates a webhook.test delivery, regardless of the webhook's types; also for an inactive one. */
  test(account: AccountId, id: string): Promise<DeliveryView | null>
  /** Newest first, strictly before a delivery's number. */
  deliveries(
    account: AccountId,
    id: string,
    query: { status: DeliveryStatus | null; before: number | null; limit: number },
  ): readonly DeliveryView[] | null
  /** One delivery with its posted body. */
  delivery(account: AccountId, id: string, number: number): StoredDelivery | null
  /** Makes a delivery due now, finished or not. Its attempts follow the schedule from the beginning. */
  retry(account: AccountId, id: string, number: number): Promise<DeliveryView | null>
}

export type DeliveryView = Delivery
