import type { AccountId } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { ChatFormat, WebhookFormat } from '../../engine/webhooks/chat-message.ts'
import type {
  Delivery,
  DeliveryCounts,
  DeliveryStatus,
  StoredDelivery,
  Webhook,
  WebhookEventType,
  WebhookFilters,
} from '../../engine/webhooks/webhook.ts'

export interface WebhookView extends Omit<Webhook, 'secret' | 'previousSecrets' | 'number'> {
  readonly counts: DeliveryCounts
  /** Number of events that were rejected because the account used up its share. They have no delivery. */
  readonly throttledCount: number
  /** Time of the first failed attempt since the last success. Null: the last attempt succeeded. */
  readonly failingSinceMs: TimeMs | null
  /** Until this time the previous secret also signs. Null: only the current secret signs. */
  readonly previousSecretUntilMs: TimeMs | null
}

export interface WebhookRequest {
  readonly url: string
  readonly format: WebhookFormat
  readonly eventTypes: readonly WebhookEventType[]
  readonly filters: WebhookFilters
  readonly description: string | null
  /** `whsec_…`. Null: a secret is generated. */
  readonly secret: string | null
}

export interface WebhookChange {
  readonly url?: string
  readonly eventTypes?: readonly WebhookEventType[]
  readonly filters?: WebhookFilters
  readonly description?: string | null
  /** True also enables a disabled webhook, and resets its failures. */
  readonly isActive?: boolean
}

/**
 * Methods return null if the account has no such webhook or delivery. Promises resolve when a change is on disk. They
 * reject only with EngineError.
 */
export interface WebhooksView {
  /** Oldest first. */
  list(account: AccountId): readonly WebhookView[]
  get(account: AccountId, id: string): WebhookView | null
  /** Only the result contains `secret`. Throws BAD_REQUEST if the account has 25 webhooks. */
  create(
    account: AccountId,
    request: WebhookRequest,
  ): Promise<{ readonly webhook: WebhookView; readonly secret: string }>
  change(account: AccountId, id: string, change: WebhookChange): Promise<WebhookView | null>
  /** Aborts running attempts and begins no more. False: there is no such webhook. */
  remove(account: AccountId, id: string): Promise<boolean>
  /**
   * The previous secret also signs for 24 h. `secret`: `whsec_…`, or null to generate one. Only the result contains the
   * secret.
   */
  rotateSecret(
    account: AccountId,
    id: string,
    secret: string | null,
  ): Promise<{ readonly webhook: WebhookView; readonly secret: string } | null>
  /** The chat message of an event's body, as a webhook of this format posts it. */
  chatMessage(format: ChatFormat, body: Uint8Array): Uint8Array
  /** Creates a webhook.test delivery, also for an inactive webhook and regardless of its event types. */
  test(account: AccountId, id: string): Promise<DeliveryView | null>
  /** Newest first, with numbers below `before`. */
  deliveries(
    account: AccountId,
    id: string,
    query: { status: DeliveryStatus | null; before: number | null; limit: number },
  ): readonly DeliveryView[] | null
  delivery(account: AccountId, id: string, number: number): DeliveryDetail | null
  /** Makes a finished or pending delivery due now, with all attempts of the retry schedule. */
  retry(account: AccountId, id: string, number: number): Promise<DeliveryView | null>
}

export type DeliveryView = Delivery

/** `body` is what is posted if the event is sent alone. */
export interface DeliveryDetail extends StoredDelivery {
  readonly format: WebhookFormat
}
