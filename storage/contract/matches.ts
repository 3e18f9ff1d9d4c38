// Data types of matched markets. Matches are in the environment `market`, because they can be recomputed. Operators'
// overrides are in `accounts`, where callers wait until a write is durable.

import type { MarketNumber } from '../../engine/market/market.ts'
import type { TimeMs } from '../../engine/units.ts'

interface StoredPairScore {
  readonly score: number
  readonly relation: string
  readonly inverted: boolean | null
  readonly outcomeMap: readonly [number, number] | null
  readonly vetoes: readonly string[]
  readonly reasons: readonly string[]
  readonly explanation: string
}

/** A matched pair. Each market belongs to at most one pair. */
export interface StoredMatch extends StoredPairScore {
  readonly a: MarketNumber
  readonly b: MarketNumber
  readonly matchedAtMs: TimeMs
}

/**
 * An operator's override for a pair of markets, identified by the venues' own ids. Alternatively it applies to all
 * pairs of two market families, given by their patterns (engine/matching/veto/families.ts).
 */
export interface StoredOverride {
  readonly on: 'pair' | 'family'
  readonly a: string
  readonly b: string
  readonly decision: 'confirmed' | 'rejected'
  readonly atMs: TimeMs
}

export type OverrideKey = Pick<StoredOverride, 'on' | 'a' | 'b'>
