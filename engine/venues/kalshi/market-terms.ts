// What the connector itself must know of each listed market, beside its listing: when its trading really ends, at which
// prices its orders may stand, and on which part of the exchange it trades.
// Bounded by the catalogue: resolved markets are forgotten.

import type { PriceMicros, TimeMs } from '../../units.ts'
import type { WatchedMarket } from '../venue.ts'
import type { PriceGrid } from './price-grid.ts'

/** What a row says of a market. */
export interface RowTerms {
  /**
   * A listing of a game says when the game ends, which is what users ask for, but a timer that closed the market then
   * would be wrong in every overtime.
   */
  readonly tradingEndsAtMs: TimeMs | null
  readonly grid: PriceGrid | null
  /** `exchange_index`; null when the row has none. */
  readonly shard: number | null
}

interface StoredTerms extends RowTerms {
  /** The grid before the present one: orders placed on it may still be told. */
  readonly before: PriceGrid | null
}

/** The terms of all listed markets. */
export class MarketTerms {
  readonly #terms = new Map<string, StoredTerms>()

  /** Null: the market is resolved. */
  note(ticker: string, terms: RowTerms | null): void {
    if (terms === null) {
      this.#terms.delete(ticker)
      return
    }
    const existing = this.#terms.get(ticker)
    const grid = terms.grid ?? existing?.grid ?? null
    const before =
      existing === undefined || existing.grid === grid ? existing?.before : existing.grid
    this.#terms.set(ticker, { ...terms, grid, before: before ?? null })
  }

  /** Other ranges in mid-life; an unlisted market gets them with its listing. */
  changeGrid(ticker: string, grid: PriceGrid): void {
    const existing = this.#terms.get(ticker)
    if (existing !== undefined) this.note(ticker, { ...existing, grid })
  }

  /** Null when the catalogue was not read yet: no timer is better than a wrong one. */
  tradingEndOf({ nativeId }: Pick<WatchedMarket, 'nativeId'>): TimeMs | null {
    return this.#terms.get(nativeId)?.tradingEndsAtMs ?? null
  }

  /** Whether an order may be placed at this price; true as well where the ranges are not known. */
  mayRest(ticker: string, price: PriceMicros): boolean {
    const terms = this.#terms.get(ticker)
    if (terms === undefined || terms.grid === null) return true
    return terms.grid.isOn(price) || terms.before?.isOn(price) === true
  }

  /** The listed markets of one part of the exchange. */
  tickersOf(shard: number): readonly string[] {
    return [...this.#terms].flatMap(([ticker, terms]) => (terms.shard === shard ? [ticker] : []))
  }
}
