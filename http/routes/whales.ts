// Large trades (whales) of 1,000 dollars or more on both venues, newest first by default.

import { type Static, Type } from '@sinclair/typebox'
import type { EngineView, MarketView, WhaleRowView } from '../../actors/views.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { MarketId, VenueKey } from '../../engine/ids.ts'
import { whaleMessageUsdMin, whaleRowUsdMin } from '../../engine/limits.ts'
import { takerSide } from '../../engine/market/taker.ts'
import { MICROS } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { answerTimePage, DATA_START, timeParameters } from '../pages/time-range.ts'
import { whaleText } from '../records/render.ts'
import { findMarket } from '../request/find-market.ts'
import { type Answer, withHeader } from '../request/reply.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { choice, pageFields, parameters } from '../schemas.ts'
import { WhaleSchema } from '../ws/channels/whales.ts'

/** Maximum rows read per event-loop tick: about 2 ms. */
const ROWS_PER_TICK = 128

const WhalesSchema = Type.Object({
  trades: Type.Array(WhaleSchema),
  ...pageFields,
  min_usd: Type.Number(),
})

const filters = {
  wallet: parameters.address(),
  side: parameters.side(),
  taker_side: parameters.side(),
  min_usd: Type.Number({
    minimum: whaleRowUsdMin / MICROS,
    default: whaleMessageUsdMin / MICROS,
  }),
  start_time: timeParameters.start_time,
  end_time: timeParameters.end_time,
  order: timeParameters.order,
  limit: parameters.limit(200, 50),
  cursor: timeParameters.cursor,
}
const OfMarketQuery = Type.Object(filters)

const refusals = {
  400: 'start after end, or a foreign cursor',
  503: 'too few whales pass the filters to find a page in time',
}

/** Sent while the trade stream of a venue that reports wallets is down. */
const DATA_COMPLETE = {
  'X-Data-Complete':
    '`false`: the answer lacks something, and `X-Data-Incomplete` says what; else absent',
  'X-Data-Incomplete':
    "`wallets_unknown`: the stream that carries wallets has ended for the named venues: their newer whales have no `wallet`, and a filter by `wallet` lacks them, until the venue's history has named it",
}

interface WhaleParts extends RouteParts {
  readonly engine: Pick<EngineView, 'whaleLog' | 'venues'>
}

export function whaleRoutes(parts: WhaleParts): readonly Route[] {
  const { catalog } = parts
  const { names } = catalog
  const Query = Type.Object({
    platform: Type.Optional(choice(names.platforms)),
    market_id: parameters.id(),
    category: parameters.text(),
    ...filters,
  })
  const document = {
    group: 'Whales' as const,
    summary: 'Large trades across markets',
    answer: WhalesSchema,
    refusals,
    headers: { ...DATA_START, ...DATA_COMPLETE },
  }
  const ofAll = (pattern: string, summary: string): Route =>
    route(
      `GET ${pattern}`,
      { ...document, summary, query: Query },
      ({ signal, requester }, query) => {
        const { platform, category, market_id: id } = query
        const view = id === undefined ? null : catalog.find(id)
        const venue = platform === undefined ? null : names.venue(platform)
        const wanted = category?.toLowerCase()
        // The id finds a market that was evicted from the catalogue.
        const market = view?.ref.id.toLowerCase() ?? id?.toLowerCase()
        return whales(parts, {
          ...{ query, signal, requester, view },
          venue: view?.ref.venue ?? venue,
          isOther:
            venue === null && wanted === undefined && (market === undefined || view !== null)
              ? null
              : (row) =>
                  (venue !== null && row.venue !== venue) ||
                  (wanted !== undefined && row.whale.category?.toLowerCase() !== wanted) ||
                  (market !== undefined && idOf(row, names).toLowerCase() !== market),
        })
      },
    )
  return [
    ofAll('/v1/whales', 'Large trades across markets'),
    ofAll('/v1/whales/trades', 'The same as /v1/whales'),
    route(
      'GET /v1/markets/{market_id}/whales',
      {
        ...document,
        summary: 'Large trades of a market',
        refusals: { ...refusals, 404: 'no such market' },
        query: OfMarketQuery,
      },
      ({ path, signal, requester }, query) => {
        const view = findMarket(catalog, path('market_id'))
        return whales(parts, {
          ...{ query, signal, requester, view, venue: view.ref.venue },
          isOther: null,
        })
      },
    ),
  ]
}

interface WhalesRequest {
  readonly query: Static<typeof OfMarketQuery>
  readonly signal: () => AbortSignal
  readonly requester: () => Requester
  /** Null: any market. */
  readonly view: MarketView | null
  /** Null: any venue. */
  readonly venue: VenueKey | null
  /** Returns true for rows to exclude. Null: no filter. */
  readonly isOther: ((row: WhaleRowView) => boolean) | null
}

async function whales(
  { catalog, clock, engine }: WhaleParts,
  { query, signal, requester, view, venue, isOther }: WhalesRequest,
): Promise<Answer> {
  const { side, taker_side: byTaker, min_usd } = query
  const { whaleLog } = engine
  const wallet = query.wallet?.toLowerCase()
  // A plain number, since the value may exceed the range of the money type.
  const usdMin = Math.round(min_usd * MICROS)
  const isFiltered =
    isOther !== null ||
    side !== undefined ||
    byTaker !== undefined ||
    wallet !== undefined ||
    usdMin > whaleRowUsdMin
  const accepts = (row: WhaleRowView): boolean =>
    row.whale.usd >= usdMin &&
    (side === undefined || row.whale.side === side) &&
    (byTaker === undefined || takerSide(row.whale) === byTaker) &&
    (wallet === undefined || row.whale.wallet?.toLowerCase() === wallet) &&
    isOther?.(row) !== true
  const { names } = catalog
  const dated = await answerTimePage<WhaleRowView>({
    ...{ query, clock, listName: 'trades', tail: `,"min_usd":${min_usd}` },
    read: (slice) =>
      view === null
        ? whaleLog.history(slice)
        : whaleLog.historyOfMarket({ ...slice, market: view.ref.number }),
    positionOf: ({ whale }) => whale,
    accepts: isFiltered ? accepts : null,
    rowsPerTick: ROWS_PER_TICK,
    signal: signal(),
    requester: requester(),
    write: (row) =>
      whaleText(row.whale, {
        id: JSON.stringify(idOf(row, names)),
        platform: JSON.stringify(names.platform(row.venue)),
        labels: [],
      }),
    startMs: () => whaleLog.oldestMs() ?? catalog.recordsSinceMs,
  })
  const nameless = engine
    .venues()
    .filter(({ tradesSource }) => tradesSource === 'last_trade_price')
    .filter((one) => venue === null || one.venue === venue)
    .map(({ platform }) => platform)
  if (nameless.length === 0) return dated
  const why = `wallets_unknown: the stream that names wallets has ended (${nameless.join(', ')})`
  return withHeader(withHeader(dated, 'X-Data-Complete', 'false'), 'X-Data-Incomplete', why)
}

function idOf({ venue, nativeMarket }: WhaleRowView, names: VenueTable): MarketId {
  return names.marketId(venue, nativeMarket)
}
