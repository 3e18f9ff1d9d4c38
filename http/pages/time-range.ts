import { EngineError } from '../../engine/errors.ts'
import { TIME_ZERO, type TimeMs, timeMs, toSeconds } from '../../engine/units.ts'
import { parseTimeCursor } from '../request/cursor.ts'
import { type Answer, jsonText, withHeader } from '../request/reply.ts'
import { writeInSlices } from '../request/time-slices.ts'
import { parameters, SECONDS_MAX } from '../schemas.ts'
import { readTimePage, type ScanSpec, type TimeRange } from './scan.ts'

/** Above every issued ordinal of one market or venue: ordinals are stored in 32 bits. */
const ORDINAL_MAX = 0xffff_fffe

const END_OF_TIME_MS = timeMs(SECONDS_MAX * 1000)

export const DATA_START = {
  'X-Data-Start': 'Unix seconds at which our records begin, when the range begins before',
}

/** All parameters of a time range except `limit`, which each route defines. */
export const timeParameters = {
  cursor: parameters.cursor(),
  start_time: parameters.seconds(),
  end_time: parameters.seconds(),
  order: parameters.order(),
}

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
  // `end_time` is inclusive, so the range includes its whole second.
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

/** The fields `"cursor":…,"has_more":…` of a page. */
export function cursorText(cursor: string | null): string {
  return `"cursor":${cursor === null ? 'null' : JSON.stringify(cursor)},"has_more":${cursor !== null}`
}

/**
 * Adds the start of the stored records to an answer if the requested range begins earlier. Calls `startMs` only if the
 * request has a start time.
 */
export async function withDataStart(
  answer: Answer,
  startTime: number | undefined,
  recordsStartMs: () => TimeMs | Promise<TimeMs>,
): Promise<Answer> {
  if (startTime === undefined) return answer
  const fromMs = await recordsStartMs()
  if (fromMs <= seconds(startTime)) return answer
  return withHeader(answer, 'X-Data-Start', String(toSeconds(fromMs)))
}

interface TimePageSpec<Row> extends Omit<ScanSpec<Row>, 'range' | 'limit'> {
  readonly query: TimeRangeQuery & { readonly limit: number }
  /** Default: the maximum of one market or venue. */
  readonly ordinalMax?: number
  /** Fields before the list, such as `"market_id":"…",`. */
  readonly head?: string
  readonly listName: string
  readonly write: (row: Row) => string
  /** Fields after the cursor, such as `,"min_usd":…`. */
  readonly tail?: string
  /** The time of the oldest row, or the start of recording without rows. If absent, the answer does not state the start. */
  readonly startMs?: () => TimeMs | Promise<TimeMs>
}

/** Throws BAD_REQUEST if the range or the cursor is invalid. */
export async function answerTimePage<Row>(spec: TimePageSpec<Row>): Promise<Answer> {
  const { query, head = '', listName, tail = '', startMs } = spec
  const range = timeRangeOf(query, spec.ordinalMax)
  const page = await readTimePage({ ...spec, range, limit: query.limit })
  const rows = await writeInSlices(spec.clock, page.rows, spec.write)
  const body = `{${head}"${listName}":[${rows.join(',')}],${cursorText(page.cursor)}${tail}}`
  const answer = jsonText(body)
  return startMs === undefined ? answer : withDataStart(answer, query.start_time, startMs)
}
