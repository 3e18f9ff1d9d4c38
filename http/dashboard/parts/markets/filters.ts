// What the list of markets is asked for: as it stands in the address (`#/markets?q=fed&venue=venue_a`, which opens the
// same list in any tab), and as the form above the list. Every change of the form goes into the address, which the
// list follows.

import { useEffect, useRef } from 'preact/hooks'
import { onKey, setAddressHash } from '../../browser.ts'
import { capital } from '../../format.ts'
import { html } from '../../html.ts'
import type { MarketStatus } from '../../records.ts'
import { currentRoute, hrefOf, parseRoute } from '../../route.ts'
import { typed } from '../forms/field.ts'
import { InputField } from '../lists/filter-fields.ts'
import { fullVenueText } from '../lists/venues.ts'

export interface MarketQuery {
  /** As typed, blanks and all. */
  readonly text: string
  /** A venue's configured name; null: both. */
  readonly venue: string | null
  /** Null: any. */
  readonly status: MarketStatus | null
  readonly category: string | null
  /** Null: what fits the text best, without a text by volume. */
  readonly sort: MarketOrder | null
  readonly isDown: boolean
  /** Under their events, by the events' volume. */
  readonly isGrouped: boolean
}

/** The server's names of orders. */
const ORDERS = ['volume', 'created_at', 'close_time'] as const
export type MarketOrder = (typeof ORDERS)[number]

/** What may be traded. */
const FIRST_STATUS = 'open'
const ANY = 'any'
const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']
/** Below it the search would find too much, and the server refuses. */
export const TEXT_LENGTH_MIN = 2
const TEXT_LENGTH_MAX = 200
const CATEGORY = {
  ...{ name: 'category', list: 'market-categories', autocomplete: 'off', placeholder: 'Any' },
  maxlength: 256,
}

/** What an address asks for; a value that no list has is left out. */
export function queryOf(parameters: URLSearchParams): MarketQuery {
  const text = parameters.get('q') ?? ''
  const statusParam = parameters.get('status')
  const status =
    STATUSES.find((value) => value === statusParam) ?? (statusParam === ANY ? null : FIRST_STATUS)
  return {
    text: text.slice(0, TEXT_LENGTH_MAX),
    venue: filled(parameters.get('venue')),
    status,
    category: filled(parameters.get('category')),
    sort: ORDERS.find((value) => value === parameters.get('sort')) ?? null,
    isDown: parameters.get('way') !== 'up',
    isGrouped: parameters.get('group') === 'event',
  }
}

/** The address of a list. */
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

/** Whether two queries find the same. */
export const isSameQuery = (one: MarketQuery, other: MarketQuery): boolean =>
  searchText(one) === searchText(other) &&
  hrefOfQuery({ ...one, text: '' }) === hrefOfQuery({ ...other, text: '' })

/** What is searched for; empty: everything is listed. */
export function searchText({ text }: MarketQuery): string {
  const trimmed = text.trim()
  return trimmed.length < TEXT_LENGTH_MIN ? '' : trimmed
}

/** Puts a query into the tab's address in place of the last one: each letter typed is no page of its own. */
export function writeToAddress(query: MarketQuery): void {
  const href = hrefOfQuery(query)
  setAddressHash(href, true)
  // The browser's event comes later, and the field must not fall back to what stood in it before.
  currentRoute.set(parseRoute(href))
}

function filled(text: string | null): string | null {
  return text === null || text === '' ? null : text
}

export function MarketFilters({
  query,
  venues,
  categories,
}: {
  readonly query: MarketQuery
  /** Configured names. */
  readonly venues: readonly string[]
  /** Known so far, to choose from; any other may be typed. */
  readonly categories: readonly string[]
}) {
  const set = (change: Partial<MarketQuery>) => writeToAddress({ ...query, ...change })
  const field = useRef<HTMLInputElement>(null)
  // What is typed next replaces what stood in it.
  useEffect(() => onKey('/', () => field.current?.select()), [])
  const shownVenues =
    query.venue === null || venues.includes(query.venue) ? venues : [...venues, query.venue]
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
      <select name="venue" value=${query.venue ?? ''}
        onChange=${(event: Event) => set({ venue: typed(event) || null })}>
        <option value="">Both</option>
        ${shownVenues.map((name) => html`<option key=${name} value=${name}>${fullVenueText(name)}</option>`)}
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

export const isNarrowed = ({ text, venue, status, category }: MarketQuery): boolean =>
  text !== '' || venue !== null || status !== FIRST_STATUS || category !== null

/** The list follows each letter: there is nothing to send. */
function stay(event: Event): void {
  event.preventDefault()
}
