import type { PriceMicros, TimeMs } from '../../units.ts'
import type { WatchedMarket } from '../venue.ts'
import type { PriceGrid } from './price-grid.ts'

export interface RowTerms {
  /** For a game, the listing's `closeAtMs` may be the expected end of the game, but trading continues through overtime. */
  readonly tradingEndsAtMs: TimeMs | null
  readonly grid: PriceGrid | null
  readonly shard: number | null
}

interface StoredTerms extends RowTerms {
  /** The price grid before the last change. Messages about orders on the previous grid may still arrive. */
  readonly before: PriceGrid | null
}

export class MarketTerms {
  readonly #terms = new Map<string, StoredTerms>()

  /** `terms` is null if the market is resolved. */
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
   * Stores the grid that a message announced. Has no effect on an unlisted market, because its listing contains the
   * grid.
   */
  changeGrid(ticker: string, grid: PriceGrid): void {
    const existing = this.#terms.get(ticker)
    if (existing !== undefined) this.note(ticker, { ...existing, grid })
  }

  /**
   * Null until the catalogue has been read. A market without an end of trading has no timer, because a wrong time would
   * close it early.
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
