// Lists of rows: pages of pinned lists with a cursor or an offset, and lookups of several markets by their ids.

import { Type } from '@sinclair/typebox'
import type {
  CatalogView,
  MarketFilter,
  MarketOrder,
  MarketPage,
  MarketView,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { roundUsd, type TimeMs, timeMs, type UsdMicros, usdMicros } from '../../engine/units.ts'
import type { AnswerCache, Fact } from '../records/fact-cache.ts'
import type { ListCursors, ListPosition } from '../request/cursor.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import type { RouteParts } from '../request/route.ts'
import { mapInSlices, partsAnswer, separated } from '../request/time-slices.ts'
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

interface CachedList<Page, Row> {
  readonly answers: AnswerCache
  readonly name: string
  rowsOf(page: Page): readonly Row[]
  /** Adds the facts that determine a row's record. */
  addFacts(facts: Fact[], row: Row): void
}

interface ListParts<Page, Row> {
  readonly cursors: ListCursors
  readonly query: PageQuery
  /**
   * Canonical text of all request parameters except cursor and limit. It binds a cursor to its list. Called only if a
   * cursor is read or written.
   */
  binding(): string
  read(position: PagePosition): Page | 'expired' | Promise<Page | 'expired'>
  answer(page: Page, cursor: string | null): Answer | Promise<Answer>
  readonly cache?: CachedList<Page, Row>
}

/** Throws BAD_REQUEST if the cursor belongs to a different list or has expired. */
export function answerPage<Page extends ListPage, Row = never>(
  parts: ListParts<Page, Row>,
): Answer | Promise<Answer> {
  const { cursors, query, answer, cache } = parts
  const finish = (page: Page | 'expired') => {
    if (page === 'expired') {
      throw new EngineError('BAD_REQUEST', 'the cursor has expired; start again without it')
    }
    const { total, next } = page
    const write = () => answer(page, next === null ? null : cursors.encode(next, parts.binding()))
    if (cache === undefined) return write()
    const facts = (): readonly Fact[] => {
      const all: Fact[] = [total, next?.pin ?? -1, next?.offset ?? -1]
      for (const row of cache.rowsOf(page)) cache.addFacts(all, row)
      return all
    }
    return cache.answers.getLate(`${cache.name} ${JSON.stringify(query)}`, facts, write)
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
  const decoded = cursors.decode(cursor, binding())
  if (decoded !== null) return decoded
  throw new EngineError('BAD_REQUEST', 'the cursor was not issued for this query')
}

/** `{"<name>":[…],"total":…,"cursor":…,"has_more":…}`. Written in time slices, since rows may be on disk. */
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

/** Accepts every market except those that are not open yet. */
export const ANY_MARKET: MarketFilter = {
  venue: null,
  status: null,
  resolution: null,
  tags: [],
  category: null,
  eventSlug: null,
  volume24hMin: null,
  createdFromMs: null,
  createdToMs: null,
  volumeTotalMin: null,
  phase: null,
  among: null,
}

/** Creation times in seconds, both inclusive. Throws BAD_REQUEST if the start is after the end. */
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

/** Minimum volume in millionths of a dollar. Too large values become a value that no market reaches. */
export function volumeMin(dollars: number | undefined): UsdMicros | null {
  if (dollars === undefined) return null
  return roundUsd(dollars) ?? usdMicros(Number.MAX_SAFE_INTEGER)
}

interface MarketListRequest {
  readonly query: PageQuery & { readonly search?: string }
  readonly filter: MarketFilter
  readonly sortBy: MarketOrder | 'relevance'
  readonly order: 'asc' | 'desc'
  readonly requester: () => Requester
}

export function answerMarketList(
  parts: { readonly catalog: CatalogView; readonly clock: Clock; readonly cursors: ListCursors },
  { query, filter, sortBy, order, requester }: MarketListRequest,
  rows: {
    readonly name: string
    readonly write: (view: MarketView) => string | Uint8Array
    readonly cache?: CachedList<MarketPage, MarketView>
  },
): Answer | Promise<Answer> {
  const { catalog, clock, cursors } = parts
  const { limit } = query
  const text = query.search?.trim() ?? ''
  return answerPage<MarketPage, MarketView>({
    ...{ cursors, query },
    ...(rows.cache === undefined ? {} : { cache: rows.cache }),
    binding: () =>
      JSON.stringify([text, { ...filter, among: filter.among?.key ?? null }, sortBy, order]),
    read: (position) => {
      if (text !== '') {
        return catalog.search({ text, filter, sortBy, order, limit, ...position }, requester())
      }
      // A search text of blanks matches all markets with equal relevance.
      const listedBy = sortBy === 'relevance' ? 'volume' : sortBy
      return catalog.list({ filter, sortBy: listedBy, order, limit, ...position })
    },
    answer: ({ markets, total }, cursor) =>
      listAnswer(clock, { name: rows.name, rows: markets, total, cursor, write: rows.write }),
  })
}

const IDS_MAX = 100

/** Query parameter with 1 to 100 ids, repeated or separated by commas. */
export const marketIds = () =>
  Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: IDS_MAX })

export const MissingSchema = Type.Array(Type.String(), {
  description: 'ids that no market has, as they were given',
})

interface BulkRecords {
  readonly text: (view: MarketView) => string
  /** Resolves when the markets can be read. Null: they can be read now. */
  readonly ready: (views: readonly MarketView[]) => Promise<unknown> | null
}

/** `{"<name>":[…],"missing":[…]}`. A repeated id appears once. */
export function bulkAnswer(
  parts: RouteParts,
  name: 'prices' | 'orderbooks',
  ids: readonly string[],
  { text, ready }: BulkRecords,
): Answer | Promise<Answer> {
  const found = new Map<MarketNumber, MarketView>()
  const missing = new Map<string, string>()
  for (const id of ids) {
    const view = parts.catalog.find(id)
    if (view !== null) found.set(view.ref.number, view)
    else if (!missing.has(id.toLowerCase())) missing.set(id.toLowerCase(), id)
  }
  const missingText = JSON.stringify([...missing.values()])
  const answer = (texts: readonly string[]) =>
    jsonText(`{"${name}":[${texts.join(',')}],"missing":${missingText}}`)
  const views = [...found.values()]
  const write = () => {
    const texts = mapInSlices(parts.clock, views, text)
    return texts instanceof Promise ? texts.then(answer) : answer(texts)
  }
  return ready(views)?.then(write) ?? write()
}
