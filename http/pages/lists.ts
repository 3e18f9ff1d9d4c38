// Shared by all pinned lists: cursor or offset, the binding of a cursor to its filters, and cached answers.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { roundUsd, type TimeMs, timeMs, type UsdMicros, usdMicros } from '../../engine/units.ts'
import type { AnswerCache, Fact } from '../records/fact-cache.ts'
import type { ListCursors, ListPosition } from '../request/cursor.ts'
import type { Answer } from '../request/reply.ts'
import { partsAnswer, separated } from '../request/sliced-rows.ts'
import { cursorText, seconds } from './time-range.ts'

export const pageRefusals = {
  400: 'start after end, cursor with offset, a cursor of another list or an expired one',
  503: 'too many searches are waiting',
}

export interface PageQuery {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string
}

export interface PagePosition {
  readonly pin: number | null
  readonly offset: number
}

interface ListPage {
  readonly total: number
  readonly next: ListPosition | null
}

/** Caches a list's answers under its name. */
export interface CachedList<Row> {
  readonly answers: AnswerCache
  readonly name: string
  /** What decides the record of a row. */
  facts(row: Row): readonly Fact[]
}

interface ListParts<Page, Row> {
  readonly cursors: ListCursors
  readonly query: PageQuery
  /**
   * Canonical text of all request parameters except page and size. It prevents a cursor from continuing another list.
   */
  readonly binding: string
  read(position: PagePosition): Page | 'expired' | Promise<Page | 'expired'>
  answer(page: Page, cursor: string | null): Answer | Promise<Answer>
  readonly cache?: CachedList<Row>
  /** The rows of a cached list. */
  readonly rowsOf?: (page: Page) => readonly Row[]
}

/** Reads a page and answers it. Throws BAD_REQUEST if the cursor belongs to another list or has expired. */
export function answerPage<Page extends ListPage, Row = never>(
  parts: ListParts<Page, Row>,
): Answer | Promise<Answer> {
  const { cursors, query, binding, answer, cache, rowsOf } = parts
  const finish = (page: Page | 'expired') => {
    if (page === 'expired') {
      throw new EngineError('BAD_REQUEST', 'the cursor has expired; start again without it')
    }
    const { total, next } = page
    const write = () => answer(page, next === null ? null : cursors.encode(next, binding))
    if (cache === undefined) return write()
    const { limit, offset, cursor = '' } = query
    const facts = () => rowsOf?.(page).flatMap((row) => cache.facts(row)) ?? [null]
    return cache.answers.getLate(
      `${cache.name} ${limit} ${offset} ${cursor} ${binding}`,
      () => [total, next?.pin ?? -1, next?.offset ?? -1, ...facts()],
      write,
    )
  }
  const page = parts.read(positionOf(parts))
  return page instanceof Promise ? page.then(finish) : finish(page)
}

function positionOf({
  cursors,
  query: { cursor, offset },
  binding,
}: Pick<ListParts<unknown, unknown>, 'cursors' | 'query' | 'binding'>): PagePosition {
  if (cursor === undefined) return { pin: null, offset }
  if (offset > 0) throw new EngineError('BAD_REQUEST', 'give cursor or offset, not both')
  const decoded = cursors.decode(cursor, binding)
  if (decoded !== null) return decoded
  throw new EngineError('BAD_REQUEST', 'the cursor was not issued for this query')
}

/** `{"<name>":[…],"total":…,"cursor":…,"has_more":…}`, written in time slices: rows may be on disk. */
export function listAnswer<Row extends object>(
  clock: Clock,
  list: {
    readonly name: string
    readonly rows: readonly Row[]
    readonly total: number
    readonly cursor: string | null
    readonly write: (row: Row) => string | Uint8Array
  },
): Answer | Promise<Answer> {
  const end = `],"total":${list.total},${cursorText(list.cursor)}}`
  return partsAnswer(clock, [`{"${list.name}":[`, ...separated(list.rows), end], list.write)
}

/** Creation-time filter in seconds; both bounds are inclusive. Throws BAD_REQUEST if the start is after the end. */
export function createdRange(range: {
  start: number | undefined
  end: number | undefined
  names: readonly [start: string, end: string]
}): { createdFromMs: TimeMs | null; createdToMs: TimeMs | null } {
  const { start, end, names } = range
  if (start !== undefined && end !== undefined && start > end) {
    throw new EngineError('BAD_REQUEST', `${names[0]} is after ${names[1]}`)
  }
  return {
    createdFromMs: start === undefined ? null : timeMs(seconds(start)),
    createdToMs: end === undefined ? null : timeMs(seconds(end) + 999),
  }
}

/** Minimum volume. A value beyond the countable range becomes one that no market reaches. */
export function volumeMin(dollars: number | undefined): UsdMicros | null {
  if (dollars === undefined) return null
  return roundUsd(dollars) ?? usdMicros(Number.MAX_SAFE_INTEGER)
}
