import type { MarketId, NativeEventId, NativeMarketId, OutcomeId, VenueKey } from '../ids.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from '../units.ts'
import type { MarketFees } from './fees.ts'

export type MarketNumber = number

export type MarketStatus = 'open' | 'closed' | 'resolved'
export const MARKET_STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']

/**
 * The venue's statement about a market's result, independent of whether it trades.
 * - `none`: the market has no result.
 * - `proposed`: the result may still be contested.
 * - `disputed`: the result is contested.
 * - `resolved`: the result is final.
 */
export type ResolutionStatus = 'none' | 'proposed' | 'disputed' | 'resolved'
export const RESOLUTION_STATUSES: readonly ResolutionStatus[] = [
  'none',
  'proposed',
  'disputed',
  'resolved',
]

/** Identity of a market in every part of the engine. There is one object per market. */
export interface MarketRef {
  readonly id: MarketId
  readonly number: MarketNumber
  readonly venue: VenueKey
  readonly platform: string
  readonly nativeId: NativeMarketId
}

export interface OutcomeListing {
  readonly label: string
  readonly id: OutcomeId
}

/**
 * The payout of an outcome if the question stays undecided, for example because a game is cancelled. `half`: 0.50.
 * `venue`: a price that the venue sets. Null in a listing if neither its rules nor its category state a payout.
 */
export type OtherPayout = 'half' | 'venue'
export const OTHER_PAYOUTS: readonly OtherPayout[] = ['half', 'venue']

/** JSON as received from a venue, for the native endpoints. */
export type JsonRecord = { readonly [key: string]: unknown }

/** Schema of stored market records. Each new field increments it. */
export const MARKET_SCHEMA = 5

/**
 * One market of a venue's catalogue, normalized. All prices are of the first outcome. `description` and `native` are
 * only on disk.
 */
export interface MarketListing {
  readonly venue: VenueKey
  readonly nativeId: NativeMarketId
  readonly slug: string
  readonly question: string
  readonly description: string | null
  readonly status: MarketStatus
  /** Whether the market exists but does not trade yet (Kalshi's `initialized`). Listed only on request. */
  readonly isUnopened: boolean
  /** At least two for a binary market, in the venue's order. The book is quoted for the first outcome. */
  readonly outcomes: readonly OutcomeListing[]
  readonly event: NativeEventId | null
  /** Public form of the event's id: venue a's slug, or venue b's ticker in lower case. */
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
  /** Price of the first outcome a day ago. Null if the venue does not state it. */
  readonly previousPrice: PriceMicros | null
  /** The venue's own figures, in the unit VenueFacts.volumeUnit. `volumeTotal` is cumulative. */
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  readonly openInterest: SizeMicros | null
  /** Time at which the venue's figures were read. They contain all earlier trades. Null: unknown. */
  readonly figuresAtMs: TimeMs | null
  /** Like `figuresAtMs`, for `volume24h` and `previousPrice`, which a stream may not contain. */
  readonly dayFiguresAtMs: TimeMs | null
  readonly resolutionStatus: ResolutionStatus | null
  /** Payout of the first outcome. Final if the market is resolved, preliminary while `resolutionStatus` is `proposed`. */
  readonly settlementPrice: PriceMicros | null
  /** Time of the settlement. Null before the settlement, or if the venue does not state it. */
  readonly settledAtMs: TimeMs | null
  readonly fees: MarketFees
  /** Minimum size of an order, in contracts. Null: the venue does not state it. */
  readonly orderSizeMin: SizeMicros | null
  readonly otherPayout: OtherPayout | null
  readonly native: JsonRecord
}

export interface ReadListing extends MarketListing {
  /** Time of the venue's last change of the market. Absent or null if the venue does not state it. */
  readonly changedAtMs?: TimeMs | null
  /**
   * Whether the response contained no event of the market. Question, category, tags, image and close are then from the
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

/** One event, a group of markets, of a venue's catalogue. `description` and `native` are only on disk. */
export interface EventListing {
  readonly venue: VenueKey
  readonly nativeId: NativeEventId
  readonly slug: string
  readonly title: string
  readonly description: string | null
  /** Venue b's series ticker or venue a's series slug. */
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly image: string | null
  readonly startAtMs: TimeMs | null
  readonly endAtMs: TimeMs | null
  readonly isMutuallyExclusive: boolean
  /** Number of markets of which exactly one wins by the venue's rules. Null: the venue does not state it. */
  readonly winnerAmong: number | null
  readonly native: JsonRecord
}

export interface ReadEvent extends EventListing {
  /** Whether the response did not list the event's markets. `winnerAmong` is then meaningless. */
  readonly lacksMarkets?: boolean
  readonly changedAtMs?: TimeMs | null
}

/**
 * Whether a status may follow another: open → closed → resolved, or closed → open if the venue reopens the market.
 * Resolved is final.
 */
export function mayFollow(from: MarketStatus, to: MarketStatus): boolean {
  return from !== 'resolved' || to === 'resolved'
}

export type Resolution = Pick<
  MarketListing,
  'status' | 'resolutionStatus' | 'settlementPrice' | 'settledAtMs'
>

/**
 * Merges the venue's new statement `now`. A known result remains if a later statement lacks it. Before the resolution,
 * a dispute or continued trading removes the result. A statement without a result about a market that no longer trades
 * may be outdated and changes nothing.
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
