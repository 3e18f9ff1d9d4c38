// A bound on work under way: so many run at once, so many more wait their turn, further ones are
// refused. Not for: rates (engine/venues/rate-limit.ts) or threads (engine/pool.ts).

interface Waiting {
  readonly grant: () => void
}

export class Slots {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting = new Set<Waiting>()
  #runningCount = 0

  constructor(bounds: { readonly runningMax: number; readonly waitingMax: number }) {
    this.#runningMax = bounds.runningMax
    this.#waitingMax = bounds.waitingMax
  }

  /** Nothing runs. */
  get isIdle(): boolean {
    return this.#runningCount === 0
  }

  /** Nothing more is taken: as many as may run and wait do. */
  get isFull(): boolean {
    return this.#runningCount >= this.#runningMax && this.#waiting.size >= this.#waitingMax
  }

  /** Runs the work in its turn; rejects as it does, or when `signal` aborts before its turn. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.#runningCount >= this.#runningMax) await this.#turn(signal)
    else this.#runningCount += 1
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  /** Resolves with the place of one that has finished. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(waiting)
        reject(new Error('aborted while waiting its turn'))
      }
      const grant = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const waiting: Waiting = { grant }
      if (signal.aborted) return abort()
      this.#waiting.add(waiting)
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  #release(): void {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      return waiting.grant()
    }
    this.#runningCount -= 1
  }
}
