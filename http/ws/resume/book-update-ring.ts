// Ring buffer of book updates in typed arrays, because 65,536 objects would cause long garbage collections. `heads`
// has, at offset % capacity: seq, times, checksum, index of the first level, number of levels. `levels` has, at index %
// levelsMax: price (asks as -1 - price) and size.

import type { BookUpdate, LevelChange } from '../../../engine/events.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { priceMicros, sizeMicros, timeMs } from '../../../engine/units.ts'

const HEAD_WIDTH = 6
const LEVEL_WIDTH = 2
const NO_CHECKSUM = -1

export class BookUpdateRing {
  readonly #capacity: number
  readonly #levelsMax: number
  readonly #heads: Float64Array
  readonly #levels: Float64Array
  readonly #markets: (MarketRef | undefined)[] = []
  #newest: number
  #oldest: number
  #levelCount = 0

  /** `offset`: updates that this run has published so far. `levelsMax` limits the changed levels of all updates. */
  constructor(offset: number, { capacity, levelsMax }: { capacity: number; levelsMax: number }) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = capacity
    this.#levelsMax = levelsMax
    this.#heads = new Float64Array(capacity * HEAD_WIDTH)
    this.#levels = new Float64Array(levelsMax * LEVEL_WIDTH)
  }

  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest retained update, or the next offset if the buffer is empty. */
  get oldest(): number {
    return this.#oldest
  }

  push({ offset, market, seq, venueTimeMs, receivedAtMs, checksum, changes }: BookUpdate): void {
    // The missing updates were never sent, so a replay across them would be incomplete.
    if (offset !== this.#newest + 1) this.#oldest = offset
    this.#newest = offset
    this.#oldest = Math.max(this.#oldest, offset - this.#capacity + 1)
    if (changes.length > this.#levelsMax) {
      this.#oldest = offset + 1
      return
    }
    const slot = offset % this.#capacity
    this.#markets[slot] = market
    const head = slot * HEAD_WIDTH
    this.#heads[head] = seq
    this.#heads[head + 1] = venueTimeMs
    this.#heads[head + 2] = receivedAtMs
    this.#heads[head + 3] = checksum ?? NO_CHECKSUM
    this.#heads[head + 4] = this.#levelCount
    this.#heads[head + 5] = changes.length
    for (const { side, price, size } of changes) {
      const at = (this.#levelCount % this.#levelsMax) * LEVEL_WIDTH
      this.#levels[at] = side === 'bid' ? price : -1 - price
      this.#levels[at + 1] = size
      this.#levelCount += 1
    }
    const firstRetained = this.#levelCount - this.#levelsMax
    while (this.#oldest < offset && this.#head(this.#oldest, 4) < firstRetained) this.#oldest += 1
  }

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

  /** The market of an update, without building the update. Null if the update is not retained. */
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
