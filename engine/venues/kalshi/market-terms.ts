// Data of unresolved markets that their listings lack: the end of trading and the price ranges.

import type { PriceMicros, TimeMs } from '../../units.ts'
import type { WatchedMarket } from '../venue.ts'
import type { PriceGrid } from './price-grid.ts'

export interface RowTerms {
  /**
   * End of trading. For a game, the listing's `closeAtMs` may be the expected end of the game. A timer at that time would
   * close the market before overtime ends.
   */
  readonly tradingEndsAtMs: TimeMs | null
  readonly grid: PriceGrid | null
  readonly shard: number | null
}

interface StoredTerms extends RowTerms {
  /** The grid before the last change. Messages about orders on it may still arrive. */
  readonly before: PriceGrid | null
}

export class MarketTerms {
  readonly #terms = new Map<string, StoredTerms>()

  /** Stores a market's terms. `terms` is null if the market is resolved. */
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

  /**
   * Stores the grid that a message announced. Has no effect on an unlisted market, which gets its grid with its
   * listing.
   */
  changeGrid(ticker: string, grid: PriceGrid): void {
    const existing = this.#terms.get(ticker)
    if (existing !== undefined) this.note(ticker, { ...existing, grid })
  }

  /**
   * End of trading; null until the catalogue has been read. A market without it has no timer, because a wrong time
   * would close it early.
   */
  tradingEndOf({ nativeId }: Pick<WatchedMarket, 'nativeId'>): TimeMs | null {
    return this.#terms.get(nativeId)?.tradingEndsAtMs ?? null
  }

  /** Whether a market accepts orders at this price. Returns true if its ranges are unknown. */
  mayRest(ticker: string, price: PriceMicros): boolean {
    const terms = this.#terms.get(ticker)
    if (terms === undefined || terms.grid === null) return true
    return terms.grid.isOn(price) || terms.before?.isOn(price) === true
  }

  tickersOf(shard: number): readonly string[] {
    return [...this.#terms].flatMap(([ticker, terms]) => (terms.shard === shard ? [ticker] : []))
  }
}
