// Keeps requests from blocking the event loop: measures how long handlers block, processes rows in time slices, and
// queues requests fairly by account.

import type { Clock } from '../../engine/clock.ts'
import { FairQueue, type Requester } from '../../engine/fair-queue.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'
import { type Answer, etagFrom, namedJson, newHash } from './reply.ts'

/** By the server's clock, since handlers have access only to the clock. */
const timesOf = new WeakMap<Clock, HandlerTimes>()

/** Waits for the next event-loop tick and measures how long that tick is blocked. */
export function nextMeasuredTick(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      timesOf.get(clock)?.beginTick()
      resolve()
    })
  })
}

/** Half of the time for which a handler may block the event loop. Slices end after this time. */
const PIECE_MS = 5

/** End of a time slice that begins now. Earlier if the handler has already blocked the event loop for long. */
function sliceEndMs(clock: Clock, sliceMs: number): number {
  const endMs = clock.monotonicMs() + sliceMs
  const times = timesOf.get(clock)
  return times === undefined ? endMs : Math.min(endMs, times.beganMs + PIECE_MS)
}

/** The last minute is divided into parts of this length. A maximum is stored for each part. */
const PART_MS = 10_000
const PART_COUNT = 6

/** Measures how long handlers block the event loop, for /metrics. */
export class HandlerTimes {
  readonly #clock: Clock
  readonly #histogram: Durations
  readonly #largest = new Float64Array(PART_COUNT)
  #part = 0
  #isInTick = false
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

  end(): number {
    const nowMs = this.#clock.monotonicMs()
    const elapsedMs = nowMs - this.#beganMs
    this.#histogram.observe(elapsedMs)
    this.#moveTo(nowMs)
    const slot = this.#part % PART_COUNT
    if (elapsedMs > (this.#largest[slot] ?? 0)) this.#largest[slot] = elapsedMs
    return elapsedMs
  }

  /** True while the current event-loop tick is measured as a whole. */
  get isInTick(): boolean {
    return this.#isInTick
  }

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

/** A quarter of the time for which a handler may block the event loop. */
const ROW_SLICE_MS = 2.5
/** If more rows were read in this tick, they are written in later ticks. */
const FEW_ROWS = 100

/** Maps rows in time slices, one slice per event-loop tick. */
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

/** Like `mapInSlices`, but starts in the next tick if many rows were read in this tick. */
export async function writeInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  write: (row: Row) => string,
): Promise<readonly string[]> {
  if (rows.length > FEW_ROWS) await nextMeasuredTick(clock)
  return mapInSlices(clock, rows, write)
}

/** Null if the first slice was enough. */
export function forEachInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => void,
): Promise<void> | null {
  let index = 0
  const runSlice = (): boolean => {
    const endsAtMs = sliceEndMs(clock, ROW_SLICE_MS)
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

/** Bytes that are hashed between two clock checks: about 0.1 ms. */
const HASHED_BYTES = 65_536

/** A JSON answer with an ETag. Concatenates the parts in order: strings unchanged, rows as `write` writes them. */
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

/** Hashing megabytes would take too long for one tick. */
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

export function separated<Row>(rows: readonly Row[]): (Row | ',')[] {
  return rows.flatMap((row, index): (Row | ',')[] => (index === 0 ? [row] : [',', row]))
}

const REQUEST_SLICE_MS = 4
/**
 * Handling time after which the end of the tick is detected. `setImmediate` keeps the event loop from sleeping, so it
 * is not used for every request.
 */
const WATCHED_MS = 1
const WAITING_MAX = 4_096

interface WaitingRequest {
  /** Must not throw. */
  readonly run: () => void
  /** Answers that too many requests are waiting. Must not throw. */
  readonly refuse: () => void
}

export class RequestTurns {
  readonly #clock: Clock
  readonly #waiting: FairQueue<WaitingRequest>
  /** Handling time since the last detected end of a tick. */
  #handledMs = 0
  #isWatched = false

  /** If more than `waitingMax` requests wait, the requester with the most waiting requests loses its newest request. */
  constructor(clock: Clock, waitingMax: number = WAITING_MAX) {
    this.#clock = clock
    this.#waiting = new FairQueue(waitingMax)
  }

  /** True if the next request must wait in the queue. */
  get mustWait(): boolean {
    return this.#waiting.size > 0 || this.#handledMs >= REQUEST_SLICE_MS
  }

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

  /** Handles queued requests for one time slice. New requests can join the queue between two slices. */
  readonly #serve = (): void => {
    const endsAtMs = this.#clock.monotonicMs() + REQUEST_SLICE_MS
    do this.#waiting.next()?.run()
    while (this.#waiting.size > 0 && this.#clock.monotonicMs() < endsAtMs)
    if (this.#waiting.size > 0) setImmediate(this.#serve)
  }
}
