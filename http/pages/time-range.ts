// What all pages of rows in a range of time share (trades, candles, whales, book snapshots, wallet events): the range
// asked for, the cursor in an answer, and where our records begin.

import type { SliceQuery } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { TIME_ZERO, type TimeMs, timeMs, toSeconds } from '../../engine/units.ts'
import { parseTimeCursor } from '../request/cursor.ts'
import { type Answer, withHeader } from '../request/reply.ts'
import { parameters, SECONDS_MAX } from '../schemas.ts'

/** Ordinals of one market or venue are stored in 32 bits; a larger one was never issued. */
const ORDINAL_MAX = 0xffff_fffe

const END_OF_TIME_MS = timeMs(SECONDS_MAX * 1000)

/** For the specification document. */
export const DATA_START = {
  'X-Data-Start': 'Unix seconds at which our records begin, when the range begins before',
}

/** Parameters of every range; `limit` is the route's own. */
export const timeParameters = {
  cursor: parameters.cursor(),
  start_time: parameters.seconds(),
  end_time: parameters.seconds(),
  order: parameters.order(),
}

/** The rows that a query names. */
export type TimeRange = Omit<SliceQuery, 'limit'>

/** What the shared parameters were given. */
export interface TimeRangeQuery {
  readonly cursor?: string
  readonly start_time?: number
  readonly end_time?: number
  readonly order: 'asc' | 'desc'
}

/** Throws BAD_REQUEST for a range that ends before it starts, and for a cursor that is none. */
export function timeRangeOf(query: TimeRangeQuery, ordinalMax = ORDINAL_MAX): TimeRange {
  const { start_time: start, end_time: end, cursor, order } = query
  const fromMs = start === undefined ? TIME_ZERO : timeMs(seconds(start))
  // The second of end_time belongs to the range whole.
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

/** Milliseconds of a parameter in seconds. */
export function seconds(value: number): number {
  return value * 1000
}

/** `"cursor":…,"has_more":…` of a page. */
export function cursorText(cursor: string | null): string {
  return `"cursor":${cursor === null ? 'null' : JSON.stringify(cursor)},"has_more":${cursor !== null}`
}

/**
 * Says where our records begin when the range begins before: at the oldest row, or where nothing was
 * recorded of this, when we began to record at all. Looked up only where a start is asked for.
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
