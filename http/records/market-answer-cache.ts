// Caches the most requested answers as finished text until their market changes: the current price and the full book of
// a market, split at their live values. Market records are cached in markets.ts, pages of rows in answer-cache.ts.

import type { MarketView } from '../../actors/views.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type BookTemplate, bookTemplate, fillBook, PLAIN_BOOK } from './books.ts'
import { BoundedCache, weightOf } from './bounded-cache.ts'
import { fillPrice, type PriceTemplate, priceTemplate } from './prices.ts'

const PRICE_BOUNDS = { countMax: 16_384, bytesMax: 16 * 2 ** 20 }
const BOOK_BOUNDS = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }

interface CachedTemplate<Template> {
  /** Version of the market when the answer was written. */
  readonly version: number
  readonly template: Template
  readonly bytes: number
}

/** Caches current prices and full books of markets. */
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
    // A price that was never observed is always dated now: do not cache it.
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

/** Flattens a concatenated string, which V8 stores as a tree until its first read. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}
