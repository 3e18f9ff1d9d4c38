// Reconnect delays. Fixed ranges apply to close codes that the protocol defines. Other closes use exponential back-off
// with jitter.

import type { Chance } from './ambient.ts'

export interface End {
  /** The close code. It is 1006 if the transport or the client itself cut the connection. */
  readonly code: number
  readonly reason: string
  /** The HTTP status of a refused handshake. Null in browsers, which do not expose it. */
  readonly status: number | null
}

const FIRST_MS = 500
const LAST_MS = 30_000
/** Range of the random delay that the protocol requires after close code 1001. */
const GOING_AWAY_MS = 10_000
/** Minimum delay after close code 4009: the server lowered the connection limit. */
const LATER_MS = 30_000

const CODES = { goingAway: 1001, tooManyErrors: 4000, limitLowered: 4009, keyRevoked: 4010 }

/**
 * Milliseconds until the next attempt, or null if a reconnect cannot succeed. `attempt` starts at 0 and counts attempts
 * since the connection was last in sync.
 */
export function delayMs(end: End, attempt: number, chance: Chance): number | null {
  if (end.code === CODES.tooManyErrors || end.code === CODES.keyRevoked) return null
  if (end.status === 401 || end.status === 403) return null
  if (end.code === CODES.limitLowered) return LATER_MS * (1 + chance())
  const grown = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16))
  if (end.code === CODES.goingAway) return Math.max(chance() * GOING_AWAY_MS, grown / 2 - FIRST_MS)
  return attempt === 0 ? grown * chance() : (grown * (1 + chance())) / 2
}
