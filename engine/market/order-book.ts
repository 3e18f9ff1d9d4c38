// One market's order book, quoted for its first outcome: apply a snapshot or a change, best levels,
// depth, checksum. Not for: where changes come from or what watches them (actors/market/market.ts).
// Upholds BOOK1 to BOOK8; test/support/twins/naive/book.ts is its obviously right twin.
//
//   one side:   keys   [ -5  -3  -2 ]     plain arrays, ascending, the best level last, so that the busy end is
//               sizes  [ 40  10   7 ]     the cheap one to change; key = price for bids, −price for asks

import { crc32 } from 'node:zlib'
import { assert } from '../errors.ts'
import type { BookSide, Level, LevelChange } from '../events.ts'
import { bookLevelsMax } from '../limits.ts'
import { type PriceMicros, priceMicros, type SizeMicros, sizeMicros } from '../units.ts'

const CHECKSUM_LEVELS = 10

/**
 * 'applied'; 'unchanged': the level had that size already; 'negative': a difference took more than was
 * there, so a change was missed; 'full': more than bookLevelsMax levels, the change is left out.
 */
type BookOutcome = 'applied' | 'unchanged' | 'negative' | 'full'

/** Shared by every empty side, and never added to: most markets of a catalogue have no book. */
const NO_LEVELS: number[] = []
/** Levels looked through from the best, before halving: most changes are near it. */
const NEAR_LEVELS = 16
/** Fewer are moved one by one: `splice` allocates. */
const MOVED_LEVELS = 48

/** The levels of one side. */
class BookHalf {
  readonly #sign: 1 | -1
  #keys = NO_LEVELS
  #sizes = NO_LEVELS

  constructor(side: BookSide) {
    this.#sign = side === 'bid' ? 1 : -1
  }

  get count(): number {
    return this.#keys.length
  }

  /** Price of the best level; null when there is none. */
  get best(): PriceMicros | null {
    return this.price(0)
  }

  /** Of a price or a key, the other. Without the sum an ask of 0 would be −0, which is no small integer to V8. */
  #mirror(value: number): number {
    return value * this.#sign + 0
  }

  /** Place of the first level whose key is not below `key`; behind the last when there is none. */
  #seek(key: number): number {
    const keys = this.#keys
    let high = keys.length
    const near = high > NEAR_LEVELS ? high - NEAR_LEVELS : 0
    for (; high > near; high -= 1) {
      const other = keys[high - 1]
      if (other === undefined || other < key) return high
    }
    let low = 0
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((keys[middle] ?? 0) < key) low = middle + 1
      else high = middle
    }
    return low
  }

  sizeAt(price: number): number {
    const key = this.#mirror(price)
    const place = this.#seek(key)
    return this.#keys[place] === key ? (this.#sizes[place] ?? 0) : 0
  }

  /** Sets a level's size, 0 removes it. */
  set(price: number, size: number): 'applied' | 'unchanged' | 'full' {
    const key = this.#mirror(price)
    const place = this.#seek(key)
    const sizes = this.#sizes
    if (place < sizes.length && this.#keys[place] === key) {
      if (sizes[place] === size) return 'unchanged'
      if (size > 0) sizes[place] = size
      else this.#removeAt(place)
      return 'applied'
    }
    if (size <= 0) return 'unchanged'
    if (sizes.length >= bookLevelsMax) return 'full'
    this.#insertAt(place, key, size)
    return 'applied'
  }

  /** The same by a signed difference; 'negative': more was taken than there was, and nothing is left. */
  add(price: number, difference: number): BookOutcome {
    const size = this.sizeAt(price) + difference
    const outcome = this.set(price, Math.max(size, 0))
    if (outcome === 'full') return outcome
    return size < 0 ? 'negative' : 'applied'
  }

  #insertAt(place: number, key: number, size: number): void {
    const keys = this.#keys
    const sizes = this.#sizes
    const end = keys.length
    if (end === 0) {
      this.#keys = [key]
      this.#sizes = [size]
      return
    }
    if (end - place > MOVED_LEVELS) {
      keys.splice(place, 0, key)
      sizes.splice(place, 0, size)
      return
    }
    keys.push(key)
    sizes.push(size)
    for (let to = end; to > place; to -= 1) {
      keys[to] = keys[to - 1] ?? 0
      sizes[to] = sizes[to - 1] ?? 0
    }
    keys[place] = key
    sizes[place] = size
  }

  #removeAt(place: number): void {
    const keys = this.#keys
    const sizes = this.#sizes
    const last = keys.length - 1
    if (last - place > MOVED_LEVELS) {
      keys.splice(place, 1)
      sizes.splice(place, 1)
      return
    }
    for (let to = place; to < last; to += 1) {
      keys[to] = keys[to + 1] ?? 0
      sizes[to] = sizes[to + 1] ?? 0
    }
    keys.pop()
    sizes.pop()
  }

  clear(): void {
    this.#keys = NO_LEVELS
    this.#sizes = NO_LEVELS
  }

  /** Gives back what growth reserved, for a book that sleeps. */
  trim(): void {
    if (this.count === 0) return this.clear()
    this.#keys = this.#keys.slice()
    this.#sizes = this.#sizes.slice()
  }

  /** Price of the level at `rank` from the best (0); null beyond the last. */
  price(rank: number): PriceMicros | null {
    const keys = this.#keys
    const key = rank < keys.length ? keys[keys.length - 1 - rank] : undefined
    return key === undefined ? null : priceMicros(this.#mirror(key))
  }

  size(rank: number): SizeMicros {
    return sizeMicros(this.#sizes[this.#sizes.length - 1 - rank] ?? 0)
  }

  /** Best first, at most `limit`. */
  levels(limit: number): Level[] {
    const levels: Level[] = []
    for (let rank = 0; rank < this.count && rank < limit; rank += 1) {
      const price = this.price(rank)
      if (price !== null) levels.push({ price, size: this.size(rank) })
    }
    return levels
  }

  /** Sum of the sizes, at most the largest safe integer. */
  depth(): SizeMicros {
    let sum = 0
    for (const size of this.#sizes) sum += size
    return sizeMicros(Math.min(sum, Number.MAX_SAFE_INTEGER))
  }

  /** Strictly ordered keys and positive sizes. */
  isSound(): boolean {
    const [keys, sizes] = [this.#keys, this.#sizes]
    const isOrdered = keys.every((key, place) => place === 0 || (keys[place - 1] ?? 0) < key)
    return isOrdered && sizes.length === keys.length && sizes.every((size) => size > 0)
  }
}

/** A book, best levels first to read. */
export class OrderBook {
  readonly #bids = new BookHalf('bid')
  readonly #asks = new BookHalf('ask')

  get bestBid(): PriceMicros | null {
    return this.#bids.best
  }

  get bestAsk(): PriceMicros | null {
    return this.#asks.best
  }

  get levelCount(): number {
    return this.#bids.count + this.#asks.count
  }

  /** True when the best bid is at or above the best ask: an update was missed. */
  get isCrossed(): boolean {
    const bid = this.bestBid
    const ask = this.bestAsk
    return bid !== null && ask !== null && bid >= ask
  }

  sizeAt(side: BookSide, price: PriceMicros): SizeMicros {
    return sizeMicros(this.#half(side).sizeAt(price))
  }

  levels(side: BookSide, limit = Number.POSITIVE_INFINITY): Level[] {
    return this.#half(side).levels(limit)
  }

  /** Sum of the sizes of a side, over all its levels. */
  depth(side: BookSide): SizeMicros {
    return this.#half(side).depth()
  }

  /** Sets a level to an absolute size; 0 removes it. */
  set(change: LevelChange): BookOutcome {
    return this.#half(change.side).set(change.price, change.size)
  }

  /** Adds a signed difference to a level; a result at or below zero removes it. */
  add(change: LevelChange): BookOutcome {
    if (change.size === 0) return 'unchanged'
    return this.#half(change.side).add(change.price, change.size)
  }

  /** Replaces the whole book. Zero sizes are left out; of a price given twice the last counts. */
  replace(bids: readonly Level[], asks: readonly Level[]): void {
    this.#bids.clear()
    this.#asks.clear()
    for (const level of bids) this.#bids.set(level.price, level.size)
    for (const level of asks) this.#asks.set(level.price, level.size)
  }

  /** The changes that would make this book equal to `bids` and `asks`; none when it already is. */
  differences(bids: readonly Level[], asks: readonly Level[]): LevelChange[] {
    const changes: LevelChange[] = []
    this.#compare('bid', bids, changes)
    this.#compare('ask', asks, changes)
    return changes
  }

  #compare(side: BookSide, wanted: readonly Level[], changes: LevelChange[]): void {
    const half = this.#half(side)
    const sizes = new Map<PriceMicros, SizeMicros>()
    for (const level of wanted) sizes.set(level.price, level.size)
    for (let rank = 0; rank < half.count; rank += 1) {
      const price = half.price(rank)
      if (price !== null && !sizes.has(price)) changes.push({ side, price, size: sizeMicros(0) })
    }
    for (const [price, size] of sizes) {
      if (half.sizeAt(price) !== size) changes.push({ side, price, size })
    }
  }

  /**
   * CRC-32 of `price:size` of the ten best bids, then the ten best asks, best first, all joined by
   * `:`, as integers in millionths; only levels that exist (the stream protocol's checksum).
   */
  checksum(): number {
    let text = ''
    for (const half of [this.#bids, this.#asks]) {
      const count = Math.min(half.count, CHECKSUM_LEVELS)
      for (let rank = 0; rank < count; rank += 1) {
        text += `${text === '' ? '' : ':'}${half.price(rank)}:${half.size(rank)}`
      }
    }
    return crc32(text)
  }

  clear(): void {
    this.#bids.clear()
    this.#asks.clear()
  }

  /** Keeps only the memory that the present levels need. */
  trim(): void {
    this.#bids.trim()
    this.#asks.trim()
  }

  /** Throws when a side is out of order or holds an empty level: a bug of ours, not of the venue. */
  assertSound(): void {
    assert(this.#bids.isSound() && this.#asks.isSound(), 'a book side is ordered and not empty')
  }

  #half(side: BookSide): BookHalf {
    return side === 'bid' ? this.#bids : this.#asks
  }
}
