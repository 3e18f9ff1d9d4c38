// Read interface of opportunities for the API server: open ones, past ones and quotes.

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
  /** The last market must close within this many days. */
  readonly daysMax: number | null
}

/** One page of open opportunities, best first. */
export interface OpportunityPage {
  readonly opportunities: readonly Opportunity[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

export interface QuoteLeg {
  readonly market: MarketView
  /** 0 or 1. */
  readonly outcome: number
}

/**
 * Why a basket is no opportunity. `not_open`: a market does not trade. `stale_book`: a book may be stale, or was not
 * changed or confirmed for too long. `not_identical`: it is not certain that exactly one leg wins.
 */
export type NoOpportunity = NoBasket | 'not_open' | 'stale_book' | 'not_identical'

/** Current cost and profit of a basket. */
export type Quote =
  | { readonly isPossible: true; readonly opportunity: Opportunity }
  | { readonly isPossible: false; readonly reason: Exclude<NoOpportunity, 'below_minimum'> }
  | {
      readonly isPossible: false
      readonly reason: 'below_minimum'
      /** Minimum contracts of the basket that every venue accepts. */
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
  /** Null if the opportunity has ended or never existed. */
  find(id: string): Opportunity | null
  ofMarket(market: MarketNumber): readonly Opportunity[]
  /** Current cost of the legs. `contracts` null: as many as are profitable. */
  quote(legs: readonly QuoteLeg[], contracts: SizeMicros | null): Quote
  /** Past opportunities that lasted long enough to be recorded, by end time. */
  past(query: SliceQuery): readonly PastOpportunityRow[]
  oldestPastMs(): TimeMs | null
}
