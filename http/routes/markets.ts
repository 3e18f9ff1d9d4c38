import { type Static, Type } from '@sinclair/typebox'
import type { EngineView, MarketFilter } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { RESOLUTION_STATUSES } from '../../engine/market/market.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import {
  ANY_MARKET,
  answerMarketList,
  createdRange,
  pageRefusals,
  volumeMin,
} from '../pages/lists.ts'
import { coverBooks } from '../records/books.ts'
import type { AnswerCache } from '../records/fact-cache.ts'
import { type MarketRecords, MarketSchema, MarketsSchema } from '../records/markets.ts'
import { ListCursors } from '../request/cursor.ts'
import { findMarket } from '../request/find-market.ts'
import type { Answer } from '../request/reply.ts'
import { demandOwner, type Route, route } from '../request/route.ts'
import { choice, parameters, SEARCH_CHARACTERS_MAX } from '../schemas.ts'

interface MarketRouteParts {
  readonly engine: Pick<EngineView, 'catalog' | 'coverage'>
  readonly clock: Clock
  readonly records: MarketRecords
  readonly answers: AnswerCache
  /** The name of this process in its cluster, or null. */
  readonly issuer?: string | null
}

export function marketRoutes(parts: MarketRouteParts): readonly Route[] {
  const { catalog } = parts.engine
  const cursors = new ListCursors(parts.issuer)
  const { list, search } = listQueries(catalog.names.platforms)
  const page = (query: ListQuery, requester: () => Requester) =>
    listMarkets(parts, cursors, query, requester)
  const document = {
    group: 'Markets' as const,
    answer: MarketsSchema,
    isNamed: true,
    refusals: pageRefusals,
  }
  return [
    route(
      'GET /v1/markets',
      { ...document, summary: 'Markets of both venues, by 24-hour volume', query: list },
      ({ requester }, query) => page(query, requester),
    ),
    route(
      'GET /v1/markets/search',
      {
        ...document,
        summary: 'Full-text search',
        description:
          'Finds the markets that have all words of `search`, as words or as their beginnings. A word of at least ' +
          'five letters with few or no matches also finds words that differ by one typing error; by `relevance` ' +
          'they come last. `104000`, `104,000` and `104k` find each other.',
        query: search,
      },
      ({ requester }, query) => page(query, requester),
    ),
    route(
      'GET /v1/markets/{market_id}',
      {
        ...document,
        summary: 'One market',
        answer: MarketSchema,
        refusals: { 404: 'no such market' },
      },
      (facts) => {
        const view = findMarket(catalog, facts.path('market_id'))
        const answer = () => parts.records.answer(view, parts.clock.nowMs())
        return coverBooks(parts.engine, [view], demandOwner(facts))?.then(answer) ?? answer()
      },
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

type Queries = ReturnType<typeof listQueries>
type ListQuery = Static<Queries['list'] | Queries['search']>

function listMarkets(
  { engine: { catalog }, clock, records, answers }: MarketRouteParts,
  cursors: ListCursors,
  query: ListQuery,
  requester: () => Requester,
): Answer | Promise<Answer> {
  const { sort_by: sortBy, order } = query
  const nowMs = clock.nowMs()
  return answerMarketList(
    { catalog, clock, cursors },
    { query, filter: filterOf(catalog.names, query), sortBy, order, requester },
    {
      name: 'markets',
      write: (view) => records.bytes(view, nowMs),
      cache: {
        ...{ answers, name: 'markets', rowsOf: ({ markets }) => markets },
        addFacts: (facts, view) => records.addFacts(facts, view, clock.nowMs()),
      },
    },
  )
}

function filterOf(names: VenueTable, query: ListQuery): MarketFilter {
  return {
    ...ANY_MARKET,
    venue: query.platform === undefined ? null : names.venue(query.platform),
    status: query.status ?? null,
    resolution: query.resolution_status ?? null,
    tags: query.tags ?? [],
    category: query.category ?? null,
    eventSlug: query.event_slug ?? null,
    volume24hMin: volumeMin(query.min_volume),
    ...createdRange({ start: query.start_ts, end: query.end_ts, names: ['start_ts', 'end_ts'] }),
    volumeTotalMin: volumeMin(query.min_total_volume),
  }
}
