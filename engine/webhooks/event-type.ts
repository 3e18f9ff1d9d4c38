// The interface of event types: which updates cause an event, the facts that filters test, and the parts of
// its id. README.md explains how to add one. The types themselves are descriptors in http/webhooks/types,
// because they write the records of REST and stream.

import type { GapUpdate, StatusUpdate, TradeSide, Update } from '../events.ts'
import type { WebhookId } from '../ids.ts'
import type { MarketRef } from '../market/market.ts'
import type { OpportunityPeak } from '../opportunity.ts'
import type { PriceMicros, TimeMs, UsdMicros } from '../units.ts'
import type { WebhookEventType } from './webhook.ts'

type Unstamped<U> = U extends unknown ? Omit<U, 'offset' | 'seq'> : never

/** An update of a market that may cause an event. Includes stored rows that were never stamped. */
export type EventUpdate = Unstamped<Exclude<Update, StatusUpdate | GapUpdate>>

/** A test event that the owner of a webhook requested. */
interface TestRequest {
  readonly kind: 'test'
  readonly webhook: WebhookId
  readonly timeMs: TimeMs
}

export type EventCause = EventUpdate | TestRequest

/** An event as filters see it. */
export interface Happening {
  /** The market whose id, venue, event slug and category filters test. */
  readonly market: MarketRef
  /** Event slug and category, where they differ from the catalogue's current ones. */
  readonly labels: { readonly eventSlug: string | null; readonly category: string | null } | null
  /** Maker and taker as far as known. Lower case. */
  readonly wallets: readonly string[]
  /** Lower case. */
  readonly taker: string | null
  readonly usd: UsdMicros | null
  /** The taker's side, in terms of the market's first outcome. */
  readonly side: TradeSide | null
  /** The taker's side, of the traded outcome. */
  readonly takerSide: TradeSide | null
  /** The price, for types that compare prices. Null for others. */
  readonly price: PriceMicros | null
  /** The peak of an opportunity. Null for other types. */
  readonly peak: OpportunityPeak | null
  /**
   * The peak before this update. If it already passed a webhook's filters, the webhook has the event
   * already. Null: the event does not depend on growth.
   */
  readonly previousPeak: OpportunityPeak | null
  /** When the event could first be known. The delay of its deliveries is measured from here. */
  readonly originMs: TimeMs
  /**
   * Parts that, together with the type's name, identify the event. The same event seen again has the same
   * parts. For types that compare prices, the webhook, the market and both prices precede them. Only the
   * last part may contain a `|`.
   */
  idParts(): readonly string[]
}

/** An event type. */
export interface EventType {
  /** `noun.verb`: the name in a webhook's registration, and `type` of what is posted. */
  readonly name: WebhookEventType
  /** The kinds of updates for which {@link EventType.happenings} is called. */
  readonly updateKinds: readonly Update['kind'][]
  /** `minUsd` of a webhook that does not set it. Null: no minimum. */
  readonly minUsdDefault: UsdMicros | null
  /**
   * Whether an event is a change since the price last posted to a webhook, which `minChange` bounds. At
   * most one type: the outbox stores one price per webhook and market.
   */
  readonly comparesPrice: boolean
  /** Events are so frequent that a filter is required, except in tiers that may receive all of them. */
  readonly needsFilter: boolean
  /** Whether events that are too old are not created, or not posted. Null: they do not expire. */
  readonly expires: 'unmade' | 'unposted' | null
  /** Whether the event is requested manually and so passes every filter. True for one type. */
  readonly isManual: boolean
  /** The events that an update causes. On the hot path of updates. */
  happenings(update: EventUpdate): readonly Happening[]
}

/** The event types and their bodies, as the API server provides them. */
export interface WebhookBodies {
  readonly types: readonly EventType[]
  /**
   * A body of `{"type","timestamp","data"}`, UTF-8 JSON of at most 20 KB. The timestamp is when the event
   * happened. Called on the hot path of updates, and only when a webhook wants the event. Synchronous. Must
   * not throw for any cause of the type. `base` is the price last posted to the webhook, for types that
   * compare prices.
   */
  write(type: WebhookEventType, cause: EventCause, base: PriceMicros | null): Uint8Array
}
