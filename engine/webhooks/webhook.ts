import type { TradeSide } from '../events.ts'
import type { AccountId, VenueKey, WebhookId } from '../ids.ts'
import type { PriceMicros, TimeMs, UsdMicros } from '../units.ts'
import type { WebhookFormat } from './chat-message.ts'

export type WebhookEventType = string

/** Conditions on events. Null: no condition. Lists have 1..100 entries. */
export interface WebhookFilters {
  /** Public ids, compared case-insensitively. */
  readonly marketIds: readonly string[] | null
  readonly venue: VenueKey | null
  /** Maker or taker, lower-case addresses. */
  readonly wallets: readonly string[] | null
  /** The taker, lower-case addresses. */
  readonly takerWallets: readonly string[] | null
  /** Null: the default of the event type. */
  readonly minUsd: UsdMicros | null
  /** For types that compare prices: the change since the price last posted. Null: 0.05. */
  readonly minChange: PriceMicros | null
  /** For opportunity types: minimum of the peak profit. */
  readonly minProfit: UsdMicros | null
  /** Minimum of the peak profit per contract. */
  readonly minEdge: PriceMicros | null
  readonly minAgeMs: number | null
  /** The taker's side, in terms of the market's first outcome. */
  readonly side: TradeSide | null
  /** The taker's side, of the traded outcome. */
  readonly takerSide: TradeSide | null
  readonly eventSlugs: readonly string[] | null
  readonly categories: readonly string[] | null
}

/** Why the service disabled a webhook. 'gone': the receiver returned 410. */
export type DisabledReason = 'gone' | 'failing'

/** A stored secret: encrypted (secret-box.ts), base64. */
export type SealedSecret = string

export interface Webhook {
  readonly id: WebhookId
  /** Number of the webhook in the outbox's keys, from 1. Never reused. */
  readonly number: WebhookNumber
  readonly accountId: AccountId
  /** Normalised by `new URL`, at most 2,048 characters. */
  readonly url: string
  /** Form of the posts. Fixed when the webhook is created. */
  readonly format: WebhookFormat
  readonly eventTypes: readonly WebhookEventType[]
  readonly filters: WebhookFilters
  readonly description: string | null
  readonly isActive: boolean
  readonly disabledReason: DisabledReason | null
  /**
   * Whether the host answered a test of this account with a 2xx, or no test was required. Otherwise the webhook gets no
   * events.
   */
  readonly isVerified: boolean
  readonly createdAtMs: TimeMs
  readonly secret: SealedSecret
  /** Earlier secrets, newest first. Each secret also signs until it expires. */
  readonly previousSecrets: readonly PreviousSecret[]
}

export interface PreviousSecret {
  readonly secret: SealedSecret
  readonly untilMs: TimeMs
}

declare const webhookNumberKind: unique symbol
/** Number of a webhook in the outbox's keys, u32. */
export type WebhookNumber = number & { readonly [webhookNumberKind]: true }
export const webhookNumber = (value: number): WebhookNumber => value as WebhookNumber

/**
 * Status of a delivery.
 * - 'pending': an attempt is due or under way.
 * - 'delivered': a 2xx arrived.
 * - 'exhausted': every attempt failed.
 * - 'dropped': abandoned with attempts left (too old, too many, or disabled for long).
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'dropped'
export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending',
  'delivered',
  'exhausted',
  'dropped',
]

export interface AttemptOutcome {
  readonly atMs: TimeMs
  readonly durationMs: number
  /** The receiver's status code. Null if there was no response. */
  readonly status: number | null
  /** At most 200 characters. Null after a 2xx. */
  readonly error: string | null
  /** The head of the receiver's response. Absent if there was no response, and in old records. */
  readonly answer?: ReceiverAnswer
}

/** The head of a receiver's response, at most 4 KiB, which the webhook's owner can read. */
export interface ReceiverAnswer {
  /** Lower-case names and values of headers without secrets. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** First bytes of the body, in any encoding. */
  readonly body: Uint8Array
  readonly isCut: boolean
}

export interface Delivery {
  /** Number among the webhook's deliveries, from 1, in order of creation. */
  readonly number: number
  /** Sent as `webhook-id`. The same for every attempt, and if the same event is created again. */
  readonly eventId: string
  readonly eventType: WebhookEventType
  readonly createdAtMs: TimeMs
  readonly status: DeliveryStatus
  /** Time of the next attempt. Null if there is none. */
  readonly dueAtMs: TimeMs | null
  readonly attempts: number
  readonly last: AttemptOutcome | null
}

export interface StoredDelivery extends Delivery {
  readonly body: Uint8Array
}

/** At any time created = delivered + exhausted + dropped + pending. */
export interface DeliveryCounts {
  readonly created: number
  readonly delivered: number
  readonly exhausted: number
  readonly dropped: number
  readonly pending: number
}
