// One page of rows in a range of time, read in slices of rows and of time with a turn of the loop after each, so that
// a rare filter over a long past never holds the loop. Few such scans run at once, since twenty that share the time
// all come too late, and requesters take turns.

import { FairSlots, SlotsFull } from '../../actors/slots.ts'
import type { SliceQuery } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { FairQueue, type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import { requestDeadlineMs, scanMsMax } from '../../engine/limits.ts'
import { type TimeMs, toSeconds } from '../../engine/units.ts'
import { timeCursor } from '../request/cursor.ts'
import { yieldToEventLoop } from '../request/handler-times.ts'
import type { TimeRange } from './time-range.ts'

/** A quarter of what a handler may take in one piece. */
const TIME_SLICE_MS = 2.5
/** Rows read for a filter between two looks at the clock: half a millisecond's worth. */
const CHUNK_ROWS = 128
/** A scan that waits longer would have too little time left to run in. */
const WAIT_MS_MAX = 2_000
/** An answer is on its way so long before its request times out. */
const ANSWER_MS = 500
const RETRY_SECONDS = 2

/**
 * What goes on behind its first slice. The bounds are the process's, since all share one loop; when
 * they are reached, further ones are refused at once. Pages that read many markets end soon, and are
 * not kept waiting by scans for what is rare.
 */
const BOUNDS = { runningMax: 2, heldMs: 5, heldAnywayMs: Number.POSITIVE_INFINITY }
const scans = new FairSlots({ ...BOUNDS, waitingMax: 16 })
const mergedPages = new FairSlots({ ...BOUNDS, waitingMax: 64 })
/** Filtered pages of which the first slice had a good part. */
const densePages = new FairSlots({ ...BOUNDS, waitingMax: 64 })
/** Of so many rows read at least one passed: such a page ends soon. */
const DENSE_ROWS = 8

/** One piece of a scan in each turn of the loop: requesters take turns, however many scans of each kind they have. */
class ScanTurns {
  readonly #waiting = new FairQueue<() => void>(64)
  #isPlanned = false

  next(clock: Clock, requester: Requester): Promise<void> {
    return new Promise((resolve) => {
      // Never full: six scans run.
      this.#waiting.add(requester, resolve)?.()
      this.#plan(clock)
    })
  }

  async #plan(clock: Clock): Promise<void> {
    if (this.#isPlanned) return
    this.#isPlanned = true
    await yieldToEventLoop(clock)
    this.#isPlanned = false
    this.#waiting.next()?.()
    if (this.#waiting.size > 0) this.#plan(clock)
  }
}
const turns = new ScanTurns()

/** Where a row stands among those of its range. */
export interface RowPosition {
  readonly timeMs: TimeMs
  readonly ordinal: number
}

/** Rows behind those read before; fewer than asked for, even none, where time ran out. */
export interface RowChunk<Row> {
  readonly rows: readonly Row[]
  /** No rows follow. */
  readonly isEnd: boolean
}

/** How rows are read. */
export interface ScanSpec<Row> {
  readonly range: TimeRange
  readonly limit: number
  /**
   * Rows behind `after`: fewer than `limit` only at the end. A reader that knows where it stands
   * may stop when the monotonic clock shows `untilMs`, and then says whether it came to the end.
   */
  read(query: SliceQuery, untilMs: number): readonly Row[] | RowChunk<Row>
  positionOf(row: Row): RowPosition
  /** Rows that the filters admit; null: all. */
  readonly accepts: ((row: Row) => boolean) | null
  /** Rows read in one turn of the loop at most: some two milliseconds' worth. */
  readonly rowsPerTick: number
  readonly clock: Clock
  /** When the request began, by the monotonic clock, where there was something to wait for first; else now. */
  readonly begunAtMs?: number
  /** Aborts when the client has gone: a scan under way or waiting ends. */
  readonly signal?: AbortSignal
  /** Who takes turns with others where the page takes long; the system unless given. */
  readonly requester?: Requester
}

/** One page, with the cursor to the next; null on the last. */
export interface TimePage<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | null
}

/**
 * Reads a page: at once when a first slice suffices, else in slices with a turn of the loop after
 * each. Rejects with UNAVAILABLE when the filters admit so little that the scan takes too long, and
 * when too many such scans run already.
 */
export function readTimePage<Row>(spec: ScanSpec<Row>): TimePage<Row> | Promise<TimePage<Row>> {
  const scan = new Scan(spec)
  return scan.step() ? scan.page() : scan.rest()
}

/** A page that is being read. */
class Scan<Row> {
  readonly #spec: ScanSpec<Row>
  readonly #requestedAtMs: number
  readonly #rows: Row[] = []
  #after: TimeRange['after']
  #isPaced = false
  #readCount = 0

  constructor(spec: ScanSpec<Row>) {
    this.#spec = spec
    this.#after = spec.range.after
    this.#requestedAtMs = spec.begunAtMs ?? spec.clock.monotonicMs()
  }

  /** Reads for one turn of the loop; true when the page is whole. */
  step(): boolean {
    const { accepts, rowsPerTick, limit, clock } = this.#spec
    const untilMs = clock.monotonicMs() + TIME_SLICE_MS
    let left = rowsPerTick
    do {
      // One row more than asked for: it says exactly whether there are more, and where the page cuts.
      const wanted = limit + 1 - this.#rows.length
      const count = Math.min(left, accepts === null ? wanted : CHUNK_ROWS)
      const { rows, isEnd } = this.#read(count, untilMs)
      if (this.#take(rows) || isEnd) return true
      left -= count
    } while (left > 0 && clock.monotonicMs() < untilMs)
    return false
  }

  #read(count: number, untilMs: number): RowChunk<Row> {
    const { range, read } = this.#spec
    const found = read({ ...range, after: this.#after, limit: count }, untilMs)
    if (!('isEnd' in found)) return { rows: found, isEnd: found.length < count }
    this.#isPaced = true
    return found
  }

  /** True when the page is whole. */
  #take(rows: readonly Row[]): boolean {
    const { accepts, limit, positionOf } = this.#spec
    this.#readCount += rows.length
    for (const row of rows) {
      if (accepts !== null && !accepts(row)) continue
      this.#rows.push(row)
      if (this.#rows.length > limit) return true
    }
    const last = rows[rows.length - 1]
    if (last !== undefined) {
      const { timeMs, ordinal } = positionOf(last)
      this.#after = { timeMs, ordinal }
    }
    return false
  }

  /** What the first step left. */
  async rest(): Promise<TimePage<Row>> {
    const isDense = this.#rows.length > 0 && this.#rows.length * DENSE_ROWS >= this.#readCount
    if (this.#spec.accepts !== null) await this.#runInSlot(isDense ? densePages : scans)
    else if (this.#isPaced) await this.#runInSlot(mergedPages)
    // The rows of one table, no more of them than the page has.
    else await this.#run(async () => yieldToEventLoop(this.#spec.clock))
    return this.page()
  }

  async #runInSlot(slots: FairSlots): Promise<void> {
    const { clock, signal, requester = SYSTEM } = this.#spec
    const waiting = new AbortController()
    const giveUp = () => waiting.abort()
    signal?.addEventListener('abort', giveUp, { once: true })
    const leftMs = Math.max(0, this.#lastMs - clock.monotonicMs())
    const stop = clock.after(Math.min(WAIT_MS_MAX, leftMs), giveUp)
    try {
      await slots.run({ clock, signal: waiting.signal, requester }, (pass) => {
        stop()
        return this.#run(async () => {
          await turns.next(clock, requester)
          await pass()
        })
      })
    } catch (error) {
      if (error instanceof SlotsFull) throw busy()
      if (error instanceof EngineError || !waiting.signal.aborted) throw error
      throw busy()
    } finally {
      stop()
    }
  }

  /** Behind it no answer would come in time. */
  get #lastMs(): number {
    return this.#requestedAtMs + requestDeadlineMs - ANSWER_MS
  }

  /** `turn`: awaited before each piece. */
  async #run(turn: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.#spec
    const endsAtMs = Math.min(clock.monotonicMs() + scanMsMax, this.#lastMs)
    do {
      if (clock.monotonicMs() > endsAtMs) throw this.#tooFew()
      await turn()
      // The client has gone: the answer would not be read.
      if (signal?.aborted === true) throw busy()
    } while (!this.step())
  }

  /** Says how far a filtered scan came, in whole seconds as the range has them, so that nothing is lost. */
  #tooFew(): EngineError {
    const { range, positionOf, accepts } = this.#spec
    if (accepts === null) return unavailable('the page was not read in time, ask again soon')
    const found = this.#rows[this.#rows.length - 1]
    const isDown = range.order === 'desc'
    const [near, far] = isDown ? ['start_time', 'end_time'] : ['end_time', 'start_time']
    const what = 'too few rows pass these filters to find a page in time: narrow the range'
    if (found !== undefined) {
      const second = toSeconds(positionOf(found).timeMs)
      return unavailable(
        `${what}: ${this.#rows.length} do as far as ${near}=${second}; ` +
          `go on with ${far}=${isDown ? second - 1 : second + 1}`,
      )
    }
    const atMs = this.#after?.timeMs
    if (atMs === undefined) return unavailable(what)
    return unavailable(`${what}: none does before ${far}=${toSeconds(atMs)}; go on from there`)
  }

  page(): TimePage<Row> {
    const { limit, positionOf } = this.#spec
    const next = this.#rows[limit]
    const rows = next === undefined ? this.#rows : this.#rows.slice(0, limit)
    const last = rows[rows.length - 1]
    const isLast = next === undefined || last === undefined
    return { rows, cursor: isLast ? null : timeCursor(positionOf(last), positionOf(next)) }
  }
}

function busy(): EngineError {
  return unavailable('too many histories are searched through at once, try again soon')
}

function unavailable(detail: string): EngineError {
  return new EngineError('UNAVAILABLE', detail, { retryAfterSeconds: RETRY_SECONDS })
}
