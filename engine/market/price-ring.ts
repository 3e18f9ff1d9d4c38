// Ring buffer of the newest prices of one market, in typed arrays. The arrays start small and double up to
// the capacity, because most markets see few prices while they are awake.
//
//   times   [ t5 | t6 | t2 | t3 | t4 ]     next = 2: the oldest entry, and where the next one goes
//   prices  [ p5 | p6 | p2 | p3 | p4 ]

import { type PriceMicros, priceMicros, type TimeMs, timeMs } from '../units.ts'

const CAPACITY_FIRST = 8

interface PricePoint {
  readonly timeMs: TimeMs
  readonly price: PriceMicros
}

export class PriceRing {
  readonly #capacity: number
  #times: Float64Array
  #prices: Int32Array
  #next = 0
  #count = 0

  /** `capacity` is the maximum number of prices. When full, the oldest is overwritten. */
  constructor(capacity: number) {
    this.#capacity = capacity
    const first = Math.min(capacity, CAPACITY_FIRST)
    this.#times = new Float64Array(first)
    this.#prices = new Int32Array(first)
  }

  get count(): number {
    return this.#count
  }

  /** Adds the newest price. A time before the last entry's is replaced by the last entry's. */
  push(price: PriceMicros, observedAtMs: TimeMs): void {
    if (this.#count === this.#times.length && this.#count < this.#capacity) this.#grow()
    const last = this.#count === 0 ? observedAtMs : this.#time(this.#count - 1)
    this.#times[this.#next] = Math.max(last, observedAtMs)
    this.#prices[this.#next] = price
    this.#next = (this.#next + 1) % this.#times.length
    this.#count = Math.min(this.#count + 1, this.#times.length)
  }

  /** The newest price at or before `atMs`. Null when the ring begins later or is empty. */
  before(atMs: TimeMs): PricePoint | null {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#time(middle) <= atMs) low = middle + 1
      else high = middle
    }
    return low === 0 ? null : this.#point(low - 1)
  }

  /** All prices, oldest first. */
  points(): PricePoint[] {
    return Array.from({ length: this.#count }, (_, age) => this.#point(age))
  }

  /** Only called on a full ring that has not wrapped, so the entries are in order from 0. */
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

  /** Array index of the entry of this age (0 is the oldest). */
  #slot(age: number): number {
    return (this.#next - this.#count + age + this.#times.length) % this.#times.length
  }

  #time(age: number): number {
    return this.#times[this.#slot(age)] ?? 0
  }

  #point(age: number): PricePoint {
    return {
      timeMs: timeMs(this.#time(age)),
      price: priceMicros(this.#prices[this.#slot(age)] ?? 0),
    }
  }
}
