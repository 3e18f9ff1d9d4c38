// Which outcomes are bought together when a market's book changes: both directions of its pair on the other venue, and
// the outcomes of its event where exactly one of them wins. Not for: what they earn (engine/arbitrage/basket.ts).
// Upholds ARBIT1, ARBIT2, ARBIT6.

import { asksOf, type Leg } from '../../engine/arbitrage/basket.ts'
import { feesAt } from '../../engine/market/fees.ts'
import type { OpportunityKind } from '../../engine/opportunity.ts'
import { PRICE_ONE, type TimeMs } from '../../engine/units.ts'
import { HIGH_SCORE_MIN, type MatchView } from '../matches/views.ts'
import type { BookView, MarketView } from '../views.ts'

/** One outcome to buy. */
export interface Part {
  readonly market: MarketView
  readonly isFirst: boolean
}

/** Outcomes of which a known number wins. */
export interface Candidate {
  /** Which outcomes: the same text whenever they are the same. */
  readonly key: string
  readonly kind: OpportunityKind
  readonly parts: readonly Part[]
  readonly winners: number
  readonly score: number | null
  readonly explanation: string
}

/** Levels of a side that are bought from at most: of a deeper gap the rest is left out, so its profit is understated. */
const LEVELS_MAX = 200
/** Outcomes of an event that are bought together at most. */
const EVENT_MARKETS_MAX = 64

const NONE: readonly Candidate[] = []
/** Of each pair as it was last judged: a pair is asked for with every change of its books. */
const ofMatches = new WeakMap<MatchView, readonly Candidate[]>()

/** Both directions of a pair; none unless its markets surely ask the same. */
export function pairCandidates(match: MatchView | null): readonly Candidate[] {
  if (match === null) return NONE
  const known = ofMatches.get(match) ?? directionsOf(match)
  ofMatches.set(match, known)
  return known
}

function directionsOf(match: MatchView): readonly Candidate[] {
  if (!isSame(match)) return NONE
  const { a, b, judged } = match
  const isTurned = judged.inverted === true
  return [true, false].map((isFirst) =>
    candidate([part(a, isFirst), part(b, isTurned ? isFirst : !isFirst)], {
      kind: 'cross_venue',
      winners: 1,
      score: judged.score,
      explanation: judged.explanation,
    }),
  )
}

/** Whether a pair asks the same, so that it is known which outcome of either wins when one of the other's does. */
export function isSame({ judged }: MatchView): boolean {
  const { score, relation, inverted } = judged
  return score >= HIGH_SCORE_MIN && relation === 'identical' && inverted !== null
}

/** Every first outcome of an event of which exactly one wins, and every second one. */
export function eventCandidates(markets: readonly MarketView[], title: string): Candidate[] {
  const open = markets.filter(({ summary }) => summary.status === 'open')
  const count = open.length
  // One that trades no longer and has not lost may be the one that wins.
  if (count < 2 || count > EVENT_MARKETS_MAX || !markets.every(isOpenOrLost)) return []
  const shared = { kind: 'single_venue', score: null } as const
  const said = `Exactly one of the ${count} outcomes of “${title}” wins.`
  return [
    candidate(
      open.map((market) => part(market, true)),
      { ...shared, winners: 1, explanation: said },
    ),
    candidate(
      open.map((market) => part(market, false)),
      { ...shared, winners: count - 1, explanation: said },
    ),
  ]
}

/**
 * Whether the best prices of an event's markets leave anything in either of its baskets, before fees: every first outcome
 * for less than 1, or every second one for less than one less than there are, which is bids of more than 1 together. For
 * every change of a book, without making the baskets.
 */
export function hasEventGap(markets: readonly MarketView[]): boolean {
  let asks = 0
  let bids = 0
  for (const market of markets) {
    if (market.summary.status !== 'open') continue
    const { bid, ask } = market.price()
    asks += ask ?? PRICE_ONE
    bids += bid ?? Number.NEGATIVE_INFINITY
  }
  return asks < PRICE_ONE || bids > PRICE_ONE
}

/** Whether the best prices leave anything, before fees: cheap, for every change of a book. */
export function hasGap({ parts, winners }: Pick<Candidate, 'parts' | 'winners'>): boolean {
  let left = winners * PRICE_ONE
  for (const { market, isFirst } of parts) {
    const { bid, ask } = market.price()
    const price = isFirst ? ask : bid === null ? null : PRICE_ONE - bid
    if (price === null) return false
    left -= price
  }
  return left > 0
}

/** What a part is offered for, with the fees of this moment. */
export function legOf({ market, isFirst }: Part, book: BookView, nowMs: TimeMs): Leg {
  return {
    asks: asksOf(book, isFirst ? 'first' : 'second'),
    fees: feesAt(market.summary.fees, nowMs),
  }
}

/** How a part's book stands, without its levels. */
export const headOf = ({ market }: Part): BookView => market.book(0)

export const bookOf = ({ market }: Part): BookView => market.book(LEVELS_MAX)

const part = (market: MarketView, isFirst: boolean): Part => ({ market, isFirst })

const isOpenOrLost = ({ summary }: MarketView): boolean =>
  summary.status === 'open' || (summary.status === 'resolved' && summary.settlementPrice === 0)

function candidate(parts: readonly Part[], rest: Omit<Candidate, 'key' | 'parts'>): Candidate {
  return { key: parts.map(keyOf).join(' '), parts, ...rest }
}

const keyOf = ({ market, isFirst }: Part): string => `${market.ref.number}${isFirst ? '+' : '-'}`
