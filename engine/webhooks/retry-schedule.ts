// Delays before retries of a failed delivery: 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h, each ± 20 %. Longer if the
// receiver requests it.

import type { Random } from '../random.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, type TimeMs, timeMs } from '../units.ts'

/** Attempts of a delivery, including the first attempt. */
export const ATTEMPTS_MAX = 8
/** Longest delay that `Retry-After` can cause. */
export const RETRY_AFTER_MAX_MS = DAY_MS
const WAITS_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
]
/** Maximum random change of a delay. It spreads the retries after an outage. */
const JITTER = 0.2

/**
 * When the next attempt is due after `attempts` failures. Null: no attempt is left. `retryAfterMs`: the delay that the
 * receiver requested. It can only lengthen the delay, up to 24 h.
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
  readonly random: Pick<Random, 'next'>
}): TimeMs | null {
  if (attempts >= ATTEMPTS_MAX) return null
  const waitMs = WAITS_MS[attempts - 1]
  if (waitMs === undefined) return nowMs
  const jitteredMs = waitMs * (1 - JITTER + 2 * JITTER * random.next())
  const requestedMs = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)
  return timeMs(nowMs + Math.max(jitteredMs, requestedMs))
}
