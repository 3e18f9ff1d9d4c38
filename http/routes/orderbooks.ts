// Live order books: of one market, alone or together with its twin on the other venue, and of many.

import { Type } from '@sinclair/typebox'
import type { EngineView, MarketView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { bulkAnswer, MissingSchema, marketIds } from '../pages/bulk.ts'
import { confirmBooks, cutBook, PLAIN_BOOK, pastedBook } from '../records/books.ts'
import type { HotAnswers } from '../records/hot-answers.ts'
import { findMarket, outcomeIndexOf } from '../request/find-market.ts'
import { jsonText } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { OrderbookSchema, parameters } from '../schemas.ts'

export const OrderbooksSchema = Type.Object({
  orderbooks: Type.Array(OrderbookSchema),
  missing: MissingSchema,
})

interface OrderbookRouteParts {
  readonly engine: EngineView
  readonly clock: Clock
  readonly hot: HotAnswers
}

const depth = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 }))

/** `GET /v1/markets/{market_id}/orderbook` and `GET /v1/orderbooks`. */
export function orderbookRoutes(parts: OrderbookRouteParts): readonly Route[] {
  const { engine, clock, hot } = parts
  const { catalog } = engine
  const epoch = JSON.stringify(engine.epoch)
  return [
    route(
      {
        method: 'GET',
        pattern: '/v1/markets/{market_id}/orderbook',
        document: {
          group: 'Market Data',
          summary: 'The live order book',
          description:
            '`consolidated=true` adds the levels of the high-confidence match on the other venue, aligned to the same outcome: `timestamp_ms` is then the newer of the two, `age_ms` that of the older, `seq` null; a book that was neither changed nor confirmed for a minute (`BOOK_AGE_S`) is read over the venue’s REST first, and `stale` where that fails. A spread below zero is one across venues.',
          answer: OrderbookSchema,
          refusals: { 400: 'an outcome that the market does not have', 404: 'no such market' },
        },
      },
      Type.Object({ depth, outcome: parameters.text(), consolidated: parameters.flag(false) }),
      ({ path, query }) => {
        const view = findMarket(catalog, path('market_id'))
        const outcomeIndex = outcomeIndexOf(view, query.outcome)
        const twin = query.consolidated ? engine.matches.twinOf(view.ref) : null
        const nowMs = clock.nowMs()
        if (outcomeIndex === 0 && query.depth === undefined && twin === null) {
          return jsonText(hot.book(view, nowMs))
        }
        const answer = () => {
          const atMs = clock.nowMs()
          const confirmedFromMs = atMs - engine.bookAgeMsMax
          const asked = { outcomeIndex, depth: query.depth, twin, confirmedFromMs }
          return jsonText(pastedBook(cutBook(view, epoch, asked), atMs))
        }
        const confirming = twin === null ? null : confirmBooks(engine, [view, twin], nowMs)
        return confirming === null ? answer() : confirming.then(answer)
      },
    ),
    route(
      {
        method: 'GET',
        pattern: '/v1/orderbooks',
        document: {
          group: 'Market Data',
          summary: 'The live order books of several markets',
          answer: OrderbooksSchema,
        },
      },
      Type.Object({ market_ids: marketIds(), depth }),
      ({ query }) => {
        const nowMs = clock.nowMs()
        const asked = { ...PLAIN_BOOK, depth: query.depth }
        const text = (view: MarketView) =>
          query.depth === undefined
            ? hot.book(view, nowMs)
            : pastedBook(cutBook(view, epoch, asked), nowMs)
        return bulkAnswer({ catalog, clock }, 'orderbooks', query.market_ids, text)
      },
    ),
  ]
}
