// Slows down guessers: per e-mail after five failures in a row, per address at 20 attempts a minute.
// An attempt counts from its beginning: five at once may be checked while none has failed, and later
// one at a time, so that many guesses at once are no more than many in a row. E-mails are throttled
// whether they exist or not, so that waiting tells nothing. Upholds LOGIN1 to LOGIN6.

import { createHash } from 'node:crypto'
import { FREE_FAILURES, waitAfterFailuresMs } from '../engine/account.ts'
import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { loginsPerMinute } from '../engine/limits.ts'
import { Quotas } from './quotas.ts'

/**
 * E-mails remembered of those that wait, and of those with fewer failures; the oldest is forgotten
 * first. Apart, so that a wait is forgotten only after five attempts at each of as many others.
 */
const EMAILS_MAX = 10_000

/** How an attempt ended; 'undecided' when the password was never checked. */
export type LoginOutcome = 'passed' | 'failed' | 'undecided'

interface Failures {
  count: number
  /** Attempts that have begun and not ended. */
  running: number
  waitUntilMs: number
}

export class LoginThrottle {
  readonly #clock: Clock
  readonly #addresses: Quotas<string>
  /** By digest of the e-mail: texts are as long as whoever sends them likes. */
  readonly #few = new Map<string, Failures>()
  readonly #many = new Map<string, Failures>()

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

  /**
   * Begins an attempt, which `end` must follow. Throws RATE_LIMITED while the e-mail waits or as many
   * attempts run as may still fail; a right password waits as well.
   */
  begin(email: string): void {
    const id = digest(email)
    const failures = this.#find(id) ?? { count: 0, running: 0, waitUntilMs: 0 }
    const leftMs = failures.waitUntilMs - this.#clock.monotonicMs()
    const runningMax = Math.max(1, FREE_FAILURES - failures.count)
    if (leftMs > 0 || failures.running >= runningMax) {
      throw new EngineError('RATE_LIMITED', 'too many wrong passwords, try again later', {
        retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
      })
    }
    failures.running += 1
    this.#keep(id, failures)
  }

  /** Ends an attempt that has begun. */
  end(email: string, outcome: LoginOutcome): void {
    const id = digest(email)
    // It may have been forgotten meanwhile.
    const failures = this.#find(id) ?? { count: 0, running: 1, waitUntilMs: 0 }
    failures.running = Math.max(0, failures.running - 1)
    if (outcome === 'passed') {
      failures.count = 0
      failures.waitUntilMs = 0
    }
    if (outcome === 'failed') {
      failures.count += 1
      failures.waitUntilMs = this.#clock.monotonicMs() + waitAfterFailuresMs(failures.count)
    }
    this.#keep(id, failures)
  }

  #find(id: string): Failures | undefined {
    return this.#few.get(id) ?? this.#many.get(id)
  }

  #keep(id: string, failures: Failures): void {
    this.#few.delete(id)
    this.#many.delete(id)
    if (failures.count === 0 && failures.running === 0) return
    const place = failures.count < FREE_FAILURES ? this.#few : this.#many
    place.set(id, failures)
    const oldest = place.keys().next().value
    if (place.size > EMAILS_MAX && oldest !== undefined) place.delete(oldest)
  }
}

function digest(email: string): string {
  return createHash('sha256').update(email).digest('base64')
}
