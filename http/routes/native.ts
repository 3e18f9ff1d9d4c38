import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { EngineView, MarketFilter, MarketView } from '../../actors/views.ts'
import {
  ANY_MARKET,
  answerMarketList,
  createdRange,
  type PageQuery,
  pageRefusals,
  volumeMin,
} from '../pages/lists.ts'
import { coverBooks } from '../records/books.ts'
import { VenueAMarketSchema, venueAMarket } from '../records/native-venue-a.ts'
import { VenueBMarketSchema, venueBMarket } from '../records/native-venue-b.ts'
import { ListCursors } from '../request/cursor.ts'
import { findMarket, listOf } from '../request/find-market.ts'
import { namedJson } from '../request/reply.ts'
import {
  demandOwner,
  type Route,
  type RouteGroup,
  type RouteParts,
  route,
} from '../request/route.ts'
import { choice, pageFields, parameters } from '../schemas.ts'
import { venueAliases } from '../validation/query.ts'

interface NativeRouteParts extends RouteParts {
  readonly engine: Pick<EngineView, 'coverage'>
}

/** Paths contain the configured venue names: by default `/v1/venue_a/markets` and `/v1/venue_b/markets`. */
export function nativeRoutes(parts: NativeRouteParts): readonly Route[] {
  return [...venueARoutes(parts), ...venueBRoutes(parts)]
}

const paging = {
  limit: parameters.limit(100, 20),
  offset: parameters.offset(),
  cursor: parameters.cursor(),
}

function venueARoutes(parts: NativeRouteParts): readonly Route[] {
  const { catalog } = parts
  const name = catalog.names.platform('a')
  return venueRoutes(parts, {
    name,
    group: 'Venue A Native',
    idName: 'condition_id',
    query: Type.Object({
      market_slug: parameters.list(...venueAliases(catalog.names, 'slug')),
      event_slug: parameters.list(),
      condition_id: parameters.list(),
      token_id: tokenIds(),
      tags: parameters.list(),
      search: parameters.search(),
      status: Type.Optional(choice(['open', 'closed'] as const)),
      min_volume: totalVolume(),
      start_time: parameters.seconds(),
      end_time: parameters.seconds(),
      ...paging,
    }),
    toListQuery: (query) => ({
      ...query,
      filter: {
        ...ANY_MARKET,
        venue: 'a',
        phase: query.status === 'closed' ? 'ended' : (query.status ?? 'any'),
        tags: query.tags ?? [],
        volumeTotalMin: volumeMin(query.min_volume),
        ...createdRange({
          start: query.start_time,
          end: query.end_time,
          names: ['start_time', 'end_time'],
        }),
        among: among([
          [query.market_slug, (slug) => catalog.allBySlug('a', slug)],
          [query.event_slug, (slug) => catalog.marketsOfEvent('a', slug)],
          [query.condition_id, (id) => listOf(catalog.find(`${name}_${id}`))],
          [query.token_id, (id) => listOf(catalog.findByOutcome('a', id))],
        ]),
      },
    }),
    row: VenueAMarketSchema,
    record: venueAMarket,
  })
}

function venueBRoutes(parts: NativeRouteParts): readonly Route[] {
  const { catalog } = parts
  const name = catalog.names.platform('b')
  return venueRoutes(parts, {
    name,
    group: 'Venue B Native',
    idName: 'ticker',
    query: Type.Object({
      ticker: parameters.list(),
      event_ticker: parameters.list(...venueAliases(catalog.names, 'ticker')),
      series_ticker: parameters.list(),
      search: parameters.search(),
      status: Type.Optional(choice(['unopened', 'open', 'closed', 'settled'] as const)),
      min_volume: totalVolume(),
      ...paging,
    }),
    toListQuery: (query) => ({
      ...query,
      filter: {
        ...ANY_MARKET,
        venue: 'b',
        phase: query.status ?? 'any',
        volumeTotalMin: volumeMin(query.min_volume),
        among: among([
          [query.ticker, (ticker) => listOf(catalog.find(`${name}_${ticker}`))],
          [query.event_ticker, (ticker) => catalog.marketsOfEvent('b', ticker)],
          [query.series_ticker, (series) => catalog.marketsOfSeries('b', series)],
        ]),
      },
    }),
    row: VenueBMarketSchema,
    record: (view) => venueBMarket(view, catalog),
  })
}

interface ListQuery extends PageQuery {
  readonly filter: MarketFilter
  readonly search?: string
}

/** `idName`: the venue's name for a market's id. */
function venueRoutes<Query extends TProperties>(
  parts: NativeRouteParts,
  venue: {
    readonly name: string
    readonly group: RouteGroup
    readonly idName: string
    readonly query: TObject<Query>
    readonly toListQuery: (query: Static<TObject<Query>>) => ListQuery
    readonly row: TSchema
    readonly record: (view: MarketView) => unknown
  },
): readonly Route[] {
  const { name, group, idName, row, record } = venue
  const cursors = new ListCursors()
  return [
    route(
      `GET /v1/${name}/markets`,
      {
        group,
        summary: `Markets of ${name} in its own words`,
        answer: listSchema(row),
        isNamed: true,
        refusals: pageRefusals,
        query: venue.query,
      },
      ({ requester }, given) => {
        const { filter, ...query } = venue.toListQuery(given)
        return answerMarketList(
          { catalog: parts.catalog, clock: parts.clock, cursors },
          { query, filter, sortBy: 'volume', order: 'desc', requester },
          { name: 'data', write: (view) => JSON.stringify(record(view)) },
        )
      },
    ),
    route(
      `GET /v1/${name}/markets/{${idName}}`,
      {
        group,
        summary: `One market of ${name} in its own words`,
        answer: row,
        isNamed: true,
        refusals: { 404: 'no such market' },
      },
      (facts) => {
        const view = findMarket(parts.catalog, `${name}_${facts.path(idName)}`)
        const answer = () => namedJson(JSON.stringify(record(view)))
        return coverBooks(parts.engine, [view], demandOwner(facts))?.then(answer) ?? answer()
      },
    ),
  ]
}

const totalVolume = () =>
  Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'Least volume since the market opened, in the unit of the venue.',
    }),
  )

/** A 256-bit number has at most 78 digits. */
const tokenIds = () =>
  Type.Optional(
    Type.Array(Type.String({ pattern: '^[0-9]{1,78}$' }), {
      maxItems: 100,
    }),
  )

function listSchema(row: TSchema) {
  return Type.Object({
    data: Type.Array(row),
    total: Type.Integer({ minimum: 0 }),
    ...pageFields,
  })
}

type Lookup = readonly [
  given: readonly string[] | undefined,
  find: (text: string) => readonly MarketView[],
]

/**
 * The markets that match every lookup, or null without lookups. Case-insensitive. Looks up duplicates once, because a
 * series may have tens of thousands of markets.
 */
function among(lookups: readonly Lookup[]): MarketFilter['among'] {
  let left: ReadonlySet<number> | null = null
  for (const [given, find] of lookups) {
    if (given === undefined || given.length === 0) continue
    const found = new Set<number>()
    for (const text of new Set(given.map((one) => one.toLowerCase()))) {
      for (const { ref } of find(text)) {
        if (left === null || left.has(ref.number)) found.add(ref.number)
      }
    }
    left = found
  }
  if (left === null) return null
  return { key: JSON.stringify(lookups.map(([given]) => given ?? [])), markets: [...left] }
}
