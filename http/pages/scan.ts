// Reads one page of rows of a time range in slices of rows and time, and yields to the event loop after each slice. A
// rare filter over a long range therefore does not block the loop. Few scans run at once: many concurrent scans would
// all time out. Requesters alternate.

import { FairSlots, SlotsFull } from '../../actors/slots.ts'
import type { SliceQuery } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { FairQueue, type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import { requestDeadlineMs, scanMsMax } from '../../engine/limits.ts'
import { type TimeMs, toSeconds } from '../../engine/units.ts'
import { timeCursor } from '../request/cursor.ts'
import { nextMeasuredTick } from '../request/time-slices.ts'

/** One quarter of the time that a handler may run without yielding. */
const TIME_SLICE_MS = 2.5
/** Rows read for a filter between two clock checks: about 0.5 ms. */
const CHUNK_ROWS = 128
/** Longest wait for a slot. A scan that waits longer has too little time left to run. */
const WAIT_MS_MAX = 2_000
/** Time reserved to send the answer before the request times out. */
const ANSWER_MS = 500
const RETRY_SECONDS = 2

/**
 * Limits for scans that need more than their first slice. They apply to the process, since all scans share one event
 * loop. When they are reached, further scans are rejected at once. Pages that read many markets end soon, so scans for
 * rare rows do not delay them.
 */
const BOUNDS = { runningMax: 2, heldMs: 5, heldAnywayMs: Number.POSITIVE_INFINITY }
const scans = new FairSlots({ ...BOUNDS, waitingMax: 16 })
const mergedPages = new FairSlots({ ...BOUNDS, waitingMax: 64 })
/** Slots of filtered pages whose first slice matched many rows. */
const densePages = new FairSlots({ ...BOUNDS, waitingMax: 64 })
/** A page is dense, and so ends soon, if at least one of this many rows matched. */
const DENSE_ROWS = 8

/** Runs one slice of a scan per event-loop tick. Requesters alternate, however many scans each of them has. */
class ScanTurns {
  readonly #waiting = new FairQueue<() => void>(64)
  #isPlanned = false

  next(clock: Clock, requester: Requester): Promise<void> {
    return new Promise((resolve) => {
      // Never full: at most six scans run.
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

/** Position of a row within its range. */
export interface RowPosition {
  readonly timeMs: TimeMs
  readonly ordinal: number
}

/** Rows that follow those already read; fewer or none if time ran out. */
export interface RowChunk<Row> {
  readonly rows: readonly Row[]
  readonly isEnd: boolean
}

export interface ScanSpec<Row> {
  readonly range: TimeRange
  readonly limit: number
  /**
   * Rows after `after`. Fewer than `limit` are returned only at the end. A reader that tracks its position may stop
   * when the monotonic clock reaches `untilMs`; it then reports whether it reached the end.
   */
  read(query: SliceQuery, untilMs: number): readonly Row[] | RowChunk<Row>
  positionOf(row: Row): RowPosition
  /** Filter; null accepts all rows. */
  readonly accepts: ((row: Row) => boolean) | null
  /** Maximum rows per event-loop tick: about 2 ms. */
  readonly rowsPerTick: number
  readonly clock: Clock
  /** Start of the request on the monotonic clock, if the request had to wait first. Default: now. */
  readonly begunAtMs?: number
  /** Aborts when the client disconnects; a running or waiting scan then ends. */
  readonly signal?: AbortSignal
  /** Identity for fair scheduling of long scans. Default: the system. */
  readonly requester?: Requester
}

/** One page with the cursor of the next; null on the last. */
export interface TimePage<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | null
}

/**
 * Reads a page: synchronously if the first slice suffices, else in slices, yielding to the event loop after each.
 * Rejects with UNAVAILABLE if the filters match so few rows that the scan takes too long, or if too many scans are
 * running.
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

  /** Reads for one event-loop tick. Returns true when the page is complete. */
  step(): boolean {
    const { accepts, rowsPerTick, limit, clock } = this.#spec
    const untilMs = clock.monotonicMs() + TIME_SLICE_MS
    let left = rowsPerTick
    do {
      // One extra row shows whether there are more, and where the page ends.
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

  /** Continues after the first step. */
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

  /** Time after which the answer would be too late. */
  get #lastMs(): number {
    return this.#requestedAtMs + requestDeadlineMs - ANSWER_MS
  }

  /** Awaits `turn` before each slice. */
  async #run(turn: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.#spec
    const endsAtMs = Math.min(clock.monotonicMs() + scanMsMax, this.#lastMs)
    do {
      if (clock.monotonicMs() > endsAtMs) throw this.#tooFew()
      await turn()
      // The client has disconnected, so the page is not needed.
      if (signal?.aborted === true) throw busy()
    } while (!this.step())
  }

  /**
   * Reports the progress of a filtered scan in whole seconds, as in range parameters, so that a continued scan loses no
   * rows.
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
