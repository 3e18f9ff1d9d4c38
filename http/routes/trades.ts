// The trades of one market, newest first unless asked otherwise, paged without loss or repeat.
// Upholds PAGE2 to PAGE5 and TRADES1.

import { Type } from '@sinclair/typebox'
import type { CatalogView, MarketView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { TIME_ZERO, type TimeMs, timeMs, toSeconds } from '../../engine/units.ts'
import { historyCursor, parseHistoryCursor } from '../cursor.ts'
import { marketTexts, tradeText } from '../render.ts'
import { type Answer, jsonText, withHeader } from '../reply.ts'
import { type Route, route } from '../route.ts'
import { choice, parameters, SECONDS_MAX } from '../schemas.ts'
import { findMarket, seconds } from './markets.ts'

const END_OF_TIME_MS = timeMs(SECONDS_MAX * 1000)

const Query = Type.Object({
  limit: parameters.limit(500, 100),
  cursor: parameters.cursor(),
  slug: parameters.text('market_slug'),
  start_time: parameters.seconds('start_ts', 'from'),
  end_time: parameters.seconds('end_ts', 'to'),
  side: Type.Optional(choice(['buy', 'sell'] as const)),
  order: parameters.order(),
})

interface TradesQuery {
  readonly limit: number
  readonly cursor?: string
  readonly slug?: string
  readonly start_time?: number
  readonly end_time?: number
  readonly side?: 'buy' | 'sell'
  readonly order: 'asc' | 'desc'
}

/** `GET /v1/markets/{market_id}/trades`. */
export function tradeRoutes(catalog: CatalogView): readonly Route[] {
  return [
    route({ method: 'GET', pattern: '/v1/markets/{market_id}/trades' }, Query, ({ path, query }) =>
      trades(marketOf(catalog, path('market_id'), query.slug), query),
    ),
  ]
}

/** The path's market, or the slug's when the path's id is unknown. */
function marketOf(catalog: CatalogView, id: string, slug: string | undefined): MarketView {
  if (slug === undefined || slug === '') return findMarket(catalog, id)
  const byId = catalog.find(id)
  const bySlug = catalog.findBySlug(slug)
  if (byId === null && bySlug === null) return findMarket(catalog, id)
  // Both venues may have the slug: it contradicts the id only when the id's market has another.
  if (byId !== null && bySlug !== null) {
    if (byId.summary.slug.toLowerCase() === slug.toLowerCase()) return byId
    throw new EngineError('BAD_REQUEST', 'the path and slug name different markets')
  }
  return byId ?? bySlug ?? findMarket(catalog, id)
}

function trades(view: MarketView, query: TradesQuery): Answer {
  const fromMs = query.start_time === undefined ? TIME_ZERO : timeMs(seconds(query.start_time))
  // The second of end_time belongs to the range whole.
  const toMs = query.end_time === undefined ? END_OF_TIME_MS : timeMs(seconds(query.end_time) + 999)
  if (query.start_time !== undefined && query.end_time !== undefined && fromMs > toMs) {
    throw new EngineError('BAD_REQUEST', 'start_time is after end_time')
  }
  const after = query.cursor === undefined ? null : parseHistoryCursor(query.cursor)
  if (query.cursor !== undefined && after === null) {
    throw new EngineError('BAD_REQUEST', 'the cursor is none of this list')
  }
  const { order, limit } = query
  // One row more than asked for: it says exactly whether there are more, and where the page cuts.
  const found = view.trades({
    fromMs,
    toMs,
    after,
    order,
    limit: limit + 1,
    side: query.side ?? null,
  }).rows
  const rows = found.slice(0, limit)
  const next = found[limit]
  const last = rows[rows.length - 1]
  const cursor = next === undefined || last === undefined ? null : historyCursor(last, next)
  const texts = marketTexts(view)
  const body = `{"market_id":${texts.id},"trades":[${rows
    .map((row) => tradeText(row, texts))
    .join(',')}],"cursor":${JSON.stringify(cursor)},"has_more":${next !== undefined}}`
  return query.start_time === undefined ? jsonText(body) : withDataStart(view, fromMs, body)
}

/** Says where our data begins when the range begins before it. */
function withDataStart(view: MarketView, fromMs: TimeMs, body: string): Answer {
  const answer = jsonText(body)
  const oldest = view.trades({
    fromMs: TIME_ZERO,
    toMs: END_OF_TIME_MS,
    after: null,
    order: 'asc',
    limit: 1,
    side: null,
  }).rows[0]
  if (oldest === undefined || oldest.timeMs <= fromMs) return answer
  return withHeader(answer, 'X-Data-Start', String(toSeconds(oldest.timeMs)))
}
