// Retry schedule of failed deliveries: 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h, each ± 20 % jitter. Later
// when the receiver requests it.

import type { Random } from '../random.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, type TimeMs, timeMs } from '../units.ts'

/** Attempts of one delivery, the first one included. */
export const ATTEMPTS_MAX = 8
/** Maximum wait that `Retry-After` can request. */
export const RETRY_AFTER_MAX_MS = DAY_MS
/** The wait after the first, second, … failure. */
const WAITS_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
]
/** ± this share of the wait, so that the receivers of one outage are not all called at once. */
const JITTER = 0.2

/**
 * When the next attempt is due after `attempts` failures (0: at once). Null when none is left.
 * `retryAfterMs` is the wait that the receiver requested: it makes the wait longer, never shorter, up to 24
 * h.
 */
export function nextAttemptMs({
  attempts,
  nowMs,
  retryAfterMs,
  random,
}: {
  readonly attempts: number
  readonly nowMs: TimeMs
  readonly retryAfterMs: number | null
  readonly random: Random
}): TimeMs | null {
  if (attempts >= ATTEMPTS_MAX) return null
  const waitMs = WAITS_MS[attempts - 1]
  if (waitMs === undefined) return nowMs
  const jitteredMs = waitMs * (1 - JITTER + 2 * JITTER * random.next())
  const requestedMs = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)
  return timeMs(nowMs + Math.max(jitteredMs, requestedMs))
}
