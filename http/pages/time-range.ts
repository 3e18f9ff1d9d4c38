// Shared by all pages of rows in a time range: the range parameters, the cursor in an answer, and the start of our
// records.

import type { SliceQuery } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { TIME_ZERO, type TimeMs, timeMs, toSeconds } from '../../engine/units.ts'
import { parseTimeCursor } from '../request/cursor.ts'
import { type Answer, withHeader } from '../request/reply.ts'
import { parameters, SECONDS_MAX } from '../schemas.ts'

/** Ordinals of one market or venue are stored in 32 bits; no larger one was ever issued. */
const ORDINAL_MAX = 0xffff_fffe

const END_OF_TIME_MS = timeMs(SECONDS_MAX * 1000)

export const DATA_START = {
  'X-Data-Start': 'Unix seconds at which our records begin, when the range begins before',
}

/** Parameters of every range, except `limit`, which each route defines. */
export const timeParameters = {
  cursor: parameters.cursor(),
  start_time: parameters.seconds(),
  end_time: parameters.seconds(),
  order: parameters.order(),
}

export type TimeRange = Omit<SliceQuery, 'limit'>

/** Values of the shared parameters. */
export interface TimeRangeQuery {
  readonly cursor?: string
  readonly start_time?: number
  readonly end_time?: number
  readonly order: 'asc' | 'desc'
}

/** Throws BAD_REQUEST if the range ends before it starts or the cursor is invalid. */
export function timeRangeOf(query: TimeRangeQuery, ordinalMax = ORDINAL_MAX): TimeRange {
  const { start_time: start, end_time: end, cursor, order } = query
  const fromMs = start === undefined ? TIME_ZERO : timeMs(seconds(start))
  // `end_time` is inclusive: its whole second belongs to the range.
  const toMs = end === undefined ? END_OF_TIME_MS : timeMs(seconds(end) + 999)
  if (start !== undefined && end !== undefined && start > end) {
    throw new EngineError('BAD_REQUEST', 'start_time is after end_time')
  }
  const after = cursor === undefined ? null : parseTimeCursor(cursor)
  if (cursor !== undefined && (after === null || (after.ordinal ?? 0) > ordinalMax)) {
    throw new EngineError('BAD_REQUEST', 'the cursor is none of this list')
  }
  return { fromMs, toMs, after, order }
}

export function seconds(value: number): number {
  return value * 1000
}

/** `"cursor":…,"has_more":…` of a page. */
export function cursorText(cursor: string | null): string {
  return `"cursor":${cursor === null ? 'null' : JSON.stringify(cursor)},"has_more":${cursor !== null}`
}

/**
 * Adds the start of our records to an answer if the range begins earlier: the oldest row, or the start of recording if
 * there are no rows. Looked up only if the request has a start time.
 */
export function withDataStart(
  answer: Answer,
  startTime: number | undefined,
  recordsStartMs: () => TimeMs,
): Answer {
  if (startTime === undefined) return answer
  const fromMs = recordsStartMs()
  if (fromMs <= seconds(startTime)) return answer
  return withHeader(answer, 'X-Data-Start', String(toSeconds(fromMs)))
}
