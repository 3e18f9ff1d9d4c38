// The trades of one market, in stable pages; newest first by default.

import { Type } from '@sinclair/typebox'
import type { CatalogView, MarketView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import type { TradeSide } from '../../engine/events.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { takerSide } from '../../engine/market/taker.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { readTimePage, type TimePage } from '../pages/scan.ts'
import {
  cursorText,
  DATA_START,
  type TimeRangeQuery,
  timeParameters,
  timeRangeOf,
  withDataStart,
} from '../pages/time-range.ts'
import type { AnswerCache } from '../records/answer-cache.ts'
import { marketTexts, tradeText } from '../records/render.ts'
import { venueAliases } from '../request/aliases.ts'
import { findMarket } from '../request/find-market.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { parameters, TradesSchema } from '../schemas.ts'

const ROWS_PER_TICK = 512

type StoredTrade = ReturnType<MarketView['trades']>[number]

const queryOf = (names: VenueTable) =>
  Type.Object({
    limit: parameters.limit(500, 100),
    cursor: timeParameters.cursor,
    slug: parameters.id(...venueAliases(names, 'slug')),
    start_time: timeParameters.start_time,
    end_time: timeParameters.end_time,
    side: parameters.side(),
    taker_side: parameters.side(),
    order: timeParameters.order,
  })

interface TradesQuery extends TimeRangeQuery {
  readonly limit: number
  readonly side?: TradeSide
  readonly taker_side?: TradeSide
  readonly signal: () => AbortSignal
  readonly requester: () => Requester
}

interface TradeRouteParts extends RouteParts {
  readonly answers: AnswerCache
}

/** `GET /v1/markets/{market_id}/trades`. */
export function tradeRoutes(parts: TradeRouteParts): readonly Route[] {
  const { catalog } = parts
  return [
    route(
      {
        method: 'GET',
        pattern: '/v1/markets/{market_id}/trades',
        document: {
          group: 'Market Data',
          summary: 'The trade history of a market',
          answer: TradesSchema,
          refusals: {
            400: 'start after end, a foreign cursor, or path and slug of different markets',
            404: 'no such market',
            503: 'too few trades pass the filters to find a page in time',
          },
          headers: DATA_START,
        },
      },
      queryOf(catalog.names),
      ({ path, query, signal, requester }) =>
        trades(parts, marketOf(catalog, path('market_id'), query.slug), {
          ...query,
          signal,
          requester,
        }),
    ),
  ]
}

/** The path's market, or the slug's market if the path's id is unknown. */
function marketOf(catalog: CatalogView, id: string, slug: string | undefined): MarketView {
  if (slug === undefined || slug === '') return findMarket(catalog, id)
  const byId = catalog.find(id)
  const bySlug = catalog.findBySlug(slug)
  if (byId === null && bySlug === null) return findMarket(catalog, id)
  // Both venues may use the slug. It contradicts the id only if the id's market has a different slug.
  if (byId !== null && bySlug !== null) {
    if (byId.summary.slug.toLowerCase() === slug.toLowerCase()) return byId
    throw new EngineError('BAD_REQUEST', 'the path and slug name different markets')
  }
  return byId ?? bySlug ?? findMarket(catalog, id)
}

/** Cached until the market trades or its outcomes are renamed. */
function trades(
  parts: TradeRouteParts,
  view: MarketView,
  query: TradesQuery,
): Answer | Promise<Answer> {
  const { signal: _, requester: __, ...filters } = query
  return parts.answers.answer(
    `trades ${view.ref.number} ${JSON.stringify(filters)}`,
    () => [view.tradesVersion, ...view.summary.outcomes.map(({ label }) => label)],
    () => writtenTrades(parts, view, query),
  )
}

function writtenTrades(
  { catalog, clock }: RouteParts,
  view: MarketView,
  query: TradesQuery,
): Answer | Promise<Answer> {
  const { side, taker_side: byTaker, limit } = query
  const isFiltered = side !== undefined || byTaker !== undefined
  const accepts = (row: StoredTrade) =>
    (side === undefined || row.side === side) &&
    (byTaker === undefined || takerSide(row) === byTaker)
  const texts = marketTexts(view)
  const answer = ({ rows, cursor }: TimePage<StoredTrade>): Answer => {
    const list = rows.map((row) => tradeText(row, texts)).join(',')
    const body = `{"market_id":${texts.id},"trades":[${list}],${cursorText(cursor)}}`
    const startMs = () => view.oldestTradeMs() ?? catalog.recordsSinceMs
    return withDataStart(jsonText(body), query.start_time, startMs)
  }
  const page = readTimePage<StoredTrade>({
    range: timeRangeOf(query),
    limit,
    read: (slice) => view.trades(slice),
    positionOf: (row) => row,
    accepts: isFiltered ? accepts : null,
    rowsPerTick: ROWS_PER_TICK,
    clock,
    // Only a filtered page can take so long that the client disconnects.
    ...(isFiltered ? { signal: query.signal(), requester: query.requester() } : {}),
  })
  return page instanceof Promise ? page.then(answer) : answer(page)
}
