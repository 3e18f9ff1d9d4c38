// What a market's price is, and where it comes from: the one rule behind /price, outcomes, the
// `prices` channel, ticks and conversions. Pure.

import type { PriceSource } from '../events.ts'
import { midPrice, PRICE_HALF, type PriceMicros, priceMicros } from '../units.ts'
import type { MarketStatus } from './market.ts'

/** A midpoint counts only when bid and ask are at most this far apart (0.10). */
export const SPREAD_MAX = priceMicros(100_000)

/** What is known about a market; null: unknown or that side is empty. */
export interface PriceFacts {
  readonly status: MarketStatus
  readonly settlement: PriceMicros | null
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
  readonly lastTrade: PriceMicros | null
  readonly venuePrice: PriceMicros | null
}

/** Settlement, else midpoint of a tight book, else last trade, else the venue's, else one side, else one half. */
export function priceOf(facts: PriceFacts): { price: PriceMicros; source: PriceSource } {
  const { bid, ask } = facts
  if (facts.status === 'resolved' && facts.settlement !== null) {
    return { price: facts.settlement, source: 'settlement' }
  }
  if (bid !== null && ask !== null && ask >= bid && ask - bid <= SPREAD_MAX) {
    return { price: midPrice(bid, ask), source: 'midpoint' }
  }
  if (facts.lastTrade !== null) return { price: facts.lastTrade, source: 'last_trade' }
  if (facts.venuePrice !== null) return { price: facts.venuePrice, source: 'venue' }
  const side = bid ?? ask
  return side === null ? { price: PRICE_HALF, source: 'none' } : { price: side, source: 'one_side' }
}
