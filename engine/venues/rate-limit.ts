import type { Clock, StopTimer } from '../clock.ts'
import { onAbort } from '../on-abort.ts'

export interface TokenRate {
  readonly tokensPerSecond: number
  readonly burst: number
}

interface TokenBucketOptions extends TokenRate {
  readonly clock: Clock
  /** Maximum waiting calls. Above the maximum `take` rejects. Default 10,000. */
  readonly waitingCountMax?: number
}

/** Compensates rounding errors of times. */
const ROUNDING = 1e-6

/** Token bucket. Grants requests in order of their calls, never faster than the rate plus the burst. */
export class TokenBucket {
  readonly #clock: Clock
  readonly #waitingCountMax: number
  #intervalMs = 0
  #burst = 0
  /** Cost of each waiting call by the function that grants it, in order of the calls. */
  readonly #waiting = new Map<() => void, number>()
  /** Monotonic time at which the bucket is full again. */
  #fullAtMs = Number.NEGATIVE_INFINITY
  #stopTimer: StopTimer = () => undefined

  constructor({ clock, waitingCountMax = 10_000, ...rate }: TokenBucketOptions) {
    this.#clock = clock
    this.#waitingCountMax = waitingCountMax
    this.setRate(rate)
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  /** Whole tokens that `tryTake` can take now. */
  get availableCount(): number {
    if (this.#waiting.size > 0) return 0
    const missingMs = Math.max(0, this.#fullAtMs - this.#clock.monotonicMs())
    return Math.max(0, Math.floor(this.#burst - missingMs / this.#intervalMs + ROUNDING))
  }

  /** Changes the rate. Tokens that were taken stay taken. */
  setRate({ tokensPerSecond, burst }: TokenRate): void {
    const nowMs = this.#clock.monotonicMs()
    const missing = Math.max(0, this.#fullAtMs - nowMs) / this.#intervalMs
    this.#intervalMs = 1_000 / tokensPerSecond
    this.#burst = burst
    if (missing > 0) this.#fullAtMs = nowMs + missing * this.#intervalMs
    this.#grantDue()
  }

  /**
   * Takes `cost` tokens. A call that costs more than the burst waits for a full bucket. Rejects if `signal` aborts before
   * the request may be sent, or if too many calls wait.
   */
  take(signal?: AbortSignal, cost = 1): Promise<void> {
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
      this.#waiting.set(grant, cost)
      this.#grantDue()
    })
  }

  /** Returns false and takes nothing if fewer than `cost` tokens are available or calls wait. */
  tryTake(cost = 1): boolean {
    if (this.availableCount < cost) return false
    const nowMs = this.#clock.monotonicMs()
    this.#fullAtMs = Math.max(this.#fullAtMs, nowMs) + cost * this.#intervalMs
    return true
  }

  #grantDue(): void {
    this.#stopTimer()
    const nowMs = this.#clock.monotonicMs()
    for (const [grant, cost] of this.#waiting) {
      const fromMs = Math.max(this.#fullAtMs, nowMs)
      const neededMs = (Math.min(cost, this.#burst) - this.#burst) * this.#intervalMs
      const delayMs = Math.ceil(fromMs + neededMs - nowMs)
      if (delayMs > 0) {
        this.#stopTimer = this.#clock.after(delayMs, () => this.#grantDue())
        return
      }
      this.#fullAtMs = fromMs + cost * this.#intervalMs
      this.#waiting.delete(grant)
      grant()
    }
  }
}
