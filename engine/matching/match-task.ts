// What crosses the thread of the matcher, both ways.

import type { MatchMarket } from '../subject.ts'
import type { TeamEntry } from '../team-listing.ts'
import type { PairChanges } from './search/pair-graph.ts'
import type { FamilyOverride } from './veto/families.ts'

/**
 * Tasks are numbered from 1, the first one begins with nothing filed; a thread that lost one says so: it is
 * a new one. Numbers are those of the catalogue, above 0.
 */
export type MatchTask = { readonly seq: number } & (ChangeTask | FindTask)

/** Files markets, removes others with their pairs, and takes an operator's verdicts on pairs and the venues' teams. */
export interface ChangeTask {
  readonly kind: 'change'
  readonly put: readonly { readonly number: number; readonly market: MatchMarket }[]
  readonly removed: readonly number[]
  readonly overrides: readonly PairOverride[]
  /** All verdicts on families, where they changed. */
  readonly families?: readonly FamilyOverride[]
  /** Rows of the venues' lists of teams that were not given yet. */
  readonly teams?: readonly TeamEntry[]
}

/** Looks for partners of filed markets; unknown ones are left out. */
export interface FindTask {
  readonly kind: 'find'
  readonly numbers: readonly number[]
}

/** A person's word on two markets, which stands above any score; null takes it back. */
export interface PairOverride {
  readonly a: number
  readonly b: number
  readonly decision: 'confirmed' | 'rejected' | null
}

export type MatchChanges = PairChanges

/** What a task did to the choice of pairs, or that the thread knows nothing of those before it. */
export type MatchResult = MatchChanges | 'lost'
