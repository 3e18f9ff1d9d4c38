// One market's order book, quoted for its first outcome: apply a snapshot or a change, best levels,
// depth, checksum. Not for: where changes come from or who hears of them (actors/market.ts).
// Upholds BOOK1 to BOOK8; test/support/naive-book.ts is its obviously right twin.
//
//   one side:   keys   [ -5  -3  -2 ]      ascending, the best level last, so that the busy end
//               sizes  [ 40  10   7 ]      of the array is the cheap one to change
//               key = price for bids, −price for asks

import { crc32 } from 'node:zlib'
import { assert } from './errors.ts'
import type { BookSide, Level, LevelChange } from './events.ts'
import { bookLevelsMax } from './limits.ts'
import { type PriceMicros, priceMicros, type SizeMicros, sizeMicros } from './units.ts'

const CAPACITY_MIN = 16
const CHECKSUM_LEVELS = 10
/** Shared by every empty side: most markets of a catalogue have no book. */
const NO_KEYS = new Int32Array(0)
const NO_SIZES = new Float64Array(0)

/** The levels of one side. */
class BookHalf {
  readonly #sign: 1 | -1
  #keys = NO_KEYS
  #sizes = NO_SIZES
  count = 0

  constructor(side: BookSide) {
    this.#sign = side === 'bid' ? 1 : -1
  }

  /** The first position whose key is not below `key`. */
  #seek(key: number): number {
    let low = 0
    let high = this.count
    const last = this.#keys[high - 1]
    if (last === undefined || last < key) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#keys[middle] ?? 0) < key) low = middle + 1
      else high = middle
    }
    return low
  }

  sizeAt(price: number): number {
    const key = price * this.#sign
    const position = this.#seek(key)
    return position < this.count && this.#keys[position] === key ? (this.#sizes[position] ?? 0) : 0
  }

  /** Sets a level's size, 0 removes it. False when the side is full. */
  set(price: number, size: number): boolean {
    const key = price * this.#sign
    const position = this.#seek(key)
    if (position < this.count && this.#keys[position] === key) {
      if (size > 0) {
        this.#sizes[position] = size
      } else {
        this.#keys.copyWithin(position, position + 1, this.count)
        this.#sizes.copyWithin(position, position + 1, this.count)
        this.count -= 1
      }
      return true
    }
    if (size <= 0) return true
    if (this.count >= bookLevelsMax) return false
    if (this.count === this.#keys.length) this.#resize(Math.max(CAPACITY_MIN, this.count * 2))
    this.#keys.copyWithin(position + 1, position, this.count)
    this.#sizes.copyWithin(position + 1, position, this.count)
    this.#keys[position] = key
    this.#sizes[position] = size
    this.count += 1
    return true
  }

  #resize(capacity: number): void {
    if (capacity === 0) {
      this.#keys = NO_KEYS
      this.#sizes = NO_SIZES
      return
    }
    const keys = new Int32Array(capacity)
    const sizes = new Float64Array(capacity)
    keys.set(this.#keys.subarray(0, this.count))
    sizes.set(this.#sizes.subarray(0, this.count))
    this.#keys = keys
    this.#sizes = sizes
  }

  clear(): void {
    this.count = 0
  }

  /** Gives back what growth reserved, for a book that sleeps. */
  trim(): void {
    if (this.#keys.length > this.count) this.#resize(this.count)
  }

  /** Price of the level at `rank` from the best (0); null beyond the last. */
  price(rank: number): PriceMicros | null {
    const key = rank < this.count ? this.#keys[this.count - 1 - rank] : undefined
    return key === undefined ? null : priceMicros(key * this.#sign)
  }

  size(rank: number): SizeMicros {
    return sizeMicros(this.#sizes[this.count - 1 - rank] ?? 0)
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

  /** Sum of the sizes. What no integer of ours can say, which no venue can mean, stays below it. */
  depth(): SizeMicros {
    let sum = 0
    for (let position = 0; position < this.count; position += 1) sum += this.#sizes[position] ?? 0
    return sizeMicros(Math.min(sum, Number.MAX_SAFE_INTEGER))
  }

  /** Strictly ordered keys and positive sizes. */
  isSound(): boolean {
    for (let position = 0; position < this.count; position += 1) {
      if (!((this.#sizes[position] ?? 0) > 0)) return false
      if (position > 0 && (this.#keys[position - 1] ?? 0) >= (this.#keys[position] ?? 0))
        return false
    }
    return true
  }
}

/**
 * 'applied'; 'unchanged': the book already said so; 'negative': a difference took more than was
 * there, so a change was missed; 'full': more than bookLevelsMax levels, the change is left out.
 */
export type BookOutcome = 'applied' | 'unchanged' | 'negative' | 'full'

/** A book, best levels first to read. */
export class OrderBook {
  readonly #bids = new BookHalf('bid')
  readonly #asks = new BookHalf('ask')

  get bestBid(): PriceMicros | null {
    return this.#bids.price(0)
  }

  get bestAsk(): PriceMicros | null {
    return this.#asks.price(0)
  }

  get levelCount(): number {
    return this.#bids.count + this.#asks.count
  }

  /** Whether somebody bids at or above what somebody asks: something was missed. */
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
    const half = this.#half(change.side)
    if (half.sizeAt(change.price) === change.size) return 'unchanged'
    return half.set(change.price, change.size) ? 'applied' : 'full'
  }

  /** Adds a signed difference to a level; a result at or below zero removes it. */
  add(change: LevelChange): BookOutcome {
    if (change.size === 0) return 'unchanged'
    const half = this.#half(change.side)
    const size = half.sizeAt(change.price) + change.size
    if (!half.set(change.price, Math.max(size, 0))) return 'full'
    return size < 0 ? 'negative' : 'applied'
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

  /** Throws when a side is out of order or holds an empty level: our bug, never the venue's. */
  assertSound(): void {
    assert(this.#bids.isSound() && this.#asks.isSound(), 'a book side is ordered and not empty')
  }

  #half(side: BookSide): BookHalf {
    return side === 'bid' ? this.#bids : this.#asks
  }
}
