import type { NoBasket } from '../../engine/arbitrage/basket.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Opportunity, OpportunityKind } from '../../engine/opportunity.ts'
import type { SizeMicros, TimeMs } from '../../engine/units.ts'
import type { PastOpportunityRow, SliceQuery } from '../../storage/contract/storage.ts'
import type { MarketView } from '../market/views.ts'

export type OpportunityOrder = 'profit' | 'edge' | 'annualised' | 'opened_at'

/** Null accepts any value. */
export interface OpportunityFilter {
  /** Dollars. */
  readonly profitMin: number
  /** Dollars per contract. */
  readonly edgeMin: number
  readonly kind: OpportunityKind | null
  /** Case-insensitive. */
  readonly category: string | null
  /** Words that must all occur in the question. */
  readonly search: string | null
  /** At least one leg must be on this venue. */
  readonly venue: VenueKey | null
  /** Each market must close within this many days. */
  readonly daysMax: number | null
}

export interface OpportunityPage {
  readonly opportunities: readonly Opportunity[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

export interface QuoteLeg {
  readonly market: MarketView
  /** Index of the outcome: 0 or 1. */
  readonly outcome: number
}

/**
 * `not_open`: a market does not trade. `stale_book`: a book is or may be stale. `not_identical`: it is not certain that
 * exactly one leg wins.
 */
export type NoOpportunity = NoBasket | 'not_open' | 'stale_book' | 'not_identical'

export type Quote =
  | { readonly isPossible: true; readonly opportunity: Opportunity }
  | { readonly isPossible: false; readonly reason: Exclude<NoOpportunity, 'below_minimum'> }
  | {
      readonly isPossible: false
      readonly reason: 'below_minimum'
      readonly minContracts: SizeMicros
    }

export interface ArbitrageView {
  list(query: {
    readonly filter: OpportunityFilter
    readonly sortBy: OpportunityOrder
    readonly pin: number | null
    readonly offset: number
    readonly limit: number
  }): OpportunityPage | 'expired'
  find(id: string): Opportunity | null
  ofMarket(market: MarketNumber): readonly Opportunity[]
  /** `contracts` null: as many as are profitable. */
  quote(legs: readonly QuoteLeg[], contracts: SizeMicros | null): Quote
  /** Sorted by end time. Very short opportunities are not recorded. */
  past(query: SliceQuery): readonly PastOpportunityRow[]
  oldestPastMs(): TimeMs | null
}
