// Reconnect delays: close codes as the protocol defines them, exponential back-off, and jitter that spreads
// the reconnects of many clients.

import type { Chance } from './ambient.ts'

export interface End {
  /** The close code; 1006 when the transport or the client itself cut the connection. */
  readonly code: number
  readonly reason: string
  /** The HTTP status of a refused handshake; null where the runtime does not expose it (browsers). */
  readonly status: number | null
}

const FIRST_MS = 500
const LAST_MS = 30_000
/** Range of the random delay that the protocol requires after close code 1001. */
const GOING_AWAY_MS = 10_000
/** Minimum delay after close code 4009: the server does not raise a lowered limit again within seconds. */
const LATER_MS = 30_000

const CODES = { goingAway: 1001, tooManyErrors: 4000, limitLowered: 4009, keyRevoked: 4010 }

/**
 * Milliseconds until the next attempt; null: a reconnect cannot succeed.
 * `attempt` counts the attempts since the connection was last in sync, from 0.
 */
export function delayMs(end: End, attempt: number, chance: Chance): number | null {
  if (end.code === CODES.tooManyErrors || end.code === CODES.keyRevoked) return null
  if (end.status === 401 || end.status === 403) return null
  if (end.code === CODES.limitLowered) return LATER_MS * (1 + chance())
  const grown = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16))
  if (end.code === CODES.goingAway) return Math.max(chance() * GOING_AWAY_MS, grown / 2 - FIRST_MS)
  // The first attempt may be immediate. Later attempts wait at least half of their delay.
  return attempt === 0 ? grown * chance() : (grown * (1 + chance())) / 2
}
