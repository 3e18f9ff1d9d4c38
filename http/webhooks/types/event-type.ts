// Description of a webhook event type. engine/webhooks/README.md explains how to add a type.

import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { CatalogView } from '../../../actors/views.ts'
import type { Trade } from '../../../engine/events.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { takerSide } from '../../../engine/market/taker.ts'
import type { PriceMicros, TimeMs } from '../../../engine/units.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import type { EventCause, EventType } from '../../../engine/webhooks/event-type.ts'
import type { MarketTexts } from '../../records/render.ts'
import { withVenueNames } from '../../schemas.ts'

interface Payload {
  readonly timeMs: TimeMs
  readonly data: string
}

export interface PayloadParts {
  readonly catalog: CatalogView
  /** Texts of a market as JSON. Also works for a market that has just left the catalogue. */
  textsOf(market: MarketRef): MarketTexts
  /** The Market record as JSON text; `null` if the market has left the catalogue. */
  recordOf(market: MarketRef): string
}

type FilterName =
  | 'market_ids'
  | 'platform'
  | 'wallets'
  | 'taker_wallets'
  | 'min_usd'
  | 'min_change'
  | 'min_profit_usd'
  | 'min_edge'
  | 'min_age_ms'
  | 'side'
  | 'taker_side'
  | 'event_slugs'
  | 'categories'

/** Filters that apply to every event about a market. */
export const MARKET_FILTERS: readonly FilterName[] = [
  'market_ids',
  'platform',
  'event_slugs',
  'categories',
]

export interface EventDescriptor extends EventType {
  /** Aliases that requests may use. Responses use the full name. */
  readonly shortNames: readonly string[]
  /** One sentence. */
  readonly summary: string
  /** Filters that apply to these events. */
  readonly filters: readonly FilterName[]
  /** Named schemas in the documents. Each name is the key without `Schema`. */
  readonly shapes: Readonly<Record<string, TSchema>>
  data(names: VenueTable): TSchema
  /** An example of `data` that matches the schema. */
  example(names: VenueTable): unknown
  /** Name of one event in a chat message, in lower case. */
  readonly noun: string
  /** Texts of the event for a chat message. Null: `data` has an unknown form, and `summary` is shown. */
  chat(data: unknown): ChatTexts | null
  /** Null if `cause` is no event of this type. `base`: the price last posted to the webhook. */
  write(cause: EventCause, parts: PayloadParts, base: PriceMicros | null): Payload | null
}

/** Texts of one event, unescaped. */
export interface ChatTexts {
  readonly title: string
  /** Facts after the market's question. */
  readonly lines: readonly string[]
  /** The market that the message names and links to. Null: none. */
  readonly marketId: string | null
  /** Amount of the event, in US dollars. 0: it has none. */
  readonly usd: number
}

/** Renders data that matches the schema. */
export function chatOf<S extends TSchema>(schema: S, render: (data: Static<S>) => ChatTexts) {
  return (data: unknown): ChatTexts | null => (Value.Check(schema, data) ? render(data) : null)
}

/** A price in cents, such as "43.5¢". */
export const centsText = (price: number): string => `${Math.round(price * 1_000) / 10}¢`

const NO_WALLETS: readonly string[] = []

/** Defaults for an event without trader and price. */
export const PLAIN_HAPPENING = {
  labels: null,
  wallets: NO_WALLETS,
  taker: null,
  usd: null,
  side: null,
  takerSide: null,
  price: null,
  peak: null,
  previousPeak: null,
} as const

/** Defaults for an event type without default filters, price comparison and expiry. */
export const PLAIN_TYPE = {
  minUsdDefault: null,
  comparesPrice: false,
  needsFilter: false,
  expires: null,
  isManual: false,
  shapes: {},
  chat: () => null,
} as const

/** Defaults for event types about trades. Their events have a trader, an amount and a side, and expire. */
export const TRADE_TYPE = {
  ...PLAIN_TYPE,
  filters: [...MARKET_FILTERS, 'wallets', 'taker_wallets', 'min_usd', 'side', 'taker_side'],
  expires: 'unmade',
} as const

export function tradeHappening(
  { market, receivedAtMs }: { readonly market: MarketRef; readonly receivedAtMs: TimeMs },
  trade: Trade,
) {
  const { usd, side, maker, taker, nativeId } = trade
  return {
    ...PLAIN_HAPPENING,
    ...{ market, usd, side, takerSide: takerSide(trade), wallets: walletsOf(maker, taker) },
    taker: taker?.toLowerCase() ?? null,
    originMs: receivedAtMs,
    idParts: () => [market.id, nativeId],
  }
}

export const exampleOf =
  (example: object) =>
  (names: VenueTable): unknown =>
    withVenueNames(example, names)

/** Addresses of the known maker and taker in lower case. */
function walletsOf(maker: string | null, taker: string | null): readonly string[] {
  if (maker === null && taker === null) return NO_WALLETS
  const wallets: string[] = []
  if (maker !== null) wallets.push(maker.toLowerCase())
  if (taker !== null) wallets.push(taker.toLowerCase())
  return wallets
}
