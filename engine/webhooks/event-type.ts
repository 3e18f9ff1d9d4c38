// What the owner of webhooks must know of an event type: which updates cause its events, what filters may
// ask of one, and what names it. README.md says how to add one; the types themselves are descriptors in
// http/webhooks/types, since they write the records of REST and stream.

import type { GapUpdate, StatusUpdate, TradeSide, Update } from '../events.ts'
import type { WebhookId } from '../ids.ts'
import type { MarketRef } from '../market/market.ts'
import type { OpportunityPeak } from '../opportunity.ts'
import type { PriceMicros, TimeMs, UsdMicros } from '../units.ts'
import type { WebhookEventType } from './webhook.ts'

type Unstamped<U> = U extends unknown ? Omit<U, 'offset' | 'seq'> : never

/** An update of a market, which may cause an event; a stored row that was never stamped counts too. */
export type EventUpdate = Unstamped<Exclude<Update, StatusUpdate | GapUpdate>>

/** A test that the owner of a webhook asked for. */
interface TestRequest {
  readonly kind: 'test'
  readonly webhook: WebhookId
  readonly timeMs: TimeMs
}

/** What an event is made from. */
export type EventCause = EventUpdate | TestRequest

/** What happened, as filters see it. */
export interface Happening {
  /** The market whose id, venue, event slug and category filters ask for. */
  readonly market: MarketRef
  /** Event slug and category, where they are not those that the catalogue has now. */
  readonly labels: { readonly eventSlug: string | null; readonly category: string | null } | null
  /** Maker and taker as far as known; lower case. */
  readonly wallets: readonly string[]
  /** Lower case. */
  readonly taker: string | null
  readonly usd: UsdMicros | null
  /** The taker's, in terms of the market's first outcome. */
  readonly side: TradeSide | null
  /** The taker's, of the outcome traded. */
  readonly takerSide: TradeSide | null
  /** Of a type that compares prices: the price; null otherwise. */
  readonly price: PriceMicros | null
  /** Of an opportunity: what it has come to; null otherwise. */
  readonly peak: OpportunityPeak | null
  /**
   * What it had come to when it was told before: a webhook whose filters that passed has the event already. Null: the event
   * does not wait for anything to grow.
   */
  readonly previousPeak: OpportunityPeak | null
  /** When it could be known first: the delay of its deliveries is measured from here. */
  readonly originMs: TimeMs
  /**
   * Say, with the type's name, which event it is: the same happening seen again has the same parts. Of
   * a type that compares prices the webhook, the market and both prices stand before them. At most the
   * last may hold a `|`.
   */
  idParts(): readonly string[]
}

/** An event type, as its owner sees it. */
export interface EventType {
  /** `noun.verb`; what a webhook asks for, and `type` of what is posted. */
  readonly name: WebhookEventType
  /** The kinds of updates of which {@link EventType.happenings} is asked. */
  readonly updateKinds: readonly Update['kind'][]
  /** What `minUsd` is when a webhook does not say; null: nothing. */
  readonly minUsdDefault: UsdMicros | null
  /**
   * Whether an event is a change since the price last posted to a webhook, which `minChange` bounds.
   * One type at most: the outbox keeps one price for a webhook and market.
   */
  readonly comparesPrice: boolean
  /** So frequent that it needs a filter, except in tiers that may take all of it. */
  readonly needsFilter: boolean
  /** Whether an event that happened long ago is not made, or not posted any more. */
  readonly expires: 'unmade' | 'unposted' | null
  /** Whether it is asked for by hand, and so passes every filter. One type is. */
  readonly isManual: boolean
  /** What an update means for this type; on the path of the update. */
  happenings(update: EventUpdate): readonly Happening[]
}

/** What the owner of webhooks asks of the face: the event types there are, and their bodies. */
export interface WebhookBodies {
  readonly types: readonly EventType[]
  /**
   * A body of `{"type","timestamp","data"}`, UTF-8 JSON of at most 20 KB; the timestamp is when the
   * event happened. Called on the path of an update, and only when a webhook wants the event: it is
   * synchronous, and does not throw for anything that a cause of the type may hold. `base` is the price
   * last posted to the webhook, of a type that compares prices.
   */
  write(type: WebhookEventType, cause: EventCause, base: PriceMicros | null): Uint8Array
}
