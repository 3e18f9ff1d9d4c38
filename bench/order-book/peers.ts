// Alternative order books: a Map searched on each read, and the package `sorted-btree`, which returns its first and
// last key. Both are as fast as possible at equal length. They return the outcome of a change, as ours does: a market
// publishes no change without effect. The tree also supports changes without an outcome.

import BTreeModule from 'sorted-btree'
import type { BookSide, Level, LevelChange } from '../../engine/events.ts'
import { bookLevelsMax } from '../../engine/limits.ts'
import { type PriceMicros, priceMicros, type SizeMicros, sizeMicros } from '../../engine/units.ts'

/** The package is CommonJS with an `exports.default`, which Node imports as the whole module. */
const BTree = BTreeModule.default

/** The outcome of a change. */
type BestPrices = 'applied' | 'unchanged' | 'full'

export class MapBook {
  readonly #bids = new Map<number, number>()
  readonly #asks = new Map<number, number>()

  set({ side, price, size }: LevelChange): BestPrices {
    const half = side === 'bid' ? this.#bids : this.#asks
    if (size <= 0) return half.delete(price) ? 'applied' : 'unchanged'
    const existing = half.get(price)
    if (existing === size) return 'unchanged'
    if (existing === undefined && half.size >= bookLevelsMax) return 'full'
    half.set(price, size)
    return 'applied'
  }

  get bestBid(): number | null {
    let best = -1
    for (const price of this.#bids.keys()) if (price > best) best = price
    return best < 0 ? null : best
  }

  get bestAsk(): number | null {
    let best = Number.POSITIVE_INFINITY
    for (const price of this.#asks.keys()) if (price < best) best = price
    return best === Number.POSITIVE_INFINITY ? null : best
  }

  levels(side: BookSide): Level[] {
    const sign = side === 'bid' ? -1 : 1
    return [...(side === 'bid' ? this.#bids : this.#asks)]
      .map(([price, size]) => levelOf(price, size))
      .sort((one, other) => sign * (one.price - other.price))
  }
}

export class TreeBook {
  readonly #bids = new BTree<number, number>(undefined, ascending)
  readonly #asks = new BTree<number, number>(undefined, ascending)

  set({ side, price, size }: LevelChange): BestPrices {
    const half = side === 'bid' ? this.#bids : this.#asks
    if (size <= 0) return half.delete(price) ? 'applied' : 'unchanged'
    const existing = half.get(price)
    if (existing === size) return 'unchanged'
    if (existing === undefined && half.size >= bookLevelsMax) return 'full'
    half.set(price, size)
    return 'applied'
  }

  /** Skips the comparison with the previous size. */
  setBlindly({ side, price, size }: LevelChange): void {
    const half = side === 'bid' ? this.#bids : this.#asks
    if (size > 0) half.set(price, size)
    else half.delete(price)
  }

  get bestBid(): number | null {
    return this.#bids.maxKey() ?? null
  }

  get bestAsk(): number | null {
    return this.#asks.minKey() ?? null
  }

  levels(side: BookSide): Level[] {
    const half = side === 'bid' ? this.#bids : this.#asks
    const levels = half.toArray().map(([price, size]) => levelOf(price, size))
    return side === 'bid' ? levels.reverse() : levels
  }
}

/** Simpler and faster than the package's own comparison, which also accepts strings. */
const ascending = (one: number, other: number): number => one - other

function levelOf(price: number, size: number): { price: PriceMicros; size: SizeMicros } {
  return { price: priceMicros(price), size: sizeMicros(size) }
}
