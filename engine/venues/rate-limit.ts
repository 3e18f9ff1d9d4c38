// A token bucket with a FIFO queue, to stay below a venue's request quota.

import type { Clock, StopTimer } from '../clock.ts'

interface TokenBucketOptions {
  readonly tokensPerSecond: number
  /** Capacity of the bucket in tokens. */
  readonly burst: number
  readonly clock: Clock
  /** Maximum queued calls. When full, `take` rejects. Default 10,000. */
  readonly waitingCountMax?: number
}

interface Waiting {
  readonly cost: number
  readonly grant: () => void
}

/** Grants tokens in request order, never faster than the rate plus the burst. */
export class TokenBucket {
  readonly #tokensPerMs: number
  readonly #burst: number
  readonly #clock: Clock
  readonly #waitingCountMax: number
  #tokens: number
  #filledAtMs: number
  #queue: Waiting[] = []
  #stopTimer: StopTimer | null = null

  constructor(options: TokenBucketOptions) {
    this.#tokensPerMs = options.tokensPerSecond / 1_000
    this.#burst = options.burst
    this.#clock = options.clock
    this.#waitingCountMax = options.waitingCountMax ?? 10_000
    this.#tokens = options.burst
    this.#filledAtMs = options.clock.monotonicMs()
  }

  get waitingCount(): number {
    return this.#queue.length
  }

  /** A cost above the burst counts as the burst. Rejects if `signal` aborts first or the queue is full. */
  take(cost: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(new Error('aborted while waiting its turn'))
    const wanted = Math.min(cost, this.#burst)
    this.#fill()
    if (this.waitingCount === 0 && this.#tokens >= wanted) {
      this.#tokens -= wanted
      return Promise.resolve()
    }
    if (this.waitingCount >= this.#waitingCountMax) {
      return Promise.reject(new Error('too many requests wait for the rate limit'))
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1)
        reject(new Error('aborted while waiting its turn'))
        this.#grant()
      }
      const grant = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const waiting: Waiting = { cost: wanted, grant }
      signal?.addEventListener('abort', abort, { once: true })
      this.#queue.push(waiting)
      this.#grant()
    })
  }

  #fill(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#tokens = Math.min(
      this.#burst,
      this.#tokens + (nowMs - this.#filledAtMs) * this.#tokensPerMs,
    )
    this.#filledAtMs = nowMs
  }

  #grant(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#fill()
    let head = this.#queue[0]
    while (head !== undefined) {
      // A tolerance of a millionth of a token, so that floating-point sums do not cost one more timer.
      if (this.#tokens + 1e-6 < head.cost) break
      this.#queue.shift()
      this.#tokens = Math.max(0, this.#tokens - head.cost)
      head.grant()
      head = this.#queue[0]
    }
    if (head === undefined) return
    const delayMs = Math.max(1, Math.ceil((head.cost - this.#tokens) / this.#tokensPerMs))
    this.#stopTimer = this.#clock.after(delayMs, () => this.#grant())
  }
}
