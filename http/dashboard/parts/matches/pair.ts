// A match as the pages use it: both markets under fixed names, and the prices of both for one outcome.
// Not for: how it looks (http/dashboard/parts/matches/card.ts). Upholds DASH55, DASH58.

import type { Market, MatchList } from '../../records.ts'
import { contrary, gapOf, type LiveQuotes, type Quote, quoteOf } from '../views/prices.ts'
import type { Venues } from '../views/venues.ts'

export type MatchRecord = MatchList['matches'][number]

/** One question on both venues. */
export interface MatchPair {
  readonly a: Market
  readonly b: Market
  readonly match: MatchRecord
}

/** What both ask for one outcome. */
export interface AlignedQuotes {
  /** The first venue's first outcome: prices are for it. */
  readonly outcome: string
  /** What the second venue calls the same; null: it is not known which of its outcomes means the same. */
  readonly twinOutcome: string | null
  readonly a: Quote
  /** Laid on the same side; both unknown where that side is not known. */
  readonly b: Quote
  /** How much more the second venue asks, between midpoints; null: not known. */
  readonly gap: number | null
}

/** The record's two markets, which stand under the venues' names; null when one of them is missing. */
export function pairOf(match: MatchRecord, { a: nameOfA, b: nameOfB }: Venues): MatchPair | null {
  const fields = new Map(Object.entries<unknown>(match))
  const [a, b] = [fields.get(nameOfA), fields.get(nameOfB)]
  return isMarket(a) && isMarket(b) ? { a, b, match } : null
}

/** The pairs that can be shown, in the order of the answer. */
export const pairsOf = (matches: readonly MatchRecord[], venues: Venues): readonly MatchPair[] =>
  matches.flatMap((match) => pairOf(match, venues) ?? [])

/** Both prices for the first venue's first outcome. */
export function alignedQuotes({ a, b, match }: MatchPair, live: LiveQuotes): AlignedQuotes {
  const { inverted } = match
  const own = quoteOf(a, live)
  const outcome = a.outcomes[0]?.label ?? 'Yes'
  if (inverted === null) {
    return { outcome, twinOutcome: null, a: own, b: { bid: null, ask: null }, gap: null }
  }
  const other = quoteOf(b, live)
  const aligned = inverted ? contrary(other) : other
  const twinOutcome = b.outcomes[inverted ? 1 : 0]?.label ?? null
  return { outcome, twinOutcome, a: own, b: aligned, gap: gapOf(own, aligned) }
}

function isMarket(value: unknown): value is Market {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['id', 'question', 'outcomes', 'platforms'].every((name) => name in value)
  )
}
