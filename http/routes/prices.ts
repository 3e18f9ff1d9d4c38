// Prices: of one market now or at a past second, and of many markets now.

import { Type } from '@sinclair/typebox'
import type { EngineView, MarketView, PricePoint } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { timeMs } from '../../engine/units.ts'
import { bulkAnswer, MissingSchema, marketIds } from '../pages/lists.ts'
import { seconds } from '../pages/time-range.ts'
import { currentPrice, priceRecord } from '../records/render.ts'
import { findMarket, outcomeIndexOf } from '../request/find-market.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { PriceSchema, parameters } from '../schemas.ts'

export const PricesSchema = Type.Object({
  prices: Type.Array(PriceSchema),
  missing: MissingSchema,
})

interface PriceRouteParts {
  readonly engine: EngineView
  readonly clock: Clock
}

export function priceRoutes(parts: PriceRouteParts): readonly Route[] {
  const { engine, clock } = parts
  const { catalog } = engine
  return [
    route(
      'GET /v1/markets/{market_id}/price',
      {
        group: 'Market Data',
        summary: 'The price now, or at a past second',
        answer: PriceSchema,
        refusals: {
          400: '`at_time` in the future, or an outcome that the market does not have',
          404: 'no such market, or no price is known at that time',
          429: 'too many prices that are not stored yet were requested within a minute',
          503: 'the venue was asked for its history and did not answer',
        },
        query: Type.Object({ at_time: parameters.seconds(), outcome: parameters.text() }),
      },
      ({ path, requester }, query) =>
        price(parts, findMarket(catalog, path('market_id')), { ...query, requester }),
    ),
    route(
      'GET /v1/prices',
      {
        group: 'Market Data',
        summary: 'The prices of several markets now',
        answer: PricesSchema,
        query: Type.Object({ market_ids: marketIds() }),
      },
      (_, query) => {
        const nowMs = clock.nowMs()
        const text = (view: MarketView) => currentPrice(view, nowMs)
        return bulkAnswer({ catalog, clock }, 'prices', query.market_ids, text)
      },
    ),
  ]
}

function price(
  { engine, clock }: PriceRouteParts,
  view: MarketView,
  query: {
    readonly at_time?: number
    readonly outcome?: string
    readonly requester: () => Requester
  },
): Answer | Promise<Answer> {
  const outcomeIndex = outcomeIndexOf(view, query.outcome)
  const nowMs = clock.nowMs()
  const { at_time: atSeconds } = query
  if (atSeconds === undefined) return jsonText(currentPrice(view, nowMs, outcomeIndex))
  // Clients may send back the `at_time` of a current answer, which is rounded up: it must not count as a future time.
  if (atSeconds > Math.ceil(nowMs / 1000)) {
    throw new EngineError('BAD_REQUEST', 'at_time is in the future')
  }
  const answer = (point: PricePoint | null): Answer => {
    if (point === null) throw new EngineError('NOT_FOUND', 'no price is known at that time')
    return jsonText(priceRecord(view, outcomeIndex, { ...point, atSeconds, source: 'history' }))
  }
  const point = engine.pastPrices.at(view, timeMs(seconds(atSeconds)), query.requester())
  return point instanceof Promise ? point.then(answer) : answer(point)
}
