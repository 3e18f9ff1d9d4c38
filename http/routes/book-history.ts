// Order book snapshots of one market, in stable pages; newest first by default.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../actors/views.ts'
import { readTimePage, type TimePage } from '../pages/scan.ts'
import {
  cursorText,
  DATA_START,
  type TimeRangeQuery,
  timeParameters,
  timeRangeOf,
  withDataStart,
} from '../pages/time-range.ts'
import { marketTexts, snapshotText } from '../records/render.ts'
import { findMarket } from '../request/find-market.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { writeInSlices } from '../request/sliced-rows.ts'
import { BookHistorySchema, parameters } from '../schemas.ts'

/** A row holds up to 40 levels: reading this many takes about 1 ms. */
const ROWS_PER_TICK = 48

type Snapshot = ReturnType<MarketView['snapshots']>[number]

const Query = Type.Object({
  start_time: timeParameters.start_time,
  end_time: timeParameters.end_time,
  limit: parameters.limit(500, 100),
  cursor: timeParameters.cursor,
  order: timeParameters.order,
  depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
})

interface BookHistoryQuery extends TimeRangeQuery {
  readonly limit: number
  readonly depth?: number
}

/** `GET /v1/markets/{market_id}/orderbook/history`. */
export function bookHistoryRoutes(parts: RouteParts): readonly Route[] {
  const { catalog } = parts
  return [
    route(
      {
        method: 'GET',
        pattern: '/v1/markets/{market_id}/orderbook/history',
        document: {
          group: 'Market Data',
          summary: 'Past order books of a market',
          description:
            'While a book changes it is kept at most every ten seconds, 20 levels a side; `depth` cuts them further. `bid_depth` and `ask_depth` are the contracts of the whole side at that time. Between two snapshots the book may have looked otherwise; after the last one before a pause it did not change. Kept for two days.',
          answer: BookHistorySchema,
          refusals: { 400: 'start after end, or a foreign cursor', 404: 'no such market' },
          headers: DATA_START,
        },
      },
      Query,
      ({ path, query }) => history(parts, findMarket(catalog, path('market_id')), query),
    ),
  ]
}

async function history(
  { catalog, clock }: RouteParts,
  view: MarketView,
  query: BookHistoryQuery,
): Promise<Answer> {
  const page: TimePage<Snapshot> = await readTimePage<Snapshot>({
    // There is one snapshot per millisecond, so all ordinals are 0.
    range: timeRangeOf(query, 0),
    limit: query.limit,
    read: (slice) => view.snapshots(slice),
    positionOf: ({ timeMs }) => ({ timeMs, ordinal: 0 }),
    accepts: null,
    rowsPerTick: ROWS_PER_TICK,
    clock,
  })
  const texts = marketTexts(view)
  const write = (row: Snapshot) => snapshotText(row, texts, query.depth)
  const rows = await writeInSlices(clock, page.rows, { fewRows: ROWS_PER_TICK, write })
  const body = `{"market_id":${texts.id},"snapshots":[${rows.join(',')}],${cursorText(page.cursor)}}`
  const startMs = () => view.oldestSnapshotMs() ?? catalog.recordsSinceMs
  return withDataStart(jsonText(body), query.start_time, startMs)
}
