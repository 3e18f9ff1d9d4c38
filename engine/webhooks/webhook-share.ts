import type { Tier } from '../accounts/account.ts'

export interface WebhookShare {
  /** Average number of accepted events and of started attempts per second. */
  readonly deliveriesPerSecond: number
  /** Maximum pending deliveries. Above it, a webhook that exceeds its part of them gets no new deliveries. */
  readonly pendingMax: number
  readonly pendingBytesMax: number
  /** Whether event types that require a filter are allowed without a filter. */
  readonly mayTakeAll: boolean
}

const MIB = 2 ** 20
/** For tiers without a limit: more than the engine can deliver. */
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

/** The share of the account's tier. If the operator set a rate, the share has that rate. */
export function webhookShareOf(account: {
  readonly tier: Tier
  readonly deliveriesPerSecond?: number | null
}): WebhookShare {
  const share = SHARES[account.tier]
  const own = account.deliveriesPerSecond ?? null
  return own === null ? share : { ...share, deliveriesPerSecond: own }
}

/** Tolerance for the rounding of fractional tokens. */
const ROUNDING = 1e-6

export class TokenLevel {
  #used = 0
  #atMs = 0

  /** Whole tokens at the monotonic time `nowMs`. `perSecond` are added each second, up to `capacity`. */
  at(nowMs: number, perSecond: number, capacity: number): number {
    const refilled = ((nowMs - this.#atMs) * perSecond) / 1_000
    this.#used = Math.max(0, this.#used - refilled)
    this.#atMs = nowMs
    return Math.floor(capacity - this.#used + ROUNDING)
  }

  /** Takes a token. `at` must have been called for the same time. */
  take(): void {
    this.#used += 1
  }

  /** Time in ms after the last `at` until a whole token is available. 0 if a token is available. */
  waitMs(perSecond: number, capacity: number): number {
    return Math.max(0, Math.ceil(((this.#used + 1 - capacity - ROUNDING) * 1_000) / perSecond))
  }
}
