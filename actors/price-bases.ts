// The price that a webhook was last told of each market: what price.changed is measured against. Kept
// by market number, a page of 1,024 markets at a time: 4 bytes a market near those that it hears of.
// What is on disk is the outbox's. Not for: when a price is told (webhook-events.ts).
// Upholds HOOKEVENT5.

import type { MarketNumber } from '../engine/market.ts'
import { type PriceMicros, priceMicros } from '../engine/units.ts'
import type { WebhookNumber } from '../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../storage/webhook-contract.ts'

const PAGE_BITS = 10
const PAGE_COUNT = 2 ** PAGE_BITS
const UNKNOWN = -1

/** The bases of one webhook. */
export class PriceBases {
  readonly #webhook: WebhookNumber
  readonly #outbox: OutboxTable
  readonly #pages = new Map<number, Int32Array>()

  /** Reads what the outbox has kept of it. */
  constructor(webhook: WebhookNumber, outbox: OutboxTable) {
    this.#webhook = webhook
    this.#outbox = outbox
    for (const { market, price } of outbox.lastPrices(webhook)) this.#keep(market, price)
  }

  /** The price last told; -1 when none was. */
  get(market: MarketNumber): number {
    const page = this.#pages.get(market >>> PAGE_BITS)
    return page?.[market & (PAGE_COUNT - 1)] ?? UNKNOWN
  }

  /** The next base, on disk with this turn. */
  put(market: MarketNumber, price: PriceMicros): void {
    this.#outbox.putLastPrice(this.#webhook, market, price)
    this.#keep(market, price)
  }

  /** The market's number is never used again. */
  forget(market: MarketNumber): void {
    const page = this.#pages.get(market >>> PAGE_BITS)
    if (page !== undefined) page[market & (PAGE_COUNT - 1)] = UNKNOWN
  }

  #keep(market: MarketNumber, price: PriceMicros): void {
    const number = market >>> PAGE_BITS
    let page = this.#pages.get(number)
    if (page === undefined) {
      page = new Int32Array(PAGE_COUNT).fill(UNKNOWN)
      this.#pages.set(number, page)
    }
    page[market & (PAGE_COUNT - 1)] = price
  }
}

/** A known base as a price; only of what `get` gave and is not -1. */
export const basePrice = (base: number): PriceMicros => priceMicros(base)
