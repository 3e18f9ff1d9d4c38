// Combinations of venue b. A combination trades once, together with a trade of an ordinary market. Its name begins with
// that market's series. Only the newest combinations are stored.

import type { SimMarket, SimTrade } from '../model.ts'
import type { Rows } from './paging.ts'
import { comboOf } from './terms.ts'

const COMBOS_MAX = 10_000

export interface ListedMarket {
  readonly market: SimMarket
  /** The combination's ticker. Null: the trade is of the market itself. */
  readonly combo: string | null
}

export interface ListedTrade {
  readonly trade: SimTrade
  readonly combo: string | null
}

export class SimCombos {
  readonly #trades = new Map<string, SimTrade>()
  #listed: readonly ListedMarket[] | null = null

  constructor(trades: readonly SimTrade[]) {
    for (const trade of trades) this.add(trade)
  }

  /** Returns the ticker of the combination that traded together with this trade. Null: none did. */
  add(trade: SimTrade): string | null {
    const combo = comboOf(trade)
    if (combo === null) return null
    this.#listed = null
    this.#trades.set(combo, trade)
    const oldest = this.#trades.keys().next().value
    if (this.#trades.size > COMBOS_MAX && oldest !== undefined) this.#trades.delete(oldest)
    return combo
  }

  /** Null: no such combination is stored. */
  tradeOf(ticker: string): SimTrade | null {
    return this.#trades.get(ticker) ?? null
  }

  behind(markets: readonly SimMarket[]): Rows<ListedMarket> {
    this.#listed ??= [...this.#trades].map(([combo, { market }]) => ({ market, combo }))
    const combos = this.#listed
    return {
      length: markets.length + combos.length,
      at(position) {
        const market = markets[position]
        return market === undefined ? combos[position - markets.length] : { market, combo: null }
      },
    }
  }

  /** All trades, each followed by its combination's trade. */
  among(trades: readonly SimTrade[]): Rows<ListedTrade> {
    return {
      length: 2 * trades.length,
      at: (position) => {
        const trade = trades[Math.floor(position / 2)]
        if (trade === undefined) return undefined
        if (position % 2 === 0) return { trade, combo: null }
        const combo = comboOf(trade)
        return combo === null || !this.#trades.has(combo) ? undefined : { trade, combo }
      },
    }
  }
}
