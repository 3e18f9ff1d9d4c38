// The price base of each market for a webhook: the price in its last price.changed event. Memory: pages of 1,024
// markets with 4 bytes each. Disk: the outbox.

import type { MarketNumber } from '../../engine/market/market.ts'
import { type PriceMicros, priceMicros } from '../../engine/units.ts'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/storage.ts'

const PAGE_BITS = 10
const PAGE_COUNT = 2 ** PAGE_BITS
const UNKNOWN = -1
const UNREAD = -2

export class PriceBases {
  readonly #webhook: WebhookNumber
  readonly #outbox: OutboxTable
  readonly #pages = new Map<number, Int32Array>()

  constructor(webhook: WebhookNumber, outbox: OutboxTable) {
    this.#webhook = webhook
    this.#outbox = outbox
  }

  /** Returns -1 if there is no base. */
  get(market: MarketNumber): number {
    const page = this.#pageOf(market)
    const cached = page[market & (PAGE_COUNT - 1)] ?? UNREAD
    if (cached !== UNREAD) return cached
    const read = this.#outbox.lastPrice(this.#webhook, market) ?? UNKNOWN
    page[market & (PAGE_COUNT - 1)] = read
    return read
  }

  put(market: MarketNumber, price: PriceMicros): void {
    this.#outbox.putLastPrice(this.#webhook, market, price)
    this.#pageOf(market)[market & (PAGE_COUNT - 1)] = price
  }

  /** Market numbers are never reused, so the base is removed from memory and outbox. */
  remove(market: MarketNumber): void {
    this.#outbox.removeLastPrice(this.#webhook, market)
    const page = this.#pages.get(market >>> PAGE_BITS)
    if (page !== undefined) page[market & (PAGE_COUNT - 1)] = UNKNOWN
  }

  #pageOf(market: MarketNumber): Int32Array {
    const number = market >>> PAGE_BITS
    const cached = this.#pages.get(number)
    if (cached !== undefined) return cached
    const page = new Int32Array(PAGE_COUNT).fill(UNREAD)
    this.#pages.set(number, page)
    return page
  }
}

/** `base`: a result of `get` other than -1. */
export const basePrice = (base: number): PriceMicros => priceMicros(base)
