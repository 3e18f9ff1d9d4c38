// The markets that each owner demands. When all places are taken, an owner with few demands displaces a market of the
// owner with the most. A client with many accounts or addresses therefore cannot exclude other clients.

import type { MarketNumber } from '../engine/market/market.ts'

interface Share {
  count: number
  readonly markets: Map<MarketNumber, number>
}

export class DemandOwners {
  readonly #shares = new Map<string, Share>()
  readonly #byCount: Set<string>[] = []

  countOf(owner: string): number {
    return this.#shares.get(owner)?.count ?? 0
  }

  add(owner: string, market: MarketNumber): void {
    let share = this.#shares.get(owner)
    if (share === undefined) {
      share = { count: 0, markets: new Map() }
      this.#shares.set(owner, share)
    }
    share.markets.set(market, (share.markets.get(market) ?? 0) + 1)
    this.#setCount(owner, share, share.count + 1)
  }

  remove(owner: string, market: MarketNumber): void {
    const share = this.#shares.get(owner)
    if (share === undefined) return
    const ofMarket = (share.markets.get(market) ?? 0) - 1
    if (ofMarket > 0) share.markets.set(market, ofMarket)
    else share.markets.delete(market)
    this.#setCount(owner, share, share.count - 1)
    if (share.count === 0) this.#shares.delete(owner)
  }

  /** The owner with the most demands if it has at least two more than `owner`, else null. */
  largestBeside(owner: string): string | null {
    for (let count = this.#byCount.length - 1; count >= this.countOf(owner) + 2; count -= 1) {
      for (const largest of this.#byCount[count] ?? []) return largest
      this.#byCount.pop()
    }
    return null
  }

  /** Up to `count` markets of an owner, longest demanded first. Returned markets move to the end of the order. */
  takeMarkets(owner: string, count: number): MarketNumber[] {
    const markets = this.#shares.get(owner)?.markets ?? new Map<MarketNumber, number>()
    const taken: MarketNumber[] = []
    for (const market of markets.keys()) {
      if (taken.length === count) break
      taken.push(market)
    }
    for (const market of taken) {
      const demands = markets.get(market) ?? 0
      markets.delete(market)
      markets.set(market, demands)
    }
    return taken
  }

  #setCount(owner: string, share: Share, count: number): void {
    this.#byCount[share.count]?.delete(owner)
    share.count = count
    while (this.#byCount.length <= count) this.#byCount.push(new Set())
    if (count > 0) this.#byCount[count]?.add(owner)
  }
}
