// Serves requests in turn over accounts while requests hold the event loop. A burst of one account then delays the
// requests of others by one time slice, not by all of its own requests.

import type { Clock } from '../../engine/clock.ts'
import { FairQueue, type Requester } from '../../engine/fair-queue.ts'

/** Requests that follow each other without a pause are handled at once for this long; the rest wait. */
const SLICE_MS = 4
/** The event loop had other work, or none, if the next request begins this long after the last one. */
const PAUSE_MS = 0.5
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
  #sliceMs = 0
  #endedMs = Number.NEGATIVE_INFINITY

  /** `waitingMax`: beyond it, the newest request of the requester with the most waiting ones is refused. */
  constructor(clock: Clock, waitingMax: number = WAITING_MAX) {
    this.#clock = clock
    this.#waiting = new FairQueue(waitingMax)
  }

  /** Whether a request that begins at `nowMs` (monotonic) has to wait for its turn. */
  mustWait(nowMs: number): boolean {
    if (nowMs - this.#endedMs > PAUSE_MS) this.#sliceMs = 0
    return this.#waiting.size > 0 || this.#sliceMs >= SLICE_MS
  }

  /** A request was handled in this time (monotonic). */
  noteHandled(beganMs: number, endedMs: number): void {
    this.#sliceMs += endedMs - beganMs
    this.#endedMs = endedMs
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
