// Keeps requests from blocking the event loop: measures handlers, processes rows in time slices, and lets requests wait
// in turns over accounts.

import type { Clock } from '../../engine/clock.ts'
import { FairQueue, type Requester } from '../../engine/fair-queue.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'
import { type Answer, etagFrom, namedJson, newHash } from './reply.ts'

/** The HandlerTimes of each server, by its clock: code that yields has access to the clock only. */
const timesOf = new WeakMap<Clock, HandlerTimes>()

/** Waits for the next event-loop tick, and measures how long that tick is blocked. */
export function nextMeasuredTick(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      timesOf.get(clock)?.beginTick()
      resolve()
    })
  })
}

/** Half of the limit of a piece: after this time a piece should end soon. */
const PIECE_MS = 5

/** End of a slice of `sliceMs` that begins now. It is earlier if the current piece has already taken long. */
export function sliceEndMs(clock: Clock, sliceMs: number): number {
  const endMs = clock.monotonicMs() + sliceMs
  const times = timesOf.get(clock)
  return times === undefined ? endMs : Math.min(endMs, times.beganMs + PIECE_MS)
}

/** Resolution of the one-minute maximum. */
const PART_MS = 10_000
const PART_COUNT = 6

/** Records the times and exports them to /metrics. */
export class HandlerTimes {
  readonly #clock: Clock
  readonly #histogram: Durations
  /** Maximum of each of the last parts of a minute. */
  readonly #largest = new Float64Array(PART_COUNT)
  #part = 0
  #isInTick = false
  /** Start of the current or last piece. */
  #beganMs = 0

  constructor({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }) {
    this.#clock = clock
    timesOf.set(clock, this)
    this.#histogram = metrics.histogramMs(
      'http_handler_sync_ms',
      'Milliseconds for which handling a request held the loop in one piece.',
    )
    metrics.gauge(
      'http_handler_sync_max_ms',
      'The largest http_handler_sync_ms of the last minute.',
      () => this.largestMs(),
    )
  }

  begin(): void {
    this.#beganMs = this.#clock.monotonicMs()
  }

  get beganMs(): number {
    return this.#beganMs
  }

  /** Returns the length of the piece, in milliseconds. */
  end(): number {
    const nowMs = this.#clock.monotonicMs()
    const elapsedMs = nowMs - this.#beganMs
    this.#histogram.observe(elapsedMs)
    this.#moveTo(nowMs)
    const slot = this.#part % PART_COUNT
    if (elapsedMs > (this.#largest[slot] ?? 0)) this.#largest[slot] = elapsedMs
    return elapsedMs
  }

  /** The current tick is measured as one piece. */
  get isInTick(): boolean {
    return this.#isInTick
  }

  /** Starts a piece that ends when this event-loop tick has no work left. */
  beginTick(): void {
    this.begin()
    this.#isInTick = true
    // `nextTick` callbacks run after all microtasks, including those queued later.
    const end = () => {
      this.#isInTick = false
      this.end()
    }
    queueMicrotask(() => process.nextTick(end))
  }

  /** Maximum of the last 50 to 60 seconds. */
  largestMs(): number {
    this.#moveTo(this.#clock.monotonicMs())
    return Math.max(...this.#largest)
  }

  #moveTo(nowMs: number): void {
    const part = Math.floor(nowMs / PART_MS)
    if (part === this.#part) return
    const fresh = Math.min(part - this.#part, PART_COUNT)
    for (let back = 0; back < fresh; back += 1) this.#largest[(part - back) % PART_COUNT] = 0
    this.#part = part
  }
}

/** One quarter of a handler's limit without yielding; the last row may exceed it. */
const TIME_SLICE_MS = 2.5
/** If more rows were read in a tick, they are written in the next one. */
const FEW_ROWS = 100

/** Maps rows, one time slice per event-loop tick. */
export function mapInSlices<Row, Result>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => Result,
): readonly Result[] | Promise<readonly Result[]> {
  const results: Result[] = []
  const rest = forEachInSlices(clock, rows, (row) => {
    results.push(work(row))
  })
  return rest === null ? results : rest.then(() => results)
}

/** Like `mapInSlices`, for rows that were read in this tick. */
export async function writeInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  write: (row: Row) => string,
): Promise<readonly string[]> {
  if (rows.length > FEW_ROWS) await nextMeasuredTick(clock)
  return mapInSlices(clock, rows, write)
}

/** Runs the work for each row; null if a single time slice was enough. */
export function forEachInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => void,
): Promise<void> | null {
  let index = 0
  const runSlice = (): boolean => {
    const endsAtMs = sliceEndMs(clock, TIME_SLICE_MS)
    for (let row = rows[index]; row !== undefined; row = rows[index]) {
      work(row)
      index += 1
      if (clock.monotonicMs() >= endsAtMs) break
    }
    return index >= rows.length
  }
  if (runSlice()) return null
  const rest = async () => {
    do await nextMeasuredTick(clock)
    while (!runSlice())
  }
  return rest()
}

/** Bytes that are hashed at once: about 0.1 ms. */
const HASHED_BYTES = 65_536

/** A JSON answer with an ETag from its parts in order: texts as they are, and rows as `write` writes them. */
export function partsAnswer<Row extends object>(
  clock: Clock,
  parts: readonly (string | Row)[],
  write: (row: Row) => string | Uint8Array,
): Answer | Promise<Answer> {
  const chunks: Uint8Array[] = []
  const written = forEachInSlices(clock, parts, (part) => {
    const text = typeof part === 'string' ? part : write(part)
    chunks.push(typeof text === 'string' ? Buffer.from(text) : text)
  })
  return written === null
    ? hashedAnswer(clock, Buffer.concat(chunks))
    : written.then(() => hashedAnswer(clock, Buffer.concat(chunks)))
}

/** Hashes the body in blocks: a body of megabytes would take too long for one tick. */
function hashedAnswer(clock: Clock, body: Buffer): Answer | Promise<Answer> {
  const hash = newHash()
  const starts = Array.from({ length: Math.ceil(body.length / HASHED_BYTES) }, (_, block) => {
    return block * HASHED_BYTES
  })
  const hashed = forEachInSlices(clock, starts, (start) => {
    hash.update(body.subarray(start, start + HASHED_BYTES))
  })
  const finish = () => namedJson(body, etagFrom(hash))
  return hashed === null ? finish() : hashed.then(finish)
}

/** Rows with commas between them. */
export function separated<Row>(rows: readonly Row[]): (Row | ',')[] {
  return rows.flatMap((row, index): (Row | ',')[] => (index === 0 ? [row] : [',', row]))
}

/** Requests of one event-loop tick are handled immediately for this long. Later ones wait. */
const SLICE_MS = 4
/**
 * Handling time after which the end of the tick is awaited. `setImmediate` keeps the loop from sleeping for a tick, so
 * it is not used for every request.
 */
const WATCHED_MS = 1
const WAITING_MAX = 4_096

interface WaitingRequest {
  /** Handles the request. Never throws. */
  readonly run: () => void
  /** Answers that too many requests wait. Never throws. */
  readonly refuse: () => void
}

export class RequestTurns {
  readonly #clock: Clock
  readonly #waiting: FairQueue<WaitingRequest>
  /** Handling time of this tick while it is watched, otherwise of all ticks since the last watched one. */
  #handledMs = 0
  #isWatched = false

  /** `waitingMax`: beyond it, the newest request of the requester with the most waiting ones is refused. */
  constructor(clock: Clock, waitingMax: number = WAITING_MAX) {
    this.#clock = clock
    this.#waiting = new FairQueue(waitingMax)
  }

  /** Whether the next request has to wait for its turn. */
  get mustWait(): boolean {
    return this.#waiting.size > 0 || this.#handledMs >= SLICE_MS
  }

  /** A request was handled for this long. */
  noteHandled(durationMs: number): void {
    this.#handledMs += durationMs
    if (this.#handledMs < WATCHED_MS || this.#isWatched) return
    this.#isWatched = true
    setImmediate(() => {
      this.#isWatched = false
      this.#handledMs = 0
    })
  }

  add(requester: Requester, request: WaitingRequest): void {
    if (this.#waiting.size === 0) setImmediate(this.#serve)
    this.#waiting.add(requester, request)?.refuse()
  }

  /** Serves one slice. New requests are read between two slices, and join the queue. */
  readonly #serve = (): void => {
    const endsAtMs = this.#clock.monotonicMs() + SLICE_MS
    do this.#waiting.next()?.run()
    while (this.#waiting.size > 0 && this.#clock.monotonicMs() < endsAtMs)
    if (this.#waiting.size > 0) setImmediate(this.#serve)
  }
}
