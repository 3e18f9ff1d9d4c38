// Slows down guessers: per e-mail after five failures in a row, per address at 20 attempts a minute.
// E-mails are throttled whether they exist or not, so that waiting tells nothing. At most 10,000
// e-mails are remembered; the oldest is forgotten first. Upholds LOGIN1, LOGIN2.

import { waitAfterFailuresMs } from '../engine/account.ts'
import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { loginsPerMinute } from '../engine/limits.ts'
import { Quotas } from './quotas.ts'

const EMAILS_MAX = 10_000

interface Failures {
  count: number
  waitUntilMs: number
}

export class LoginThrottle {
  readonly #clock: Clock
  readonly #addresses: Quotas<string>
  readonly #failures = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#addresses = new Quotas(clock)
  }

  /** Throws RATE_LIMITED when this address has used up its attempts. */
  takeAttempt(address: string): void {
    const quota = this.#addresses.take(address, loginsPerMinute)
    if (quota.isAllowed) return
    const leftSeconds = Math.max(1, quota.resetSeconds - Math.floor(this.#clock.nowMs() / 1_000))
    throw new EngineError('RATE_LIMITED', `at most ${loginsPerMinute} attempts a minute`, {
      retryAfterSeconds: leftSeconds,
    })
  }

  /** Throws RATE_LIMITED while the e-mail waits; a right password waits as well. */
  assertMayTry(email: string): void {
    const leftMs = (this.#failures.get(email)?.waitUntilMs ?? 0) - this.#clock.monotonicMs()
    if (leftMs <= 0) return
    throw new EngineError('RATE_LIMITED', 'too many wrong passwords, try again later', {
      retryAfterSeconds: Math.ceil(leftMs / 1_000),
    })
  }

  noteFailure(email: string): void {
    const failures = this.#failures.get(email) ?? { count: 0, waitUntilMs: 0 }
    failures.count += 1
    failures.waitUntilMs = this.#clock.monotonicMs() + waitAfterFailuresMs(failures.count)
    this.#failures.delete(email)
    this.#failures.set(email, failures)
    const oldest = this.#failures.keys().next().value
    if (this.#failures.size > EMAILS_MAX && oldest !== undefined) this.#failures.delete(oldest)
  }

  noteSuccess(email: string): void {
    this.#failures.delete(email)
  }
}
