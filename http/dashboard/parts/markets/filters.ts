// What the list of markets is asked for: as it stands in the address (`#/markets?q=fed&venue=venue_a`, which opens the
// same list in any tab), and as the form above the list. Every change of the form goes into the address, which the
// list follows. Not for: asking (http/dashboard/parts/markets/finder.ts). Upholds DASH36.

import { setAddressHash } from '../../browser.ts'
import { html } from '../../html.ts'
import type { MarketStatus } from '../../records.ts'
import { hrefOf, placeOf, place as tabPlace } from '../../route.ts'
import { typed } from '../forms/field.ts'

export interface MarketQuery {
  /** As typed, blanks and all. */
  readonly text: string
  /** A venue's configured name; null: both. */
  readonly venue: string | null
  readonly status: MarketStatus | null
  readonly category: string | null
}

const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']
/** Below it the search would find too much, and the server refuses. */
export const TEXT_LENGTH_MIN = 2
const TEXT_LENGTH_MAX = 200

/** What an address asks for; a value that no list has is left out. */
export function queryOf(parameters: URLSearchParams): MarketQuery {
  const text = parameters.get('q') ?? ''
  const status = STATUSES.find((known) => known === parameters.get('status')) ?? null
  return {
    text: text.slice(0, TEXT_LENGTH_MAX),
    venue: filled(parameters.get('venue')),
    status,
    category: filled(parameters.get('category')),
  }
}

/** The address of a list. */
export const hrefOfQuery = ({ text, venue, status, category }: MarketQuery): string =>
  hrefOf('markets', null, { q: text, venue, status, category })

/** Whether two queries find the same. */
export const isSameQuery = (one: MarketQuery, other: MarketQuery): boolean =>
  searchText(one) === searchText(other) &&
  one.venue === other.venue &&
  one.status === other.status &&
  one.category === other.category

/** What is searched for; empty: everything is listed. */
export function searchText({ text }: MarketQuery): string {
  const words = text.trim()
  return words.length < TEXT_LENGTH_MIN ? '' : words
}

/** Puts a query into the tab's address in place of the last one: each letter typed is no page of its own. */
function keepInAddress(query: MarketQuery): void {
  const href = hrefOfQuery(query)
  setAddressHash(href, true)
  // The browser's event comes later, and the field must not fall back to what stood in it before.
  tabPlace.set(placeOf(href))
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
  const set = (change: Partial<MarketQuery>) => keepInAddress({ ...query, ...change })
  const shownVenues =
    query.venue === null || venues.includes(query.venue) ? venues : [...venues, query.venue]
  return html`<form class="row market-filters" role="search" onSubmit=${stay}>
    <label class="field wide">
      <span>Search</span>
      <input
        type="search" name="q" autocomplete="off" maxlength=${TEXT_LENGTH_MAX}
        placeholder="A question, a team, a name" value=${query.text}
        onInput=${(event: Event) => set({ text: typed(event) })}
      />
    </label>
    <label class="field">
      <span>Venue</span>
      <select name="venue" value=${query.venue ?? ''}
        onChange=${(event: Event) => set({ venue: typed(event) || null })}>
        <option value="">Both</option>
        ${shownVenues.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select>
    </label>
    <label class="field">
      <span>Status</span>
      <select name="status" value=${query.status ?? ''}
        onChange=${(event: Event) => set({ status: STATUSES.find((known) => known === typed(event)) ?? null })}>
        <option value="">Any</option>
        ${STATUSES.map((status) => html`<option key=${status} value=${status}>${status}</option>`)}
      </select>
    </label>
    <label class="field">
      <span>Category</span>
      <input
        type="text" name="category" list="market-categories" autocomplete="off" placeholder="Any" maxlength="256"
        value=${query.category ?? ''}
        onChange=${(event: Event) => set({ category: typed(event).trim() || null })}
      />
      <datalist id="market-categories">
        ${categories.map((name) => html`<option key=${name} value=${name}></option>`)}
      </datalist>
    </label>
    ${
      isNarrowed(query)
        ? html`<button type="button" class="quiet" onClick=${() => keepInAddress(queryOf(new URLSearchParams()))}>
            Clear
          </button>`
        : null
    }
  </form>`
}

export const isNarrowed = ({ text, venue, status, category }: MarketQuery): boolean =>
  text !== '' || venue !== null || status !== null || category !== null

/** The list follows each letter: there is nothing to send. */
function stay(event: Event): void {
  event.preventDefault()
}
