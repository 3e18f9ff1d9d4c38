// What an event type of webhooks is: one descriptor, from which the engine, the routes, the documents and
// the tests read everything that they know of it. engine/webhooks/README.md says how to add one.

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

/** When an event happened, and its `data` as JSON text. */
interface Payload {
  readonly timeMs: TimeMs
  readonly data: string
}

/** What payloads are written with. */
export interface PayloadParts {
  readonly catalog: CatalogView
  /** The quoted texts of a market, also of one that the catalogue has just forgotten. */
  textsOf(market: MarketRef): MarketTexts
  /** The Market record as JSON text; `null` for a market that is gone. */
  recordOf(market: MarketRef): string
}

/** A filter of a webhook, as bodies name it. */
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

/** The filters that every type of a market has. */
export const MARKET_FILTERS: readonly FilterName[] = [
  'market_ids',
  'platform',
  'event_slugs',
  'categories',
]

/** An event type, described once. */
export interface EventDescriptor extends EventType {
  /** Other names that a webhook may give; answers have the whole name. */
  readonly shortNames: readonly string[]
  /** What happened, in a sentence. */
  readonly summary: string
  /** The filters whose facts its events have. */
  readonly filters: readonly FilterName[]
  /** Parts of its bodies that have a name in the documents: the key without `Schema`. */
  readonly shapes: Readonly<Record<string, TSchema>>
  /** The shape of `data`. */
  data(names: VenueTable): TSchema
  /** A `data` that the shape allows. */
  example(names: VenueTable): unknown
  /** Null: the cause is none of this type. `base`: the price last posted to the webhook. */
  write(cause: EventCause, parts: PayloadParts, base: PriceMicros | null): Payload | null
}

const NO_WALLETS: readonly string[] = []

/** A happening of a market that has neither trader nor price. */
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

/** What most types are like: no default, no comparison, posted however late. */
export const PLAIN_TYPE = {
  minUsdDefault: null,
  comparesPrice: false,
  needsFilter: false,
  expires: null,
  isManual: false,
  shapes: {},
} as const

/** What the types of trades are like: they have a trader, an amount and a side, and expire. */
export const TRADE_TYPE = {
  ...PLAIN_TYPE,
  filters: [...MARKET_FILTERS, 'wallets', 'taker_wallets', 'min_usd', 'side', 'taker_side'],
  expires: 'unmade',
} as const

/** What happened when a trade did, or a whale. */
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

/** An example under the configured names of the venues. */
export const exampleOf =
  (example: object) =>
  (names: VenueTable): unknown =>
    withVenueNames(example, names)

/** Maker and taker as far as known, in lower case. */
function walletsOf(maker: string | null, taker: string | null): readonly string[] {
  if (maker === null && taker === null) return NO_WALLETS
  const wallets: string[] = []
  if (maker !== null) wallets.push(maker.toLowerCase())
  if (taker !== null) wallets.push(taker.toLowerCase())
  return wallets
}
