// An opportunity: a basket of outcomes that earns at this moment, as its owner follows it, tells it and keeps it.

import type { NativeMarketId, VenueKey } from './ids.ts'
import type { MarketRef } from './market/market.ts'
import {
  DAY_MS,
  MICROS,
  type PriceMicros,
  type SizeMicros,
  type TimeMs,
  type UsdMicros,
  usdMicros,
} from './units.ts'

/** `cross_venue`: one question on two venues. `single_venue`: the outcomes of one exclusive event. */
export type OpportunityKind = 'cross_venue' | 'single_venue'
export const OPPORTUNITY_KINDS: readonly OpportunityKind[] = ['cross_venue', 'single_venue']

/**
 * Why an opportunity ended. `prices`: the books or the fees leave nothing. `stale`: a book may be out of date.
 * `market_closed`: a market trades no longer. `match_changed`: its markets are no longer known to ask the same.
 * `stopped`: the service was stopped while it was open. `restarted`: it was open when the last run ended, however that was.
 */
export type CloseReason =
  | 'prices'
  | 'stale'
  | 'market_closed'
  | 'match_changed'
  | 'stopped'
  | 'restarted'
export const CLOSE_REASONS: readonly CloseReason[] = [
  'prices',
  'stale',
  'market_closed',
  'match_changed',
  'stopped',
  'restarted',
]

/** So many contracts of every leg, at one price each. */
export interface BasketStep {
  readonly contracts: SizeMicros
  /** Of the legs, in their order. */
  readonly prices: readonly PriceMicros[]
}

/** What one leg costs. */
export interface BoughtLeg {
  /** Price × contracts over its levels, before fees. */
  readonly cost: UsdMicros
  /** The most that its venue takes for an order of these fills. */
  readonly fee: UsdMicros
}

/** One outcome that is bought. */
export interface OpportunityLeg extends BoughtLeg {
  readonly market: MarketRef
  readonly question: string
  /** Its label. */
  readonly outcome: string
  /** Whether it is the market's first outcome, for which the book is quoted. */
  readonly isFirst: boolean
  /** Of the market's `orderbook` channel. */
  readonly bookSeq: number
  /** How long ago the book was last known to be right, in milliseconds. */
  readonly bookAgeMs: number
}

export interface Opportunity {
  /** Of this opening: the same basket gets another one when it opens again. */
  readonly id: string
  readonly kind: OpportunityKind
  /** 80 to 100; null within one venue. */
  readonly matchScore: number | null
  readonly legs: readonly OpportunityLeg[]
  readonly contracts: SizeMicros
  /** The least contracts that every venue accepts at these offers. */
  readonly minContracts: SizeMicros
  /** Over all legs, before fees. */
  readonly cost: UsdMicros
  readonly fees: UsdMicros
  readonly payout: UsdMicros
  readonly profit: UsdMicros
  readonly steps: readonly BasketStep[]
  readonly openedAtMs: TimeMs
  readonly updatedAtMs: TimeMs
  /** When the last of its markets closes; null when one does not say. */
  readonly closesAtMs: TimeMs | null
  /** Of the first leg's market; within one venue, the title of the event. */
  readonly question: string
  readonly category: string | null
  /** Why its markets belong together, in a sentence. */
  readonly explanation: string
  /** Where a venue may pay an outcome other than 0 or 1; null: nothing says so. */
  readonly payoutNote: string | null
}

/**
 * The most that an opportunity has come to in the updates published so far; it never shrinks, so that what asks for so much gets
 * everything from one moment on, its end included.
 */
export interface OpportunityPeak {
  readonly profit: UsdMicros
  /** Dollars a contract. */
  readonly edge: number
  readonly ageMs: number
}

/** How an opportunity stood at one moment. */
export interface OpportunityState {
  readonly atMs: TimeMs
  readonly contracts: SizeMicros
  readonly profit: UsdMicros
}

/** An outcome that could be bought; named by the venue's own id, which outlives our numbers. */
export interface PastLeg {
  readonly venue: VenueKey
  readonly market: NativeMarketId
  /** Its label. */
  readonly outcome: string
}

/** How an opportunity went, from its opening to its end. */
export interface PastOpportunity {
  readonly id: string
  readonly kind: OpportunityKind
  readonly matchScore: number | null
  readonly legs: readonly PastLeg[]
  readonly question: string
  readonly category: string | null
  readonly closesAtMs: TimeMs | null
  readonly opened: OpportunityState
  /** When its profit was largest. */
  readonly best: OpportunityState
  readonly last: OpportunityState
  readonly closedAtMs: TimeMs
  readonly reason: CloseReason
}

/** An opportunity that was published as open, as it is stored until it ends. */
export interface OpenOpportunity {
  readonly opened: OpportunityState
  readonly best: OpportunityState
  readonly last: Opportunity
  readonly peak: OpportunityPeak
  /** Its end is stored as well: only subscribers of the stream have not been told. */
  readonly isEnded: boolean
}

/** A fraction rounded down to millionths, in whole numbers: what is shown is earned, and a filter by it finds it. */
function downToMicros(numerator: bigint, denominator: bigint): number {
  const scaled = numerator * BigInt(MICROS)
  const quotient = scaled / denominator
  return Number(scaled < quotient * denominator ? quotient - 1n : quotient) / MICROS
}

/** Profit of one contract of each leg, in dollars, rounded down to millionths. */
export function edgeOf({ profit, contracts }: Pick<Opportunity, 'profit' | 'contracts'>): number {
  return contracts === 0 ? 0 : downToMicros(BigInt(profit), BigInt(contracts))
}

/** Profit for each dollar that is paid, fees included, rounded down to millionths. */
export function returnOf({
  profit,
  cost,
  fees,
}: Pick<Opportunity, 'profit' | 'cost' | 'fees'>): number {
  return cost + fees === 0 ? 0 : downToMicros(BigInt(profit), BigInt(cost + fees))
}

/**
 * The same for a year, without compounding, if the money is tied up until the last close, rounded down to millionths;
 * null: no close is known.
 */
export function annualisedOf(
  { profit, cost, fees, closesAtMs }: Pick<Opportunity, 'profit' | 'cost' | 'fees' | 'closesAtMs'>,
  nowMs: TimeMs,
): number | null {
  if (closesAtMs === null || closesAtMs <= nowMs) return null
  if (cost + fees === 0) return 0
  const paidMs = BigInt(cost + fees) * BigInt(closesAtMs - nowMs)
  return downToMicros(BigInt(profit) * BigInt(365 * DAY_MS), paidMs)
}

/** What it has come to by now. */
export function peakOf(
  now: Opportunity,
  before: OpportunityPeak | null,
  nowMs: TimeMs,
): OpportunityPeak {
  return {
    profit: usdMicros(Math.max(now.profit, before?.profit ?? 0)),
    edge: Math.max(edgeOf(now), before?.edge ?? 0),
    ageMs: Math.max(nowMs - now.openedAtMs, before?.ageMs ?? 0),
  }
}

export const stateOf = ({ updatedAtMs, contracts, profit }: Opportunity): OpportunityState => ({
  atMs: updatedAtMs,
  contracts,
  profit,
})

/** What one contract of each leg costs on average, in millionths of a dollar. */
export function averagePrice({ cost }: BoughtLeg, contracts: SizeMicros): number {
  return contracts === 0 ? 0 : Math.round((cost * MICROS) / contracts)
}
