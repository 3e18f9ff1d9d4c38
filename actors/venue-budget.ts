// Limits the venue requests that users cause, per minute for each account and address.

import { WINDOW_MS } from '../engine/accounts/account.ts'
import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { type Requester, SYSTEM } from '../engine/fair-queue.ts'
import { Quotas } from './accounts/quotas.ts'

export class VenueBudget {
  readonly #clock: Clock
  readonly #quotas: Quotas<string>
  readonly #perMinute: number
  readonly #what: string

  constructor(clock: Clock, perMinute: number, what: string) {
    this.#clock = clock
    this.#quotas = new Quotas(clock)
    this.#perMinute = perMinute
    this.#what = what
  }

  /** Throws RATE_LIMITED if the account or address has no request left. The system is exempt. */
  take(requester: Requester): void {
    if (requester === SYSTEM) return
    const exhausted = requester
      .map((name) => this.#quotas.peek(name, this.#perMinute))
      .find(({ remaining }) => remaining === 0)
    if (exhausted !== undefined) {
      const leftSeconds = exhausted.resetSeconds - Math.floor(this.#clock.nowMs() / 1_000)
      const detail = `at most ${this.#perMinute} requests a minute for ${this.#what} that are not stored yet`
      const retryAfterSeconds = Math.min(WINDOW_MS / 1_000, Math.max(1, leftSeconds))
      throw new EngineError('RATE_LIMITED', detail, { retryAfterSeconds })
    }
    for (const name of requester) this.#quotas.take(name, this.#perMinute)
  }
}
