// A market's bars of trades, kept as its trades are stored: the minute and the hour of each trade, in
// the same turn, whatever the order in which trades arrive. The bars touched last stay in memory, so
// that a market that trades reads no disk. Not for: what a bar is (engine/market/candle.ts), or intervals and
// pages (http/pages/candles.ts). Upholds CANDLE5, CANDLE6.

import type { Trade } from '../../engine/events.ts'
import { type Bar, type BarSize, barOf, joined } from '../../engine/market/candle.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { BarTable } from '../../storage/contract/storage.ts'

const SIZES: readonly BarSize[] = ['minute', 'hour']

/** One bar of each size in memory; dropping it loses nothing. */
export class MarketBars {
  readonly #market: MarketNumber
  readonly #table: BarTable
  readonly #running = new Map<BarSize, Bar>()

  constructor(market: MarketNumber, table: BarTable) {
    this.#market = market
    this.#table = table
  }

  /** Adds a trade that was stored just now, once. */
  add(trade: Trade): void {
    for (const size of SIZES) {
      const bar = barOf(size, trade)
      const running = this.#running.get(size)
      const known =
        running?.startMs === bar.startMs
          ? running
          : this.#table.get(this.#market, size, bar.startMs)
      const whole = known === null ? bar : joined(known, bar)
      this.#table.put(this.#market, size, whole)
      this.#running.set(size, whole)
    }
  }
}
