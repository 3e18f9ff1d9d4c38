// Recent book updates of this run and, per market, its last complete replacement: enough to resume a connection without
// snapshots. Bounded by updates and levels. The oldest are overwritten, and connections that need them get snapshots.
// Updates are stored as numbers in two rings (8 MB when full). Objects would survive two young-generation collections,
// whose copying blocks the event loop for several milliseconds.
//
//   heads:   offset % capacity → seq, times, checksum, start and number of its levels
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

export interface Replacement {
  readonly market: MarketRef
  /** The channel's newest offset before the replacement, which lies between this one and the next. */
  readonly offset: number
  /** Counts replacements of all markets; distinguishes two at the same offset. */
  readonly serial: number
  readonly reason: ResyncReason
}

/**
 * The `resync` reason of a replaced book. A first book also ends a gap, since the book shown before was empty and
 * stale.
 */
export function resyncReason(reason: BookReplaced['reason']): ResyncReason {
  return reason === 'first' ? 'venue_gap' : reason
}

export class RecentBookUpdates {
  readonly #updates: UpdateRing
  /** In order of replacement, one per market; bounded by the catalogue. */
  readonly #replaced = new Map<MarketNumber, Replacement>()
  /** Books announced as stale, until they are fresh; bounded by the catalogue. */
  readonly #stale = new Map<MarketNumber, BookStale>()
  #serial = 0

  /** `offset`: updates that this run has published so far. */
  constructor(offset: number, capacity = ringBookUpdatesMax, levelsMax = ringBookLevelsMax) {
    this.#updates = new UpdateRing(offset, { capacity, levelsMax })
  }

  get newest(): number {
    return this.#updates.newest
  }

  /** The serial of the newest replacement; 0 before the first. */
  get serial(): number {
    return this.#serial
  }

  push(update: BookUpdate): void {
    this.#updates.push(update)
  }

  replace({ market, offset, reason }: BookReplaced): void {
    this.#replace({ market, offset, reason: resyncReason(reason) })
  }

  /** A disconnected client may have received `stale` but not `fresh`: it must get the book again. */
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

  markStale(stale: BookStale): void {
    this.#stale.set(stale.market.number, stale)
  }

  /** The currently stale books that were announced individually. */
  staleBooks(): Iterable<BookStale> {
    return this.#stale.values()
  }

  /** The market was removed permanently. */
  removeMarket(market: MarketNumber): void {
    this.#replaced.delete(market)
    this.#stale.delete(market)
  }

  /** Whether every update after this offset is retained. */
  reachesBack(offset: number): boolean {
    return offset <= this.newest && offset >= this.#updates.oldest - 1
  }

  /** Null if it is not retained. */
  get(offset: number): BookUpdate | null {
    return this.#updates.get(offset)
  }

  /** The market of an update, without decoding the update; null if it is not retained. */
  marketAt(offset: number): MarketRef | null {
    return this.#updates.marketAt(offset)
  }

  /** The market's newest replacement; null if there was none in this run. */
  replacement(market: MarketNumber): Replacement | null {
    return this.#replaced.get(market) ?? null
  }

  /** Every market's newest replacement, the earliest first. */
  replacements(): Iterable<Replacement> {
    return this.#replaced.values()
  }
}

/** A ring buffer of book updates. */
class UpdateRing {
  readonly #capacity: number
  readonly #levelsMax: number
  readonly #heads: Float64Array
  readonly #levels: Float64Array
  /** Indexed by the slot of a head. */
  readonly #markets: (MarketRef | undefined)[] = []
  #newest: number
  #oldest: number
  /** Total levels written. */
  #levelCount = 0

  /** `offset`: updates that this run has published so far. Memory is allocated as the ring fills. */
  constructor(offset: number, bounds: { readonly capacity: number; readonly levelsMax: number }) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = bounds.capacity
    this.#levelsMax = bounds.levelsMax
    this.#heads = new Float64Array(bounds.capacity * HEAD_WIDTH)
    this.#levels = new Float64Array(bounds.levelsMax * LEVEL_WIDTH)
  }

  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest retained update; newest + 1 if empty. */
  get oldest(): number {
    return this.#oldest
  }

  push(update: BookUpdate): void {
    const { offset, changes, checksum } = update
    // A gap means that an update was never sent: a replay across it would be incomplete.
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
    // Evicts the updates whose levels have just been overwritten.
    const firstRetained = this.#levelCount - this.#levelsMax
    while (this.#oldest < offset && this.#head(this.#oldest, 4) < firstRetained) this.#oldest += 1
  }

  /** Null if it is not retained. */
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

  /** Null if it is not retained. */
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
