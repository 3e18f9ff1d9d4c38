// Whether a webhook wants an event, by its filters. A filter asks for a fact; an event that does not
// have the fact does not fit.
// On the path of every trade.

import type { TradeSide } from '../events.ts'
import type { VenueKey } from '../ids.ts'
import type { OpportunityPeak } from '../opportunity.ts'
import { MICROS, type PriceMicros, priceMicros, type UsdMicros } from '../units.ts'
import type { EventType } from './event-type.ts'
import type { WebhookFilters } from './webhook.ts'

/** What `minChange` is when a webhook does not say: 5 cents. */
export const minChangeDefault: PriceMicros = priceMicros(50_000)

/** What filters may ask of an event; null: the event has no such fact. */
export interface EventFacts {
  readonly marketId: string
  readonly venue: VenueKey
  /** Maker and taker, as far as known; lower case. */
  readonly wallets: readonly string[]
  /** Lower case. */
  readonly taker: string | null
  readonly usd: UsdMicros | null
  /** The taker's, in terms of the market's first outcome. */
  readonly side: TradeSide | null
  /** The taker's, of the outcome traded. */
  readonly takerSide: TradeSide | null
  /** How far the price is from the one last posted, ≥ 0; of types that compare prices only. */
  readonly change: PriceMicros | null
  /** Of opportunities only: what one has come to, and what it had when it was told before. */
  readonly peak: OpportunityPeak | null
  readonly previousPeak: OpportunityPeak | null
  readonly eventSlug: string | null
  readonly category: string | null
}

/** What filters ask of an event type. */
type FilterRules = Pick<EventType, 'minUsdDefault' | 'comparesPrice' | 'isManual'>

/**
 * Whether an event of these facts passes every filter; bounds are inclusive. `minChange` concerns types
 * that compare prices alone. What is asked for by hand passes always. Whether the webhook asked for the
 * type at all is not looked at.
 */
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

/** Whether an opportunity has come to what is asked for. */
function meetsMinimums(
  { minProfit, minEdge, minAgeMs }: WebhookFilters,
  peak: OpportunityPeak | null,
): boolean {
  if (minProfit === null && minEdge === null && minAgeMs === null) return true
  if (peak === null) return false
  const { profit, edge, ageMs } = peak
  return profit >= (minProfit ?? 0) && edge >= (minEdge ?? 0) / MICROS && ageMs >= (minAgeMs ?? 0)
}

/** Equal without regard to case, as in every list of markets and events. */
function isAmong(fact: string | null, wanted: readonly string[] | null): boolean {
  if (wanted === null) return true
  if (fact === null) return false
  if (wanted.includes(fact)) return true
  for (const text of wanted) if (isSameFolded(text, fact)) return true
  return false
}

function isSameFolded(one: string, other: string): boolean {
  if (one === other) return true
  return one.length === other.length && one.toLowerCase() === other.toLowerCase()
}

function sharesOne(wanted: readonly string[], facts: readonly string[]): boolean {
  for (const fact of facts) if (wanted.includes(fact)) return true
  return false
}
