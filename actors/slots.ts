// A bound on work under way: `runningMax` pieces of work run at once, `waitingMax` more wait for their turn, further
// ones should be refused (`isFull`). Not for: rates (engine/venues/rate-limit.ts) or threads (engine/pool.ts).

import { onAbort } from '../engine/on-abort.ts'

export class Slots {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting = new Set<() => void>()
  #runningCount = 0

  constructor(bounds: { readonly runningMax: number; readonly waitingMax: number }) {
    this.#runningMax = bounds.runningMax
    this.#waitingMax = bounds.waitingMax
  }

  /** Nothing runs. */
  get isIdle(): boolean {
    return this.#runningCount === 0
  }

  /** As much work runs and waits as may. */
  get isFull(): boolean {
    return this.#runningCount >= this.#runningMax && this.#waiting.size >= this.#waitingMax
  }

  /** Work waits for a slot. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /** Runs the work in its turn; rejects as it does, or when `signal` aborts before its turn. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    // With a free slot the work begins now, and not a turn later.
    if (!this.#takeFree()) await this.#turn(signal)
    try {
      return await work()
    } finally {
      this.give()
    }
  }

  /** Resolves with a slot, in its turn; return it by `give`. Rejects when `signal` aborts before. */
  async take(signal: AbortSignal): Promise<void> {
    if (!this.#takeFree()) await this.#turn(signal)
  }

  #takeFree(): boolean {
    if (this.#runningCount >= this.#runningMax) return false
    this.#runningCount += 1
    return true
  }

  /** Returns a slot: the work that waits longest has it next. */
  give(): void {
    for (const grant of this.#waiting) {
      this.#waiting.delete(grant)
      return grant()
    }
    this.#runningCount -= 1
  }

  /** Resolves with a slot that other work returned. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        forget()
        resolve()
      }
      this.#waiting.add(grant)
      const forget = onAbort(signal, () => {
        this.#waiting.delete(grant)
        reject(new Error('aborted while waiting its turn'))
      })
    })
  }
}
