// A venue's trades, oldest first. When the list is full, its oldest tenth is dropped, also from the markets.

import type { SimTrade } from '../model.ts'

export class TradeTape {
  readonly #trades: SimTrade[] = []
  readonly #countMax: number
  readonly #onDrop: (market: SimTrade['market'], count: number) => void
  #droppedCount = 0

  /** `onDrop` must drop this number of a market's oldest trades. */
  constructor(options: {
    countMax: number
    onDrop: (market: SimTrade['market'], count: number) => void
  }) {
    this.#countMax = options.countMax
    this.#onDrop = options.onDrop
  }

  get trades(): readonly SimTrade[] {
    return this.#trades
  }

  get droppedCount(): number {
    return this.#droppedCount
  }

  skip(count: number): void {
    this.#droppedCount += count
  }

  add(trade: SimTrade): void {
    if (this.#trades.length >= this.#countMax) this.#drop(Math.ceil(this.#countMax / 10))
    this.#trades.push(trade)
  }

  #drop(count: number): void {
    const dropped = this.#trades.splice(0, count)
    this.#droppedCount += dropped.length
    const counts = new Map<SimTrade['market'], number>()
    for (const { market } of dropped) counts.set(market, (counts.get(market) ?? 0) + 1)
    for (const [market, count] of counts) this.#onDrop(market, count)
  }
}

/** Index of the first trade after a time, in a list with the oldest trade first. */
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
