// Ring buffer of the newest prices of one market, in typed arrays: an object for each price would take five times the
// memory. The arrays start small and double up to the capacity, because most markets have few prices.
//
//   times   [ t5 | t6 | t2 | t3 | t4 ]     next = 2: index of the oldest entry, which the next price overwrites
//   prices  [ p5 | p6 | p2 | p3 | p4 ]

import { type PriceMicros, priceMicros, type TimeMs, timeMs } from '../units.ts'

const CAPACITY_FIRST = 8

export class PriceRing {
  readonly #capacity: number
  #times: Float64Array
  #prices: Int32Array
  #next = 0
  #count = 0

  /** Maximum number of prices. When the ring is full, a new price overwrites the oldest. */
  constructor(capacity: number) {
    this.#capacity = capacity
    const first = Math.min(capacity, CAPACITY_FIRST)
    this.#times = new Float64Array(first)
    this.#prices = new Int32Array(first)
  }

  /** Adds the newest price. A time before the last entry's time is replaced by the last entry's time. */
  push(price: PriceMicros, observedAtMs: TimeMs): void {
    if (this.#count === this.#times.length && this.#count < this.#capacity) this.#grow()
    const last = this.#count === 0 ? observedAtMs : this.#time(this.#count - 1)
    this.#times[this.#next] = Math.max(last, observedAtMs)
    this.#prices[this.#next] = price
    this.#next = (this.#next + 1) % this.#times.length
    this.#count = Math.min(this.#count + 1, this.#times.length)
  }

  /** The newest price at or before a time. Null if all prices are later or the ring is empty. */
  before(atMs: TimeMs): { readonly price: PriceMicros; readonly timeMs: TimeMs } | null {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#time(middle) <= atMs) low = middle + 1
      else high = middle
    }
    if (low === 0) return null
    const price = priceMicros(this.#prices[this.#slot(low - 1)] ?? 0)
    return { price, timeMs: timeMs(this.#time(low - 1)) }
  }

  /** Must only be called on a full ring that has not wrapped, because its entries are in order from 0. */
  #grow(): void {
    const length = Math.min(this.#capacity, this.#times.length * 2)
    const times = new Float64Array(length)
    const prices = new Int32Array(length)
    times.set(this.#times)
    prices.set(this.#prices)
    this.#times = times
    this.#prices = prices
    this.#next = this.#count
  }

  #slot(position: number): number {
    return (this.#next - this.#count + position + this.#times.length) % this.#times.length
  }

  #time(position: number): number {
    return this.#times[this.#slot(position)] ?? 0
  }
}
