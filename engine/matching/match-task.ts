// Messages between the matcher and its thread.

import type { MatchMarket } from '../subject.ts'
import type { TeamEntry } from '../team-listing.ts'
import type { PairChanges } from './search/pair-graph.ts'
import type { FamilyOverride } from './veto/families.ts'

/**
 * Tasks are numbered from 1, and task 1 starts with an empty index. A thread that missed a task, because it replaced
 * another thread, returns `lost`. Market numbers are those of the catalogue, above 0.
 */
export type MatchTask = { readonly seq: number } & (ChangeTask | FindTask)

/** Adds and removes markets, and applies operator overrides and team lists. */
export interface ChangeTask {
  readonly kind: 'change'
  readonly put: readonly { readonly number: number; readonly market: MatchMarket }[]
  readonly removed: readonly number[]
  readonly overrides: readonly PairOverride[]
  /** All family overrides, if they changed. */
  readonly families?: readonly FamilyOverride[]
  /** Entries of the venues' team lists that the thread does not have yet. */
  readonly teams?: readonly TeamEntry[]
}

/** Searches the partners of indexed markets. Unknown markets are ignored. */
export interface FindTask {
  readonly kind: 'find'
  readonly numbers: readonly number[]
}

/** An operator's decision on two markets, which has priority over any score. A null decision removes the override. */
export interface PairOverride {
  readonly a: number
  readonly b: number
  readonly decision: 'confirmed' | 'rejected' | null
}

export type MatchChanges = PairChanges

/** Changes that a task made to the chosen pairs, or `lost` if the thread missed earlier tasks. */
export type MatchResult = MatchChanges | 'lost'
