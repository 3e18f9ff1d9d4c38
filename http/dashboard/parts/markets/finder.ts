// Finds markets as the viewer types: waits for a pause, gives up the request under way when another list is wanted, and
// shows only what the newest request answered, whatever order the answers come in. The last list stays until then.

import type { StopTimer } from '../../browser.ts'
import type { Market, MarketPage } from '../../records.ts'
import { Signal } from '../../signal.ts'
import { isSameQuery, type MarketQuery, searchText } from './filters.ts'

/** The pause after the last letter before a search. */
export const PAUSE_MS = 250
/** Beyond it a list is no list to look through, and every row costs a subscription. */
export const PAGES_MAX = 8

export interface FinderState {
  /** `waiting`: nothing to show yet; `searching`: the last list, another is asked for; `adding`: more of this list. */
  readonly phase: 'waiting' | 'searching' | 'adding' | 'shown' | 'failed'
  readonly pages: readonly (readonly Market[])[]
  readonly hasMore: boolean
  /** Of phase `failed`. */
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

  /** Looks for another list; at once when a filter changed, after a pause when the text did. */
  search(query: MarketQuery): void {
    const last = this.#wanted
    if (last !== null && isSameQuery(last, query)) return
    const isTyping = last !== null && searchText(last) !== searchText(query)
    this.#wanted = query
    this.#begin(isTyping ? PAUSE_MS : 0)
  }

  /** Asks for the list anew, from its beginning; one that is shown stays as it is until then. */
  again(): void {
    const query = this.#wanted
    if (query === null || this.state.value.phase !== 'shown') return this.#begin(0)
    this.close()
    this.#fetchPage(query, null, [])
  }

  /** Adds the next page, where there is one. */
  more(): void {
    const { phase, hasMore, pages } = this.state.value
    const query = this.#wanted
    if (query === null || phase !== 'shown' || !hasMore || pages.length >= PAGES_MAX) return
    this.#set({ phase: 'adding' })
    this.#fetchPage(query, this.#cursor, pages)
  }

  /** Nothing is asked or shown any more. */
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
