import { Type } from '@sinclair/typebox'
import type { AccountsView, CatalogView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { watchlistMarketsMax } from '../../engine/limits.ts'
import { findMarket } from '../request/find-market.ts'
import { json, nothing } from '../request/reply.ts'
import { accountOf, bodyRoute, type Route, route } from '../request/route.ts'
import { WatchlistSchema } from '../schemas.ts'

const SHARED = { group: 'Auth', access: 'token', budget: 'management', isPrivate: true } as const
const Watched = Type.Object({ market_id: Type.String() })
const listOf = (ids: readonly string[]) => ({ market_ids: ids, total: ids.length })

/** The account's watchlist: /v1/watchlist. */
export function watchlistRoutes({
  accounts,
  catalog,
}: {
  readonly accounts: AccountsView
  readonly catalog: CatalogView
}): readonly Route[] {
  return [
    route(
      'GET /v1/watchlist',
      { ...SHARED, summary: 'The markets that the account watches', answer: WatchlistSchema },
      ({ caller }) => json(listOf(accounts.watchlist(accountOf(caller)))),
    ),
    bodyRoute(
      'POST /v1/watchlist',
      {
        ...SHARED,
        summary: 'Add a market to the watchlist',
        description: `A watchlist has at most ${watchlistMarketsMax} markets. A market that it has already is not added again.`,
        body: { schema: Watched, className: 'WatchedMarket' },
        answer: WatchlistSchema,
        refusals: { 400: 'the watchlist is full', 404: 'no such market' },
      },
      async ({ caller }, { market_id: marketId }) => {
        const { ref } = findMarket(catalog, marketId)
        return json(listOf(await accounts.watchMarket(accountOf(caller), ref.id)))
      },
    ),
    route(
      'DELETE /v1/watchlist/{market_id}',
      {
        ...SHARED,
        summary: 'Remove a market from the watchlist',
        answer: null,
        status: 204,
        refusals: { 404: 'the watchlist does not have this market' },
      },
      async ({ caller, path }) => {
        const id = path('market_id')
        // A market that the venue no longer lists is stored under the id that the client sends.
        const market = catalog.find(id)?.ref.id ?? id
        if (await accounts.unwatchMarket(accountOf(caller), market)) return nothing()
        throw new EngineError('NOT_FOUND', 'the watchlist does not have this market')
      },
    ),
  ]
}
