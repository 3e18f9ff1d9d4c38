// Market search with debounce: aborts outdated requests and shows only the response to the latest query. The
// last list stays visible until then.

import type { StopTimer } from '../../browser.ts'
import type { Market, MarketPage } from '../../records.ts'
import { Signal } from '../../signal.ts'
import { isSameQuery, type MarketQuery, searchText } from './filters.ts'

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
