// What the owners let the face see of webhooks. Part of views.ts, which shows these to http/.

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

/** A webhook as its owner sees it: without secrets. */
export interface WebhookView extends Omit<Webhook, 'secret' | 'previousSecrets' | 'number'> {
  readonly counts: DeliveryCounts
  /** Of the dropped: events that were refused since the account used up its share. They have no delivery. */
  readonly throttledCount: number
  /** Since when every attempt failed; null while attempts succeed. */
  readonly failingSinceMs: TimeMs | null
  /** Until when the secret that was rotated out last signs as well; null: only the present one signs. */
  readonly previousSecretUntilMs: TimeMs | null
}

/** The request for a new webhook; validated by the face (types, URL form, secret form, list lengths). */
export interface WebhookRequest {
  readonly url: string
  readonly eventTypes: readonly WebhookEventType[]
  readonly filters: WebhookFilters
  readonly description: string | null
  /** `whsec_…`; null: a new one is generated. */
  readonly secret: string | null
}

/** The fields that a change replaces; absent ones stay. */
export interface WebhookChange {
  readonly url?: string
  readonly eventTypes?: readonly WebhookEventType[]
  readonly filters?: WebhookFilters
  readonly description?: string | null
  /** True also enables a disabled webhook: attempts go on, and the failing time begins again. */
  readonly isActive?: boolean
}

/**
 * The webhooks of all accounts. Null: the account has no webhook (or delivery) of that id; another account's counts as
 * none. Promises resolve once the change is on disk and flushed, and reject with EngineError only.
 */
export interface WebhooksView {
  /** Oldest first. */
  list(account: AccountId): readonly WebhookView[]
  get(account: AccountId, id: string): WebhookView | null
  /** `secret` is in this answer alone. BAD_REQUEST when the account has 25. */
  create(
    account: AccountId,
    request: WebhookRequest,
  ): Promise<{ readonly webhook: WebhookView; readonly secret: string }>
  change(account: AccountId, id: string, change: WebhookChange): Promise<WebhookView | null>
  /** False when there is none. Attempts under way are aborted, and none follows. */
  remove(account: AccountId, id: string): Promise<boolean>
  /** The old secret signs as well for 24 h; `secret` (whsec_…, null: a new one is generated) is in this answer alone. */
  rotateSecret(
    account: AccountId,
    id: string,
    secret: string | null,
  ): Promise<{ readonly webhook: WebhookView; readonly secret: string } | null>
  /** Makes a webhook.test delivery, whatever types the webhook has; also for an inactive one. */
  test(account: AccountId, id: string): Promise<DeliveryView | null>
  /** Newest first, strictly before a delivery's number. */
  deliveries(
    account: AccountId,
    id: string,
    query: { status: DeliveryStatus | null; before: number | null; limit: number },
  ): readonly DeliveryView[] | null
  /** One delivery, with what is posted. */
  delivery(account: AccountId, id: string, number: number): StoredDelivery | null
  /** Makes a delivery due now, finished or not; its attempts follow the schedule from the beginning. */
  retry(account: AccountId, id: string, number: number): Promise<DeliveryView | null>
}

export type DeliveryView = Delivery
