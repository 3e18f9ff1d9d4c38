// Throttles password guessing: per e-mail after five consecutive failures, and per address at 20 attempts a minute.
// An attempt counts when it begins, so concurrent guesses gain nothing. Unknown e-mails are throttled like known ones,
// so that a wait does not reveal which e-mails exist. An address from which a user has logged in before has its own
// counter, so that an attacker at another address cannot lock the user out.

import { createHash } from 'node:crypto'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { knownLoginsMax, loginsPerMinute, signUpsPerHour } from '../../engine/limits.ts'
import { siteOf } from '../../engine/networks.ts'
import type { Quota } from '../views.ts'
import { Quotas } from './quotas.ts'

/**
 * Maximum size of each map. An attacker must fail five times at each of this many e-mails to evict a throttled e-mail.
 */
const EMAILS_MAX = 10_000

const FREE_FAILURES = 5
const WAIT_MS_MAX = 900_000
const HOUR_MS = 3_600_000
/** An IPv6 /48 may create as many accounts as this number of addresses. */
const SITE_SHARES = 4

/**
 * Wait after `failures` consecutive wrong passwords, in ms. The fifth failure causes 1 s. Each further failure doubles
 * the wait, up to 15 min.
 */
export function waitAfterFailuresMs(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(1_000 * 2 ** (failures - FREE_FAILURES), WAIT_MS_MAX)
}

/** 'undecided': the password was not verified, for example because of a time-out. */
export type LoginOutcome = 'passed' | 'failed' | 'undecided'

interface Failures {
  count: number
  running: number
  waitUntilMs: number
}

export class LoginThrottle {
  readonly #clock: Clock
  readonly #addresses: Quotas<string>
  /** Counts attempts of users who have logged in from the address before. */
  readonly #returningAddresses: Quotas<string>
  readonly #signUps: Quotas<string>
  readonly #signUpsMax: number
  readonly #knownLogins = new Set<string>()
  /** Keyed by a digest, because an e-mail can be of any length. The oldest entry is evicted. */
  readonly #belowLimit = new Map<string, Failures>()
  readonly #atLimit = new Map<string, Failures>()

  constructor(clock: Clock, signUpsMax = signUpsPerHour) {
    this.#clock = clock
    this.#signUpsMax = signUpsMax
    this.#addresses = new Quotas(clock)
    this.#returningAddresses = new Quotas(clock)
    this.#signUps = new Quotas(clock, HOUR_MS)
  }

  /** Throws RATE_LIMITED if the address or its IPv6 /48 has reached the hourly limit. */
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

  hasLoggedIn(email: string, address: string): boolean {
    return this.#knownLogins.has(digest(`${address} ${email}`))
  }

  peek(address: string): Quota {
    return this.#addresses.peek(address, loginsPerMinute)
  }

  /** Throws RATE_LIMITED if the address has no attempts left. */
  takeAttempt(address: string): void {
    this.#admit(this.#addresses.take(address, loginsPerMinute))
  }

  /**
   * The caller must pass the outcome of the attempt to the returned function. Throws RATE_LIMITED if the address has no
   * attempts left, or if `begin` does.
   */
  beginLogin(email: string, address: string): (outcome: LoginOutcome) => void {
    const pair = digest(`${address} ${email}`)
    const ofAddress = this.#addresses.take(address, loginsPerMinute)
    const isReturning = this.#knownLogins.has(pair)
    this.#admit(isReturning ? this.#returningAddresses.take(address, loginsPerMinute) : ofAddress)
    // Contains upper case, so it cannot equal an e-mail.
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
   * The caller must call `end` after the attempt. Throws RATE_LIMITED during a wait, or if too many attempts are
   * running.
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

  end(throttleKey: string, outcome: LoginOutcome): void {
    const id = digest(throttleKey)
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
