// Serves requests in turn over accounts while requests hold the event loop. A burst of one account then delays the
// requests of others by one time slice, not by all of its own requests.

import type { Clock } from '../../engine/clock.ts'
import { FairQueue, type Requester } from '../../engine/fair-queue.ts'

/** Requests of one event-loop tick are handled at once for this long; the rest wait. */
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
