// Merges the trades of several markets of one venue into one sequence, ordered by millisecond, market number and
// ordinal. Later inserts do not change this total order, so pages neither lose nor repeat rows. An event may have
// thousands of markets: each is opened once per request, in time slices.

import type { MarketView, SliceQuery } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { RowChunk, RowPosition, TimeRange } from './scan.ts'

/** Exceeds the number of trades of one market in one millisecond. */
const ORDINALS = 1_000_000
/** No larger position was ever issued: market numbers have 32 bits. */
export const MERGED_ORDINAL_MAX = 2 ** 32 * ORDINALS

const CHUNK_ROWS_MAX = 64
const CHUNK_GROWTH = 4

type Trade = ReturnType<MarketView['trades']>[number]

export interface MarketTrade {
  readonly view: MarketView
  readonly trade: Trade
}

/** Position of a row among those of all markets. */
export function mergedPosition({ view, trade }: MarketTrade): RowPosition {
  return { timeMs: trade.timeMs, ordinal: view.ref.number * ORDINALS + trade.ordinal }
}

/** The trades of the markets in a range; single pass. */
export class MergedTrades {
  readonly #views: readonly MarketView[]
  readonly #range: TimeRange
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #heap: SourceHeap
  #openedCount = 0

  constructor(views: readonly MarketView[], range: TimeRange, clock: Pick<Clock, 'monotonicMs'>) {
    this.#views = views
    this.#range = range
    this.#clock = clock
    this.#heap = new SourceHeap(range.order)
  }

  /** The next `limit` rows; fewer or none if the monotonic clock reaches `untilMs` first. */
  next(limit: number, untilMs: number): RowChunk<MarketTrade> {
    const rows: MarketTrade[] = []
    let isOver = !this.#open(untilMs)
    while (!isOver && rows.length < limit) {
      const { first } = this.#heap
      if (first === null) return { rows, isEnd: true }
      if (first.row !== null) rows.push({ view: first.view, trade: first.row })
      const hasRead = first.advance()
      this.#heap.restore()
      // Only a read takes long enough to justify a clock check.
      isOver = hasRead && this.#clock.monotonicMs() >= untilMs
    }
    return { rows, isEnd: false }
  }

  /** Opens at least one market and continues until `untilMs`. Returns true once all are open. */
  #open(untilMs: number): boolean {
    for (;;) {
      const view = this.#views[this.#openedCount]
      if (view === undefined) return true
      this.#openedCount += 1
      this.#heap.add(new Source(view, this.#range))
      if (this.#clock.monotonicMs() >= untilMs) return false
    }
  }
}

/** Min-heap of the sources that have rows, by their next row. */
class SourceHeap {
  readonly #isAscending: boolean
  readonly #sources: Source[] = []

  constructor(order: 'asc' | 'desc') {
    this.#isAscending = order === 'asc'
  }

  get first(): Source | null {
    return this.#sources[0] ?? null
  }

  /** Ignores a source without rows. */
  add(source: Source): void {
    if (source.headMs === null) return
    let at = this.#sources.length
    this.#sources.push(source)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(source, this.#sources[above])) break
      this.#move(above, at)
      at = above
    }
    this.#sources[at] = source
  }

  /** Restores the heap order after the first source has advanced. */
  restore(): void {
    let source = this.#sources[0]
    if (source?.headMs === null) {
      const last = this.#sources.pop()
      source = last === source ? undefined : last
    }
    if (source === undefined) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const isRight = this.#isBefore(this.#sources[left + 1], this.#sources[left])
      const below = isRight ? left + 1 : left
      if (!this.#isBefore(this.#sources[below], source)) break
      this.#move(below, at)
      at = below
    }
    this.#sources[at] = source
  }

  #move(from: number, to: number): void {
    const source = this.#sources[from]
    if (source !== undefined) this.#sources[to] = source
  }

  /** An absent source never comes first. */
  #isBefore(one: Source | undefined, other: Source | undefined): boolean {
    if (one === undefined || other === undefined) return false
    const left = one.headMs ?? 0
    const right = other.headMs ?? 0
    const difference = left === right ? one.view.ref.number - other.view.ref.number : left - right
    return this.#isAscending ? difference < 0 : difference > 0
  }
}

/** Rows of one market, read in small chunks. */
class Source {
  readonly view: MarketView
  readonly #range: TimeRange
  #after: SliceQuery['after']
  #chunk: readonly Trade[] = []
  /** Rows of the last read; the first is small because most of many markets return no row. */
  #chunkRows = 1
  #position = 0

  constructor(view: MarketView, range: TimeRange) {
    this.view = view
    this.#range = range
    this.#after = marketPosition(view, range)
    this.#read()
  }

  /** The next row; null after the last. */
  get row(): Trade | null {
    return this.#chunk[this.#position] ?? null
  }

  /** Time of the next row; null after the last. */
  get headMs(): TimeMs | null {
    return this.row?.timeMs ?? null
  }

  /** Returns whether it had to read. */
  advance(): boolean {
    this.#position += 1
    const isReading =
      this.#position === this.#chunk.length && this.#chunk.length === this.#chunkRows
    if (isReading) {
      this.#chunkRows = Math.min(this.#chunkRows * CHUNK_GROWTH, CHUNK_ROWS_MAX)
      this.#read()
    }
    return isReading
  }

  #read(): void {
    const query = { ...this.#range, after: this.#after, limit: this.#chunkRows }
    this.#chunk = this.view.trades(query)
    this.#position = 0
    const last = this.#chunk[this.#chunk.length - 1]
    if (last !== undefined) this.#after = { timeMs: last.timeMs, ordinal: last.ordinal }
  }
}

/** Translates a position among all markets into a position among one market's trades. */
function marketPosition(view: MarketView, { after, order, toMs }: TimeRange): SliceQuery['after'] {
  // With a position the market reads its table. Without one it would fill its ring buffer for one or two rows.
  if (after === null) return order === 'asc' ? null : { timeMs: timeMs(toMs + 1), ordinal: null }
  if (after.ordinal === null) return after
  const { number } = view.ref
  const market = Math.floor(after.ordinal / ORDINALS)
  if (number === market) return { timeMs: after.timeMs, ordinal: after.ordinal % ORDINALS }
  const isPassed = order === 'asc' ? number < market : number > market
  return { timeMs: isPassed ? after.timeMs : beside(after.timeMs, order), ordinal: null }
}

/** The adjacent millisecond that comes earlier in reading order, so that all of `atMs` is still to come. */
function beside(atMs: TimeMs, order: 'asc' | 'desc'): TimeMs {
  return timeMs(order === 'asc' ? Math.max(0, atMs - 1) : atMs + 1)
}
