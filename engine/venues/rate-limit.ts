// Delays requests so that they stay below a venue's limit.

import type { Clock, StopTimer } from '../clock.ts'
import { onAbort } from '../on-abort.ts'

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
  /** Functions that grant the waiting calls, in order of the calls. */
  readonly #waiting = new Set<() => void>()
  /** Monotonic time at which the bucket is full again. */
  #fullAtMs = Number.NEGATIVE_INFINITY
  #stopTimer: StopTimer = () => undefined

  constructor({ tokensPerSecond, burst, clock, waitingCountMax = 10_000 }: TokenBucketOptions) {
    this.#clock = clock
    this.#intervalMs = 1_000 / tokensPerSecond
    this.#burstMs = this.#intervalMs * burst
    this.#waitingCountMax = waitingCountMax
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  /** Rejects if `signal` aborts before the request may be sent, or if too many calls wait. */
  take(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(grant)
        this.#grantDue()
        reject(new Error('aborted while waiting for the rate limit'))
      }
      const grant = () => {
        ignore()
        resolve()
      }
      if (signal?.aborted === true) return abort()
      if (this.#waiting.size >= this.#waitingCountMax)
        return reject(new Error('too many requests wait for the rate limit'))
      const ignore = signal === undefined ? () => undefined : onAbort(signal, abort)
      this.#waiting.add(grant)
      this.#grantDue()
    })
  }

  /** Grants waiting calls while the bucket has tokens. A timer calls it again for the next token. */
  #grantDue(): void {
    this.#stopTimer()
    const nowMs = this.#clock.monotonicMs()
    for (const grant of this.#waiting) {
      const fullAtMs = Math.max(this.#fullAtMs, nowMs) + this.#intervalMs
      const delayMs = Math.ceil(fullAtMs - this.#burstMs - nowMs)
      if (delayMs > 0) {
        this.#stopTimer = this.#clock.after(delayMs, () => this.#grantDue())
        return
      }
      this.#fullAtMs = fullAtMs
      this.#waiting.delete(grant)
      grant()
    }
  }
}
