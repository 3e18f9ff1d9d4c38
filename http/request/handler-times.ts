// Measures how long request handling blocks the event loop. A piece lasts from a request's arrival, or from the end of
// reading a body or token, to the answer or first await. Each later tick in which a handler continues
// (`nextMeasuredTick`) is another piece. Continuations after another thread's answer are not measured.

import type { Clock } from '../../engine/clock.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'

/** Keyed by the clock, which all parts of a server share: code that yields has access to nothing else. */
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

/** A piece that has lasted this long should end soon: half of its limit. */
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

  /** Inside a tick that is measured as a whole. */
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
