// An order book. Levels are arrays of numbers, worst first. Arrays use little memory, and most changes occur at the
// best price, which is at their end.
//
//   bids  prices [ 470000 | 480000 | 490000 ]  asks  prices [ 530000 | 520000 | 510000 ]
//         sizes  [      … |      … |   best ]        sizes  [      … |      … |   best ]

import { assert } from '../../../errors.ts'
import type { BookSide, Level } from '../../../events.ts'
import { MICROS, type PriceMicros, SIZE_ZERO, type SizeMicros } from '../../../units.ts'
import type { SimBook } from '../model.ts'

export class LiveBook implements SimBook {
  isChanged = false
  readonly #bids = new Ladder(1)
  readonly #asks = new Ladder(-1)

  /** Builds a new array at every read, so callers should store it. */
  get bids(): readonly Level[] {
    return this.#bids.levels()
  }

  get asks(): readonly Level[] {
    return this.#asks.levels()
  }

  get bestBid(): PriceMicros | null {
    return this.#bids.price(0)
  }

  get bestAsk(): PriceMicros | null {
    return this.#asks.price(0)
  }

  sizeAt(side: BookSide, price: PriceMicros): SizeMicros {
    return this.#ladder(side).sizeAt(price)
  }

  count(side: BookSide): number {
    return this.#ladder(side).count
  }

  /** The price `depth` levels behind the best. Null: there are fewer levels. */
  priceAt(side: BookSide, depth: number): PriceMicros | null {
    return this.#ladder(side).price(depth)
  }

  /**
   * Sets a level's total size and returns the previous one. Size 0 removes the level. Throws if the level crosses the
   * book or its price is 0 or 1, which is a bug of the simulator.
   */
  set(side: BookSide, price: PriceMicros, size: SizeMicros): SizeMicros {
    this.isChanged = true
    if (size > 0) {
      assert(price > 0 && price < MICROS, 'a quote lies between 0 and 1')
      const opposite = side === 'bid' ? this.bestAsk : this.bestBid
      const isCrossed =
        opposite !== null && (side === 'bid' ? price >= opposite : price <= opposite)
      assert(!isCrossed, 'a quote does not cross the book')
    }
    return this.#ladder(side).set(price, size)
  }

  #ladder(side: BookSide): Ladder {
    return side === 'bid' ? this.#bids : this.#asks
  }
}

export const EMPTY_BOOK: SimBook = {
  bids: [],
  asks: [],
  bestBid: null,
  bestAsk: null,
  sizeAt: () => SIZE_ZERO,
}

/** One side. `direction` is 1 if higher prices are better (bids), otherwise -1. */
class Ladder {
  readonly #direction: 1 | -1
  readonly #prices: PriceMicros[] = []
  readonly #sizes: SizeMicros[] = []

  constructor(direction: 1 | -1) {
    this.#direction = direction
  }

  get count(): number {
    return this.#prices.length
  }

  price(depth: number): PriceMicros | null {
    return this.#prices[this.#prices.length - 1 - depth] ?? null
  }

  sizeAt(price: PriceMicros): SizeMicros {
    const position = this.#position(price)
    return this.#prices[position] === price ? (this.#sizes[position] ?? SIZE_ZERO) : SIZE_ZERO
  }

  set(price: PriceMicros, size: SizeMicros): SizeMicros {
    const position = this.#position(price)
    if (this.#prices[position] === price) {
      const previous = this.#sizes[position] ?? SIZE_ZERO
      if (size > 0) {
        this.#sizes[position] = size
      } else {
        this.#prices.splice(position, 1)
        this.#sizes.splice(position, 1)
      }
      return previous
    }
    if (size > 0) {
      this.#prices.splice(position, 0, price)
      this.#sizes.splice(position, 0, size)
    }
    return SIZE_ZERO
  }

  levels(): Level[] {
    const levels: Level[] = []
    for (let position = this.#prices.length - 1; position >= 0; position -= 1) {
      const price = this.#prices[position]
      const size = this.#sizes[position]
      if (price !== undefined && size !== undefined) levels.push({ price, size })
    }
    return levels
  }

  #position(price: PriceMicros): number {
    let low = 0
    let high = this.#prices.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const held = this.#prices[middle] ?? price
      if ((held - price) * this.#direction < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
