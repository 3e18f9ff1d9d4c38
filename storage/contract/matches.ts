// Data types of matches. Current pairs are in the `market` environment, because they can be recomputed. Operators'
// overrides are in `accounts`, where callers wait until each write is durable.

import type { MarketNumber } from '../../engine/market/market.ts'
import type { TimeMs } from '../../engine/units.ts'

/** A pair's score, as score.ts computes it. */
interface StoredPairScore {
  readonly score: number
  readonly relation: string
  readonly inverted: boolean | null
  readonly outcomeMap: readonly [number, number] | null
  readonly vetoes: readonly string[]
  readonly reasons: readonly string[]
  readonly explanation: string
}

/** A matched pair. A market belongs to at most one. */
export interface StoredMatch extends StoredPairScore {
  /** Markets of venue a and venue b. */
  readonly a: MarketNumber
  readonly b: MarketNumber
  /** Time of the first match of this pair. */
  readonly matchedAtMs: TimeMs
}

/**
 * An operator's override for one pair. It uses the venues' own ids, because internal numbers may change. It may instead
 * apply to all pairs of two families, given by their patterns (engine/matching/veto/families.ts).
 */
export interface StoredOverride {
  readonly on: 'pair' | 'family'
  readonly a: string
  readonly b: string
  readonly decision: 'confirmed' | 'rejected'
  readonly atMs: TimeMs
}

/** What an override applies to. */
export type OverrideKey = Pick<StoredOverride, 'on' | 'a' | 'b'>
