import { Type } from '@sinclair/typebox'
import type { EngineView, MatchesView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { bulkAnswer, MissingSchema, marketIds } from '../pages/lists.ts'
import { BookRecords, confirmBooks, coverBooks } from '../records/books.ts'
import type { CacheBounds } from '../records/fact-cache.ts'
import { findMarket, listOf, outcomeIndexOf } from '../request/find-market.ts'
import { jsonText } from '../request/reply.ts'
import { demandOwner, type Route, route } from '../request/route.ts'
import { OrderbookSchema, parameters } from '../schemas.ts'

export const OrderbooksSchema = Type.Object({
  orderbooks: Type.Array(OrderbookSchema),
  missing: MissingSchema,
})

interface OrderbookRouteParts {
  readonly engine: Pick<
    EngineView,
    'catalog' | 'epoch' | 'bookAgeMsMax' | 'confirmBook' | 'coverage'
  > & {
    readonly matches: Pick<MatchesView, 'matchedMarketOf'>
  }
  readonly clock: Clock
}

const depth = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 }))

export function orderbookRoutes(
  { engine, clock }: OrderbookRouteParts,
  bounds?: CacheBounds,
): readonly Route[] {
  const { catalog } = engine
  const books = new BookRecords(engine, bounds)
  return [
    route(
      'GET /v1/markets/{market_id}/orderbook',
      {
        group: 'Market Data',
        summary: 'The live order book',
        description:
          '`consolidated=true` adds the levels of the high-confidence match on the other venue, aligned to the same outcome: `timestamp_ms` is then the newer of the two, `age_ms` that of the older, `seq` null; a book that was neither changed nor confirmed for a minute (`BOOK_AGE_S`) is read over the venue’s REST first, and `stale` where that fails. A spread below zero is one across venues.',
        answer: OrderbookSchema,
        refusals: { 400: 'an outcome that the market does not have', 404: 'no such market' },
        query: Type.Object({
          depth,
          outcome: parameters.text(),
          consolidated: parameters.flag(false),
        }),
      },
      (facts, query) => {
        const view = findMarket(catalog, facts.path('market_id'))
        const outcomeIndex = outcomeIndexOf(view, query.outcome)
        const matchedMarket = query.consolidated ? engine.matches.matchedMarketOf(view.ref) : null
        const { depth } = query
        const answer = () =>
          jsonText(books.text(view, clock.nowMs(), { outcomeIndex, depth, matchedMarket }))
        const views = [view, ...listOf(matchedMarket)]
        const confirmed = () => {
          const confirming = matchedMarket && confirmBooks(engine, views, clock.nowMs())
          return confirming?.then(answer) ?? answer()
        }
        return coverBooks(engine, views, demandOwner(facts))?.then(confirmed) ?? confirmed()
      },
    ),
    route(
      'GET /v1/orderbooks',
      {
        group: 'Market Data',
        summary: 'The live order books of several markets',
        answer: OrderbooksSchema,
        query: Type.Object({ market_ids: marketIds(), depth }),
      },
      (facts, query) => {
        const { depth } = query
        return bulkAnswer({ catalog, clock }, 'orderbooks', query.market_ids, {
          text: (view) => books.text(view, clock.nowMs(), { depth }),
          ready: (views) => coverBooks(engine, views, demandOwner(facts)),
        })
      },
    ),
  ]
}
