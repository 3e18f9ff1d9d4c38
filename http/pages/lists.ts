// Shared by all pinned lists: cursor or offset, the binding of a cursor to its filters, cached answers, and ranges of
// creation times.

import { EngineError } from '../../engine/errors.ts'
import { roundUsd, type TimeMs, timeMs, type UsdMicros, usdMicros } from '../../engine/units.ts'
import type { AnswerCache, Fact } from '../records/fact-cache.ts'
import type { ListCursors, ListPosition } from '../request/cursor.ts'
import type { Answer } from '../request/reply.ts'
import { seconds } from './time-range.ts'

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

/** Cache slot of a list's answers, by list name. */
interface CachedList<Page> {
  readonly answers: AnswerCache
  readonly name: string
  /** Everything in the answer that comes from the page, except its total and its cursor. */
  facts(page: Page): readonly Fact[]
}

interface ListParts<Page> {
  readonly cursors: ListCursors
  readonly query: PageQuery
  /**
   * Canonical text of all request parameters except page and size. It prevents a cursor from continuing another list.
   */
  readonly binding: string
  read(position: PagePosition): Page | 'expired' | Promise<Page | 'expired'>
  answer(page: Page, cursor: string | null): Answer | Promise<Answer>
  readonly cache?: CachedList<Page>
}

/** Reads a page and answers it. Throws BAD_REQUEST if the cursor belongs to another list or has expired. */
export function answerPage<Page extends ListPage>(
  parts: ListParts<Page>,
): Answer | Promise<Answer> {
  const page = parts.read(positionOf(parts))
  return page instanceof Promise
    ? page.then((late) => answered(parts, late))
    : answered(parts, page)
}

function answered<Page extends ListPage>(
  { cursors, query, binding, answer, cache }: ListParts<Page>,
  page: Page | 'expired',
): Answer | Promise<Answer> {
  if (page === 'expired') {
    throw new EngineError('BAD_REQUEST', 'the cursor has expired; start again without it')
  }
  const { total, next } = page
  if (cache === undefined) {
    return answer(page, next === null ? null : cursors.encode(next, binding))
  }
  const { limit, offset, cursor = '' } = query
  return cache.answers.getLate(
    `${cache.name} ${limit} ${offset} ${cursor} ${binding}`,
    () => [total, next?.pin ?? -1, next?.offset ?? -1, ...cache.facts(page)],
    () => answer(page, next === null ? null : cursors.encode(next, binding)),
  )
}

function positionOf({
  cursors,
  query,
  binding,
}: Pick<ListParts<unknown>, 'cursors' | 'query' | 'binding'>): PagePosition {
  const { cursor, offset } = query
  if (cursor === undefined) return { pin: null, offset }
  if (offset > 0) throw new EngineError('BAD_REQUEST', 'give cursor or offset, not both')
  const decoded = cursors.decode(cursor, binding)
  if (decoded !== null) return decoded
  throw new EngineError('BAD_REQUEST', 'the cursor was not issued for this query')
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
