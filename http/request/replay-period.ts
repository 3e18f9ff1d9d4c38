// The period of a replay, for the REST route and the stream.

import { EngineError } from '../../engine/errors.ts'
import { DAY_MS, formatTime, timeMs } from '../../engine/units.ts'

const US_PER_MS = 1_000
/** How far back the free tier may replay. */
const FREE_MS = DAY_MS

interface PeriodRequest {
  /** Unix milliseconds. */
  readonly from: number
  readonly to: number
  /** The parameters' names, for error messages. */
  readonly names: { readonly from: string; readonly to: string }
}

interface TapeFacts {
  readonly nowMs: number
  readonly oldestMs: number | null
  /** Whether the caller has the tier free. */
  readonly isFree: boolean
}

export interface ReplayPeriod {
  readonly fromUs: number
  /** Exclusive. */
  readonly toUs: number
}

/**
 * The recorded part of the period, in microseconds. Throws EngineError BAD_REQUEST if the times are in the wrong order
 * or in the future, FORBIDDEN for the free tier, or NOT_FOUND if nothing was recorded.
 */
export function replayPeriod(
  { from, to, names }: PeriodRequest,
  { nowMs, oldestMs, isFree }: TapeFacts,
): ReplayPeriod {
  const end = Math.min(to, nowMs)
  if (from >= nowMs) throw new EngineError('BAD_REQUEST', `\`${names.from}\` must be in the past`)
  if (from >= to)
    throw new EngineError('BAD_REQUEST', `\`${names.from}\` must be before \`${names.to}\``)
  if (isFree && from < nowMs - FREE_MS) {
    const detail = `the tier free reads the last 24 hours: use a later \`${names.from}\``
    throw new EngineError('FORBIDDEN', detail)
  }
  if (oldestMs === null || end <= oldestMs) {
    const since = oldestMs === null ? 'is empty' : `begins at ${formatTime(timeMs(oldestMs))}`
    throw new EngineError('NOT_FOUND', `nothing is recorded in this period: the tape ${since}`)
  }
  return { fromUs: Math.max(from, oldestMs) * US_PER_MS, toUs: end * US_PER_MS }
}

export const NO_TAPE = 'this process has no tape; set TAPE=on on the engine'
