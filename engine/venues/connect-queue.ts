// Limits how many sockets connect at once, so that the venue can answer each of them in time.

import type { Clock, StopTimer } from '../clock.ts'

interface ConnectLimits {
  readonly apartMs: number
  readonly unansweredMax: number
  /** A connection without an answer counts as unanswered for this time. */
  readonly answerWaitMs: number
  /** No connection is attempted for this time after the venue refused a connection because of its rate. */
  readonly refusedWaitMs: number
}

export class ConnectQueue {
  readonly #clock: Clock
  readonly #limits: ConnectLimits
  readonly #waiting = new Map<number, () => void>()
  /** Unanswered connections, with the monotonic time at which they stop counting. */
  readonly #unanswered = new Map<number, number>()
  #allowedAtMs = 0
  #stopTimer: StopTimer | null = null

  constructor(clock: Clock, limits: ConnectLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * Calls `connect` when the queue allows the connection. Lower numbers go first. Returns a function that cancels the
   * request.
   */
  request(connection: number, connect: () => void): StopTimer {
    this.#unanswered.delete(connection)
    this.#waiting.set(connection, connect)
    this.#next()
    return () => {
      this.#waiting.delete(connection)
    }
  }

  /** Must be called when the venue has answered, or when the connection failed, is lost or closed. */
  settle(connection: number): void {
    if (this.#unanswered.delete(connection) && this.#waiting.size > 0) this.#next()
  }

  /** Must be called when the venue refused a connection because of its rate. */
  noteRefused(): void {
    this.#allowedAtMs = this.#clock.monotonicMs() + this.#limits.refusedWaitMs
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#waiting.clear()
  }

  #next(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    while (this.#waiting.size > 0) {
      const nowMs = this.#clock.monotonicMs()
      const allowedAtMs = Math.max(this.#allowedAtMs, this.#hasSlotAtMs(nowMs))
      if (allowedAtMs > nowMs) {
        this.#stopTimer = this.#clock.after(allowedAtMs - nowMs, () => this.#next())
        return
      }
      const first = Math.min(...this.#waiting.keys())
      const connect = this.#waiting.get(first)
      this.#waiting.delete(first)
      this.#unanswered.set(first, nowMs + this.#limits.answerWaitMs)
      this.#allowedAtMs = nowMs + this.#limits.apartMs
      connect?.()
    }
  }

  /** Monotonic time at which less than the maximum of connections is unanswered. */
  #hasSlotAtMs(nowMs: number): number {
    for (const [connection, untilMs] of this.#unanswered) {
      if (untilMs <= nowMs) this.#unanswered.delete(connection)
    }
    const isFull = this.#unanswered.size >= this.#limits.unansweredMax
    return isFull ? Math.min(...this.#unanswered.values()) : nowMs
  }
}
