// When to come back after the end of a connection: the protocol's table of close codes, and delays
// that grow with every attempt in vain, with jitter so that a thousand clients do not come at once.

import type { Chance } from './ambient.ts'

/** How a connection ended. */
export interface End {
  /** The close code; 1006 when the transport or the client itself cut it. */
  readonly code: number
  readonly reason: string
  /** The HTTP status of a refused handshake, where the runtime gives it (browsers do not). */
  readonly status: number | null
}

const FIRST_MS = 500
const LAST_MS = 30_000
/** A server that goes away asks for up to this. */
const GOING_AWAY_MS = 10_000
/** A limit that was lowered will not be raised within seconds. */
const LATER_MS = 30_000

const CODES = { goingAway: 1001, tooManyErrors: 4000, limitLowered: 4009, keyRevoked: 4010 }

/**
 * Milliseconds until the next attempt; null: coming back cannot succeed. `attempt` counts from 0 the
 * attempts since the connection was last sound.
 */
export function delayMs(end: End, attempt: number, chance: Chance): number | null {
  if (end.code === CODES.tooManyErrors || end.code === CODES.keyRevoked) return null
  if (end.status === 401 || end.status === 403) return null
  if (end.code === CODES.limitLowered) return LATER_MS * (1 + chance())
  const grown = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16))
  if (end.code === CODES.goingAway) return Math.max(chance() * GOING_AWAY_MS, grown / 2 - FIRST_MS)
  // The first attempt may be at once; later ones wait half of their delay at least.
  return attempt === 0 ? grown * chance() : (grown * (1 + chance())) / 2
}
