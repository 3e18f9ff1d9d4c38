// The state of the markets at one moment of the tape: books, prices and sequence numbers, from states and updates.

import type { MarketPrice, Update } from '../../engine/events.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { OrderBook } from '../../engine/market/order-book.ts'
import type { BookState, MarketState } from '../records/log-items.ts'
import type { TapeItem } from '../records/tape-items.ts'

interface Tracked {
  readonly state: MarketState
  readonly levels: OrderBook
  book: Omit<BookState, 'bids' | 'asks'>
  price: MarketPrice
  readonly seqs: { -readonly [Channel in keyof MarketState['seqs']]: number }
}

export class MarketStates {
  readonly #markets = new Map<MarketNumber, Tracked>()

  /** Applies the next item. Skips items that the state already contains. */
  apply(item: TapeItem): void {
    if (item.kind === 'state') this.#take(item.state)
    else if (item.kind === 'update') this.#update(item.update, item.book)
    // It is unknown which markets lost updates. The next sweep has the states of all markets.
    else if (item.kind === 'lost') this.#markets.clear()
  }

  /** The state of a market. Null: unknown. */
  get(number: MarketNumber): MarketState | null {
    const tracked = this.#markets.get(number)
    if (tracked === undefined) return null
    const { state, levels, book, price, seqs } = tracked
    const [bids, asks] = [levels.levels('bid'), levels.levels('ask')]
    return { ...state, book: { ...book, bids, asks }, price, seqs: { ...seqs } }
  }

  clear(): void {
    this.#markets.clear()
  }

  numbers(): Iterable<MarketNumber> {
    return this.#markets.keys()
  }

  #take(state: MarketState): void {
    const { market: number, book, price, seqs } = state
    const existing = this.#markets.get(number)
    if (existing !== undefined && existing.book.seq > book.seq) return
    const levels = new OrderBook()
    levels.replace(book.bids, book.asks)
    this.#markets.set(number, { state, levels, book, price, seqs: { ...seqs } })
  }

  #update(update: Update, after: BookState | null): void {
    if (!('market' in update) || update.market === null) return
    const { number } = update.market
    const tracked = this.#markets.get(number)
    if (tracked === undefined) return
    switch (update.kind) {
      case 'book': {
        const { seq, offset, venueTimeMs, receivedAtMs } = update
        if (seq <= tracked.book.seq) return
        if (seq !== tracked.book.seq + 1) return void this.#markets.delete(number)
        for (const change of update.changes) tracked.levels.set(change)
        tracked.book = { ...tracked.book, seq, offset, venueTimeMs, receivedAtMs }
        return
      }
      case 'bookReplaced':
        if (after === null || after.seq < tracked.book.seq) return
        tracked.levels.replace(after.bids, after.asks)
        tracked.book = after
        return
      case 'bookStale':
        tracked.book = { ...tracked.book, isStale: true, staleReason: update.reason }
        if (update.reason !== 'not_covered') return
        tracked.levels.clear()
        tracked.book = { ...tracked.book, venueTimeMs: null, receivedAtMs: null }
        return
      case 'bookConfirmed':
        tracked.book = { ...tracked.book, isStale: false, staleReason: null }
        return
      case 'price':
        if (update.seq <= tracked.seqs.prices) return
        tracked.price = update.price
        tracked.seqs.prices = update.seq
        return
      case 'trade':
        tracked.seqs.trades = Math.max(tracked.seqs.trades, update.seq)
        return
      case 'whale':
        tracked.seqs.whales = Math.max(tracked.seqs.whales, update.seq)
        return
      case 'lifecycle':
        tracked.seqs.lifecycle = Math.max(tracked.seqs.lifecycle, update.seq)
        return
      case 'arbitrage':
        tracked.seqs.arbitrage = Math.max(tracked.seqs.arbitrage, update.seq)
        return
      case 'gap':
        return
    }
  }
}
