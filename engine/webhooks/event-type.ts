// The interface of an event type. The event types themselves are in http/webhooks/types, because they write API
// records.

import type { GapUpdate, StatusUpdate, TradeSide, Update } from '../events.ts'
import type { WebhookId } from '../ids.ts'
import type { MarketRef } from '../market/market.ts'
import type { OpportunityPeak } from '../opportunity.ts'
import type { PriceMicros, TimeMs, UsdMicros } from '../units.ts'
import type { ChatFormat } from './chat-message.ts'
import type { WebhookEventType } from './webhook.ts'

type Unstamped<U> = U extends unknown ? Omit<U, 'offset' | 'seq'> : never

/** An update that may cause an event, including stored rows that were never published. */
export type EventUpdate = Unstamped<Exclude<Update, StatusUpdate | GapUpdate>>

interface TestRequest {
  readonly kind: 'test'
  readonly webhook: WebhookId
  readonly timeMs: TimeMs
}

export type EventCause = EventUpdate | TestRequest

export interface Happening {
  /** The market whose id, venue, event slug and category filters test. */
  readonly market: MarketRef
  /** Event slug and category at the time of the event. Null: equal to the catalogue's. */
  readonly labels: { readonly eventSlug: string | null; readonly category: string | null } | null
  /** Known makers and takers in lower case. */
  readonly wallets: readonly string[]
  readonly taker: string | null
  readonly usd: UsdMicros | null
  /** The taker's side, in terms of the market's first outcome. */
  readonly side: TradeSide | null
  /** The taker's side, of the traded outcome. */
  readonly takerSide: TradeSide | null
  /** The price, for types that compare prices. Null for other types. */
  readonly price: PriceMicros | null
  readonly peak: OpportunityPeak | null
  /**
   * The peak before this update. A webhook whose filters accepted this peak already has the event. Null: the event does
   * not depend on a peak.
   */
  readonly previousPeak: OpportunityPeak | null
  /** When the event became known. The delay of its deliveries is measured from this time. */
  readonly originMs: TimeMs
  /**
   * Parts that identify the event together with the type's name. The same event always has the same parts. For types
   * that compare prices, the webhook, the market and both prices precede them. Only the last part may contain a `|`.
   */
  idParts(): readonly string[]
}

export interface EventType {
  /** `noun.verb`: the name in a webhook's registration, and `type` of the body. */
  readonly name: WebhookEventType
  readonly updateKinds: readonly Update['kind'][]
  /** Default of `minUsd`. Null: no minimum. */
  readonly minUsdDefault: UsdMicros | null
  /**
   * Whether the type compares prices with the last price that was sent to a webhook. At most one type may, because the
   * outbox stores one price per webhook and market.
   */
  readonly comparesPrice: boolean
  /** Whether a filter is required, because events are frequent. Higher tiers are exempt. */
  readonly needsFilter: boolean
  /** `unmade`: events that are too old are not created. `unposted`: they are not sent. Null: events do not expire. */
  readonly expires: 'unmade' | 'unposted' | null
  /** Whether the event is created on request and passes every filter. True for one type. */
  readonly isManual: boolean
  /** Returns the events that an update causes. It must be fast, because it runs for every update. */
  happenings(update: EventUpdate): readonly Happening[]
}

export interface WebhookBodies {
  readonly types: readonly EventType[]
  /**
   * Writes a body `{"type","timestamp","data"}` as UTF-8 JSON of at most 20 KB. The timestamp is the time of the event.
   * Runs within the publishing call, if a webhook matches. Must not throw. `base`: the price last sent, for types that
   * compare prices.
   */
  write(type: WebhookEventType, cause: EventCause, base: PriceMicros | null): Uint8Array
  /** Writes one chat message for 1..DIGEST_EVENTS_MAX events from their bodies, as UTF-8 JSON. `url`: of the webhook. */
  chat(format: ChatFormat, bodies: readonly Uint8Array[], url: string): Uint8Array
}
