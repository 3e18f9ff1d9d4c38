import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { onAbort } from '../engine/on-abort.ts'

/**
 * Deadline of one request, which also passes when one of the signals aborts. The awaited work continues, because
 * several requests may share it. `end` must be called when the request is answered.
 */
export class Deadline {
  readonly #late = new AbortController()
  readonly #ends: (() => void)[]

  constructor(clock: Pick<Clock, 'after'>, waitMs: number, signals: readonly AbortSignal[]) {
    const abort = () => this.#late.abort()
    this.#ends = [clock.after(waitMs, abort), ...signals.map((signal) => onAbort(signal, abort))]
  }

  get signal(): AbortSignal {
    return this.#late.signal
  }

  /** Resolves with `late` if the deadline passes first. Rejects if the work rejects first. */
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

export function unavailable(detail: string, cause?: unknown): EngineError {
  return new EngineError('UNAVAILABLE', detail, { cause, retryAfterSeconds: 1 })
}
