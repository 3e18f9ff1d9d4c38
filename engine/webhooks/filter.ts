// An event that lacks a fact fails every filter on the fact.

import type { VenueKey } from '../ids.ts'
import type { OpportunityPeak } from '../opportunity.ts'
import { MICROS, type PriceMicros, priceMicros } from '../units.ts'
import type { EventType, Happening } from './event-type.ts'
import type { WebhookFilters } from './webhook.ts'

/** Default of `minChange`: 5 cents. */
export const minChangeDefault: PriceMicros = priceMicros(50_000)

/** Null: the event has no such fact. */
export interface EventFacts
  extends Pick<
    Happening,
    'wallets' | 'taker' | 'usd' | 'side' | 'takerSide' | 'peak' | 'previousPeak'
  > {
  readonly marketId: string
  readonly venue: VenueKey
  /** Difference between the price and the price last sent, ≥ 0. Only for types that compare prices. */
  readonly change: PriceMicros | null
  readonly eventSlug: string | null
  readonly category: string | null
}

type FilterRules = Pick<EventType, 'minUsdDefault' | 'comparesPrice' | 'isManual'>

/** Bounds are inclusive. Manual events always pass. Does not check whether the webhook has the event's type. */
export function matchesFilters(
  filters: WebhookFilters,
  type: FilterRules,
  facts: EventFacts,
): boolean {
  if (type.isManual) return true
  const { marketIds, venue, wallets, takerWallets, side, takerSide, eventSlugs, categories } =
    filters
  const minUsd = filters.minUsd ?? type.minUsdDefault
  if (venue !== null && venue !== facts.venue) return false
  if (minUsd !== null && (facts.usd === null || facts.usd < minUsd)) return false
  if (side !== null && side !== facts.side) return false
  if (takerSide !== null && takerSide !== facts.takerSide) return false
  if (type.comparesPrice) {
    if (facts.change === null || facts.change < (filters.minChange ?? minChangeDefault))
      return false
  }
  if (!meetsMinimums(filters, facts.peak)) return false
  if (facts.previousPeak !== null && meetsMinimums(filters, facts.previousPeak)) return false
  if (!isAmong(facts.marketId, marketIds)) return false
  if (takerWallets !== null && (facts.taker === null || !takerWallets.includes(facts.taker)))
    return false
  if (wallets !== null && !sharesOne(wallets, facts.wallets)) return false
  return isAmong(facts.eventSlug, eventSlugs) && isAmong(facts.category, categories)
}

/** Whether an opportunity's peak reaches the filters' minimums. */
function meetsMinimums(
  { minProfit, minEdge, minAgeMs }: WebhookFilters,
  peak: OpportunityPeak | null,
): boolean {
  if (minProfit === null && minEdge === null && minAgeMs === null) return true
  if (peak === null) return false
  const { profit, edge, ageMs } = peak
  return profit >= (minProfit ?? 0) && edge >= (minEdge ?? 0) / MICROS && ageMs >= (minAgeMs ?? 0)
}

function isAmong(fact: string | null, wanted: readonly string[] | null): boolean {
  if (wanted === null) return true
  if (fact === null) return false
  if (wanted.includes(fact)) return true
  return wanted.some((text) => isSameFolded(text, fact))
}

function isSameFolded(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase()
}

function sharesOne(wanted: readonly string[], facts: readonly string[]): boolean {
  for (const fact of facts) if (wanted.includes(fact)) return true
  return false
}
