// Markets as lists, by text search, and by id.

import { Type } from '@sinclair/typebox'
import type { EngineView, MarketFilter, MarketOrder, MarketPage } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import {
  type MarketStatus,
  RESOLUTION_STATUSES,
  type ResolutionStatus,
} from '../../engine/market/market.ts'
import { answerPage, createdRange, pageRefusals, volumeMin } from '../pages/lists.ts'
import { cursorText } from '../pages/time-range.ts'
import type { AnswerCache } from '../records/fact-cache.ts'
import type { MarketRecords } from '../records/markets.ts'
import { ListCursors } from '../request/cursor.ts'
import { findMarket } from '../request/find-market.ts'
import type { Answer } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { partsAnswer, separated } from '../request/sliced-rows.ts'
import {
  choice,
  MarketSchema,
  MarketsSchema,
  parameters,
  SEARCH_CHARACTERS_MAX,
} from '../schemas.ts'

interface MarketRouteParts {
  readonly engine: Pick<EngineView, 'catalog'>
  readonly clock: Clock
  readonly records: MarketRecords
  readonly answers: AnswerCache
  /** The name of this process in its cluster; absent if there is no cluster. */
  readonly issuer?: string | null
}

/** `GET /v1/markets`, `/v1/markets/search` and `/v1/markets/{market_id}`. */
export function marketRoutes(parts: MarketRouteParts): readonly Route[] {
  const { catalog } = parts.engine
  const lists: Lists = { ...parts, cursors: new ListCursors(parts.issuer) }
  const { list, search } = listQueries(catalog.names.platforms)
  const page = (query: ListQuery, requester: () => Requester) =>
    listMarkets(lists, query, requester)
  return [
    route(
      'GET /v1/markets',
      {
        group: 'Markets',
        summary: 'Markets of both venues, by 24-hour volume',
        answer: MarketsSchema,
        isNamed: true,
        refusals: pageRefusals,
        query: list,
      },
      ({ requester }, query) => page(query, requester),
    ),
    route(
      'GET /v1/markets/search',
      {
        group: 'Markets',
        summary: 'Full-text search',
        answer: MarketsSchema,
        isNamed: true,
        refusals: pageRefusals,
        query: search,
      },
      ({ requester }, query) => page(query, requester),
    ),
    route(
      'GET /v1/markets/{market_id}',
      {
        group: 'Markets',
        summary: 'One market',
        answer: MarketSchema,
        isNamed: true,
        refusals: { 404: 'no such market' },
      },
      ({ path }) =>
        parts.records.answer(findMarket(catalog, path('market_id')), parts.clock.nowMs()),
    ),
  ]
}

function listQueries(platforms: readonly string[]) {
  const shared = {
    platform: Type.Optional(choice(platforms)),
    status: parameters.status(),
    resolution_status: Type.Optional(
      choice(RESOLUTION_STATUSES, {
        description: 'Only markets of whose result the venue states this, open or not.',
      }),
    ),
    category: parameters.text(),
    tags: parameters.list(),
    min_volume: parameters.volume(),
    min_total_volume: parameters.volume(),
    event_slug: parameters.id(),
    start_ts: parameters.seconds(),
    end_ts: parameters.seconds(),
    order: parameters.order(),
    offset: parameters.offset(),
    cursor: parameters.cursor(),
  }
  const list = Type.Object({
    search: parameters.search(),
    ...shared,
    sort_by: choice(['volume', 'created_at', 'close_time'] as const, { default: 'volume' }),
    limit: parameters.limit(200, 20),
  })
  const search = Type.Object({
    search: Type.String({ minLength: 2, maxLength: SEARCH_CHARACTERS_MAX }),
    ...shared,
    sort_by: choice(['volume', 'created_at', 'close_time', 'relevance'] as const, {
      default: 'volume',
    }),
    limit: parameters.limit(100, 20),
  })
  return { list, search }
}

interface ListQuery {
  readonly search?: string
  readonly platform?: string
  readonly status?: MarketStatus
  readonly resolution_status?: ResolutionStatus
  readonly category?: string
  readonly tags?: readonly string[]
  readonly min_volume?: number
  readonly min_total_volume?: number
  readonly event_slug?: string
  readonly start_ts?: number
  readonly end_ts?: number
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly cursor?: string
  readonly sort_by: MarketOrder | 'relevance'
  readonly limit: number
}

/** Dependencies that write and continue lists. */
interface Lists extends MarketRouteParts {
  readonly cursors: ListCursors
}

function listMarkets(
  lists: Lists,
  query: ListQuery,
  requester: () => Requester,
): Answer | Promise<Answer> {
  const { engine, cursors, clock, records, answers } = lists
  const { catalog } = engine
  const text = query.search?.trim() ?? ''
  const filter = filterOf(catalog.names, query)
  const { sort_by: sortBy, order, limit } = query
  return answerPage<MarketPage>({
    cursors,
    query: query,
    binding: JSON.stringify([text, filter, sortBy, order]),
    read(position) {
      if (text !== '') {
        return catalog.search({ text, filter, sortBy, order, limit, ...position }, requester())
      }
      // A search for blanks alone matches everything with equal relevance.
      const listedBy = sortBy === 'relevance' ? 'volume' : sortBy
      return catalog.list({ filter, sortBy: listedBy, order, limit, ...position })
    },
    answer(page, cursor) {
      return pageAnswer(lists, page, cursor)
    },
    cache: {
      answers,
      name: 'markets',
      facts({ markets }) {
        const nowMs = clock.nowMs()
        return markets.flatMap((view) => records.facts(view, nowMs))
      },
    },
  })
}

/** Written in time slices, because records may be on disk. */
function pageAnswer(
  { records, clock }: Lists,
  page: MarketPage,
  cursor: string | null,
): Answer | Promise<Answer> {
  const nowMs = clock.nowMs()
  const end = `],"total":${page.total},${cursorText(cursor)}}`
  const parts = ['{"markets":[', ...separated(page.markets), end]
  return partsAnswer(clock, parts, (view) => records.bytes(view, nowMs))
}

function filterOf(names: EngineView['catalog']['names'], query: ListQuery): MarketFilter {
  return {
    venue: query.platform === undefined ? null : names.venue(query.platform),
    status: query.status ?? null,
    resolution: query.resolution_status ?? null,
    tags: query.tags ?? [],
    category: query.category ?? null,
    eventSlug: query.event_slug ?? null,
    volume24hMin: volumeMin(query.min_volume),
    ...createdRange({ start: query.start_ts, end: query.end_ts, names: ['start_ts', 'end_ts'] }),
    volumeTotalMin: volumeMin(query.min_total_volume),
    phase: null,
    among: null,
  }
}
