// Market list. The URL holds the query: `#/markets?q=fed&venue=venue_a`.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { after, onKey, setAddressHash } from '../browser.ts'
import { capital, stepDecimals, volumeText } from '../format.ts'
import { html } from '../html.ts'
import { allRows, CsvButton } from '../parts/csv-button.ts'
import { type EventGroup, type EventHead, eventFactsText, groupsOf } from '../parts/event-groups.ts'
import { ChangingPrice, Time } from '../parts/figures.ts'
import { InputField, stay } from '../parts/filters.ts'
import { typed } from '../parts/forms.ts'
import { type LivePrices, priceOfOutcome, useLivePrice, useLivePrices } from '../parts/quotes.ts'
import { Unanswered, usePages } from '../parts/requests.ts'
import { Empty, Failure } from '../parts/states.ts'
import { type Column, headings, tableRows } from '../parts/tables.ts'
import { fullVenueText, useVenues, venueText } from '../parts/venues.ts'
import type { EventPage, Market, MarketPage, MarketStatus } from '../records.ts'
import { currentRoute, hrefOf, type PageProps, parseRoute } from '../route.ts'

const ROWS = 50
/** Events in a page of a grouped list. The API returns at most ten markets of each event. */
const EVENTS = 10
/** The API's maximum. */
const SEARCH_ROWS_MAX = 100
/** Maximum pages, because each listed market needs a subscription. */
const PAGES_MAX = 8

/** In a grouped list, `events` has the event of each market by market id. */
interface ListPage extends MarketPage {
  readonly events: ReadonlyMap<string, EventHead>
}

export function MarketsPage({ route }: PageProps) {
  const query = queryOf(route.query)
  const { settled, key } = useSettled(query)
  const venues = useVenues()
  const paged = usePages((cursor, signal) => fetchPage(settled, cursor, signal), [key])
  const { pages, kind, isCurrent, isLoading, part, hasMore, again, more } = paged
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
          ? html`<div class=${!isCurrent || (isLoading && part === 'first') ? 'scroll-x aging' : 'scroll-x'}>
              <table class="list stacked market-list">
                <caption class="visually-hidden">Markets, live prices</caption>
                ${marketHead(query)}
                ${groupsOf(pages).map((groups, index) => html`<${MarketRows} key=${index} groups=${groups} />`)}
              </table>
            </div>
            <${CsvButton} name="markets" rows=${() =>
              allRows(
                (cursor, limit) => fetchPage(settled, cursor, undefined, limit),
                ({ markets }) => markets,
              )} />`
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

/** Default order: by relevance for a search, otherwise by volume. A grouped list orders events by volume. */
async function fetchPage(
  query: MarketQuery,
  cursor: string | null,
  signal?: AbortSignal,
  rows: number | null = null,
): Promise<ListPage> {
  const text = searchText(query)
  const { venue: platform, status, category, sort, isDown, isGrouped } = query
  const events = new Map<string, EventHead>()
  const limit = rows ?? (isGrouped ? EVENTS : ROWS)
  const filters = { platform, status, category, cursor, limit }
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
  const search = {
    ...filters,
    limit: Math.min(limit, SEARCH_ROWS_MAX),
    search: text,
    ...(sort === null ? { sort_by: 'relevance' } : order),
  }
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

function useSeenCategories(pages: readonly MarketPage[]): readonly string[] {
  const seen = useRef(new Set<string>())
  return useMemo(() => {
    for (const { markets } of pages) {
      for (const { category } of markets) if (category !== null) seen.current.add(category)
    }
    return [...seen.current].sort()
  }, [pages])
}

/** Columns of a list of markets with live prices. */
export const columnsOf = (prices: LivePrices): readonly Column<Market, MarketOrder>[] => [
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
    (market) => volumeText(market.volume_24h, market.volume_unit),
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

/** A grouped list has no sort buttons, since the API orders events by volume. */
function marketHead(query: MarketQuery) {
  const { isGrouped, isDown } = query
  const column = query.sort ?? (searchText(query) === '' ? 'volume' : 'relevance')
  return headings(COLUMNS, isGrouped ? null : { column, isDown }, (order) =>
    writeToAddress({ ...query, sort: order.column, isDown: order.isDown }),
  )
}

/** Each page has its own subscription, so that loading the next page does not change it. */
function MarketRows({ groups }: { readonly groups: readonly EventGroup[] }) {
  const prices = useLivePrices(groups.flatMap(({ markets }) => markets.map(({ id }) => id)))
  const columns = columnsOf(prices)
  const rows = groups.map(({ events, markets }) => [
    events.length === 0 ? null : eventRow(events),
    tableRows({
      ...{ rows: markets, columns },
      keyOf: ({ id }) => id,
      marks: ({ id }) => ({ 'data-market': id }),
    }),
  ])
  return html`<tbody>${rows}</tbody>`
}

function eventRow(events: readonly EventHead[]) {
  const [first] = events
  const facts = events.map((event) => `${venueText(event.platforms[0])}: ${eventFactsText(event)}`)
  const slugs = events.map(({ slug }) => slug)
  return html`<tr class="event" key=${`event ${slugs[0]}`} data-event=${slugs.join(' ')}><th scope="rowgroup" colspan=${COLUMNS.length}>
    <a href=${hrefOf('event', slugs[0] ?? null)}>${first?.title}</a> <span class="muted">${facts.join('; ')}</span>
  </th></tr>`
}

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

export interface MarketQuery {
  readonly text: string
  readonly venue: string | null
  readonly status: MarketStatus | null
  readonly category: string | null
  /** Null: by relevance for a search, otherwise by volume. */
  readonly sort: MarketOrder | null
  readonly isDown: boolean
  /** Grouped by event. Events are in order of volume. */
  readonly isGrouped: boolean
}

const ORDERS = ['volume', 'created_at', 'close_time'] as const
type MarketOrder = (typeof ORDERS)[number]

const FIRST_STATUS = 'open'
const ANY = 'any'
const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']
/** The server rejects shorter search texts. */
const TEXT_LENGTH_MIN = 2
const TEXT_LENGTH_MAX = 200
const CATEGORY = {
  ...{ name: 'category', list: 'market-categories', autocomplete: 'off', placeholder: 'Any' },
  maxlength: 256,
}

/** Invalid parameters are replaced by defaults. */
export function queryOf(parameters: URLSearchParams): MarketQuery {
  const param = parameters.get('status')
  return {
    text: (parameters.get('q') ?? '').slice(0, TEXT_LENGTH_MAX),
    venue: parameters.get('venue') || null,
    status: STATUSES.find((value) => value === param) ?? (param === ANY ? null : FIRST_STATUS),
    category: parameters.get('category') || null,
    sort: ORDERS.find((value) => value === parameters.get('sort')) ?? null,
    isDown: parameters.get('way') !== 'up',
    isGrouped: parameters.get('group') === 'event',
  }
}

export const hrefOfQuery = ({ text, status, sort, ...query }: MarketQuery): string =>
  hrefOf('markets', null, {
    q: text,
    venue: query.venue,
    status: status === FIRST_STATUS ? null : (status ?? ANY),
    category: query.category,
    sort,
    way: query.isDown ? null : 'up',
    group: query.isGrouped ? 'event' : null,
  })

/** The trimmed search text; empty if it is too short for a search. */
export function searchText({ text }: MarketQuery): string {
  const trimmed = text.trim()
  return trimmed.length < TEXT_LENGTH_MIN ? '' : trimmed
}

const keyOf = (query: MarketQuery): string => hrefOfQuery({ ...query, text: searchText(query) })

const PAUSE_MS = 250

/** Milliseconds until `next` replaces `shown`. Only changes of the search text are delayed. */
export function pauseMsBefore(next: MarketQuery, shown: MarketQuery): number {
  const isTextOnly = keyOf({ ...next, text: '' }) === keyOf({ ...shown, text: '' })
  return isTextOnly && searchText(next) !== searchText(shown) ? PAUSE_MS : 0
}

/** The query to load: `query`, delayed while the user types. */
function useSettled(query: MarketQuery): {
  readonly settled: MarketQuery
  readonly key: string
} {
  const [settled, settle] = useState(query)
  const key = keyOf(query)
  useEffect(() => {
    if (key === keyOf(settled)) return undefined
    const pauseMs = pauseMsBefore(query, settled)
    return pauseMs === 0 ? settle(query) : after(pauseMs, () => settle(query))
  }, [key])
  return { settled, key: keyOf(settled) }
}

/** Replaces the history entry, so that typing does not fill the browser history. */
function writeToAddress(query: MarketQuery): void {
  const href = hrefOfQuery(query)
  setAddressHash(href, true)
  // The hashchange event is asynchronous, and the field would show its old value until the event.
  currentRoute.set(parseRoute(href))
}

const isNarrowed = ({ text, venue, status, category }: MarketQuery): boolean =>
  text !== '' || venue !== null || status !== FIRST_STATUS || category !== null

function MarketFilters({
  query,
  venues,
  categories,
}: {
  readonly query: MarketQuery
  readonly venues: readonly string[]
  /** Suggestions for the category field, which accepts any text. */
  readonly categories: readonly string[]
}) {
  const set = (change: Partial<MarketQuery>) => writeToAddress({ ...query, ...change })
  const field = useRef<HTMLInputElement>(null)
  // Selects the field's text, so that typing replaces it.
  useEffect(() => onKey('/', () => field.current?.select()), [])
  const { venue } = query
  const names = venue === null || venues.includes(venue) ? venues : [...venues, venue]
  return html`<form class="row market-filters" role="search" onSubmit=${stay}>
    <label class="field wide">
      <span>Search <kbd aria-hidden="true">/</kbd></span>
      <input
        type="search" name="q" autocomplete="off" maxlength=${TEXT_LENGTH_MAX}
        placeholder="A question, a team, a name" aria-keyshortcuts="/" ref=${field} value=${query.text}
        onInput=${(event: Event) => set({ text: typed(event) })}
      />
    </label>
    <label class="field">
      <span>Venue</span>
      <select name="venue" value=${venue ?? ''}
        onChange=${(event: Event) => set({ venue: typed(event) || null })}>
        <option value="">Both</option>
        ${names.map((name) => html`<option key=${name} value=${name}>${fullVenueText(name)}</option>`)}
      </select>
    </label>
    <label class="field">
      <span>Status</span>
      <select name="status" value=${query.status ?? ''}
        onChange=${(event: Event) => set({ status: STATUSES.find((value) => value === typed(event)) ?? null })}>
        <option value="">Any</option>
        ${STATUSES.map((status) => html`<option key=${status} value=${status}>${capital(status)}</option>`)}
      </select>
    </label>
    <${InputField}
      label="Category" type="text" value=${query.category ?? ''} bounds=${CATEGORY}
      choose=${(category: string) => set({ category: category.trim() || null })}
    />
    <datalist id=${CATEGORY.list}>
      ${categories.map((name) => html`<option key=${name} value=${name}></option>`)}
    </datalist>
    <label class="check">
      <input type="checkbox" checked=${query.isGrouped} onChange=${() => set({ isGrouped: !query.isGrouped })} />
      Group by event
    </label>
    ${
      isNarrowed(query)
        ? html`<button type="button" class="quiet" onClick=${() => writeToAddress(queryOf(new URLSearchParams()))}>
            Clear
          </button>`
        : null
    }
  </form>`
}
