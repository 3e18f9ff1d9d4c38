// Filters of the market list. The address is the single source of the query
// (`#/markets?q=fed&venue=venue_a`); every form change updates it.

import { useEffect, useRef } from 'preact/hooks'
import { onKey, type StopTimer, setAddressHash } from '../browser.ts'
import { capital } from '../format.ts'
import { html } from '../html.ts'
import type { Market, MarketPage, MarketStatus } from '../records.ts'
import { currentRoute, hrefOf, parseRoute } from '../route.ts'
import { Signal } from '../signal.ts'
import { InputField } from './filters.ts'
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

/** Whether two queries give the same list. */
export const isSameQuery = (one: MarketQuery, other: MarketQuery): boolean =>
  searchText(one) === searchText(other) &&
  hrefOfQuery({ ...one, text: '' }) === hrefOfQuery({ ...other, text: '' })

/** The search text; empty: no search. */
export function searchText({ text }: MarketQuery): string {
  const trimmed = text.trim()
  return trimmed.length < TEXT_LENGTH_MIN ? '' : trimmed
}

/** Replaces the address, so that typed letters do not fill the browser history. */
export function writeToAddress(query: MarketQuery): void {
  const href = hrefOfQuery(query)
  setAddressHash(href, true)
  // Updates the route now. The hashchange event is asynchronous, and until then the field would show its old
  // value.
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
  /** Suggested categories. Others can be typed. */
  readonly categories: readonly string[]
}) {
  const set = (change: Partial<MarketQuery>) => writeToAddress({ ...query, ...change })
  const field = useRef<HTMLInputElement>(null)
  // Selects the text, so that typing replaces it.
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

/** Prevents the submit, since the list updates on input. */
function stay(event: Event): void {
  event.preventDefault()
}

// Market search with debounce: aborts outdated requests and shows only the response to the latest query. The
// last list stays visible until then.

/** Debounce delay of typed text. */
export const PAUSE_MS = 250
/** Page limit, since every listed market costs a subscription. */
export const PAGES_MAX = 8

export interface FinderState {
  /**
   * `waiting`: nothing to show; `searching`: shows the last list while another loads; `adding`: loads the
   * next page.
   */
  readonly phase: 'waiting' | 'searching' | 'adding' | 'shown' | 'failed'
  readonly pages: readonly (readonly Market[])[]
  readonly hasMore: boolean
  /** Set in phase `failed`. */
  readonly error: unknown
}

interface FinderParts {
  readonly fetchMarkets: (
    query: MarketQuery,
    cursor: string | null,
    signal: AbortSignal,
  ) => Promise<MarketPage>
  readonly delay: (delayMs: number, action: () => void) => StopTimer
}

export class MarketFinder {
  readonly state = new Signal<FinderState>({
    phase: 'waiting',
    pages: [],
    hasMore: false,
    error: null,
  })
  readonly #parts: FinderParts
  #wanted: MarketQuery | null = null
  #cursor: string | null = null
  #cancelPause: StopTimer = () => undefined
  #controller: AbortController | null = null

  constructor(parts: FinderParts) {
    this.#parts = parts
  }

  /** Starts another query: at once if a filter changed, debounced if the text changed. */
  search(query: MarketQuery): void {
    const last = this.#wanted
    if (last !== null && isSameQuery(last, query)) return
    const isTyping = last !== null && searchText(last) !== searchText(query)
    this.#wanted = query
    this.#begin(isTyping ? PAUSE_MS : 0)
  }

  /** Reloads from the first page. A shown list stays visible until then. */
  again(): void {
    const query = this.#wanted
    if (query === null || this.state.value.phase !== 'shown') return this.#begin(0)
    this.close()
    this.#fetchPage(query, null, [])
  }

  /** Adds the next page, if any. */
  more(): void {
    const { phase, hasMore, pages } = this.state.value
    const query = this.#wanted
    if (query === null || phase !== 'shown' || !hasMore || pages.length >= PAGES_MAX) return
    this.#set({ phase: 'adding' })
    this.#fetchPage(query, this.#cursor, pages)
  }

  /** Cancels pending requests. */
  close(): void {
    this.#cancelPause()
    this.#controller?.abort()
    this.#controller = null
  }

  #begin(delayMs: number): void {
    this.close()
    const query = this.#wanted
    if (query === null) return
    this.#set({ phase: this.state.value.pages.length === 0 ? 'waiting' : 'searching', error: null })
    if (delayMs === 0) return this.#fetchPage(query, null, [])
    this.#cancelPause = this.#parts.delay(delayMs, () => this.#fetchPage(query, null, []))
  }

  #fetchPage(query: MarketQuery, cursor: string | null, before: FinderState['pages']): void {
    const controller = new AbortController()
    this.#controller = controller
    this.#parts.fetchMarkets(query, cursor, controller.signal).then(
      (page) => {
        if (this.#controller !== controller) return
        this.#cursor = page.cursor
        const pages = page.markets.length === 0 ? before : [...before, page.markets]
        this.#set({ phase: 'shown', pages, hasMore: page.has_more, error: null })
      },
      (error: unknown) => {
        if (this.#controller === controller) this.#set({ phase: 'failed', error })
      },
    )
  }

  #set(change: Partial<FinderState>): void {
    this.state.set({ ...this.state.value, ...change })
  }
}
