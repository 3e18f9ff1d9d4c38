// Delays requests so that they stay below a venue's limit.

import { type Clock, pause } from '../clock.ts'

interface TokenBucketOptions {
  readonly tokensPerSecond: number
  /** Requests that may be sent at once after a period without requests. */
  readonly burst: number
  readonly clock: Clock
  /** Maximum waiting calls. Beyond it `take` rejects. Default 10,000. */
  readonly waitingCountMax?: number
}

/** Token bucket. Grants requests in order of their calls, never faster than the rate plus the burst. */
export class TokenBucket {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #burstMs: number
  readonly #waitingCountMax: number
  /** Monotonic time at which the bucket is full again. */
  #fullAtMs = Number.NEGATIVE_INFINITY
  #waitingCount = 0

  constructor({ tokensPerSecond, burst, clock, waitingCountMax = 10_000 }: TokenBucketOptions) {
    this.#clock = clock
    this.#intervalMs = 1_000 / tokensPerSecond
    this.#burstMs = this.#intervalMs * burst
    this.#waitingCountMax = waitingCountMax
  }

  get waitingCount(): number {
    return this.#waitingCount
  }

  /** Rejects if `signal` aborts before the request may be sent, or if too many calls wait. */
  async take(signal?: AbortSignal): Promise<void> {
    if (this.#waitingCount >= this.#waitingCountMax)
      throw new Error('too many requests wait for the rate limit')
    const nowMs = this.#clock.monotonicMs()
    this.#fullAtMs = Math.max(this.#fullAtMs, nowMs) + this.#intervalMs
    const delayMs = Math.ceil(this.#fullAtMs - this.#burstMs - nowMs)
    if (delayMs > 0) {
      this.#waitingCount += 1
      await pause(this.#clock, delayMs, signal)
      this.#waitingCount -= 1
    }
    if (signal?.aborted !== true) return
    this.#fullAtMs -= this.#intervalMs
    throw new Error('aborted while waiting for the rate limit')
  }
}
