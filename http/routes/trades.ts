import { Type } from '@sinclair/typebox'
import type { CatalogView, MarketView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { takerSide } from '../../engine/market/taker.ts'
import { answerTimePage, DATA_START, timeParameters } from '../pages/time-range.ts'
import type { AnswerCache } from '../records/fact-cache.ts'
import { marketTexts, tradeText } from '../records/render.ts'
import { findMarket } from '../request/find-market.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { parameters, TradesSchema } from '../schemas.ts'
import { venueAliases } from '../validation/query.ts'

const ROWS_PER_TICK = 512

interface TradeRouteParts extends RouteParts {
  readonly answers: AnswerCache
}

/** Answers are cached until the market trades or its outcomes are renamed. */
export function tradeRoutes({ catalog, clock, answers }: TradeRouteParts): readonly Route[] {
  return [
    route(
      'GET /v1/markets/{market_id}/trades',
      {
        group: 'Market Data',
        summary: 'The trade history of a market',
        answer: TradesSchema,
        refusals: {
          400: 'start after end, a foreign cursor, or path and slug of different markets',
          404: 'no such market',
          503: 'too few trades pass the filters to find a page in time',
        },
        headers: DATA_START,
        query: Type.Object({
          limit: parameters.limit(500, 100),
          cursor: timeParameters.cursor,
          slug: parameters.id(...venueAliases(catalog.names, 'slug')),
          start_time: timeParameters.start_time,
          end_time: timeParameters.end_time,
          side: parameters.side(),
          taker_side: parameters.side(),
          order: timeParameters.order,
        }),
      },
      ({ path, signal, requester }, query) => {
        const view = marketOf(catalog, path('market_id'), query.slug)
        const { side, taker_side: byTaker } = query
        const isFiltered = side !== undefined || byTaker !== undefined
        return answers.getLate(
          `trades ${view.ref.number} ${JSON.stringify(query)}`,
          () => [view.tradesVersion, ...view.summary.outcomes.map(({ label }) => label)],
          () => {
            const texts = marketTexts(view)
            return answerTimePage<ReturnType<MarketView['trades']>[number]>({
              ...{ query, clock, head: `"market_id":${texts.id},`, listName: 'trades' },
              read: (slice) => view.trades(slice),
              positionOf: (row) => row,
              accepts: isFiltered
                ? (row) =>
                    (side === undefined || row.side === side) &&
                    (byTaker === undefined || takerSide(row) === byTaker)
                : null,
              rowsPerTick: ROWS_PER_TICK,
              // Only a filtered page can take long enough for the client to disconnect.
              ...(isFiltered ? { signal: signal(), requester: requester() } : {}),
              write: (row) => tradeText(row, texts),
              startMs: () => view.oldestTradeMs() ?? catalog.recordsSinceMs,
            })
          },
        )
      },
    ),
  ]
}

/** The market of the path's id. If the id is unknown, the market of the slug. */
function marketOf(catalog: CatalogView, id: string, slug: string | undefined): MarketView {
  if (slug === undefined || slug === '') return findMarket(catalog, id)
  const byId = catalog.find(id)
  const bySlug = catalog.findBySlug(slug)
  // Markets of both venues may have the slug, so the id is wrong only if its market has another slug.
  if (byId !== null && bySlug !== null) {
    if (byId.summary.slug.toLowerCase() === slug.toLowerCase()) return byId
    throw new EngineError('BAD_REQUEST', 'the path and slug name different markets')
  }
  return byId ?? bySlug ?? findMarket(catalog, id)
}
