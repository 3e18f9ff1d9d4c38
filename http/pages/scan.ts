// Reads a page of a time range in time slices, so that a filter with few matches does not block the event loop. Only a
// few scans run at a time, since many concurrent scans would all time out.

import { FairSlots, SlotsFull } from '../../actors/slots.ts'
import type { SliceQuery } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { FairQueue, type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import { requestDeadlineMs, scanMsMax } from '../../engine/limits.ts'
import { type TimeMs, toSeconds } from '../../engine/units.ts'
import { timeCursor } from '../request/cursor.ts'
import { nextMeasuredTick } from '../request/time-slices.ts'

/** A quarter of the time for which a handler may block the event loop. */
const TIME_SLICE_MS = 2.5
/** Rows read for a filter between two clock checks: about 0.5 ms. */
const CHUNK_ROWS = 128
/** Maximum wait for a slot. A longer wait leaves too little time for a scan. */
const WAIT_MS_MAX = 2_000
/** Milliseconds reserved for sending the answer before the request times out. */
const ANSWER_MS = 500
const RETRY_SECONDS = 2

/**
 * Limits, per process, of scans that need more than one time slice. Scans beyond the limits are rejected at once. Pages
 * with many markets and dense pages have slots of their own, because they end soon.
 */
const BOUNDS = { runningMax: 2, heldMs: 5, heldAnywayMs: Number.POSITIVE_INFINITY }
const scans = new FairSlots({ ...BOUNDS, waitingMax: 16 })
const mergedPages = new FairSlots({ ...BOUNDS, waitingMax: 64 })
/** Slots for filtered pages whose first slice had many matching rows. */
const densePages = new FairSlots({ ...BOUNDS, waitingMax: 64 })
/** A page is dense if at least one of this many rows matched. */
const DENSE_ROWS = 8

/** Runs one time slice per event-loop tick. Requesters take turns, regardless of the number of their scans. */
class ScanTurns {
  readonly #waiting = new FairQueue<() => void>(64)
  #isPlanned = false

  next(clock: Clock, requester: Requester): Promise<void> {
    return new Promise((resolve) => {
      // The queue is never full, since at most six scans run.
      this.#waiting.add(requester, resolve)?.()
      this.#plan(clock)
    })
  }

  async #plan(clock: Clock): Promise<void> {
    if (this.#isPlanned) return
    this.#isPlanned = true
    await nextMeasuredTick(clock)
    this.#isPlanned = false
    this.#waiting.next()?.()
    if (this.#waiting.size > 0) this.#plan(clock)
  }
}
const turns = new ScanTurns()

export type TimeRange = Omit<SliceQuery, 'limit'>

export interface RowPosition {
  readonly timeMs: TimeMs
  readonly ordinal: number
}

/** The next rows. Fewer than requested, or none, if the time ran out. */
export interface RowChunk<Row> {
  readonly rows: readonly Row[]
  readonly isEnd: boolean
}

export interface ScanSpec<Row> {
  readonly range: TimeRange
  readonly limit: number
  /**
   * Returns fewer than `limit` rows only at the end of the range. A reader that tracks its own position may stop when
   * the monotonic clock reaches `untilMs`, and returns a RowChunk.
   */
  read(query: SliceQuery, untilMs: number): readonly Row[] | RowChunk<Row>
  positionOf(row: Row): RowPosition
  /** Null: all rows match. */
  readonly accepts: ((row: Row) => boolean) | null
  /** Maximum rows per event-loop tick: about 2 ms. */
  readonly rowsPerTick: number
  readonly clock: Clock
  /** Start of the request on the monotonic clock. Default: now. */
  readonly begunAtMs?: number
  /** Aborts when the client disconnects, which ends a running or waiting scan. */
  readonly signal?: AbortSignal
  /** Long scans are scheduled fairly between requesters. Default: the system. */
  readonly requester?: Requester
}

/** `cursor` is that of the next page, or null on the last page. */
export interface TimePage<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | null
}

/**
 * Returns the page synchronously if one time slice suffices, else a promise. Rejects with UNAVAILABLE if the scan takes
 * too long or too many scans are running.
 */
export function readTimePage<Row>(spec: ScanSpec<Row>): TimePage<Row> | Promise<TimePage<Row>> {
  const scan = new Scan(spec)
  return scan.step() ? scan.page() : scan.rest()
}

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

  /** Runs one time slice. Returns true when the page is complete. */
  step(): boolean {
    const { accepts, rowsPerTick, limit, clock } = this.#spec
    const untilMs = clock.monotonicMs() + TIME_SLICE_MS
    let left = rowsPerTick
    do {
      // One more row reveals whether there is another page and where it starts.
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

  /** Returns true when the page is complete. */
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

  async rest(): Promise<TimePage<Row>> {
    const isDense = this.#rows.length > 0 && this.#rows.length * DENSE_ROWS >= this.#readCount
    if (this.#spec.accepts !== null) await this.#runInSlot(isDense ? densePages : scans)
    else if (this.#isPaced) await this.#runInSlot(mergedPages)
    // An unfiltered page of one table needs no slot.
    else await this.#run(async () => nextMeasuredTick(this.#spec.clock))
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

  /** Monotonic time after which an answer would be too late. */
  get #lastMs(): number {
    return this.#requestedAtMs + requestDeadlineMs - ANSWER_MS
  }

  /** Runs slices until the page is complete. Awaits `turn` before each slice. */
  async #run(turn: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.#spec
    const endsAtMs = Math.min(clock.monotonicMs() + scanMsMax, this.#lastMs)
    do {
      if (clock.monotonicMs() > endsAtMs) throw this.#tooFew()
      await turn()
      if (signal?.aborted === true) throw busy()
    } while (!this.step())
  }

  /**
   * The error of a scan that took too long. The progress is in whole seconds, like range parameters, so that a request
   * that continues there loses no rows.
   */
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
