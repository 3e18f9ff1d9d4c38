import { Type } from '@sinclair/typebox'
import type { EngineView, MarketView, PricePoint } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { timeMs } from '../../engine/units.ts'
import { bulkAnswer, MissingSchema, marketIds } from '../pages/lists.ts'
import { seconds } from '../pages/time-range.ts'
import { coverBooks } from '../records/books.ts'
import { currentPrice, priceRecord } from '../records/render.ts'
import { findMarket, outcomeIndexOf } from '../request/find-market.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import { demandOwner, type Route, route } from '../request/route.ts'
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
      (facts, query) => {
        const view = findMarket(catalog, facts.path('market_id'))
        if (query.at_time !== undefined) {
          return pastPrice(parts, view, { ...query, at_time: query.at_time }, facts.requester)
        }
        const outcomeIndex = outcomeIndexOf(view, query.outcome)
        const answer = () => jsonText(currentPrice(view, clock.nowMs(), outcomeIndex))
        return coverBooks(engine, [view], demandOwner(facts))?.then(answer) ?? answer()
      },
    ),
    route(
      'GET /v1/prices',
      {
        group: 'Market Data',
        summary: 'The prices of several markets now',
        answer: PricesSchema,
        query: Type.Object({ market_ids: marketIds() }),
      },
      (facts, query) =>
        bulkAnswer({ catalog, clock }, 'prices', query.market_ids, {
          text: (view) => currentPrice(view, clock.nowMs()),
          ready: (views) => coverBooks(engine, views, demandOwner(facts)),
        }),
    ),
  ]
}

function pastPrice(
  { engine, clock }: PriceRouteParts,
  view: MarketView,
  { at_time: atSeconds, outcome }: { readonly at_time: number; readonly outcome?: string },
  requester: () => Requester,
): Answer | Promise<Answer> {
  const outcomeIndex = outcomeIndexOf(view, outcome)
  // Clients may send back the `at_time` of a current answer. It is rounded up and must not count as a future time.
  if (atSeconds > Math.ceil(clock.nowMs() / 1000)) {
    throw new EngineError('BAD_REQUEST', 'at_time is in the future')
  }
  const answer = (point: PricePoint | null): Answer => {
    if (point === null) throw new EngineError('NOT_FOUND', 'no price is known at that time')
    return jsonText(priceRecord(view, outcomeIndex, { ...point, atSeconds, source: 'history' }))
  }
  const point = engine.pastPrices.at(view, timeMs(seconds(atSeconds)), requester())
  return point instanceof Promise ? point.then(answer) : answer(point)
}
