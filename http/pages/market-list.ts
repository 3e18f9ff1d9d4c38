import type {
  CatalogView,
  MarketFilter,
  MarketOrder,
  MarketPage,
  MarketView,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { ListCursors } from '../request/cursor.ts'
import type { Answer } from '../request/reply.ts'
import { answerPage, type CachedList, listAnswer, type PageQuery } from './lists.ts'

interface MarketListRequest {
  readonly query: PageQuery & { readonly search?: string }
  readonly filter: MarketFilter
  readonly sortBy: MarketOrder | 'relevance'
  readonly order: 'asc' | 'desc'
  readonly requester: () => Requester
}

/** One page of markets, listed or found by text. `write` writes a row. */
export function answerMarketList(
  parts: { readonly catalog: CatalogView; readonly clock: Clock; readonly cursors: ListCursors },
  { query, filter, sortBy, order, requester }: MarketListRequest,
  rows: {
    readonly name: string
    readonly write: (view: MarketView) => string | Uint8Array
    readonly cache?: CachedList<MarketView>
  },
): Answer | Promise<Answer> {
  const { catalog, clock, cursors } = parts
  const { limit } = query
  const text = query.search?.trim() ?? ''
  return answerPage<MarketPage, MarketView>({
    ...{ cursors, query, rowsOf: ({ markets }) => markets },
    ...(rows.cache === undefined ? {} : { cache: rows.cache }),
    binding: JSON.stringify([text, { ...filter, among: filter.among?.key ?? null }, sortBy, order]),
    read: (position) => {
      if (text !== '') {
        return catalog.search({ text, filter, sortBy, order, limit, ...position }, requester())
      }
      // A search for blanks alone matches everything with equal relevance.
      const listedBy = sortBy === 'relevance' ? 'volume' : sortBy
      return catalog.list({ filter, sortBy: listedBy, order, limit, ...position })
    },
    answer: ({ markets, total }, cursor) =>
      listAnswer(clock, { name: rows.name, rows: markets, total, cursor, write: rows.write }),
  })
}
