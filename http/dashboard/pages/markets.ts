// Market list: search, filters, sorting and grouping by event, with live prices. Default: open markets by
// volume. The address contains the query.

import { useMemo, useRef } from 'preact/hooks'
import { request } from '../api.ts'
import { countText, roundUsdText, stepDecimals } from '../format.ts'
import { html } from '../html.ts'
import { ChangingPrice, Time } from '../parts/figures.ts'
import {
  isNarrowed,
  MarketFilters,
  type MarketOrder,
  type MarketQuery,
  queryOf,
  searchText,
  TEXT_LENGTH_MIN,
  useSettled,
  writeToAddress,
} from '../parts/market-search.ts'
import { type LivePrices, priceOfOutcome, useLivePrice, useLivePrices } from '../parts/quotes.ts'
import { Unanswered, usePages } from '../parts/requests.ts'
import { Empty, Failure } from '../parts/states.ts'
import { type Column, headings, tableRows } from '../parts/tables.ts'
import { fullVenueText, useVenues, venueText } from '../parts/venues.ts'
import type { EventPage, Market, MarketPage } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'

const ROWS = 50
/** Each with at most ten markets. */
const EVENTS = 10
/** Page limit, since every listed market costs a subscription. */
const PAGES_MAX = 8

/** A page, with the events of its markets if it is grouped. */
interface ListPage extends MarketPage {
  readonly events: ReadonlyMap<string, EventHead>
}
type EventHead = Omit<EventPage['events'][number], 'markets'>

export function MarketsPage({ route }: PageProps) {
  const query = queryOf(route.query)
  const { settled, key } = useSettled(query)
  const venues = useVenues()
  const paged = usePages((cursor, signal) => fetchPage(settled, cursor, signal), [key])
  const { pages, kind, isLoading, part, hasMore, again, more } = paged
  const categories = useSeenCategories(pages)
  const hasRows = pages.some(({ markets }) => markets.length > 0)
  return html`
    <h1>Markets</h1>
    <${MarketFilters} query=${query} venues=${venues} categories=${categories} />
    ${
      query.text.trim().length === 1
        ? html`<p class="muted">Type at least ${TEXT_LENGTH_MIN} characters to search.</p>`
        : null
    }
    <section class="card stack markets" aria-label="Markets found" aria-busy=${isLoading && hasRows}>
      <${Unanswered} result=${paged} what="markets" hasRows=${hasRows} />
      <${Failure} error=${kind === 'failed' ? null : paged.error} retry=${more} />
      ${kind === 'answered' && !hasRows ? none(settled, again) : null}
      ${
        hasRows
          ? html`<div class=${isLoading && part === 'first' ? 'scroll-x aging' : 'scroll-x'}>
              <table class="list stacked market-list">
                <caption class="visually-hidden">Markets, live prices</caption>
                ${marketHead(query)}
                ${pages.map((page, index) => html`<${MarketRows} key=${index} page=${page} />`)}
              </table>
            </div>`
          : null
      }
      ${
        !hasMore || paged.error !== null
          ? null
          : pages.length >= PAGES_MAX
            ? html`<p class="muted">No more are shown at once. Search or filter to find others.</p>`
            : html`<button type="button" aria-disabled=${isLoading} onClick=${more}>
                ${isLoading && part === 'next' ? 'Loading more…' : 'More markets'}
              </button>`
      }
    </section>
  `
}

/**
 * Markets by volume or the chosen order; a search sorts by relevance by default. If grouped, the markets of events,
 * by the events' volume.
 */
async function fetchPage(
  query: MarketQuery,
  cursor: string | null,
  signal: AbortSignal,
): Promise<ListPage> {
  const text = searchText(query)
  const { venue: platform, status, category, sort, isDown, isGrouped } = query
  const events = new Map<string, EventHead>()
  const filters = { platform, status, category, cursor, limit: isGrouped ? EVENTS : ROWS }
  const order = { sort_by: sort ?? 'volume', order: isDown ? 'desc' : 'asc' }
  if (isGrouped) {
    const search = { ...filters, search: text || null }
    const page = await request<EventPage>('/v1/events', { query: search, signal })
    const markets = page.events.flatMap((event) => {
      const wanted = event.markets.filter((market) => status === null || market.status === status)
      for (const { id } of wanted) events.set(id, event)
      return wanted
    })
    return { ...page, markets, events }
  }
  const search = { ...filters, search: text, ...(sort === null ? { sort_by: 'relevance' } : order) }
  const page = await (text === ''
    ? request<MarketPage>('/v1/markets', { query: { ...filters, ...order }, signal })
    : request<MarketPage>('/v1/markets/search', { query: search, signal }))
  return { ...page, events }
}

function none(query: MarketQuery, again: () => void) {
  const text = searchText(query)
  const what = query.status === null ? 'No market' : `No ${query.status} market`
  const message = text === '' ? `${what} matches.` : `${what} contains “${text}”.`
  return html`<${Empty} again=${again}>
    ${isNarrowed(query) ? `${message} Try fewer words or filters, or markets of any status.` : 'No open markets yet: the catalogues are loading.'}
  <//>`
}

/** Categories of all markets listed since the page was opened. */
function useSeenCategories(pages: readonly MarketPage[]): readonly string[] {
  const seen = useRef(new Set<string>())
  return useMemo(() => {
    for (const { markets } of pages) {
      for (const { category } of markets) if (category !== null) seen.current.add(category)
    }
    return [...seen.current].sort()
  }, [pages])
}

const columnsOf = (prices: LivePrices): readonly Column<Market, MarketOrder>[] => [
  ['Market', 'subject question', question],
  [
    'Prices',
    'outcomes',
    (market) => html`<${Outcomes} market=${market} prices=${prices} />`,
    { label: null },
  ],
  [
    'Volume 24 h',
    'num volume',
    (market) => roundUsdText(market.volume_24h),
    { sort: 'volume', label: 'Vol. 24 h' },
  ],
  [
    'Opened',
    'opened',
    (market) => html`<${Time} seconds=${market.created_at} style="day" />`,
    { sort: 'created_at' },
  ],
  [
    'Closes',
    'closes',
    (market) => html`<${Time} seconds=${market.close_time} />`,
    { sort: 'close_time' },
  ],
]
const COLUMNS = columnsOf(new Map())

/** Grouped lists cannot be sorted, since events are ordered by volume. */
function marketHead(query: MarketQuery) {
  const { isGrouped, isDown } = query
  const column = query.sort ?? (searchText(query) === '' ? 'volume' : 'relevance')
  return headings(COLUMNS, isGrouped ? null : { column, isDown }, (order) =>
    writeToAddress({ ...query, sort: order.column, isDown: order.isDown }),
  )
}

/** One page of the list. It has its own subscription, so that a new page does not affect earlier ones. */
function MarketRows({ page: { markets, events } }: { readonly page: ListPage }) {
  const prices = useLivePrices(markets.map(({ id }) => id))
  const columns = columnsOf(prices)
  let last: EventHead | null = null
  const rows = markets.map((market) => {
    const event = events.get(market.id) ?? null
    const isFirst = event !== null && event.slug !== last?.slug
    last = event
    const [row] = tableRows({
      ...{ rows: [market], columns },
      keyOf: ({ id }) => id,
      marks: ({ id }) => ({ 'data-market': id }),
    })
    return [isFirst ? eventRow(event) : null, row]
  })
  return html`<tbody>${rows}</tbody>`
}

const eventRow = ({ slug, title, market_count: count, total_volume_24h: volume }: EventHead) =>
  html`<tr class="event" key=${`event ${slug}`} data-event=${slug}><th scope="rowgroup" colspan=${COLUMNS.length}>
    ${title} <span class="muted">${countText(count)}${count === 1 ? ' market' : ' markets'}, ${roundUsdText(volume)} in 24 h</span>
  </th></tr>`

function question({ id, question: text, status, category, platforms }: Market) {
  const [own, other] = platforms
  return html`<a href=${hrefOf('market', id)}>${text}</a>
    <span class="beneath">
      ${status === 'open' ? null : html`<span class="tag">${status}</span>`}
      <span class="muted">${[venueText(own?.platform), category].filter(Boolean).join(' · ')}</span>
      ${
        other === undefined
          ? null
          : html`<span class="tag twin" title=${`The same question at ${fullVenueText(other.platform)}`}>⇄ ${venueText(other.platform)}</span>`
      }
    </span>`
}

interface OutcomesProps {
  readonly market: Market
  readonly prices: LivePrices
}

function Outcomes({ market: { id, outcomes, price_step: step }, prices }: OutcomesProps) {
  const first = useLivePrice(prices, id)?.price ?? outcomes[0]?.price ?? null
  return outcomes.map(
    ({ label, price }, index) => html`<span class="outcome" key=${index}>
      <span class="label" title=${label}>${label}</span>
      <${ChangingPrice} price=${index < 2 && first !== null ? priceOfOutcome(first, index) : price} decimals=${stepDecimals(step)} />
    </span>`,
  )
}
