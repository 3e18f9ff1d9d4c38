// The markets of both venues: found as one types, narrowed by venue, status and category, with live prices. What is
// looked for stands in the address. Upholds DASH35 to DASH38.

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
import { MarketHead, MarketRows } from '../parts/markets/rows.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import type { MarketPage } from '../records.ts'
import type { PageProps } from '../route.ts'
import { useSignal } from '../signal.ts'

const ROWS = 50

export function MarketsPage({ place }: PageProps) {
  const query = queryOf(place.query)
  const finder = useMemo(() => new MarketFinder({ ask, delay: after }), [])
  const venues = useVenues()
  const state = useSignal(finder.state)
  const categories = useSeenCategories(state.pages)
  // Runs at every drawing: the finder knows whether anything else is wanted.
  useEffect(() => finder.look(query))
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
      ${list(state, query)}
      ${below(state, finder)}
    </section>
  `
}

function ask(query: MarketQuery, cursor: string | null, signal: AbortSignal): Promise<MarketPage> {
  const text = searchText(query)
  const { venue: platform, status, category } = query
  const filters = { platform, status, category, cursor, limit: ROWS }
  if (text === '') return request('/v1/markets', { query: filters, signal })
  const search = { ...filters, search: text, sort_by: 'relevance' }
  return request('/v1/markets/search', { query: search, signal })
}

function list({ phase, pages }: FinderState, query: MarketQuery) {
  if (pages.length === 0) {
    if (phase !== 'shown') return null
    const text = searchText(query)
    const words = text === '' ? 'No market is like that.' : `No market has “${text}” in it.`
    return html`<${Empty}>
      ${isNarrowed(query) ? `${words} Try fewer words or filters.` : 'No markets yet: the venues are being read.'}
    <//>`
  }
  return html`<div class=${phase === 'searching' ? 'scroll-x aging' : 'scroll-x'}>
    <table class="list">
      <caption class="visually-hidden">Markets, live prices</caption>
      <${MarketHead} />
      ${pages.map((markets, index) => html`<${MarketRows} key=${index} markets=${markets} />`)}
    </table>
  </div>`
}

function below({ phase, pages, hasMore }: FinderState, finder: MarketFinder) {
  if (!hasMore || pages.length === 0 || phase === 'failed') return null
  if (pages.length >= PAGES_MAX) {
    return html`<p class="muted">The first ${PAGES_MAX * ROWS} are shown. Search or filter to find others.</p>`
  }
  return html`<button type="button" aria-disabled=${phase !== 'shown'} onClick=${() => finder.more()}>
    ${phase === 'adding' ? 'Loading more…' : 'More markets'}
  </button>`
}

/** Categories of every market that was listed since the page was opened. */
function useSeenCategories(pages: FinderState['pages']): readonly string[] {
  const seen = useRef(new Set<string>())
  return useMemo(() => {
    for (const { category } of pages.flat()) if (category !== null) seen.current.add(category)
    return [...seen.current].sort()
  }, [pages])
}
