// A market and its event as the catalogue knows them, and which status may follow which.
// Not for: the live book, prices and trades (order-book.ts, the rings), which the actor owns.
// Upholds MARKET1.

import type { MarketId, NativeEventId, NativeMarketId, OutcomeId, VenueKey } from '../ids.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from '../units.ts'
import type { MarketFees } from './fees.ts'

/** A small dense integer that storage gives each market once, for compact keys; from 1. */
export type MarketNumber = number

export type MarketStatus = 'open' | 'closed' | 'resolved'
export const MARKET_STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']

/** What a market is called in every part of the engine: made once, shared by reference. */
export interface MarketRef {
  readonly id: MarketId
  readonly number: MarketNumber
  readonly venue: VenueKey
  /** The user's name of the venue. */
  readonly platform: string
  readonly nativeId: NativeMarketId
}

/** One outcome: what it is called and what the venue's messages name. */
export interface OutcomeListing {
  readonly label: string
  readonly id: OutcomeId
}

/**
 * What an outcome pays, other than 0 or 1, when what was asked stays undecided (a cancelled game): `half` 0.50, `venue` a
 * price that the venue sets. Null in a listing: neither its rules nor its category name one.
 */
export type OtherPayout = 'half' | 'venue'
export const OTHER_PAYOUTS: readonly OtherPayout[] = ['half', 'venue']

/** JSON as a venue sent it, for the native views. */
export type JsonRecord = { readonly [key: string]: unknown }

/**
 * One market of a venue's catalogue, normalized. All prices are of the first outcome.
 * `description` and `native` are stored, not kept in memory.
 */
export interface MarketListing {
  readonly venue: VenueKey
  readonly nativeId: NativeMarketId
  readonly slug: string
  readonly question: string
  readonly description: string | null
  readonly status: MarketStatus
  /** Known to the venue but not yet trading (Kalshi's `initialized`): listed only when asked for. */
  readonly isUnopened: boolean
  /** At least two for a binary market, in the venue's order; the book is quoted for the first. */
  readonly outcomes: readonly OutcomeListing[]
  readonly event: NativeEventId | null
  /** As users see it: venue a's own slug, venue b's ticker in lower case. */
  readonly eventSlug: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly image: string | null
  readonly url: string | null
  readonly createdAtMs: TimeMs | null
  readonly openAtMs: TimeMs | null
  readonly closeAtMs: TimeMs | null
  readonly tickMicros: PriceMicros | null
  readonly lastPrice: PriceMicros | null
  readonly bestBid: PriceMicros | null
  readonly bestAsk: PriceMicros | null
  /** The venue's own figures, in dollars (venue b: contracts × last price). */
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  readonly openInterest: SizeMicros | null
  /** Payout of the first outcome once resolved. */
  readonly settlementPrice: PriceMicros | null
  /** What trading it costs, as far as the answers that listed it say. */
  readonly fees: MarketFees
  /** The least contracts of an order; null: the venue does not say. */
  readonly orderSizeMin: SizeMicros | null
  readonly otherPayout: OtherPayout | null
  readonly native: JsonRecord
}

/** A listing as one answer of a venue gave it. */
export interface ReadListing extends MarketListing {
  /** When the venue changed it last; absent or null where it does not say. */
  readonly changedAtMs?: TimeMs | null
  /** The answer named no event of the market: question, category, tags, image and close come from the market alone. */
  readonly lacksEvent?: boolean
}

/** What a message about a market's life says of the market. */
export type MarketFacts = Pick<
  MarketListing,
  | 'status'
  | 'question'
  | 'slug'
  | 'eventSlug'
  | 'outcomes'
  | 'closeAtMs'
  | 'settlementPrice'
  | 'fees'
>

/** One event (group of markets) of a venue's catalogue. `description` and `native` are stored only. */
export interface EventListing {
  readonly venue: VenueKey
  readonly nativeId: NativeEventId
  readonly slug: string
  readonly title: string
  readonly description: string | null
  /** Venue b's series ticker, venue a's series slug. */
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly image: string | null
  readonly startAtMs: TimeMs | null
  readonly endAtMs: TimeMs | null
  readonly isMutuallyExclusive: boolean
  /** Exactly one of so many markets wins, by the venue's own rules; null: the venue does not say so. */
  readonly winnerAmong: number | null
  readonly native: JsonRecord
}

/** An event as one answer of a venue gave it; see ReadListing. */
export interface ReadEvent extends EventListing {
  /** The answer did not list the event's markets, so that `winnerAmong` says nothing. */
  readonly lacksMarkets?: boolean
  readonly changedAtMs?: TimeMs | null
}

/** Open → closed → resolved; closed → open when a venue reopens; never back from resolved. */
export function mayFollow(from: MarketStatus, to: MarketStatus): boolean {
  return from !== 'resolved' || to === 'resolved'
}
