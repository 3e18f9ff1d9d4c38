// The order book of one market, quoted for its first outcome.
//
// A side is one plain array with a key and a size per level, keys ascending. The key is the price for bids
// and 1 − price for asks. The best level is last, because changes near the end of an array are cheap.

import { crc32 } from 'node:zlib'
import { assert } from '../errors.ts'
import type { BookSide, Level, LevelChange } from '../events.ts'
import { bookLevelsMax } from '../limits.ts'
import { complement, type PriceMicros, priceMicros, type SizeMicros, sizeMicros } from '../units.ts'

const CHECKSUM_LEVELS = 10

/**
 * Result of a change.
 * - 'unchanged': the level already had the new size.
 * - 'negative': a difference exceeded the level's size, so a change was missed.
 * - 'full': the side has bookLevelsMax levels. The change is dropped.
 */
type BookOutcome = 'applied' | 'unchanged' | 'negative' | 'full'

/** Shared by all empty sides and never modified, because most markets have no book. */
const NO_LEVELS: number[] = []
const WIDTH = 2
/**
 * Number of levels that are searched linearly from the best level before a binary search. Most changes are near the
 * best level.
 */
const NEAR_LEVELS = 16
/** Fewer levels are moved one by one, because `splice` allocates. */
const MOVED_LEVELS = 48

export class OrderBook {
  #bids = NO_LEVELS
  #asks = NO_LEVELS

  get bestBid(): PriceMicros | null {
    return this.#bids.length === 0 ? null : priceMicros(keyAt(this.#bids, 0))
  }

  get bestAsk(): PriceMicros | null {
    return this.#asks.length === 0 ? null : complement(priceMicros(keyAt(this.#asks, 0)))
  }

  get levelCount(): number {
    return countOf(this.#bids) + countOf(this.#asks)
  }

  /** Whether the best bid is at or above the best ask, which means that an update is missing. */
  get isCrossed(): boolean {
    const bid = this.bestBid
    const ask = this.bestAsk
    return bid !== null && ask !== null && bid >= ask
  }

  sizeAt(side: BookSide, price: PriceMicros): SizeMicros {
    const levels = side === 'bid' ? this.#bids : this.#asks
    const key = side === 'bid' ? price : complement(price)
    const behind = seek(levels, key)
    return sizeMicros(isAt(levels, behind, key) ? (levels[behind - 1] ?? 0) : 0)
  }

  levels(side: BookSide, limit = Number.POSITIVE_INFINITY): Level[] {
    const isBid = side === 'bid'
    const from = isBid ? this.#bids : this.#asks
    const levels: Level[] = []
    for (let rank = 0; rank < countOf(from) && rank < limit; rank += 1) {
      const key = priceMicros(keyAt(from, rank))
      levels.push({
        price: isBid ? key : complement(key),
        size: sizeMicros(from[from.length - rank * WIDTH - 1] ?? 0),
      })
    }
    return levels
  }

  /** Sum of the sizes of all levels of a side, clamped to the largest safe integer. */
  depth(side: BookSide): SizeMicros {
    const levels = side === 'bid' ? this.#bids : this.#asks
    let sum = 0
    for (let index = 1; index < levels.length; index += WIDTH) sum += levels[index] ?? 0
    return sizeMicros(Math.min(sum, Number.MAX_SAFE_INTEGER))
  }

  /** Sets a level to an absolute size. 0 removes the level. */
  set({ side, price, size }: LevelChange): BookOutcome {
    const levels = side === 'bid' ? this.#bids : this.#asks
    const key = side === 'bid' ? price : complement(price)
    const behind = seek(levels, key)
    if (isAt(levels, behind, key)) {
      if (levels[behind - 1] === size) return 'unchanged'
      if (size > 0) levels[behind - 1] = size
      else remove(levels, behind)
      return 'applied'
    }
    if (size <= 0) return 'unchanged'
    if (levels.length >= bookLevelsMax * WIDTH) return 'full'
    if (levels.length > 0) insert(levels, behind, key, size)
    else if (side === 'bid') this.#bids = [key, size]
    else this.#asks = [key, size]
    return 'applied'
  }

  /** Adds a signed difference to a level. A result at or below zero removes the level. */
  add({ side, price, size }: LevelChange): BookOutcome {
    if (size === 0) return 'unchanged'
    const sum = this.sizeAt(side, price) + size
    const outcome = this.set({ side, price, size: sizeMicros(Math.max(sum, 0)) })
    if (outcome === 'full') return outcome
    return sum < 0 ? 'negative' : 'applied'
  }

  /** Levels of size zero are omitted. The last of several levels with the same price wins. */
  replace(bids: readonly Level[], asks: readonly Level[]): void {
    this.clear()
    for (const { price, size } of bids) this.set({ side: 'bid', price, size })
    for (const { price, size } of asks) this.set({ side: 'ask', price, size })
  }

  /** The changes that turn this book into `bids` and `asks`. Empty if the books are equal. */
  differences(bids: readonly Level[], asks: readonly Level[]): LevelChange[] {
    const changes: LevelChange[] = []
    this.#compare('bid', bids, changes)
    this.#compare('ask', asks, changes)
    return changes
  }

  #compare(side: BookSide, wanted: readonly Level[], changes: LevelChange[]): void {
    const sizes = new Map<PriceMicros, SizeMicros>()
    for (const level of wanted) sizes.set(level.price, level.size)
    for (const { price } of this.levels(side)) {
      if (!sizes.has(price)) changes.push({ side, price, size: sizeMicros(0) })
    }
    for (const [price, size] of sizes) {
      if (this.sizeAt(side, price) !== size) changes.push({ side, price, size })
    }
  }

  /**
   * CRC-32 of `price:size` of the ten best bids, then of the ten best asks, best first. All numbers are integers in
   * millionths and joined by `:`. Part of the stream protocol.
   */
  checksum(): number {
    const best = [...this.levels('bid', CHECKSUM_LEVELS), ...this.levels('ask', CHECKSUM_LEVELS)]
    return crc32(best.map(({ price, size }) => `${price}:${size}`).join(':'))
  }

  clear(): void {
    this.#bids = NO_LEVELS
    this.#asks = NO_LEVELS
  }

  trim(): void {
    this.#bids = trimmed(this.#bids)
    this.#asks = trimmed(this.#asks)
  }

  /** Throws if a side is unsorted or contains an empty level. */
  assertSound(): void {
    assert(isSound(this.#bids) && isSound(this.#asks), 'a book side is ordered and not empty')
  }
}

function countOf(levels: readonly number[]): number {
  return levels.length / WIDTH
}

function keyAt(levels: readonly number[], rank: number): number {
  return levels[levels.length - (rank + 1) * WIDTH] ?? 0
}

/** Array index after the last level whose key is at most `key`. 0 if there is none. */
function seek(levels: readonly number[], key: number): number {
  let behind = levels.length
  const near = behind > NEAR_LEVELS * WIDTH ? behind - NEAR_LEVELS * WIDTH : 0
  for (; behind > near; behind -= WIDTH) if ((levels[behind - WIDTH] ?? 0) <= key) return behind
  let low = 0
  let high = near / WIDTH
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((levels[middle * WIDTH] ?? 0) <= key) low = middle + 1
    else high = middle
  }
  return low * WIDTH
}

function isAt(levels: readonly number[], behind: number, key: number): boolean {
  return behind > 0 && levels[behind - WIDTH] === key
}

function insert(levels: number[], index: number, key: number, size: number): void {
  const end = levels.length
  if (end - index > MOVED_LEVELS * WIDTH) {
    levels.splice(index, 0, key, size)
    return
  }
  levels.push(key, size)
  for (let to = end; to > index; to -= WIDTH) {
    levels[to] = levels[to - WIDTH] ?? 0
    levels[to + 1] = levels[to - 1] ?? 0
  }
  levels[index] = key
  levels[index + 1] = size
}

function remove(levels: number[], behind: number): void {
  const end = levels.length
  if (end - behind > MOVED_LEVELS * WIDTH) {
    levels.splice(behind - WIDTH, WIDTH)
    return
  }
  for (let from = behind; from < end; from += WIDTH) {
    levels[from - WIDTH] = levels[from] ?? 0
    levels[from - 1] = levels[from + 1] ?? 0
  }
  levels.pop()
  levels.pop()
}

function trimmed(levels: number[]): number[] {
  return levels.length === 0 ? NO_LEVELS : levels.slice()
}

function isSound(levels: readonly number[]): boolean {
  if (levels.length % WIDTH !== 0) return false
  return levels.every((value, index) => {
    if (index % WIDTH === 1) return value > 0
    return index === 0 || (levels[index - WIDTH] ?? 0) < value
  })
}
