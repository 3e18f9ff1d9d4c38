// Slows down guessing of passwords: per e-mail after five failures in a row, per address at 20 attempts a minute. An
// attempt counts from its beginning: five at once may be checked while none has failed, and later one at a time, so that
// many guesses at once are no better than many in a row. E-mails are throttled whether they exist or not, so that a wait
// reveals nothing. From an address where an e-mail has logged in before, it has attempts and failures of its own: other
// clients cannot lock its owner out.

import { createHash } from 'node:crypto'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { knownLoginsMax, loginsPerMinute, signUpsPerHour } from '../../engine/limits.ts'
import { siteOf } from '../../engine/networks.ts'
import type { Quota } from '../views.ts'
import { Quotas } from './quotas.ts'

/**
 * Remembered e-mails: so many that wait, and so many with fewer failures; the oldest is forgotten first. Apart, so that a
 * wait is forgotten only after five attempts at each of as many others.
 */
const EMAILS_MAX = 10_000

/** Wrong passwords in a row before waiting begins; the last of them begins it. */
const FREE_FAILURES = 5
const WAIT_MS_MAX = 900_000
const HOUR_MS = 3_600_000
/** An IPv6 /48 makes as many accounts as so many addresses. */
const SITE_SHARES = 4

/** How long an account waits after `failures` wrong passwords in a row: 0, then 1 s, 2 s … 15 min. */
export function waitAfterFailuresMs(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(1_000 * 2 ** (failures - FREE_FAILURES), WAIT_MS_MAX)
}

/** How an attempt ended; 'undecided' when the password was never checked. */
export type LoginOutcome = 'passed' | 'failed' | 'undecided'

interface Failures {
  count: number
  /** Attempts under way. */
  running: number
  waitUntilMs: number
}

export class LoginThrottle {
  readonly #clock: Clock
  readonly #addresses: Quotas<string>
  /** Attempts of e-mails that have logged in from the address before: other e-mails there cannot use them up. */
  readonly #returningAddresses: Quotas<string>
  readonly #signUps: Quotas<string>
  readonly #signUpsMax: number
  /** Digests of an e-mail and an address from which it logged in; full: the one used longest ago is forgotten. */
  readonly #knownLogins = new Set<string>()
  /** By digest of the tried text, which may be of any length. */
  readonly #belowLimit = new Map<string, Failures>()
  readonly #atLimit = new Map<string, Failures>()

  /** `signUpsMax`: accounts made within an hour from one address. */
  constructor(clock: Clock, signUpsMax = signUpsPerHour) {
    this.#clock = clock
    this.#signUpsMax = signUpsMax
    this.#addresses = new Quotas(clock)
    this.#returningAddresses = new Quotas(clock)
    this.#signUps = new Quotas(clock, HOUR_MS)
  }

  /** Counts an account that is about to be made. Throws RATE_LIMITED when its address or /48 made enough within the hour. */
  takeSignUp(address: string): void {
    const site = siteOf(address)
    const ofSite = this.#signUps.peek(site, this.#signUpsMax * SITE_SHARES)
    const isSiteFull = site !== address && ofSite.remaining === 0
    const own = isSiteFull ? ofSite : this.#signUps.take(address, this.#signUpsMax)
    if (isSiteFull || !own.isAllowed) {
      const leftSeconds = Math.max(1, own.resetSeconds - Math.floor(this.#clock.nowMs() / 1_000))
      throw new EngineError('RATE_LIMITED', 'too many accounts were made from this address', {
        retryAfterSeconds: leftSeconds,
      })
    }
    if (site !== address) this.#signUps.take(site, this.#signUpsMax * SITE_SHARES)
  }

  /** Whether the e-mail has logged in from the address before. */
  hasLoggedIn(email: string, address: string): boolean {
    return this.#knownLogins.has(digest(`${address} ${email}`))
  }

  /** What the address has left of its attempts. */
  peek(address: string): Quota {
    return this.#addresses.peek(address, loginsPerMinute)
  }

  /** Throws RATE_LIMITED when this address has used up its attempts. */
  takeAttempt(address: string): void {
    this.#admit(this.#addresses.take(address, loginsPerMinute))
  }

  /**
   * Begins a log-in; call the returned function with its outcome. Throws RATE_LIMITED when the address has used up its
   * attempts, and as `begin` does.
   */
  beginLogin(email: string, address: string): (outcome: LoginOutcome) => void {
    const pair = digest(`${address} ${email}`)
    const ofAddress = this.#addresses.take(address, loginsPerMinute)
    const isReturning = this.#knownLogins.has(pair)
    this.#admit(isReturning ? this.#returningAddresses.take(address, loginsPerMinute) : ofAddress)
    // E-mails are in lower case: none equals this text.
    const throttleKey = isReturning ? `KNOWN ${pair}` : email
    this.begin(throttleKey)
    return (outcome) => {
      this.end(throttleKey, outcome)
      if (outcome !== 'passed') return
      if (!isReturning) this.#returningAddresses.take(address, loginsPerMinute)
      this.#knownLogins.delete(pair)
      this.#knownLogins.add(pair)
      const oldest = this.#knownLogins.values().next().value
      if (this.#knownLogins.size > knownLoginsMax && oldest !== undefined)
        this.#knownLogins.delete(oldest)
    }
  }

  #admit(quota: Quota): void {
    if (quota.isAllowed) return
    const leftSeconds = Math.max(1, quota.resetSeconds - Math.floor(this.#clock.nowMs() / 1_000))
    throw new EngineError('RATE_LIMITED', `at most ${loginsPerMinute} attempts a minute`, {
      retryAfterSeconds: leftSeconds,
    })
  }

  /**
   * Begins an attempt at an e-mail or token; `end` must follow. Throws RATE_LIMITED during a wait, and while as many attempts
   * run as may still fail; a right password waits as well.
   */
  begin(throttleKey: string): void {
    const id = digest(throttleKey)
    const failures = this.#find(id) ?? { count: 0, running: 0, waitUntilMs: 0 }
    const leftMs = failures.waitUntilMs - this.#clock.monotonicMs()
    const runningMax = Math.max(1, FREE_FAILURES - failures.count)
    if (leftMs > 0 || failures.running >= runningMax) {
      throw new EngineError('RATE_LIMITED', 'too many wrong passwords, try again later', {
        retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
      })
    }
    failures.running += 1
    this.#store(id, failures)
  }

  /** Ends an attempt that has begun. */
  end(throttleKey: string, outcome: LoginOutcome): void {
    const id = digest(throttleKey)
    // The entry may have been forgotten meanwhile.
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
    this.#store(id, failures)
  }

  #find(id: string): Failures | undefined {
    return this.#belowLimit.get(id) ?? this.#atLimit.get(id)
  }

  #store(id: string, failures: Failures): void {
    this.#belowLimit.delete(id)
    this.#atLimit.delete(id)
    if (failures.count === 0 && failures.running === 0) return
    const target = failures.count < FREE_FAILURES ? this.#belowLimit : this.#atLimit
    target.set(id, failures)
    const oldest = target.keys().next().value
    if (target.size > EMAILS_MAX && oldest !== undefined) target.delete(oldest)
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
