// Delivery limits of an account's webhooks: per second, and pending. Pure.

import type { Tier } from '../accounts/account.ts'

/** The limits that an account's webhooks share. */
export interface WebhookShare {
  /** Accepted events and started attempts a second, on average. */
  readonly deliveriesPerSecond: number
  /** Pending deliveries. Beyond it, a webhook with more than its part of them gets no new ones. */
  readonly pendingMax: number
  /** Bytes of the pending deliveries' bodies. */
  readonly pendingBytesMax: number
  /** Whether event types that require a filter are allowed without one. */
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

/** The limits of a tier, with the operator's rate if one is set. */
export function webhookShareOf(account: {
  readonly tier: Tier
  readonly deliveriesPerSecond?: number | null
}): WebhookShare {
  const share = SHARES[account.tier]
  const own = account.deliveriesPerSecond ?? null
  return own === null ? share : { ...share, deliveriesPerSecond: own }
}

/** Tolerance, so that rounding of fractional sums does not lose a token. */
const ROUNDING = 1e-6

/** A token bucket. Starts full. */
export class TokenLevel {
  #used = 0
  #atMs = 0

  /** Whole tokens at `nowMs` (monotonic), at most `capacity`, refilled at `perSecond`. */
  at(nowMs: number, perSecond: number, capacity: number): number {
    const refilled = ((nowMs - this.#atMs) * perSecond) / 1_000
    this.#used = Math.max(0, this.#used - refilled)
    this.#atMs = nowMs
    return Math.floor(capacity - this.#used + ROUNDING)
  }

  /** Call it after `at` with the same time. */
  take(): void {
    this.#used += 1
  }

  /** Milliseconds after the last `at` until a whole token is available. 0: now. */
  waitMs(perSecond: number, capacity: number): number {
    return Math.max(0, Math.ceil(((this.#used + 1 - capacity - ROUNDING) * 1_000) / perSecond))
  }
}
