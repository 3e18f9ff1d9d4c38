// The answers asked for most, kept as finished text and given again until their market changes: the
// present price and the whole book of a market, cut where their live figures go. Others are written
// anew each time; a market's own record is kept where it is written (http/records/markets.ts), and
// pages of rows by what was asked (answer-cache.ts).
// Kept are some thousands of each; when full, those written longest ago go, and are written anew.

import type { MarketView } from '../../actors/views.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type BookTemplate, bookTemplate, fillBook, PLAIN_BOOK } from './books.ts'
import { BoundedCache, weightOf } from './bounded-cache.ts'
import { fillPrice, type PriceTemplate, priceTemplate } from './prices.ts'

const PRICE_BOUNDS = { countMax: 16_384, bytesMax: 16 * 2 ** 20 }
const BOOK_BOUNDS = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }

interface CachedTemplate<Template> {
  /** Of the market when it was written. */
  readonly version: number
  readonly template: Template
  readonly bytes: number
}

/** Present prices and whole books of markets, as answers. */
export class MarketAnswerCache {
  readonly #prices: BoundedCache<MarketNumber, CachedTemplate<PriceTemplate>>
  readonly #books: BoundedCache<MarketNumber, CachedTemplate<BookTemplate>>
  readonly #epoch: string

  constructor(
    engine: { readonly epoch: string },
    bounds = { prices: PRICE_BOUNDS, books: BOOK_BOUNDS },
  ) {
    this.#epoch = JSON.stringify(engine.epoch)
    this.#prices = new BoundedCache(bounds.prices)
    this.#books = new BoundedCache(bounds.books)
  }

  /** The Price record of the first outcome. */
  price(view: MarketView, nowMs: number): string {
    const cached = this.#prices.get(view.ref.number)
    if (cached !== undefined && cached.version === view.version)
      return fillPrice(cached.template, nowMs)
    const template = priceTemplate(view)
    // A price that was never observed is dated now, at every look: it must not be kept.
    if (template.observedAtMs < nowMs) {
      const head = flat(template.head)
      const bytes = weightOf(head, template.tail)
      this.#prices.put(view.ref.number, {
        version: view.version,
        template: { ...template, head },
        bytes,
      })
    }
    return fillPrice(template, nowMs)
  }

  /** The Orderbook record of the first outcome, all levels. */
  book(view: MarketView, nowMs: number): string {
    const cached = this.#books.get(view.ref.number)
    if (cached !== undefined && cached.version === view.version)
      return fillBook(cached.template, nowMs)
    const written = bookTemplate(view, this.#epoch, PLAIN_BOOK)
    const template = { ...written, head: flat(written.head) }
    const bytes = weightOf(template.head, template.middle)
    this.#books.put(view.ref.number, { version: view.version, template, bytes })
    return fillBook(template, nowMs)
  }
}

/** A concatenated text is a tree of its pieces until it is first read: this flattens it once. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}
