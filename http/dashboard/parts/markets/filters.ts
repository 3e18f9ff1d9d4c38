// The form above the list of markets: a text that is searched for as it is typed, and what the list is narrowed to.
// Every change goes into the address, which the list follows. Upholds DASH36.

import { html } from '../../html.ts'
import { keepInAddress, type MarketQuery, queryOf, STATUSES, TEXT_LENGTH_MAX } from './query.ts'

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
        onInput=${(event: Event) => set({ text: typedIn(event) })}
      />
    </label>
    <label class="field">
      <span>Venue</span>
      <select name="venue" value=${query.venue ?? ''}
        onChange=${(event: Event) => set({ venue: typedIn(event) || null })}>
        <option value="">Both</option>
        ${shownVenues.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select>
    </label>
    <label class="field">
      <span>Status</span>
      <select name="status" value=${query.status ?? ''}
        onChange=${(event: Event) => set({ status: STATUSES.find((known) => known === typedIn(event)) ?? null })}>
        <option value="">Any</option>
        ${STATUSES.map((status) => html`<option key=${status} value=${status}>${status}</option>`)}
      </select>
    </label>
    <label class="field">
      <span>Category</span>
      <input
        type="text" name="category" list="market-categories" autocomplete="off" placeholder="Any" maxlength="256"
        value=${query.category ?? ''}
        onChange=${(event: Event) => set({ category: typedIn(event).trim() || null })}
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

/** What was typed or chosen. */
function typedIn({ currentTarget }: Event): string {
  const isField =
    currentTarget instanceof HTMLInputElement || currentTarget instanceof HTMLSelectElement
  return isField ? currentTarget.value : ''
}

/** The list follows each letter: there is nothing to send. */
function stay(event: Event): void {
  event.preventDefault()
}
