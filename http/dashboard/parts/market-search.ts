// Filters of the market list. The address is the single source of the query
// (`#/markets?q=fed&venue=venue_a`); every form change updates it.

import { useEffect, useRef, useState } from 'preact/hooks'
import { after, onKey, setAddressHash } from '../browser.ts'
import { capital } from '../format.ts'
import { html } from '../html.ts'
import type { MarketStatus } from '../records.ts'
import { currentRoute, hrefOf, parseRoute } from '../route.ts'
import { InputField, stay } from './filters.ts'
import { typed } from './forms.ts'
import { fullVenueText } from './venues.ts'

export interface MarketQuery {
  /** As typed, including spaces. */
  readonly text: string
  /** A venue's configured name; null: both. */
  readonly venue: string | null
  /** Null: any. */
  readonly status: MarketStatus | null
  readonly category: string | null
  /** Null: by relevance, or by volume without a search text. */
  readonly sort: MarketOrder | null
  readonly isDown: boolean
  /** Grouped by event, in order of the events' volume. */
  readonly isGrouped: boolean
}

/** The API's sort keys. */
const ORDERS = ['volume', 'created_at', 'close_time'] as const
export type MarketOrder = (typeof ORDERS)[number]

/** Default status. */
const FIRST_STATUS = 'open'
const ANY = 'any'
const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']
/** The server rejects shorter search texts. */
export const TEXT_LENGTH_MIN = 2
const TEXT_LENGTH_MAX = 200
const CATEGORY = {
  ...{ name: 'category', list: 'market-categories', autocomplete: 'off', placeholder: 'Any' },
  maxlength: 256,
}

/** The query of an address. Invalid values get the default. */
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

/** The address of a query. */
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

/** The search text; empty: no search. */
export function searchText({ text }: MarketQuery): string {
  const trimmed = text.trim()
  return trimmed.length < TEXT_LENGTH_MIN ? '' : trimmed
}

/** Two queries with the same key give the same list. */
const keyOf = (query: MarketQuery): string => hrefOfQuery({ ...query, text: searchText(query) })

/** Pause after typed text before a search. */
const PAUSE_MS = 250

/** Milliseconds before `next` is loaded in place of `shown`: none for a changed filter, a pause for changed text. */
export function pauseMsBefore(next: MarketQuery, shown: MarketQuery): number {
  const isTextOnly = keyOf({ ...next, text: '' }) === keyOf({ ...shown, text: '' })
  return isTextOnly && searchText(next) !== searchText(shown) ? PAUSE_MS : 0
}

/** The query to load, after the pause. */
export function useSettled(query: MarketQuery): {
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

/** Replaces the address, so that typed letters do not fill the browser history. */
export function writeToAddress(query: MarketQuery): void {
  const href = hrefOfQuery(query)
  setAddressHash(href, true)
  // Updates the route now. The hashchange event is asynchronous, and until then the field would show its old
  // value.
  currentRoute.set(parseRoute(href))
}

export const isNarrowed = ({ text, venue, status, category }: MarketQuery): boolean =>
  text !== '' || venue !== null || status !== FIRST_STATUS || category !== null

export function MarketFilters({
  query,
  venues,
  categories,
}: {
  readonly query: MarketQuery
  /** Configured names. */
  readonly venues: readonly string[]
  /** Suggested categories. Others can be typed. */
  readonly categories: readonly string[]
}) {
  const set = (change: Partial<MarketQuery>) => writeToAddress({ ...query, ...change })
  const field = useRef<HTMLInputElement>(null)
  // Selects the text, so that typing replaces it.
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
