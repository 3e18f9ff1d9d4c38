// A venue's trades of this run, oldest first, within two million. When full, the oldest tenth is
// dropped, here and in its markets: one long copy now and then instead of one at every trade.

import type { SimTrade } from '../model.ts'

/** The venue's tape. */
export class TradeTape {
  readonly #trades: SimTrade[] = []
  readonly #countMax: number
  readonly #onDrop: (market: SimTrade['market'], count: number) => void
  #droppedCount = 0

  /** `forget` lets go of a market's oldest trades, as many as the tape drops of it. */
  constructor(options: {
    countMax?: number
    onDrop: (market: SimTrade['market'], count: number) => void
  }) {
    this.#countMax = options.countMax ?? 2_000_000
    this.#onDrop = options.onDrop
  }

  get trades(): readonly SimTrade[] {
    return this.#trades
  }

  /** How many trades were dropped since the start. */
  get droppedCount(): number {
    return this.#droppedCount
  }

  /** Counts trades that were let go before this tape began. */
  skip(count: number): void {
    this.#droppedCount += count
  }

  add(trade: SimTrade): void {
    if (this.#trades.length >= this.#countMax) this.drop(Math.ceil(this.#countMax / 10))
    this.#trades.push(trade)
  }

  /** Lets the oldest `count` trades go. */
  drop(count: number): void {
    const dropped = this.#trades.splice(0, count)
    this.#droppedCount += dropped.length
    const counts = new Map<SimTrade['market'], number>()
    for (const { market } of dropped) counts.set(market, (counts.get(market) ?? 0) + 1)
    for (const [market, count] of counts) this.#onDrop(market, count)
  }
}

/** The position of the first trade after a time; trades are oldest first. */
export function firstAfter(trades: readonly SimTrade[], atMs: number): number {
  let low = 0
  let high = trades.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const trade = trades[middle]
    if (trade !== undefined && trade.atMs <= atMs) low = middle + 1
    else high = middle
  }
  return low
}
