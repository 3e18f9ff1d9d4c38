// The part of the storage's contract that concerns matches: the pairs as they are chosen now (in `market`, since
// they can be found again), and operators' verdicts on pairs (in `accounts`, each awaited to the platter).

import type { MarketNumber } from '../../engine/market/market.ts'
import type { TimeMs } from '../../engine/units.ts'

/** How a pair was judged, as score.ts gives it. */
interface StoredPairScore {
  readonly score: number
  readonly relation: string
  readonly inverted: boolean | null
  readonly outcomeMap: readonly [number, number] | null
  readonly vetoes: readonly string[]
  readonly reasons: readonly string[]
  readonly explanation: string
}

/** A pair of the choice: each market is in one at most. */
export interface StoredMatch extends StoredPairScore {
  /** Of venue a, and of venue b. */
  readonly a: MarketNumber
  readonly b: MarketNumber
  /** When the pair was found first. */
  readonly matchedAtMs: TimeMs
}

/** Committed with all other market rows of the turn. */
export interface MatchTable {
  all(): Iterable<StoredMatch>
  /** Replaces the match of the same market of venue a. */
  put(match: StoredMatch): void
  /** By the market of venue a. */
  remove(a: MarketNumber): void
}

/**
 * An operator's verdict on a pair, by the venues' own ids: it outlives our numbers; or on all pairs of two families, by
 * their patterns (engine/matching/veto/families.ts).
 */
export interface StoredOverride {
  readonly on: 'pair' | 'family'
  readonly a: string
  readonly b: string
  readonly decision: 'confirmed' | 'rejected'
  readonly atMs: TimeMs
}

/** What a verdict is about. */
export type OverrideKey = Pick<StoredOverride, 'on' | 'a' | 'b'>

/** Every change resolves once it is on the platter, and rejects when that fails in 5 s. */
export interface OverrideTable {
  all(): Iterable<StoredOverride>
  /** Replaces the verdict on the same pair or families. */
  put(override: StoredOverride): Promise<void>
  remove(of: OverrideKey): Promise<void>
}
