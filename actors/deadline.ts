import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { onAbort } from '../engine/on-abort.ts'

/**
 * Limits the wait of one request: until its deadline, or until a signal aborts. Other requests may share the awaited
 * work, which continues. Call `end` when the request is answered.
 */
export class Deadline {
  readonly #late = new AbortController()
  readonly #ends: (() => void)[]

  constructor(clock: Pick<Clock, 'after'>, waitMs: number, signals: readonly AbortSignal[]) {
    const abort = () => this.#late.abort()
    this.#ends = [clock.after(waitMs, abort), ...signals.map((signal) => onAbort(signal, abort))]
  }

  /** Aborts at the deadline. */
  get signal(): AbortSignal {
    return this.#late.signal
  }

  /** Resolves to the result of the work, or `late`; rejects as the work does. */
  wait<Result>(work: Promise<Result>): Promise<Result | 'late'> {
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(this.signal, () => resolve('late'))
      work.then(resolve, reject).finally(unsubscribe)
    })
  }

  end(): void {
    for (const end of this.#ends) end()
  }
}

/** A temporary refusal: the same request may succeed in a second. */
export function unavailable(detail: string, cause?: unknown): EngineError {
  return new EngineError('UNAVAILABLE', detail, { cause, retryAfterSeconds: 1 })
}
