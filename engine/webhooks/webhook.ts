// The vocabulary of webhooks: event types, filters, a registered webhook, one delivery of one event to
// one webhook. Shared by storage, actors and http.

import type { TradeSide } from '../events.ts'
import type { AccountId, VenueKey, WebhookId } from '../ids.ts'
import type { PriceMicros, TimeMs, UsdMicros } from '../units.ts'

/** The name of an event type, as its descriptor gives it (event-type.ts). */
export type WebhookEventType = string

/** What an event must fit to be posted; null: anything fits. Lists hold 1..100 entries. */
export interface WebhookFilters {
  /** Unified ids; compared without regard to case. */
  readonly marketIds: readonly string[] | null
  readonly venue: VenueKey | null
  /** Maker or taker, lower-case addresses. */
  readonly wallets: readonly string[] | null
  /** The taker, lower-case addresses. */
  readonly takerWallets: readonly string[] | null
  /** Null: the default of the event type. */
  readonly minUsd: UsdMicros | null
  /** Of types that compare prices: the change since the price last posted; null: 0.05. */
  readonly minChange: PriceMicros | null
  /** Of types of opportunities: the most that one has come to. */
  readonly minProfit: UsdMicros | null
  /** The same a contract. */
  readonly minEdge: PriceMicros | null
  readonly minAgeMs: number | null
  /** The taker's, in terms of the market's first outcome. */
  readonly side: TradeSide | null
  /** The taker's, of the outcome traded. */
  readonly takerSide: TradeSide | null
  readonly eventSlugs: readonly string[] | null
  readonly categories: readonly string[] | null
}

/** Why a webhook is inactive without its owner having asked for it. */
export type DisabledReason = 'gone' | 'failing'

/** A secret as it is stored: encrypted (secret-box.ts), base64. */
export type SealedSecret = string

/** A registered webhook, as stored. */
export interface Webhook {
  readonly id: WebhookId
  /** Short name of it in the outbox's keys: 1.., never given twice. */
  readonly number: WebhookNumber
  readonly accountId: AccountId
  /** Normalised by `new URL`, at most 2,048 characters. */
  readonly url: string
  readonly eventTypes: readonly WebhookEventType[]
  readonly filters: WebhookFilters
  readonly description: string | null
  readonly isActive: boolean
  readonly disabledReason: DisabledReason | null
  /** Its host answered a test of this account with a 2xx, or did not have to. Until then it gets no events. */
  readonly isVerified: boolean
  readonly createdAtMs: TimeMs
  readonly secret: SealedSecret
  /** What was rotated out, newest first: each signs as well until its time is over. */
  readonly previousSecrets: readonly PreviousSecret[]
}

export interface PreviousSecret {
  readonly secret: SealedSecret
  readonly untilMs: TimeMs
}

declare const webhookNumberKind: unique symbol
/** A webhook in the outbox's keys, u32. */
export type WebhookNumber = number & { readonly [webhookNumberKind]: true }
export const webhookNumber = (value: number): WebhookNumber => value as WebhookNumber

/**
 * 'pending': an attempt is due or under way. 'delivered': a 2xx came. 'exhausted': every attempt
 * failed. 'dropped': given up without that (too old, too many, disabled for long).
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'dropped'
export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending',
  'delivered',
  'exhausted',
  'dropped',
]

/** What came of the last attempt. */
export interface AttemptOutcome {
  readonly atMs: TimeMs
  readonly durationMs: number
  /** The receiver's status; null when none came. */
  readonly status: number | null
  /** At most 200 characters; null after a 2xx. */
  readonly error: string | null
  /** The head of the receiver's answer; left out where none came, or it was tried before answers were kept. */
  readonly answer?: ReceiverAnswer
}

/** The head of a receiver's answer, at most 4 KiB (call-outcome.ts): for the eyes of the webhook's owner. */
export interface ReceiverAnswer {
  /** Name, in lower case, and value of headers that tell no secret. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Its first bytes, of any encoding. */
  readonly body: Uint8Array
  /** There was more of the body. */
  readonly isCut: boolean
}

/** One event for one webhook. */
export interface Delivery {
  /** Its place among the webhook's deliveries, from 1, in order of making. */
  readonly number: number
  /** `webhook-id`: the same for every attempt, and for the same event made again. */
  readonly eventId: string
  readonly eventType: WebhookEventType
  readonly createdAtMs: TimeMs
  readonly status: DeliveryStatus
  /** When the next attempt is due; null when there is none. */
  readonly dueAtMs: TimeMs | null
  readonly attempts: number
  readonly last: AttemptOutcome | null
}

/** A delivery with what is posted: the same bytes at every attempt. */
export interface StoredDelivery extends Delivery {
  readonly body: Uint8Array
}

/** created = delivered + exhausted + dropped + pending, always. */
export interface DeliveryCounts {
  readonly created: number
  readonly delivered: number
  readonly exhausted: number
  readonly dropped: number
  readonly pending: number
}
