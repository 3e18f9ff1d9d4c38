// Market list: search, filters, sorting and grouping by event, with live prices. Default: open markets by
// volume. The address contains the query.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { request } from '../api.ts'
import { after } from '../browser.ts'
import { html } from '../html.ts'
import { useVenues } from '../parts/lists/venues.ts'
import {
  isNarrowed,
  MarketFilters,
  type MarketQuery,
  queryOf,
  searchText,
  TEXT_LENGTH_MIN,
} from '../parts/markets/filters.ts'
import { type FinderState, MarketFinder, PAGES_MAX } from '../parts/markets/finder.ts'
import { type EventHead, MarketRows, marketHead } from '../parts/markets/market-rows.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import type { EventPage, MarketPage } from '../records.ts'
import type { PageProps } from '../route.ts'
import { useSignal } from '../signal.ts'

const ROWS = 50
/** Each with at most ten markets. */
const EVENTS = 10

export function MarketsPage({ route }: PageProps) {
  const query = queryOf(route.query)
  const heads = useRef(new Map<string, EventHead>())
  const finder = useMemo(() => {
    const { current } = heads
    const fetchPage = (wanted: MarketQuery, cursor: string | null, signal: AbortSignal) =>
      wanted.isGrouped
        ? fetchEvents(wanted, cursor, { signal, heads: current })
        : fetchMarkets(wanted, cursor, signal)
    return new MarketFinder({ fetchMarkets: fetchPage, delay: after })
  }, [])
  const venues = useVenues()
  const state = useSignal(finder.state)
  const categories = useSeenCategories(state.pages)
  // Runs on every render. The finder ignores an unchanged query.
  useEffect(() => finder.search(query))
  useEffect(() => () => finder.close(), [])
  const isBusy = state.phase === 'searching' || state.phase === 'adding'
  return html`
    <h1>Markets</h1>
    <${MarketFilters} query=${query} venues=${venues} categories=${categories} />
    ${
      query.text.trim().length === 1
        ? html`<p class="muted">Type at least ${TEXT_LENGTH_MIN} characters to search.</p>`
        : null
    }
    <section class="card markets" aria-label="Markets found" aria-busy=${isBusy} data-phase=${state.phase}>
      ${state.phase === 'waiting' ? html`<${Waiting} what="markets" />` : null}
      ${state.phase === 'failed' ? html`<${Failure} error=${state.error} retry=${() => finder.again()} />` : null}
      ${list(state, { query, heads: heads.current, again: () => finder.again() })}
      ${below(state, finder)}
    </section>
  `
}

/** Markets by volume or the chosen order. A search sorts by relevance by default. */
async function fetchMarkets(
  query: MarketQuery,
  cursor: string | null,
  signal: AbortSignal,
): Promise<MarketPage> {
  const text = searchText(query)
  const { venue: platform, status, category, sort, isDown } = query
  const filters = { platform, status, category, cursor, limit: ROWS }
  const order = { sort_by: sort ?? 'volume', order: isDown ? 'desc' : 'asc' }
  if (text === '') return request('/v1/markets', { query: { ...filters, ...order }, signal })
  const search = { ...filters, search: text, ...(sort === null ? { sort_by: 'relevance' } : order) }
  return request('/v1/markets/search', { query: search, signal })
}

/** The markets of events, by the events' volume. Stores the event of each market in `heads`. */
async function fetchEvents(
  query: MarketQuery,
  cursor: string | null,
  { signal, heads }: { readonly signal: AbortSignal; readonly heads: Map<string, EventHead> },
): Promise<MarketPage> {
  const text = searchText(query)
  const { venue: platform, status, category } = query
  const page = await request<EventPage>('/v1/events', {
    query: { platform, status, category, cursor, limit: EVENTS, search: text === '' ? null : text },
    signal,
  })
  const markets = page.events.flatMap((event) => {
    const wanted = event.markets.filter((market) => status === null || market.status === status)
    for (const { id } of wanted) heads.set(id, event)
    return wanted
  })
  return { markets, total: page.total, cursor: page.cursor, has_more: page.has_more }
}

function list(
  { phase, pages }: FinderState,
  {
    query,
    heads,
    again,
  }: { readonly query: MarketQuery; readonly heads: Heads; readonly again: () => void },
) {
  if (pages.length === 0) {
    if (phase !== 'shown') return null
    const text = searchText(query)
    const { status } = query
    const what = status === null ? 'No market' : `No ${status} market`
    const message = text === '' ? `${what} is like that.` : `${what} has “${text}” in it.`
    return html`<${Empty} again=${again}>
      ${isNarrowed(query) ? `${message} Try fewer words or filters, or markets of any status.` : 'No open markets yet: the venues are being read.'}
    <//>`
  }
  return html`<div class=${phase === 'searching' ? 'scroll-x aging' : 'scroll-x'}>
    <table class="list stacked market-list">
      <caption class="visually-hidden">Markets, live prices</caption>
      ${marketHead(query)}
      ${pages.map((markets, index) => html`<${MarketRows} key=${index} markets=${markets} events=${query.isGrouped ? heads : NO_HEADS} />`)}
    </table>
  </div>`
}

type Heads = ReadonlyMap<string, EventHead>
const NO_HEADS: Heads = new Map()

function below({ phase, pages, hasMore }: FinderState, finder: MarketFinder) {
  if (!hasMore || pages.length === 0 || phase === 'failed') return null
  if (pages.length >= PAGES_MAX) {
    return html`<p class="muted">No more are shown at once. Search or filter to find others.</p>`
  }
  return html`<button type="button" aria-disabled=${phase !== 'shown'} onClick=${() => finder.more()}>
    ${phase === 'adding' ? 'Loading more…' : 'More markets'}
  </button>`
}

/** Categories of all markets listed since the page was opened. */
function useSeenCategories(pages: FinderState['pages']): readonly string[] {
  const seen = useRef(new Set<string>())
  return useMemo(() => {
    for (const { category } of pages.flat()) if (category !== null) seen.current.add(category)
    return [...seen.current].sort()
  }, [pages])
}
