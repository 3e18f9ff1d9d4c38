// Descriptor of a webhook event type. Engine, routes, documents and tests all read it. See engine/webhooks/README.md
// for how to add one.

import type { TSchema } from '@sinclair/typebox'
import type { CatalogView } from '../../../actors/views.ts'
import type { Trade } from '../../../engine/events.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { takerSide } from '../../../engine/market/taker.ts'
import type { PriceMicros, TimeMs } from '../../../engine/units.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import type { EventCause, EventType } from '../../../engine/webhooks/event-type.ts'
import type { MarketTexts } from '../../records/render.ts'
import { withVenueNames } from '../../schemas.ts'

/** The time of an event, and its `data` as JSON text. */
interface Payload {
  readonly timeMs: TimeMs
  readonly data: string
}

/** Dependencies for writing payloads. */
export interface PayloadParts {
  readonly catalog: CatalogView
  /** The quoted texts of a market, also if it has just been evicted from the catalogue. */
  textsOf(market: MarketRef): MarketTexts
  /** The Market record as JSON text; `null` if the market is gone. */
  recordOf(market: MarketRef): string
}

/** A filter of a webhook, as named in bodies. */
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

/** Filters of every event type about a market. */
export const MARKET_FILTERS: readonly FilterName[] = [
  'market_ids',
  'platform',
  'event_slugs',
  'categories',
]

export interface EventDescriptor extends EventType {
  /** Accepted aliases; answers use the full name. */
  readonly shortNames: readonly string[]
  /** One sentence. */
  readonly summary: string
  /** Filters for which its events have the facts. */
  readonly filters: readonly FilterName[]
  /** Named parts of its bodies in the documents: the key without `Schema`. */
  readonly shapes: Readonly<Record<string, TSchema>>
  /** The schema of `data`. */
  data(names: VenueTable): TSchema
  /** Valid example `data`. */
  example(names: VenueTable): unknown
  /** Null: the cause does not concern this type. `base`: the price last posted to the webhook. */
  write(cause: EventCause, parts: PayloadParts, base: PriceMicros | null): Payload | null
}

const NO_WALLETS: readonly string[] = []

/** A market event without trader and price. */
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

/** Defaults of most types: no default filters, no comparison, no expiry. */
export const PLAIN_TYPE = {
  minUsdDefault: null,
  comparesPrice: false,
  needsFilter: false,
  expires: null,
  isManual: false,
  shapes: {},
} as const

/** Trade types: they have a trader, an amount and a side, and expire. */
export const TRADE_TYPE = {
  ...PLAIN_TYPE,
  filters: [...MARKET_FILTERS, 'wallets', 'taker_wallets', 'min_usd', 'side', 'taker_side'],
  expires: 'unmade',
} as const

/** The happening of a trade or whale. */
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

/** Substitutes the configured venue names in an example. */
export const exampleOf =
  (example: object) =>
  (names: VenueTable): unknown =>
    withVenueNames(example, names)

/** Known maker and taker, in lower case. */
function walletsOf(maker: string | null, taker: string | null): readonly string[] {
  if (maker === null && taker === null) return NO_WALLETS
  const wallets: string[] = []
  if (maker !== null) wallets.push(maker.toLowerCase())
  if (taker !== null) wallets.push(taker.toLowerCase())
  return wallets
}
