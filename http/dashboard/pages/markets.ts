// Market list: search, filters, sorting and grouping by event, with live prices. Default: open markets by
// volume. The address contains the query.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { request } from '../api.ts'
import { after } from '../browser.ts'
import { countText, roundUsdText, stepDecimals } from '../format.ts'
import { html } from '../html.ts'
import { ChangingPrice, Time } from '../parts/figures.ts'
import {
  type FinderState,
  isNarrowed,
  MarketFilters,
  MarketFinder,
  type MarketOrder,
  type MarketQuery,
  PAGES_MAX,
  queryOf,
  searchText,
  TEXT_LENGTH_MIN,
  writeToAddress,
} from '../parts/market-search.ts'
import { type LivePrice, priceOfOutcome, useLivePrices } from '../parts/quotes.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { sortHeads } from '../parts/tables.ts'
import { fullVenueText, useVenues, venueText } from '../parts/venues.ts'
import type { EventPage, Market, MarketPage } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'
import { Signal, useSignal } from '../signal.ts'

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

// One page of the market list with live prices. Each page has its own subscription, so that a new page does
// not affect earlier ones.

const NO_PRICE = new Signal<LivePrice | null>(null)

/** The event of a listed market. */
export interface EventHead {
  readonly slug: string
  readonly title: string
  readonly market_count: number
  readonly total_volume_24h: number
}

const COLUMNS = [
  [null, 'Market', ''],
  [null, 'Prices', ''],
  ['volume', 'Volume 24 h', 'num'],
  ['created_at', 'Opened', ''],
  ['close_time', 'Closes', ''],
] as const

interface MarketRowsProps {
  readonly markets: readonly Market[]
  /** Events by market id; empty: not grouped. Markets of an event must be adjacent. */
  readonly events: ReadonlyMap<string, EventHead>
}

/** Table body; {@link marketHead} is the head. */
export function MarketRows({ markets, events }: MarketRowsProps) {
  const prices = useLivePrices(markets.map(({ id }) => id))
  let last: EventHead | null = null
  return html`<tbody>
    ${markets.map((market) => {
      const event = events.get(market.id) ?? null
      const isFirst = event !== null && event.slug !== last?.slug
      last = event
      return html`
        ${isFirst ? html`<${EventRow} key=${`event ${event.slug}`} event=${event} />` : null}
        <${MarketRow} key=${market.id} market=${market} live=${prices.get(market.id) ?? NO_PRICE} />`
    })}
  </tbody>`
}

const EventRow = ({ event }: { readonly event: EventHead }) =>
  html`<tr class="event" data-event=${event.slug}><th scope="rowgroup" colspan=${COLUMNS.length}>
    ${event.title} <span class="muted">${countText(event.market_count)}${
      event.market_count === 1 ? ' market' : ' markets'
    }, ${roundUsdText(event.total_volume_24h)} in 24 h</span>
  </th></tr>`

/** Table head with sort buttons. Grouped lists cannot be sorted, since events are ordered by volume. */
export function marketHead(query: MarketQuery) {
  const { isGrouped, isDown } = query
  const sort = query.sort ?? (searchText(query) === '' ? 'volume' : null)
  const columns = COLUMNS.map(
    ([column, name, kind]) => [isGrouped ? null : column, name, kind] as const,
  )
  return sortHeads<MarketOrder | 'relevance'>(
    columns,
    { column: sort ?? 'relevance', isDown },
    ({ column, isDown: down }) =>
      column === 'relevance' || writeToAddress({ ...query, sort: column, isDown: down }),
  )
}

function MarketRow({
  market,
  live,
}: {
  readonly market: Market
  readonly live: Signal<LivePrice | null>
}) {
  const now = useSignal(live)
  const { id, question, status, category, outcomes, platforms } = market
  const [own, other] = platforms
  const first = now?.price ?? outcomes[0]?.price ?? null
  const decimals = stepDecimals(market.price_step)
  return html`<tr data-market=${id}>
    <th scope="row" class="question">
      <a href=${hrefOf('market', id)}>${question}</a>
      <span class="beneath">
        ${status === 'open' ? null : html`<span class="tag">${status}</span>`}
        <span class="muted">${[venueText(own?.platform), category].filter(Boolean).join(' · ')}</span>
        ${
          other === undefined
            ? null
            : html`<span class="tag twin" title=${`The same question at ${fullVenueText(other.platform)}`}>⇄ ${venueText(other.platform)}</span>`
        }
      </span>
    </th>
    <td class="outcomes">
      ${outcomes.map(
        ({ label, price }, index) => html`<span class="outcome" key=${index}>
          <span class="label" title=${label}>${label}</span>
          ${html`<${ChangingPrice} price=${index < 2 && first !== null ? priceOfOutcome(first, index) : price} decimals=${decimals} />`}
        </span>`,
      )}
    </td>
    <td class="num volume" data-label="Vol. 24 h">${roundUsdText(market.volume_24h)}</td>
    <td class="opened" data-label="Opened"><${Time} atMs=${market.created_at === null ? null : market.created_at * 1_000} style="day" /></td>
    <td class="closes" data-label="Closes"><${Time} atMs=${market.close_time === null ? null : market.close_time * 1_000} /></td>
  </tr>`
}
