// Trades of one venue in its own format: of a market, of an event or of the whole venue.

import { type TSchema, Type } from '@sinclair/typebox'
import type { CatalogView, MarketView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { VenueKey } from '../../engine/ids.ts'
import { takerSide } from '../../engine/market/taker.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import { volumeMin } from '../pages/lists.ts'
import {
  type MarketTrade,
  MERGED_ORDINAL_MAX,
  MergedTrades,
  mergedPosition,
} from '../pages/merged-trades.ts'
import type { RowPosition, ScanSpec } from '../pages/scan.ts'
import {
  answerTimePage,
  DATA_START,
  type TimeRangeQuery,
  timeParameters,
} from '../pages/time-range.ts'
import { VenueATradeSchema, venueATrade } from '../records/native-venue-a.ts'
import { VenueBTradeSchema, venueBTrade } from '../records/native-venue-b.ts'
import { listOf } from '../request/find-market.ts'
import type { Answer } from '../request/reply.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { forEachInSlices, nextMeasuredTick } from '../request/time-slices.ts'
import { choice, pageFields, parameters } from '../schemas.ts'
import { venueAliases } from '../validation/query.ts'

const ROWS_PER_TICK = 256
const refusals = {
  400: 'start after end, a foreign cursor, or filters that exclude each other',
  503: 'too few trades pass the filters to find a page in time',
}

/** Paths contain the configured venue names: by default `/v1/venue_a/trades` and `/v1/venue_b/trades`. */
export function nativeTradeRoutes(parts: RouteParts): readonly Route[] {
  return [venueATrades(parts), venueBTrades(parts)]
}

function venueATrades(parts: RouteParts): Route {
  const { catalog } = parts
  const name = catalog.names.platform('a')
  return route(
    `GET /v1/${name}/trades`,
    {
      group: 'Venue A Native',
      summary: `Trades of ${name}, in the token traded`,
      answer: listSchema(VenueATradeSchema),
      refusals,
      headers: DATA_START,
      query: Type.Object({
        market_slug: parameters.id(...venueAliases(catalog.names, 'slug')),
        condition_id: parameters.id(),
        token_id: Type.Optional(Type.String({ pattern: '^[0-9]{1,78}$', isSingle: true })),
        wallet: parameters.address(),
        side: Type.Optional(
          choice(['buy', 'sell'] as const, {
            aliases: ['taker_side'],
            description: 'Only trades in which the taker did this with the token traded.',
          }),
        ),
        min_usd: parameters.volume(),
        start_time: timeParameters.start_time,
        end_time: timeParameters.end_time,
        order: timeParameters.order,
        limit: parameters.limit(500, 100),
        cursor: timeParameters.cursor,
      }),
    },
    ({ signal, requester }, query) => {
      const { market_slug: slug, condition_id: condition, token_id: token } = query
      const given = [slug, condition, token].filter((one) => one !== undefined)
      if (given.length > 1) {
        const detail = 'give at most one of market_slug, condition_id and token_id'
        throw new EngineError('BAD_REQUEST', detail)
      }
      const markets =
        slug !== undefined
          ? catalog.allBySlug('a', slug)
          : condition !== undefined
            ? listOf(catalog.find(`${name}_${condition}`))
            : token !== undefined
              ? listOf(catalog.findByOutcome('a', token))
              : null
      const wallet = query.wallet?.toLowerCase()
      const usdMin = volumeMin(query.min_usd)
      const { side } = query
      const accepts = ({ view, trade }: MarketTrade): boolean =>
        (token === undefined || view.summary.outcomes[trade.outcomeIndex]?.id === token) &&
        (usdMin === null || trade.usd >= usdMin) &&
        (side === undefined || takerSide(trade) === side) &&
        (wallet === undefined || isOf(wallet, trade.maker) || isOf(wallet, trade.taker))
      const isFiltered = [token, usdMin ?? undefined, side, wallet].some((one) => one !== undefined)
      return trades(parts, 'a', {
        query,
        signal,
        requester,
        markets,
        accepts: isFiltered ? accepts : null,
        record: ({ view, trade }) => venueATrade(view, trade),
      })
    },
  )
}

function venueBTrades(parts: RouteParts): Route {
  const { catalog } = parts
  const name = catalog.names.platform('b')
  return route(
    `GET /v1/${name}/trades`,
    {
      group: 'Venue B Native',
      summary: `Trades of ${name} in its own words`,
      answer: listSchema(VenueBTradeSchema),
      refusals,
      headers: DATA_START,
      query: Type.Object({
        ticker: parameters.id(),
        event_ticker: parameters.id(...venueAliases(catalog.names, 'ticker')),
        taker_side: Type.Optional(
          choice(['yes', 'no'] as const, {
            description: 'Only trades in which the taker bought this side.',
          }),
        ),
        start_time: timeParameters.start_time,
        end_time: timeParameters.end_time,
        min_count: parameters.volume(),
        order: timeParameters.order,
        limit: parameters.limit(500, 100),
        cursor: timeParameters.cursor,
      }),
    },
    ({ signal, requester }, query) => {
      const { ticker, event_ticker: event, taker_side: side, min_count: count } = query
      let markets = event === undefined ? null : catalog.marketsOfEvent('b', event)
      if (ticker !== undefined) {
        const view = catalog.find(`${name}_${ticker}`)
        const isOther = view !== null && markets !== null && !markets.includes(view)
        markets = isOther ? [] : listOf(view)
      }
      // Round to whole micros: 4.03 contracts as a double become slightly more than 4.03 million micros.
      const sizeMin = count === undefined ? null : Math.round(count * 1_000_000)
      const accepts = ({ trade }: MarketTrade): boolean =>
        (side === undefined || (trade.side === 'buy') === (side === 'yes')) &&
        (sizeMin === null || trade.size >= sizeMin)
      return trades(parts, 'b', {
        query,
        signal,
        requester,
        markets,
        accepts: side === undefined && count === undefined ? null : accepts,
        record: ({ view, trade }) => venueBTrade(view, trade),
      })
    },
  )
}

interface PositionedTrade extends MarketTrade {
  readonly position: RowPosition
}

interface TradesRequest {
  readonly signal: () => AbortSignal
  readonly requester: () => Requester
  readonly query: TimeRangeQuery & { readonly limit: number }
  /** Null: all markets of the venue. */
  readonly markets: readonly MarketView[] | null
  readonly accepts: ((row: MarketTrade) => boolean) | null
  readonly record: (row: MarketTrade) => unknown
}

function trades(
  { catalog, clock }: RouteParts,
  venue: VenueKey,
  { query, signal, requester, markets, accepts, record }: TradesRequest,
): Promise<Answer> {
  const shared = { query, clock, listName: 'trades', accepts, rowsPerTick: ROWS_PER_TICK }
  return answerTimePage<PositionedTrade>({
    ...shared,
    ...(markets === null ? {} : { ordinalMax: MERGED_ORDINAL_MAX }),
    read: markets === null ? ofVenue(catalog, venue) : ofMarkets(markets, clock),
    positionOf: (row) => row.position,
    signal: signal(),
    requester: requester(),
    write: (row) => JSON.stringify(record(row)),
    startMs: async () => {
      const oldestMs =
        markets === null ? catalog.oldestVenueTradeMs(venue) : await oldestOf(markets, clock)
      return oldestMs ?? catalog.recordsSinceMs
    },
  })
}

/** The first slice opens the markets, since it has the complete range of the request. */
function ofMarkets(
  markets: readonly MarketView[],
  clock: Clock,
): ScanSpec<PositionedTrade>['read'] {
  let merged: MergedTrades | null = null
  return (range, untilMs) => {
    merged ??= new MergedTrades(markets, range, clock)
    const { rows, isEnd } = merged.next(range.limit, untilMs)
    const positioned = rows.map((row) => ({ ...row, position: mergedPosition(row) }))
    return { rows: positioned, isEnd }
  }
}

/** Skips trades whose market was evicted from the catalogue, and reads more trades to fill the slice. */
function ofVenue(catalog: CatalogView, venue: VenueKey): ScanSpec<PositionedTrade>['read'] {
  return (slice) => {
    const rows: PositionedTrade[] = []
    let { after } = slice
    for (;;) {
      const limit = slice.limit - rows.length
      const found = catalog.venueTrades(venue, { ...slice, after, limit })
      for (const { market, venueOrdinal: ordinal, trade } of found) {
        const view = catalog.byNumber(market)
        after = { timeMs: trade.timeMs, ordinal }
        if (view !== null) rows.push({ view, trade, position: { timeMs: trade.timeMs, ordinal } })
      }
      if (found.length < limit || rows.length === slice.limit) return rows
    }
  }
}

function isOf(wallet: string, party: string | null): boolean {
  return party !== null && party.toLowerCase() === wallet
}

/** Reads the disk once per market and therefore runs in time slices. */
async function oldestOf(markets: readonly MarketView[], clock: Clock): Promise<TimeMs | null> {
  let oldestMs = Number.POSITIVE_INFINITY
  // The time of the current tick is already used up.
  await nextMeasuredTick(clock)
  await forEachInSlices(clock, markets, (view) => {
    oldestMs = Math.min(oldestMs, view.oldestTradeMs() ?? oldestMs)
  })
  return Number.isFinite(oldestMs) ? timeMs(oldestMs) : null
}

function listSchema(row: TSchema) {
  return Type.Object({
    trades: Type.Array(row),
    ...pageFields,
  })
}
