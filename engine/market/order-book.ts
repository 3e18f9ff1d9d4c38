// One market's order book, quoted for its first outcome: apply a snapshot or a change, best levels,
// depth, checksum. Not for: where changes come from or what watches them (actors/market/market.ts).
// Upholds BOOK1 to BOOK8; test/support/twins/naive/book.ts is its obviously right twin.
//
//   one side:   [ -5 40  -3 10  -2 7 ]     key and size of each level in one array, since most of a change is
//                                          waiting for memory; ascending, the best level last, so that the
//                                          busy end is the cheap one to change
//               key = price for bids, −price for asks

import { crc32 } from 'node:zlib'
import { assert } from '../errors.ts'
import type { BookSide, Level, LevelChange } from '../events.ts'
import { bookLevelsMax } from '../limits.ts'
import { type PriceMicros, priceMicros, type SizeMicros, sizeMicros } from '../units.ts'

const CAPACITY_MIN = 16
const CHECKSUM_LEVELS = 10
/** Shared by every empty side: most markets of a catalogue have no book. */
const NO_LEVELS = new Float64Array(0)
/** Places of a level in the array. */
const WIDTH = 2

/**
 * 'applied'; 'unchanged': the level had that size already; 'negative': a difference took more than was
 * there, so a change was missed; 'full': more than bookLevelsMax levels, the change is left out.
 */
type BookOutcome = 'applied' | 'unchanged' | 'negative' | 'full'

/** Levels looked through from the best, before steps that double and halves: most changes are near it. */
const NEAR_LEVELS = 8
/** Fewer are moved one by one: a call would cost more. */
const MOVED_PLACES = 48

/** The levels of one side. */
class BookHalf {
  readonly #sign: 1 | -1
  #levels = NO_LEVELS
  #best: PriceMicros | null = null
  count = 0

  constructor(side: BookSide) {
    this.#sign = side === 'bid' ? 1 : -1
  }

  /** Price of the best level; null when there is none. */
  get best(): PriceMicros | null {
    return this.#best
  }

  /** Where the first level begins whose key is not below `key`; behind the last when there is none. */
  #seek(key: number): number {
    const levels = this.#levels
    let high = this.count
    const near = high > NEAR_LEVELS ? high - NEAR_LEVELS : 0
    for (; high > near; high -= 1) {
      if ((levels[(high - 1) * WIDTH] ?? 0) < key) return high * WIDTH
    }
    let step = NEAR_LEVELS
    let low = Math.max(0, high - step)
    while (low > 0 && (levels[low * WIDTH] ?? 0) >= key) {
      high = low
      step *= 2
      low = Math.max(0, high - step)
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((levels[middle * WIDTH] ?? 0) < key) low = middle + 1
      else high = middle
    }
    return low * WIDTH
  }

  sizeAt(price: number): number {
    const key = price * this.#sign
    const place = this.#seek(key)
    const isThere = place < this.count * WIDTH && this.#levels[place] === key
    return isThere ? (this.#levels[place + 1] ?? 0) : 0
  }

  /** Sets a level's size, 0 removes it. */
  set(price: number, size: number): 'applied' | 'unchanged' | 'full' {
    const key = price * this.#sign
    const place = this.#seek(key)
    const levels = this.#levels
    if (place < this.count * WIDTH && levels[place] === key) {
      if (levels[place + 1] === size) return 'unchanged'
      if (size > 0) levels[place + 1] = size
      else this.#removeAt(place)
      return 'applied'
    }
    if (size <= 0) return 'unchanged'
    if (this.count >= bookLevelsMax) return 'full'
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
    const end = this.count * WIDTH
    if (end === this.#levels.length) this.#resize(Math.max(CAPACITY_MIN, this.count * 2))
    const levels = this.#levels
    if (end - place > MOVED_PLACES) levels.copyWithin(place + WIDTH, place, end)
    else for (let to = end + 1; to > place + 1; to -= 1) levels[to] = levels[to - WIDTH] ?? 0
    levels[place] = key
    levels[place + 1] = size
    this.count += 1
    if (place === end) this.#best = priceMicros(key * this.#sign)
  }

  #removeAt(place: number): void {
    const levels = this.#levels
    const end = (this.count - 1) * WIDTH
    if (end - place > MOVED_PLACES) levels.copyWithin(place, place + WIDTH, end + WIDTH)
    else for (let to = place; to < end; to += 1) levels[to] = levels[to + WIDTH] ?? 0
    this.count -= 1
    if (place === end) this.#best = this.price(0)
  }

  #resize(capacity: number): void {
    const levels = capacity === 0 ? NO_LEVELS : new Float64Array(capacity * WIDTH)
    levels.set(this.#levels.subarray(0, this.count * WIDTH))
    this.#levels = levels
  }

  clear(): void {
    this.count = 0
    this.#best = null
  }

  /** Gives back what growth reserved, for a book that sleeps. */
  trim(): void {
    if (this.#levels.length > this.count * WIDTH) this.#resize(this.count)
  }

  /** Price of the level at `rank` from the best (0); null beyond the last. */
  price(rank: number): PriceMicros | null {
    const key = rank < this.count ? this.#levels[(this.count - 1 - rank) * WIDTH] : undefined
    return key === undefined ? null : priceMicros(key * this.#sign)
  }

  size(rank: number): SizeMicros {
    return sizeMicros(this.#levels[(this.count - 1 - rank) * WIDTH + 1] ?? 0)
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
    for (let rank = 0; rank < this.count; rank += 1) sum += this.#levels[rank * WIDTH + 1] ?? 0
    return sizeMicros(Math.min(sum, Number.MAX_SAFE_INTEGER))
  }

  /** Strictly ordered keys and positive sizes. */
  isSound(): boolean {
    for (let place = 0; place < this.count * WIDTH; place += WIDTH) {
      if (!((this.#levels[place + 1] ?? 0) > 0)) return false
      const isFirst = place === 0
      if (!isFirst && (this.#levels[place - WIDTH] ?? 0) >= (this.#levels[place] ?? 0)) return false
    }
    return this.#best === this.price(0)
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
