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

/** `cross_venue`: the same question on two venues. `single_venue`: the outcomes of one exclusive event. */
export const OPPORTUNITY_KINDS = ['cross_venue', 'single_venue'] as const
export type OpportunityKind = (typeof OPPORTUNITY_KINDS)[number]

/**
 * Why an opportunity ended.
 * - `prices`: the books or the fees leave no profit.
 * - `stale`: a book may be out of date.
 * - `market_closed`: a market no longer trades.
 * - `match_changed`: the match of its markets ended.
 * - `stopped`: the service was stopped.
 * - `restarted`: the opportunity was open when the last run ended.
 */
export const CLOSE_REASONS = [
  'prices',
  'stale',
  'market_closed',
  'match_changed',
  'stopped',
  'restarted',
] as const
export type CloseReason = (typeof CLOSE_REASONS)[number]

export interface BasketStep {
  readonly contracts: SizeMicros
  readonly prices: readonly PriceMicros[]
}

export interface BoughtLeg {
  /** Price × contracts over its levels, before fees. */
  readonly cost: UsdMicros
  /** Upper bound of the venue's fee for an order with these fills. */
  readonly fee: UsdMicros
}

export interface OpportunityLeg extends BoughtLeg {
  readonly market: MarketRef
  readonly question: string
  readonly outcome: string
  readonly isFirst: boolean
  /** Sequence number in the market's `orderbook` channel. */
  readonly bookSeq: number
  /** Time since the last change or confirmation of the book, in milliseconds. */
  readonly bookAgeMs: number
}

export interface Opportunity {
  /** A basket gets a new id each time it opens. */
  readonly id: string
  readonly kind: OpportunityKind
  /** From 80 to 100. Null for a basket of one venue. */
  readonly matchScore: number | null
  readonly legs: readonly OpportunityLeg[]
  readonly contracts: SizeMicros
  /** The smallest number of contracts that every venue accepts at these offers. */
  readonly minContracts: SizeMicros
  /** Sum over all legs, before fees. */
  readonly cost: UsdMicros
  readonly fees: UsdMicros
  readonly payout: UsdMicros
  readonly profit: UsdMicros
  readonly steps: readonly BasketStep[]
  readonly openedAtMs: TimeMs
  readonly updatedAtMs: TimeMs
  /** Latest close of its markets. Null if a close is unknown. */
  readonly closesAtMs: TimeMs | null
  /** The question of the first leg's market, or the title of the event for a basket of one venue. */
  readonly question: string
  readonly category: string | null
  /** One sentence that states why the outcomes form a basket. */
  readonly explanation: string
  /** When a venue may pay something other than 0 or 1. Null if no such case is known. */
  readonly payoutNote: string | null
}

/**
 * Maxima of an opportunity over all updates so far. They never decrease, so after an update that passes a minimum
 * filter all further updates pass the filter.
 */
export interface OpportunityPeak {
  readonly profit: UsdMicros
  /** Dollars per contract. */
  readonly edge: number
  readonly ageMs: number
}

export interface OpportunityState {
  readonly atMs: TimeMs
  readonly contracts: SizeMicros
  readonly profit: UsdMicros
}

/** Identified by the venue's own id, because internal numbers may be removed. */
export interface PastLeg {
  readonly venue: VenueKey
  readonly market: NativeMarketId
  readonly outcome: string
}

export interface PastOpportunity {
  readonly id: string
  readonly kind: OpportunityKind
  readonly matchScore: number | null
  readonly legs: readonly PastLeg[]
  readonly question: string
  readonly category: string | null
  readonly closesAtMs: TimeMs | null
  readonly opened: OpportunityState
  readonly best: OpportunityState
  readonly last: OpportunityState
  readonly closedAtMs: TimeMs
  readonly reason: CloseReason
}

export interface OpenOpportunity {
  readonly opened: OpportunityState
  readonly best: OpportunityState
  readonly last: Opportunity
  readonly peak: OpportunityPeak
  /** Whether the opportunity's end is already stored. The end is then only published to the stream. */
  readonly isEnded: boolean
}

/**
 * Rounds a fraction down to millionths, in integers. The displayed value is never above the exact value, and filters by
 * the displayed value match.
 */
function downToMicros(numerator: bigint, denominator: bigint): number {
  const scaled = numerator * BigInt(MICROS)
  const quotient = scaled / denominator
  return Number(scaled < quotient * denominator ? quotient - 1n : quotient) / MICROS
}

/** Profit of one contract of each leg, in dollars, rounded down to millionths. */
export function edgeOf({ profit, contracts }: Pick<Opportunity, 'profit' | 'contracts'>): number {
  return contracts === 0 ? 0 : downToMicros(BigInt(profit), BigInt(contracts))
}

/** Profit per dollar paid, fees included, rounded down to millionths. */
export function returnOf({
  profit,
  cost,
  fees,
}: Pick<Opportunity, 'profit' | 'cost' | 'fees'>): number {
  return cost + fees === 0 ? 0 : downToMicros(BigInt(profit), BigInt(cost + fees))
}

/**
 * Simple yearly return if the money is tied up until the last close, rounded down to millionths. Null if no close is
 * known.
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

export function averagePrice({ cost }: BoughtLeg, contracts: SizeMicros): number {
  return contracts === 0 ? 0 : Math.round((cost * MICROS) / contracts)
}
