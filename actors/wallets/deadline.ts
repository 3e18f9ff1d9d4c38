// How long one request waits for a wallet: until its deadline, until it is given up, or until everything stops.
// The work that it waited for goes on. Not for: ending that work.

import type { Clock } from '../../engine/clock.ts'
import { onAbort } from '../../engine/on-abort.ts'

/** Call `end` when the request is answered. */
export class WalletDeadline {
  readonly #late = new AbortController()
  readonly #ends: (() => void)[]

  constructor(clock: Clock, waitMs: number, signals: readonly AbortSignal[]) {
    const abort = () => this.#late.abort()
    this.#ends = [clock.after(waitMs, abort), ...signals.map((signal) => onAbort(signal, abort))]
  }

  /** What the work gives, or `late`; rejects as it does. */
  wait<Result>(work: Promise<Result>): Promise<Result | 'late'> {
    return new Promise((resolve, reject) => {
      const forget = onAbort(this.#late.signal, () => resolve('late'))
      work.then(resolve, reject).finally(forget)
    })
  }

  end(): void {
    for (const end of this.#ends) end()
  }
}
