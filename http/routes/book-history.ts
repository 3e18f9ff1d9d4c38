import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../actors/views.ts'
import { answerTimePage, DATA_START, timeParameters } from '../pages/time-range.ts'
import { marketTexts, snapshotText } from '../records/render.ts'
import { findMarket } from '../request/find-market.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { BookHistorySchema, parameters } from '../schemas.ts'

/** Rows read per event-loop tick: about 1 ms. */
const ROWS_PER_TICK = 48

export function bookHistoryRoutes({ catalog, clock }: RouteParts): readonly Route[] {
  return [
    route(
      'GET /v1/markets/{market_id}/orderbook/history',
      {
        group: 'Market Data',
        summary: 'Past order books of a market',
        description:
          'While a book changes it is kept at most every ten seconds, 20 levels a side; `depth` cuts them further. `bid_depth` and `ask_depth` are the contracts of the whole side at that time. Between two snapshots the book may have looked otherwise; after the last one before a pause it did not change. Kept for two days.',
        answer: BookHistorySchema,
        refusals: { 400: 'start after end, or a foreign cursor', 404: 'no such market' },
        headers: DATA_START,
        query: Type.Object({
          start_time: timeParameters.start_time,
          end_time: timeParameters.end_time,
          limit: parameters.limit(500, 100),
          cursor: timeParameters.cursor,
          order: timeParameters.order,
          depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        }),
      },
      ({ path }, query) => {
        const view = findMarket(catalog, path('market_id'))
        const texts = marketTexts(view)
        return answerTimePage<ReturnType<MarketView['snapshots']>[number]>({
          ...{ query, clock, head: `"market_id":${texts.id},`, listName: 'snapshots' },
          // All ordinals are 0, since there is one snapshot per millisecond.
          ordinalMax: 0,
          read: (slice) => view.snapshots(slice),
          positionOf: ({ timeMs }) => ({ timeMs, ordinal: 0 }),
          accepts: null,
          rowsPerTick: ROWS_PER_TICK,
          write: (row) => snapshotText(row, texts, query.depth),
          startMs: () => view.oldestSnapshotMs() ?? catalog.recordsSinceMs,
        })
      },
    ),
  ]
}
