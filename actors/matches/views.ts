import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { PairScore } from '../../engine/matching/compare/pair-scorer.ts'
import { MATCH_SCORE } from '../../engine/matching/veto/vetoes.ts'
import { MICROS, type TimeMs } from '../../engine/units.ts'
import type { MarketView } from '../market/views.ts'

/** Each market is in at most one pair. */
export interface MatchView {
  /** `a` is the market of the venue that comes first in the venue table. */
  readonly a: MarketView
  readonly b: MarketView
  readonly pairScore: PairScore
  readonly matchedAtMs: TimeMs
}

type Confidence = 'high' | 'medium' | 'low'

/**
 * `open`: both markets trade or will trade. `closed`: one of them stopped trading, and one has no result. `resolved`: both have
 * a result.
 */
export const MATCH_STATUSES = ['open', 'closed', 'resolved', 'all'] as const
export type MatchStatus = (typeof MATCH_STATUSES)[number]

/** All descending. Equal values are sorted by score, then by volume. */
export const MATCH_ORDERS = ['score', 'price_gap', 'volume'] as const
export type MatchOrder = (typeof MATCH_ORDERS)[number]

/** Null or an empty list accepts any value. Texts are case-insensitive. */
export interface MatchFilter {
  readonly status: MatchStatus
  readonly scoreMin: number
  /** Each of these words must occur in a question or event title of the pair. */
  readonly search: string | null
  /** At least one market of the pair, on one of these venues, must have one of these slugs. */
  readonly slugs: VenueTexts
  /** Same as `slugs`, for event ids. */
  readonly events: VenueTexts
  readonly confidence: Confidence | null
  readonly relation: string | null
  /**
   * Minimum absolute difference of the midpoints in dollars. Above 0, pairs with an unknown difference are excluded.
   */
  readonly gapMin: number
}

/** Accepted texts and the venues to which they apply. An empty list of texts accepts any market. */
export interface VenueTexts {
  readonly venues: readonly VenueKey[]
  readonly texts: readonly string[]
}

export interface MatchPage {
  readonly matches: readonly MatchView[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

export interface MatchListView {
  /** The live pair. */
  matchOf(market: MarketRef): MatchView | null
  matchOfFirst(number: MarketNumber): MatchView | null
  /** Returns 'expired' if the pin has expired. */
  listMatches(query: {
    readonly filter: MatchFilter
    readonly sortBy: MatchOrder
    readonly pin: number | null
    readonly offset: number
    readonly limit: number
  }): MatchPage | 'expired'
  /** `total` counts all live pairs, `highCount` those with a score of at least 80. */
  readonly total: number
  readonly highCount: number
}

/** `high` from 80, `medium` from 60. */
export function confidenceOf(score: number): Confidence {
  if (score >= MATCH_SCORE) return 'high'
  return score >= MEDIUM_SCORE_MIN ? 'medium' : 'low'
}

const MEDIUM_SCORE_MIN = 60

/** True if the prices of both markets may be compared. */
export const isComparable = ({ score, relation, inverted }: PairScore): boolean =>
  score >= MATCH_SCORE && relation === 'identical' && inverted !== null

/** True if both markets have a final result. */
export const isSettled = ({ a, b }: MatchView): boolean =>
  a.summary.status === 'resolved' && b.summary.status === 'resolved'

/**
 * Midpoint of the second market minus that of the first. Both are prices of the first market's first outcome. Null if a
 * midpoint is unknown.
 */
export function priceGapOf({ a, b, pairScore }: MatchView): number | null {
  const [one, other] = [midpointOf(a), midpointOf(b)]
  if (one === null || other === null || pairScore.inverted === null) return null
  const aligned = pairScore.inverted ? 2 * MICROS - other : other
  return (aligned - one) / (2 * MICROS)
}

/** Twice the midpoint in micros, which is always an integer. Null if a side of the book is empty. */
function midpointOf(market: MarketView): number | null {
  const { bid, ask } = market.price()
  return bid === null || ask === null ? null : bid + ask
}
