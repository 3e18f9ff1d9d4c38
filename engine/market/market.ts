// Catalogue entries of markets and events, and the valid status transitions.

import type { MarketId, NativeEventId, NativeMarketId, OutcomeId, VenueKey } from '../ids.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from '../units.ts'
import type { MarketFees } from './fees.ts'

/** A small dense integer from 1 that storage assigns to each market, for compact keys. */
export type MarketNumber = number

export type MarketStatus = 'open' | 'closed' | 'resolved'
export const MARKET_STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']

/**
 * The venue's statement about a market's result, independent of whether it trades.
 * - `none`: there is no result.
 * - `proposed`: there is one that may still be contested.
 * - `disputed`: it is contested.
 * - `resolved`: it is final.
 */
export type ResolutionStatus = 'none' | 'proposed' | 'disputed' | 'resolved'
export const RESOLUTION_STATUSES: readonly ResolutionStatus[] = [
  'none',
  'proposed',
  'disputed',
  'resolved',
]

/** Identity of a market in every part of the engine. Created once, shared by reference. */
export interface MarketRef {
  readonly id: MarketId
  readonly number: MarketNumber
  readonly venue: VenueKey
  /** The public name of the venue. */
  readonly platform: string
  readonly nativeId: NativeMarketId
}

export interface OutcomeListing {
  readonly label: string
  readonly id: OutcomeId
}

/**
 * What an outcome pays, other than 0 or 1, when the question stays undecided (a cancelled game): `half`
 * 0.50, `venue` a price that the venue sets. Null in a listing: neither its rules nor its category name
 * one.
 */
export type OtherPayout = 'half' | 'venue'
export const OTHER_PAYOUTS: readonly OtherPayout[] = ['half', 'venue']

/** JSON as a venue sent it, for the native views. */
export type JsonRecord = { readonly [key: string]: unknown }

/** Schema number of stored market records. A new field raises it. */
export const MARKET_SCHEMA = 5

/**
 * One market of a venue's catalogue, normalized. All prices are of the first outcome. `description` and
 * `native` are stored, not held in memory.
 */
export interface MarketListing {
  readonly venue: VenueKey
  readonly nativeId: NativeMarketId
  readonly slug: string
  readonly question: string
  readonly description: string | null
  readonly status: MarketStatus
  /** Known to the venue but not yet trading (Kalshi's `initialized`). Listed only on request. */
  readonly isUnopened: boolean
  /** At least two for a binary market, in the venue's order. The book is quoted for the first. */
  readonly outcomes: readonly OutcomeListing[]
  readonly event: NativeEventId | null
  /** The public form: venue a's own slug, venue b's ticker in lower case. */
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
  /** Price of the first outcome a day ago. Null where the venue does not state it. */
  readonly previousPrice: PriceMicros | null
  /** The venue's own figures in its own unit: VenueFacts.volumeUnit. The total is cumulative. */
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  readonly openInterest: SizeMicros | null
  /** When the venue's figures were read. They contain the trades up to then. Null: unknown. */
  readonly figuresAtMs: TimeMs | null
  /** The same for the daily figures `volume24h` and `previousPrice`, which a stream may not carry. */
  readonly dayFiguresAtMs: TimeMs | null
  /** Null: the venue does not state it. */
  readonly resolutionStatus: ResolutionStatus | null
  /**
   * Payout of the first outcome: final once resolved, as determined so far while `resolutionStatus` is
   * `proposed`.
   */
  readonly settlementPrice: PriceMicros | null
  /** When the market was settled. Null before, and where the venue does not state it. */
  readonly settledAtMs: TimeMs | null
  /** Its trading fees, as far as the responses that listed it state them. */
  readonly fees: MarketFees
  /** Minimum size of an order, in contracts. Null: the venue does not state it. */
  readonly orderSizeMin: SizeMicros | null
  readonly otherPayout: OtherPayout | null
  readonly native: JsonRecord
}

export interface ReadListing extends MarketListing {
  /** When the venue last changed it. Absent or null where it does not state that. */
  readonly changedAtMs?: TimeMs | null
  /**
   * The response named no event of the market. Question, category, tags, image and close come from the
   * market alone.
   */
  readonly lacksEvent?: boolean
}

export type MarketFacts = Pick<
  MarketListing,
  | 'status'
  | 'question'
  | 'slug'
  | 'eventSlug'
  | 'outcomes'
  | 'closeAtMs'
  | 'resolutionStatus'
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
  /** Exactly one of this many markets wins, by the venue's own rules. Null: the venue does not state it. */
  readonly winnerAmong: number | null
  readonly native: JsonRecord
}

/** An event as one response of a venue contained it. See ReadListing. */
export interface ReadEvent extends EventListing {
  /** The response did not list the event's markets, so `winnerAmong` is meaningless. */
  readonly lacksMarkets?: boolean
  readonly changedAtMs?: TimeMs | null
}

/** Open → closed → resolved, and closed → open when a venue reopens. Never back from resolved. */
export function mayFollow(from: MarketStatus, to: MarketStatus): boolean {
  return from !== 'resolved' || to === 'resolved'
}

export type Resolution = Pick<
  MarketListing,
  'status' | 'resolutionStatus' | 'settlementPrice' | 'settledAtMs'
>

/**
 * Merges the venue's new statement `now`. A result stays when later statements lack it. Before the market
 * is resolved, a dispute or continued trading retracts it. If the market no longer trades, a statement that
 * there is no result may be late and changes nothing.
 */
export function resolutionAfter(before: Resolution, now: Resolution): Resolution {
  const { status } = now
  if (!mayFollow(before.status, status)) return pickResolution(before)
  if (status === 'resolved') {
    const settlementPrice = now.settlementPrice ?? before.settlementPrice
    const settledAtMs = before.settledAtMs ?? now.settledAtMs
    return { status, resolutionStatus: 'resolved', settlementPrice, settledAtMs }
  }
  const isUnstated =
    now.resolutionStatus === null || (now.resolutionStatus === 'none' && status === 'closed')
  const resolutionStatus = isUnstated
    ? (before.resolutionStatus ?? now.resolutionStatus)
    : now.resolutionStatus
  const isTakenBack = status === 'open' || resolutionStatus === 'disputed'
  const settlementPrice = now.settlementPrice ?? (isTakenBack ? null : before.settlementPrice)
  return { status, resolutionStatus, settlementPrice, settledAtMs: null }
}

function pickResolution(of: Resolution): Resolution {
  const { status, resolutionStatus, settlementPrice, settledAtMs } = of
  return { status, resolutionStatus, settlementPrice, settledAtMs }
}
