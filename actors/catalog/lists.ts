// Pages of markets and events. A list is sorted once and pinned. Each page shows the current values of its entries.

import type { Clock } from '../../engine/clock.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import { pageOf, type Ranking, Rankings } from '../rows/rankings.ts'
import type {
  EventFilter,
  EventPage,
  ListQuery,
  MarketPage,
  MarketView,
  PageQuery,
  SearchQuery,
} from '../views.ts'
import type { Events } from './events.ts'
import type { MarketColumns } from './market-columns.ts'

const RELEVANCE_MAX = 10_000

export interface SearchIndex {
  put(number: MarketNumber, summary: MarketSummary, eventTitle: string | null): void
  remove(number: MarketNumber): void
  /** Returns market numbers, best match first if `isRanked`. Rejects with UNAVAILABLE if too many searches wait. */
  find(text: string, isRanked: boolean, requester: Requester): Promise<Uint32Array>
}

export class CatalogLists {
  readonly #columns: MarketColumns
  readonly #events: Events
  readonly #index: SearchIndex
  readonly #market: (number: MarketNumber) => MarketView | null
  readonly #rankings: Rankings
  readonly #searching = new Map<string, Promise<Ranking>>()

  constructor(parts: {
    clock: Clock
    columns: MarketColumns
    events: Events
    index: SearchIndex
    market: (number: MarketNumber) => MarketView | null
  }) {
    this.#columns = parts.columns
    this.#events = parts.events
    this.#index = parts.index
    this.#market = parts.market
    this.#rankings = new Rankings(parts.clock)
  }

  list(query: ListQuery): MarketPage | 'expired' {
    const { among } = query.filter
    const key = marketKey(query)
    const ranking = this.#current(query.pin, key)
    if (ranking !== null) return ranking === 'expired' ? ranking : this.#marketPage(ranking, query)
    const numbers = this.#columns.select(query, among?.markets ?? null)
    const isSinglePage = among !== null && numbers.length <= query.offset + query.limit
    return this.#marketPage(
      isSinglePage ? { pin: 0, numbers } : this.#rankings.add(key, numbers),
      query,
    )
  }

  /** Rejects with UNAVAILABLE if too many searches wait. */
  search(
    query: SearchQuery,
    requester: Requester = SYSTEM,
  ): MarketPage | 'expired' | Promise<MarketPage> {
    const key = marketKey(query)
    const ranking = this.#current(query.pin, key)
    if (ranking !== null) return ranking === 'expired' ? ranking : this.#marketPage(ranking, query)
    return this.#searched(key, query, requester).then((found) => this.#marketPage(found, query))
  }

  /** Returns the ranking of the pin. Without a pin, returns the newest ranking of the key. Null: not cached. */
  #current(pin: number | null, key: string): Ranking | 'expired' | null {
    return pin === null
      ? this.#rankings.shared(key)
      : (this.#rankings.resume(pin, key) ?? 'expired')
  }

  #searched(key: string, query: SearchQuery, requester: Requester): Promise<Ranking> {
    const waiting = this.#searching.get(key)
    if (waiting !== undefined) return waiting
    const searching = this.#index
      .find(query.text, query.sortBy === 'relevance', requester)
      .then((found) => this.#rankings.add(key, this.#filterFound(found, query)))
      .finally(() => this.#searching.delete(key))
    this.#searching.set(key, searching)
    return searching
  }

  #filterFound(found: Uint32Array, { filter, sortBy, order }: SearchQuery): Uint32Array {
    if (sortBy === 'relevance') return this.#columns.filtered(found, filter, RELEVANCE_MAX)
    if (filter.among === null) return this.#columns.select({ filter, sortBy, order }, found)
    const isAmong = new Set(filter.among.markets)
    const both = found.filter((number) => isAmong.has(number))
    return this.#columns.select({ filter, sortBy, order }, both)
  }

  #marketPage(ranking: Pick<Ranking, 'pin' | 'numbers'>, query: PageQuery): MarketPage {
    const { rows, total, next } = pageOf(ranking, query, this.#market)
    return { markets: rows, total, next }
  }

  events(query: PageQuery & { readonly filter: EventFilter }): EventPage | 'expired' {
    const { pin, filter } = query
    const ranking = this.#rankings.find(pin, eventKey(filter), () => this.#events.select(filter))
    if (ranking === null) return 'expired'
    const { rows, total, next } = pageOf(ranking, query, (number) => this.#events.byNumber(number))
    return { events: rows, total, next }
  }
}

function marketKey(query: Omit<SearchQuery, 'text'> & { readonly text?: string }): string {
  const { filter, sortBy, order, text = null } = query
  const among = filter.among?.key ?? null
  return JSON.stringify(['markets', text, sortBy, order, { ...filter, among }])
}

function eventKey(filter: EventFilter): string {
  return JSON.stringify(['events', filter])
}
