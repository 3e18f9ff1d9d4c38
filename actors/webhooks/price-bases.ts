// The base of each market for a webhook: the price of its last price.changed, against which the next one is measured. In
// memory by market number, a page of 1,024 markets of 4 bytes at a time; on disk in the outbox.

import type { MarketNumber } from '../../engine/market/market.ts'
import { type PriceMicros, priceMicros } from '../../engine/units.ts'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/webhooks.ts'

const PAGE_BITS = 10
const PAGE_COUNT = 2 ** PAGE_BITS
const UNKNOWN = -1
/** Not read from the outbox yet. */
const UNREAD = -2

/** The bases of one webhook. */
export class PriceBases {
  readonly #webhook: WebhookNumber
  readonly #outbox: OutboxTable
  readonly #pages = new Map<number, Int32Array>()

  /** Reads nothing yet: each market's base is read when its first price comes. */
  constructor(webhook: WebhookNumber, outbox: OutboxTable) {
    this.#webhook = webhook
    this.#outbox = outbox
  }

  /** The base; -1 when there is none. */
  get(market: MarketNumber): number {
    const page = this.#pageOf(market)
    const cached = page[market & (PAGE_COUNT - 1)] ?? UNREAD
    if (cached !== UNREAD) return cached
    const read = this.#outbox.lastPrice(this.#webhook, market) ?? UNKNOWN
    page[market & (PAGE_COUNT - 1)] = read
    return read
  }

  /** Sets the base, on disk with this turn. */
  put(market: MarketNumber, price: PriceMicros): void {
    this.#outbox.putLastPrice(this.#webhook, market, price)
    this.#pageOf(market)[market & (PAGE_COUNT - 1)] = price
  }

  /** The market's number is never used again: its base is removed from disk as well. */
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

/** A known base as a price; only for a result of `get` other than -1. */
export const basePrice = (base: number): PriceMicros => priceMicros(base)
