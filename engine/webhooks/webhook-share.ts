// How many deliveries the webhooks of an account may have: per second, and pending. Pure.

import type { Tier } from '../accounts/account.ts'

/** What an account's webhooks may use together. */
export interface WebhookShare {
  /** Events taken and attempts begun a second, over time. */
  readonly deliveriesPerSecond: number
  /** Pending deliveries; beyond, a webhook with more than its part of them gets no new ones. */
  readonly pendingMax: number
  /** Their bodies, bytes. */
  readonly pendingBytesMax: number
  /** Whether event types that need a filter may be taken without. */
  readonly mayTakeAll: boolean
}

const MIB = 2 ** 20
/** More than the engine can deliver. */
export const DELIVERIES_PER_SECOND_MAX = 1_000_000

const SHARES: Readonly<Record<Tier, WebhookShare>> = {
  free: {
    ...{ deliveriesPerSecond: 5, mayTakeAll: false },
    ...{ pendingMax: 10_000, pendingBytesMax: 32 * MIB },
  },
  pro: {
    ...{ deliveriesPerSecond: 50, mayTakeAll: true },
    ...{ pendingMax: 100_000, pendingBytesMax: 256 * MIB },
  },
  enterprise: {
    ...{ deliveriesPerSecond: DELIVERIES_PER_SECOND_MAX, mayTakeAll: true },
    ...{ pendingMax: 1_000_000, pendingBytesMax: 1_024 * MIB },
  },
}

/** The share of a tier, with the rate that the operator set, if any. */
export function webhookShareOf(account: {
  readonly tier: Tier
  readonly deliveriesPerSecond?: number | null
}): WebhookShare {
  const share = SHARES[account.tier]
  const own = account.deliveriesPerSecond ?? null
  return own === null ? share : { ...share, deliveriesPerSecond: own }
}

/** Sums of fractions must not round a whole token away. */
const ROUNDING = 1e-6

/** Tokens that refill at a rate. Starts full. */
export class TokenLevel {
  #used = 0
  #atMs = 0

  /** Whole tokens at `nowMs` (monotonic) of at most `capacity`, refilled at `perSecond`. */
  at(nowMs: number, perSecond: number, capacity: number): number {
    const refilled = ((nowMs - this.#atMs) * perSecond) / 1_000
    this.#used = Math.max(0, this.#used - refilled)
    this.#atMs = nowMs
    return Math.floor(capacity - this.#used + ROUNDING)
  }

  /** Call it after `at` of the same moment. */
  take(): void {
    this.#used += 1
  }

  /** How long after the last `at` there is a whole token, ms; 0: now. */
  waitMs(perSecond: number, capacity: number): number {
    return Math.max(0, Math.ceil(((this.#used + 1 - capacity - ROUNDING) * 1_000) / perSecond))
  }
}
