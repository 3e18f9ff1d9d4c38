// Which market asks the same on the other venue: the pairs of high confidence whose first outcomes
// mean the same, in memory. Whoever finds matches puts and removes pairs; readers look up a twin.
// Not for: finding, scoring or storing matches. Upholds MATCHES1 to MATCHES3.

import type { MarketNumber, MarketRef } from '../engine/market.ts'
import type { CatalogWatcher, MarketView, MatchesView } from './views.ts'

export class Matches implements MatchesView, CatalogWatcher {
  /** Both directions; at most one twin for each market the catalogue knows. */
  readonly #twins = new Map<MarketNumber, MarketView>()
  #version = 0

  get version(): number {
    return this.#version
  }

  get count(): number {
    return this.#twins.size / 2
  }

  twinOf(market: MarketRef): MarketView | null {
    return this.#twins.get(market.number) ?? null
  }

  /**
   * Makes two markets twins; a twin that either had before is alone from now on. Throws when both
   * are of one venue: that is our bug.
   */
  put(one: MarketView, other: MarketView): void {
    if (one.ref.venue === other.ref.venue) throw new Error('twins are of different venues')
    if (this.#twins.get(one.ref.number) === other) return
    this.#part(one.ref)
    this.#part(other.ref)
    this.#twins.set(one.ref.number, other)
    this.#twins.set(other.ref.number, one)
    this.#version += 1
  }

  /** Ends a market's pair, whichever of the two is named; does nothing when it has none. */
  remove(market: MarketRef): void {
    if (this.#part(market)) this.#version += 1
  }

  onListed(): void {}

  /** A pair ends with either of its markets. */
  onForgotten(market: MarketView): void {
    this.remove(market.ref)
  }

  #part(market: MarketRef): boolean {
    const twin = this.#twins.get(market.number)
    if (twin === undefined) return false
    this.#twins.delete(market.number)
    this.#twins.delete(twin.ref.number)
    return true
  }
}
