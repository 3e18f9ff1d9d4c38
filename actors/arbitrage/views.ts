// What the owner of opportunities lets the face see: those that are open, those that ended, and what a basket would cost
// now.

import type { NoBasket } from '../../engine/arbitrage/basket.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Opportunity, OpportunityKind } from '../../engine/opportunity.ts'
import type { SizeMicros, TimeMs } from '../../engine/units.ts'
import type { PastOpportunityRow, SliceQuery } from '../../storage/contract/storage.ts'
import type { MarketView } from '../market/views.ts'

export type OpportunityOrder = 'profit' | 'edge' | 'annualised' | 'opened_at'

/** Filters of the list; null means any. */
export interface OpportunityFilter {
  /** Dollars. */
  readonly profitMin: number
  /** Dollars a contract. */
  readonly edgeMin: number
  readonly kind: OpportunityKind | null
  /** Equal without regard to case. */
  readonly category: string | null
  /** Words that must all stand in the question. */
  readonly search: string | null
  /** A leg is of this venue. */
  readonly venue: VenueKey | null
  /** Its last market closes within so many days. */
  readonly daysMax: number | null
}

/** A page of the open opportunities, best first. */
export interface OpportunityPage {
  readonly opportunities: readonly Opportunity[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/** An outcome that a quote buys. */
export interface QuoteLeg {
  readonly market: MarketView
  /** 0 or 1. */
  readonly outcome: number
}

/**
 * Why there is no opportunity in a basket. `not_open`: a market does not trade. `stale_book`: a book may be out of date,
 * or was neither changed nor confirmed for too long. `not_identical`: nothing says that exactly one of the legs wins.
 */
export type NoOpportunity = NoBasket | 'not_open' | 'stale_book' | 'not_identical'

/** What a basket would cost and earn now. */
export type Quote =
  | { readonly isPossible: true; readonly opportunity: Opportunity }
  | { readonly isPossible: false; readonly reason: Exclude<NoOpportunity, 'below_minimum'> }
  | {
      readonly isPossible: false
      readonly reason: 'below_minimum'
      /** The least contracts of each leg that every venue accepts. */
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
  /** An open one by its id; null when it has ended, or never was. */
  find(id: string): Opportunity | null
  /** The open ones of a market. */
  ofMarket(market: MarketNumber): readonly Opportunity[]
  /** What the legs would cost now; `contracts` null: as many as earn. */
  quote(legs: readonly QuoteLeg[], contracts: SizeMicros | null): Quote
  /** Ended ones that had lasted, by when they ended. */
  past(query: SliceQuery): readonly PastOpportunityRow[]
  oldestPastMs(): TimeMs | null
}
