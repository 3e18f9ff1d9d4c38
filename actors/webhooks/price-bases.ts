// The price that a webhook was last told of each market: what price.changed is measured against. Kept
// by market number, a page of 1,024 markets at a time: 4 bytes a market near those that it hears of.
// What is on disk is the outbox's. Not for: when a price is told (actors/webhooks/events.ts).
// Upholds HOOKEVENT5.

import type { MarketNumber } from '../../engine/market/market.ts'
import { type PriceMicros, priceMicros } from '../../engine/units.ts'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/webhooks.ts'

const PAGE_BITS = 10
const PAGE_COUNT = 2 ** PAGE_BITS
const UNKNOWN = -1
/** The outbox was not asked yet. */
const UNREAD = -2

/** The bases of one webhook. */
export class PriceBases {
  readonly #webhook: WebhookNumber
  readonly #outbox: OutboxTable
  readonly #pages = new Map<number, Int32Array>()

  /** Reads nothing yet: each market's base is read when its price is first seen. */
  constructor(webhook: WebhookNumber, outbox: OutboxTable) {
    this.#webhook = webhook
    this.#outbox = outbox
  }

  /** The price last told; -1 when none was. */
  get(market: MarketNumber): number {
    const page = this.#pageOf(market)
    const known = page[market & (PAGE_COUNT - 1)] ?? UNREAD
    if (known !== UNREAD) return known
    const read = this.#outbox.lastPrice(this.#webhook, market) ?? UNKNOWN
    page[market & (PAGE_COUNT - 1)] = read
    return read
  }

  /** The next base, on disk with this turn. */
  put(market: MarketNumber, price: PriceMicros): void {
    this.#outbox.putLastPrice(this.#webhook, market, price)
    this.#pageOf(market)[market & (PAGE_COUNT - 1)] = price
  }

  /** The market's number is never used again: its base goes from disk as well. */
  forget(market: MarketNumber): void {
    this.#outbox.removeLastPrice(this.#webhook, market)
    const page = this.#pages.get(market >>> PAGE_BITS)
    if (page !== undefined) page[market & (PAGE_COUNT - 1)] = UNKNOWN
  }

  #pageOf(market: MarketNumber): Int32Array {
    const number = market >>> PAGE_BITS
    const known = this.#pages.get(number)
    if (known !== undefined) return known
    const page = new Int32Array(PAGE_COUNT).fill(UNREAD)
    this.#pages.set(number, page)
    return page
  }
}

/** A known base as a price; only of what `get` gave and is not -1. */
export const basePrice = (base: number): PriceMicros => priceMicros(base)
