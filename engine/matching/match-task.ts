// Messages to and from the matcher's thread.

import type { MatchMarket } from '../subject.ts'
import type { TeamEntry } from '../team-listing.ts'
import type { PairChanges } from './search/pair-graph.ts'
import type { FamilyOverride } from './veto/families.ts'

/**
 * Tasks are numbered from 1; task 1 starts with an empty index. A thread that missed a task, because it is new, answers
 * `lost`. Market numbers are those of the catalogue, above 0.
 */
export type MatchTask = { readonly seq: number } & (ChangeTask | FindTask)

/** Adds markets, removes others with their pairs, and applies operator overrides and the venues' team lists. */
export interface ChangeTask {
  readonly kind: 'change'
  readonly put: readonly { readonly number: number; readonly market: MatchMarket }[]
  readonly removed: readonly number[]
  readonly overrides: readonly PairOverride[]
  /** All overrides on families, if they changed. */
  readonly families?: readonly FamilyOverride[]
  /** Rows of the venues' team lists that were not sent yet. */
  readonly teams?: readonly TeamEntry[]
}

/** Finds partners of indexed markets. Unknown markets are ignored. */
export interface FindTask {
  readonly kind: 'find'
  readonly numbers: readonly number[]
}

/** An operator override on two markets, which outranks any score. Null removes it. */
export interface PairOverride {
  readonly a: number
  readonly b: number
  readonly decision: 'confirmed' | 'rejected' | null
}

export type MatchChanges = PairChanges

/** Changes that a task made to the chosen pairs, or `lost` if the thread missed earlier tasks. */
export type MatchResult = MatchChanges | 'lost'
