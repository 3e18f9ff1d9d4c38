// What the owner of matches lets the face see: pairs of markets that are thought to ask the same, with their scores.
// Not for: finding them (actors/matches/matcher.ts).

import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { PairScore } from '../../engine/matching/compare/judge.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { MarketView } from '../market/views.ts'

/** A pair as it is chosen now; each market is in at most one. */
export interface MatchView {
  /** Markets of two venues, in the order of the table. */
  readonly a: MarketView
  readonly b: MarketView
  readonly judged: PairScore
  readonly matchedAtMs: TimeMs
}

type Confidence = 'high' | 'medium' | 'low'

/** Filters of the match list; null or empty means any. Texts are equal without regard to case. */
export interface MatchFilter {
  readonly scoreMin: number
  /** Words that must all stand in the pair's questions or event titles. */
  readonly search: string | null
  /** Slugs of which the pair's market at one of these venues must have one. */
  readonly slugs: VenueTexts
  /** The same of ids of events. */
  readonly events: VenueTexts
  readonly confidence: Confidence | null
  readonly relation: string | null
}

/** Texts that are asked for at some venues; empty: any. */
export interface VenueTexts {
  readonly venues: readonly VenueKey[]
  readonly texts: readonly string[]
}

/** A page of matches by score, then volume of both; `pin` as in all lists. */
export interface MatchPage {
  readonly matches: readonly MatchView[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

export interface MatchListView {
  /** The pair of a market, whatever its score. */
  matchOf(market: MarketRef): MatchView | null
  /** The pair whose first market has this number. */
  matchOfFirst(number: MarketNumber): MatchView | null
  /** One page; 'expired' when the pin is no longer kept. */
  listMatches(query: {
    readonly filter: MatchFilter
    readonly pin: number | null
    readonly offset: number
    readonly limit: number
  }): MatchPage | 'expired'
  /** The number of all pairs, and of those with a score of at least 80. */
  readonly total: number
  readonly highCount: number
}

/** `high` from 80, `medium` from 60. */
export function confidenceOf(score: number): Confidence {
  if (score >= HIGH_SCORE_MIN) return 'high'
  return score >= MEDIUM_SCORE_MIN ? 'medium' : 'low'
}

export const HIGH_SCORE_MIN = 80
const MEDIUM_SCORE_MIN = 60
