// The newest book updates of this run and, for each market, where its book was last replaced as a whole: what a resuming
// connection needs to be brought up to date without a snapshot. Bounded by updates and by the levels in them, whichever
// comes first; full, the oldest go, and a connection that needed them gets snapshots. 8 MB when it is full.
//
// Updates are kept as numbers in two rings. Not as objects: each would outlive two collections of the young and be copied
// by both, which stopped the loop for several milliseconds, two times a second at 10,000 updates a second.
//
//   heads:   offset % capacity → seq, times, checksum, where its levels begin, how many there are
//   levels:  level % levelsMax → price (asks as −1 − price), size

import type {
  BookConfirmed,
  BookReplaced,
  BookStale,
  BookUpdate,
  LevelChange,
} from '../../../engine/events.ts'
import { ringBookLevelsMax, ringBookUpdatesMax } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { priceMicros, sizeMicros, timeMs } from '../../../engine/units.ts'
import type { ResyncReason } from '../encode/encoder.ts'

const HEAD_WIDTH = 6
const LEVEL_WIDTH = 2
const NO_CHECKSUM = -1

/** A market's newest replacement. */
export interface Replacement {
  readonly market: MarketRef
  /** The channel's newest offset before it: it lies between this one and the next. */
  readonly offset: number
  /** Counts the replacements of all markets, so that two at one offset differ. */
  readonly serial: number
  readonly reason: ResyncReason
}

/** What a replaced book is announced with: a first book ends a gap too, since what was shown before
 * it was empty and marked stale. */
export function resyncReason(reason: BookReplaced['reason']): ResyncReason {
  return reason === 'first' ? 'venue_gap' : reason
}

export class RecentBookUpdates {
  readonly #updates: UpdateRing
  /** In the order of replacement, one a market: bounded by the catalogue. */
  readonly #replaced = new Map<MarketNumber, Replacement>()
  /** Books that were announced as stale, until they are not: bounded by the catalogue. */
  readonly #stale = new Map<MarketNumber, BookStale>()
  #serial = 0

  /** `offset`: how many updates this run has published already. */
  constructor(offset: number, capacity = ringBookUpdatesMax, levelsMax = ringBookLevelsMax) {
    this.#updates = new UpdateRing(offset, { capacity, levelsMax })
  }

  get newest(): number {
    return this.#updates.newest
  }

  /** Of the newest replacement; 0 before the first. */
  get serial(): number {
    return this.#serial
  }

  push(update: BookUpdate): void {
    this.#updates.push(update)
  }

  replace({ market, offset, reason }: BookReplaced): void {
    this.#replace({ market, offset, reason: resyncReason(reason) })
  }

  /** A connection that was away may have been sent `stale` and not `fresh`: it gets the book anew. */
  confirm({ market, offset }: BookConfirmed): void {
    this.#replace({ market, offset, reason: 'venue_gap' })
  }

  #replace(replaced: Omit<Replacement, 'serial'>): void {
    const { number } = replaced.market
    this.#serial += 1
    this.#stale.delete(number)
    this.#replaced.delete(number)
    this.#replaced.set(number, { ...replaced, serial: this.#serial })
  }

  /** A book was announced as stale. */
  markStale(stale: BookStale): void {
    this.#stale.set(stale.market.number, stale)
  }

  /** The books that are stale now and were announced one by one. */
  staleBooks(): Iterable<BookStale> {
    return this.#stale.values()
  }

  /** The market is gone for good. */
  removeMarket(market: MarketNumber): void {
    this.#replaced.delete(market)
    this.#stale.delete(market)
  }

  /** Whether every update behind this offset is kept. */
  reachesBack(offset: number): boolean {
    return offset <= this.newest && offset >= this.#updates.oldest - 1
  }

  /** Null when it is not kept. */
  get(offset: number): BookUpdate | null {
    return this.#updates.get(offset)
  }

  /** The market of an update, without making the update; null when it is not kept. */
  marketAt(offset: number): MarketRef | null {
    return this.#updates.marketAt(offset)
  }

  /** The market's newest replacement; null when this run has seen none. */
  replacement(market: MarketNumber): Replacement | null {
    return this.#replaced.get(market) ?? null
  }

  /** Every market's newest replacement, the earliest first. */
  replacements(): Iterable<Replacement> {
    return this.#replaced.values()
  }
}

/** A bounded memory of book updates. */
class UpdateRing {
  readonly #capacity: number
  readonly #levelsMax: number
  readonly #heads: Float64Array
  readonly #levels: Float64Array
  /** By the slot of a head. */
  readonly #markets: (MarketRef | undefined)[] = []
  #newest: number
  #oldest: number
  /** Levels ever written. */
  #levelCount = 0

  /** `offset`: how many updates this run has published already. Memory is taken as it fills. */
  constructor(offset: number, bounds: { readonly capacity: number; readonly levelsMax: number }) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = bounds.capacity
    this.#levelsMax = bounds.levelsMax
    this.#heads = new Float64Array(bounds.capacity * HEAD_WIDTH)
    this.#levels = new Float64Array(bounds.levelsMax * LEVEL_WIDTH)
  }

  /** The offset of the newest update. */
  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest update kept; newest + 1 when none is. */
  get oldest(): number {
    return this.#oldest
  }

  push(update: BookUpdate): void {
    const { offset, changes, checksum } = update
    // A hole means that an update was never sent; what lies before it cannot be replayed whole.
    if (offset !== this.#newest + 1) this.#oldest = offset
    this.#newest = offset
    this.#oldest = Math.max(this.#oldest, offset - this.#capacity + 1)
    if (changes.length > this.#levelsMax) {
      this.#oldest = offset + 1
      return
    }
    const slot = offset % this.#capacity
    const head = slot * HEAD_WIDTH
    this.#markets[slot] = update.market
    this.#heads[head] = update.seq
    this.#heads[head + 1] = update.venueTimeMs
    this.#heads[head + 2] = update.receivedAtMs
    this.#heads[head + 3] = checksum ?? NO_CHECKSUM
    this.#heads[head + 4] = this.#levelCount
    this.#heads[head + 5] = changes.length
    for (const { side, price, size } of changes) {
      const at = (this.#levelCount % this.#levelsMax) * LEVEL_WIDTH
      this.#levels[at] = side === 'bid' ? price : -1 - price
      this.#levels[at + 1] = size
      this.#levelCount += 1
    }
    // The updates whose levels have just been overwritten.
    const firstRetained = this.#levelCount - this.#levelsMax
    while (this.#oldest < offset && this.#head(this.#oldest, 4) < firstRetained) this.#oldest += 1
  }

  /** Null when it is not kept. */
  get(offset: number): BookUpdate | null {
    const market = this.marketAt(offset)
    if (market === null) return null
    const checksum = this.#head(offset, 3)
    return {
      kind: 'book',
      market,
      offset,
      seq: this.#head(offset, 0),
      venueTimeMs: timeMs(this.#head(offset, 1)),
      receivedAtMs: timeMs(this.#head(offset, 2)),
      changes: this.#changes(this.#head(offset, 4), this.#head(offset, 5)),
      checksum: checksum === NO_CHECKSUM ? null : checksum,
    }
  }

  /** Null when it is not kept. */
  marketAt(offset: number): MarketRef | null {
    if (offset < this.#oldest || offset > this.#newest) return null
    return this.#markets[offset % this.#capacity] ?? null
  }

  #head(offset: number, field: number): number {
    return this.#heads[(offset % this.#capacity) * HEAD_WIDTH + field] ?? 0
  }

  #changes(first: number, count: number): LevelChange[] {
    const changes: LevelChange[] = []
    for (let index = first; index < first + count; index += 1) {
      const at = (index % this.#levelsMax) * LEVEL_WIDTH
      const price = this.#levels[at] ?? 0
      const size = sizeMicros(this.#levels[at + 1] ?? 0)
      if (price >= 0) changes.push({ side: 'bid', price: priceMicros(price), size })
      else changes.push({ side: 'ask', price: priceMicros(-1 - price), size })
    }
    return changes
  }
}
