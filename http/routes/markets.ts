// Markets as lists and one by one, with their price, book and trades. Not for: events, candles and
// the history of books. Upholds MARKETS1 to MARKETS9, PAGE1 to PAGE5.

import { Type } from '@sinclair/typebox'
import type {
  CatalogView,
  EngineView,
  MarketFilter,
  MarketOrder,
  MarketView,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { MarketStatus } from '../../engine/market.ts'
import { roundUsd, timeMs, toNumber, type UsdMicros, usdMicros } from '../../engine/units.ts'
import { ListCursors } from '../cursor.ts'
import { MarketRecords } from '../market-records.ts'
import { invertedBook, levelsText, outcomePrice, spreadText } from '../render.ts'
import { type Answer, json, jsonText } from '../reply.ts'
import { type Route, route } from '../route.ts'
import { choice, parameters, SEARCH_CHARACTERS_MAX, SECONDS_MAX } from '../schemas.ts'

/** What the routes of markets need. */
export interface MarketRouteParts {
  readonly engine: EngineView
  readonly clock: Clock
}

/** `GET /v1/markets` and below, but for trades (routes/trades.ts). */
export function marketRoutes(parts: MarketRouteParts): readonly Route[] {
  const { catalog } = parts.engine
  const { names } = catalog
  const lists: Lists = { ...parts, cursors: new ListCursors(), records: new MarketRecords() }
  const shared = {
    platform: Type.Optional(choice([names.a, names.b])),
    status: parameters.status(),
    category: parameters.text(),
    tags: parameters.list('tag'),
    min_volume: parameters.volume('min_volume_24h'),
    event_slug: parameters.text(),
    start_ts: parameters.seconds(),
    end_ts: parameters.seconds(),
    order: parameters.order(),
    offset: parameters.offset(),
    cursor: parameters.cursor('pagination_key'),
  }
  const list = Type.Object({
    search: Type.Optional(
      Type.String({ maxLength: SEARCH_CHARACTERS_MAX, aliases: ['keyword', 'q'] }),
    ),
    ...shared,
    sort_by: choice(['volume', 'created_at', 'close_time'] as const, { default: 'volume' }),
    limit: parameters.limit(200, 20),
  })
  const search = Type.Object({
    search: Type.String({
      minLength: 2,
      maxLength: SEARCH_CHARACTERS_MAX,
      aliases: ['q', 'keyword'],
    }),
    ...shared,
    sort_by: choice(['volume', 'created_at', 'close_time', 'relevance'] as const, {
      default: 'volume',
    }),
    limit: parameters.limit(100, 20),
  })
  const page = (query: ListQuery) => listMarkets(lists, query)
  return [
    route({ method: 'GET', pattern: '/v1/markets' }, list, ({ query }) => page(query)),
    route({ method: 'GET', pattern: '/v1/markets/search' }, search, ({ query }) => page(query)),
    route({ method: 'GET', pattern: '/v1/markets/{market_id}' }, Type.Object({}), (request) =>
      jsonText(
        lists.records.text(findMarket(catalog, request.path('market_id')), parts.clock.nowMs()),
      ),
    ),
    route(
      { method: 'GET', pattern: '/v1/markets/{market_id}/price' },
      Type.Object({ at_time: parameters.seconds(), outcome: parameters.text() }),
      ({ path, query }) => marketPrice(parts, path('market_id'), query),
    ),
    route(
      { method: 'GET', pattern: '/v1/markets/{market_id}/orderbook' },
      Type.Object({
        depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        outcome: parameters.text(),
        // Accepted and without effect until cross-venue matches exist: no match, no more levels.
        consolidated: parameters.flag(false),
      }),
      ({ path, query }) => marketBook(parts, path('market_id'), query),
    ),
  ]
}

/** The market of a unified id; throws MARKET_NOT_FOUND. */
export function findMarket(catalog: CatalogView, id: string): MarketView {
  const view = catalog.find(id)
  if (view === null) throw new EngineError('MARKET_NOT_FOUND', 'no such market')
  return view
}

/** Which outcome `outcome=` means: a label, or yes/no for the first two. Throws BAD_REQUEST. */
export function outcomeIndexOf(view: MarketView, wanted: string | undefined): number {
  if (wanted === undefined) return 0
  const lower = wanted.trim().toLowerCase()
  const labels = view.summary.outcomes.map(({ label }) => label)
  const index = labels.findIndex((label) => label.toLowerCase() === lower)
  const found = index >= 0 ? index : ['yes', 'no'].indexOf(lower)
  if (found === 0 || found === 1) return found
  throw new EngineError('BAD_REQUEST', `the outcomes of this market are ${labels.join(' and ')}`)
}

interface ListQuery {
  readonly search?: string
  readonly platform?: string
  readonly status?: MarketStatus
  readonly category?: string
  readonly tags?: readonly string[]
  readonly min_volume?: number
  readonly event_slug?: string
  readonly start_ts?: number
  readonly end_ts?: number
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly cursor?: string
  readonly sort_by: MarketOrder
  readonly limit: number
}

/** What writes and continues lists. */
interface Lists extends MarketRouteParts {
  readonly cursors: ListCursors
  readonly records: MarketRecords
}

function listMarkets({ engine, clock, cursors, records }: Lists, query: ListQuery): Answer {
  const { catalog } = engine
  if (query.start_ts !== undefined && query.end_ts !== undefined && query.start_ts > query.end_ts) {
    throw new EngineError('BAD_REQUEST', 'start_ts is after end_ts')
  }
  if (query.cursor !== undefined && query.offset > 0) {
    throw new EngineError('BAD_REQUEST', 'give cursor or offset, not both')
  }
  const filter = filterOf(catalog, query)
  // The cursor is bound to all of this, so that it cannot continue a different list.
  const binding = JSON.stringify([filter, query.sort_by, query.order])
  let position: { pin: number | null; offset: number } = { pin: null, offset: query.offset }
  if (query.cursor !== undefined) {
    const known = cursors.decode(query.cursor, binding)
    if (known === null) {
      throw new EngineError('BAD_REQUEST', 'the cursor was not issued for this query')
    }
    position = known
  }
  const { sort_by: sortBy, order, limit } = query
  const page = catalog.list({ filter, sortBy, order, limit, ...position })
  if (page === 'expired') {
    throw new EngineError('BAD_REQUEST', 'the cursor has expired; start again without it')
  }
  const nowMs = clock.nowMs()
  const markets = page.markets.map((view) => records.text(view, nowMs)).join(',')
  const cursor = page.next === null ? null : cursors.encode(page.next, binding)
  return jsonText(
    `{"markets":[${markets}],"cursor":${JSON.stringify(cursor)},"has_more":${cursor !== null}}`,
  )
}

function filterOf(catalog: CatalogView, query: ListQuery): MarketFilter {
  const search = query.search?.trim() ?? ''
  return {
    venue: query.platform === undefined ? null : catalog.names.venue(query.platform),
    status: query.status ?? null,
    search: search === '' ? null : search,
    tags: query.tags ?? [],
    category: query.category ?? null,
    eventSlug: query.event_slug ?? null,
    volume24hMin: query.min_volume === undefined ? null : dollars(query.min_volume),
    createdFromMs: query.start_ts === undefined ? null : timeMs(seconds(query.start_ts)),
    createdToMs: query.end_ts === undefined ? null : timeMs(seconds(query.end_ts) + 999),
  }
}

/** Milliseconds of a parameter in seconds; far in the past is as good as the beginning. */
export function seconds(value: number): number {
  return Math.max(value, -SECONDS_MAX) * 1000
}

/** A sum beyond what we can count is one that no market reaches. */
function dollars(value: number): UsdMicros {
  return roundUsd(value) ?? usdMicros(Number.MAX_SAFE_INTEGER)
}

function marketPrice(
  parts: MarketRouteParts,
  id: string,
  query: { at_time?: number; outcome?: string },
): Answer {
  const view = findMarket(parts.engine.catalog, id)
  const outcomeIndex = outcomeIndexOf(view, query.outcome)
  const nowMs = parts.clock.nowMs()
  const record = {
    market_id: view.ref.id,
    outcome: view.summary.outcomes[outcomeIndex]?.label ?? '',
    platform: view.ref.platform,
  }
  // Rounded up, so that the present price was never observed after its own `at_time`.
  const nowSeconds = Math.ceil(nowMs / 1000)
  if (query.at_time === undefined) {
    const { price, observedAtMs, source } = view.price()
    return json({
      ...record,
      price: toNumber(outcomePrice(price, outcomeIndex)),
      at_time: nowSeconds,
      timestamp_ms: Math.min(observedAtMs, nowSeconds * 1000),
      source,
    })
  }
  if (query.at_time > nowSeconds) throw new EngineError('BAD_REQUEST', 'at_time is in the future')
  const past = view.priceAt(timeMs(seconds(query.at_time)))
  if (past === null) throw new EngineError('NOT_FOUND', 'no price is known at that time')
  return json({
    ...record,
    price: toNumber(outcomePrice(past.price, outcomeIndex)),
    at_time: query.at_time,
    timestamp_ms: past.timeMs,
    source: 'history',
  })
}

function marketBook(
  parts: MarketRouteParts,
  id: string,
  query: { depth?: number; outcome?: string },
): Answer {
  const view = findMarket(parts.engine.catalog, id)
  const outcomeIndex = outcomeIndexOf(view, query.outcome)
  const nowMs = parts.clock.nowMs()
  const book = outcomeIndex === 0 ? view.book() : invertedBook(view.book())
  const platform = JSON.stringify(view.ref.platform)
  const label = JSON.stringify(view.summary.outcomes[outcomeIndex]?.label ?? '')
  const age = book.receivedAtMs === null ? null : Math.max(0, nowMs - book.receivedAtMs)
  return jsonText(
    `{"market_id":${JSON.stringify(view.ref.id)},"outcome":${label},"bids":${levelsText(
      book.bids,
      platform,
      query.depth,
    )},"asks":${levelsText(book.asks, platform, query.depth)},${spreadText(
      book.bids[0]?.price ?? null,
      book.asks[0]?.price ?? null,
    )},"timestamp_ms":${book.venueTimeMs ?? nowMs},"seq":${book.seq},"epoch":${JSON.stringify(
      parts.engine.epoch,
    )},"stale":${book.isStale},"age_ms":${age}}`,
  )
}
