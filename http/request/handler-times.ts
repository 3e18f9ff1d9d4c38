// How long the handling of requests holds the loop in one piece: from a request's arrival to its
// answer, or to its first wait; and again from there on, from the reading of a body or a token to
// the next wait; and every turn in which a handler goes on with its work (`nextTurn`), until all that
// follows from it is done. Not counted: what a handler does when another thread has answered.

import type { Clock } from '../../engine/clock.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'

/** By the clock, which a server's parts share: code that waits for a turn knows no more of it. */
const timesOf = new WeakMap<Clock, HandlerTimes>()

/** Waits for the next turn of the loop; how long it is held then is counted. */
export function yieldToEventLoop(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      timesOf.get(clock)?.beginTick()
      resolve()
    })
  })
}

/** A piece that has lasted so long should end soon: half of what it may take. */
const PIECE_MS = 5

/**
 * When a slice of `sliceMs` that begins now should end: earlier when its piece has already taken
 * long, as by cutting a list first.
 */
export function sliceEndMs(clock: Clock, sliceMs: number): number {
  const endMs = clock.monotonicMs() + sliceMs
  const times = timesOf.get(clock)
  return times === undefined ? endMs : Math.min(endMs, times.beganMs + PIECE_MS)
}

/** The largest of a minute is known to ten seconds. */
const PART_MS = 10_000
const PART_COUNT = 6

/** Takes the times and shows them on /metrics. */
export class HandlerTimes {
  readonly #clock: Clock
  readonly #histogram: Durations
  /** The largest of each of the last parts of a minute. */
  readonly #largest = new Float64Array(PART_COUNT)
  #part = 0
  #isInTick = false
  /** When the present piece began, or the last one. */
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

  /** A piece begins. */
  begin(): void {
    this.#beganMs = this.#clock.monotonicMs()
  }

  get beganMs(): number {
    return this.#beganMs
  }

  /** The piece is over. */
  end(): void {
    const nowMs = this.#clock.monotonicMs()
    const elapsedMs = nowMs - this.#beganMs
    this.#histogram.observe(elapsedMs)
    this.#moveTo(nowMs)
    const slot = this.#part % PART_COUNT
    if (elapsedMs > (this.#largest[slot] ?? 0)) this.#largest[slot] = elapsedMs
  }

  /** Within a turn that is counted whole. */
  get isInTick(): boolean {
    return this.#isInTick
  }

  /** A piece begins that lasts until nothing is left to do in this turn of the loop. */
  beginTick(): void {
    this.begin()
    this.#isInTick = true
    // Ticks come after the last of the microtasks, also of those that do not exist yet.
    const end = () => {
      this.#isInTick = false
      this.end()
    }
    queueMicrotask(() => process.nextTick(end))
  }

  /** The largest of the last 50 to 60 seconds. */
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
