// The answers asked for most, kept as finished text and given again until their market changes: the
// present price and the whole book of a market, cut where their live figures go. Others are written
// anew each time; a market's own record is kept where it is written (http/records/markets.ts), and
// pages of rows by what was asked (kept-answers.ts).
// Kept are some thousands of each; when full, those written longest ago go, and are written anew.

import type { MarketView } from '../../actors/views.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type BookCut, cutBook, PLAIN_BOOK, pastedBook } from './books.ts'
import { Kept, weightOf } from './kept.ts'
import { cutPrice, type PriceCut, pastedPrice } from './prices.ts'

const PRICES_KEPT = { countMax: 16_384, bytesMax: 16 * 2 ** 20 }
const BOOKS_KEPT = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }

interface Hot<Cut> {
  /** Of the market when it was written. */
  readonly version: number
  readonly cut: Cut
  readonly bytes: number
}

/** Present prices and whole books of markets, as answers. */
export class HotAnswers {
  readonly #prices: Kept<MarketNumber, Hot<PriceCut>>
  readonly #books: Kept<MarketNumber, Hot<BookCut>>
  readonly #epoch: string

  constructor(
    engine: { readonly epoch: string },
    bounds = { prices: PRICES_KEPT, books: BOOKS_KEPT },
  ) {
    this.#epoch = JSON.stringify(engine.epoch)
    this.#prices = new Kept(bounds.prices)
    this.#books = new Kept(bounds.books)
  }

  /** The Price record of the first outcome. */
  price(view: MarketView, nowMs: number): string {
    const kept = this.#prices.get(view.ref.number)
    if (kept !== undefined && kept.version === view.version) return pastedPrice(kept.cut, nowMs)
    const cut = cutPrice(view)
    // A price that was never observed is dated now, at every look: it must not be kept.
    if (cut.observedAtMs < nowMs) {
      const head = flat(cut.head)
      const bytes = weightOf(head, cut.tail)
      this.#prices.put(view.ref.number, { version: view.version, cut: { ...cut, head }, bytes })
    }
    return pastedPrice(cut, nowMs)
  }

  /** The Orderbook record of the first outcome, all levels. */
  book(view: MarketView, nowMs: number): string {
    const kept = this.#books.get(view.ref.number)
    if (kept !== undefined && kept.version === view.version) return pastedBook(kept.cut, nowMs)
    const written = cutBook(view, this.#epoch, PLAIN_BOOK)
    const cut = { ...written, head: flat(written.head) }
    const bytes = weightOf(cut.head, cut.middle)
    this.#books.put(view.ref.number, { version: view.version, cut, bytes })
    return pastedBook(cut, nowMs)
  }
}

/** A concatenated text is a tree of its pieces until it is first read: this flattens it once. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}
