// Merges the trades of several markets of one venue in order of millisecond, market number and ordinal. Later inserts
// do not change this order, so pages neither lose nor repeat rows.

import type { MarketView, SliceQuery } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { RowChunk, RowPosition, TimeRange } from './scan.ts'

/** More than the number of trades that one market can have in a millisecond. */
const ORDINALS = 1_000_000
/** Above every issued ordinal, since market numbers have 32 bits. */
export const MERGED_ORDINAL_MAX = 2 ** 32 * ORDINALS

const CHUNK_ROWS_MAX = 64
const CHUNK_GROWTH = 4

type Trade = ReturnType<MarketView['trades']>[number]

export interface MarketTrade {
  readonly view: MarketView
  readonly trade: Trade
}

export function mergedPosition({ view, trade }: MarketTrade): RowPosition {
  return { timeMs: trade.timeMs, ordinal: view.ref.number * ORDINALS + trade.ordinal }
}

export class MergedTrades {
  readonly #views: readonly MarketView[]
  readonly #range: TimeRange
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** Opened markets with rows left. The market with the next row is last. */
  readonly #sources: Source[] = []
  #openedCount = 0

  constructor(views: readonly MarketView[], range: TimeRange, clock: Pick<Clock, 'monotonicMs'>) {
    this.#views = views
    this.#range = range
    this.#clock = clock
  }

  /** Returns fewer rows, or none, if the monotonic clock reaches `untilMs` first. */
  next(limit: number, untilMs: number): RowChunk<MarketTrade> {
    const rows: MarketTrade[] = []
    let isOver = !this.#open(untilMs)
    while (!isOver && rows.length < limit) {
      const source = this.#sources.pop()
      if (source === undefined) return { rows, isEnd: true }
      if (source.row !== null) rows.push({ view: source.view, trade: source.row })
      const hasRead = source.advance()
      this.#add(source)
      // Checks the clock only after a read, since the remaining steps are fast.
      isOver = hasRead && this.#clock.monotonicMs() >= untilMs
    }
    return { rows, isEnd: false }
  }

  /** Opens at least one market and continues until `untilMs`. Returns true if all markets are open. */
  #open(untilMs: number): boolean {
    for (;;) {
      const view = this.#views[this.#openedCount]
      if (view === undefined) return true
      this.#openedCount += 1
      this.#add(new Source(view, this.#range))
      if (this.#clock.monotonicMs() >= untilMs) return false
    }
  }

  #add(source: Source): void {
    if (source.headMs === null) return
    let [low, high] = [0, this.#sources.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isBefore(source, this.#sources[middle])) low = middle + 1
      else high = middle
    }
    this.#sources.splice(low, 0, source)
  }

  #isBefore(one: Source, other: Source | undefined): boolean {
    const left = one.headMs ?? 0
    const right = other?.headMs ?? 0
    const difference =
      left === right ? one.view.ref.number - (other?.view.ref.number ?? 0) : left - right
    return this.#range.order === 'asc' ? difference < 0 : difference > 0
  }
}

class Source {
  readonly view: MarketView
  readonly #range: TimeRange
  #after: SliceQuery['after']
  #chunk: readonly Trade[] = []
  /** Rows of the last read. Chunks grow from one row, since most markets have no row in the range. */
  #chunkRows = 1
  #position = 0

  constructor(view: MarketView, range: TimeRange) {
    this.view = view
    this.#range = range
    this.#after = marketPosition(view, range)
    this.#read()
  }

  get row(): Trade | null {
    return this.#chunk[this.#position] ?? null
  }

  get headMs(): TimeMs | null {
    return this.row?.timeMs ?? null
  }

  /** Returns true if the next row needed a read. */
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

function marketPosition(view: MarketView, { after, order, toMs }: TimeRange): SliceQuery['after'] {
  // Without a position, the market would fill its ring buffer to return one or two rows.
  if (after === null) return order === 'asc' ? null : { timeMs: timeMs(toMs + 1), ordinal: null }
  if (after.ordinal === null) return after
  const { number } = view.ref
  const market = Math.floor(after.ordinal / ORDINALS)
  if (number === market) return { timeMs: after.timeMs, ordinal: after.ordinal % ORDINALS }
  const isPassed = order === 'asc' ? number < market : number > market
  return { timeMs: isPassed ? after.timeMs : beside(after.timeMs, order), ordinal: null }
}

/** The millisecond before `atMs` in reading order. A read from there includes all rows of `atMs`. */
function beside(atMs: TimeMs, order: 'asc' | 'desc'): TimeMs {
  return timeMs(order === 'asc' ? Math.max(0, atMs - 1) : atMs + 1)
}
