// Computes the price of a market and its source. This rule applies to /price, outcomes, the `prices` channel, ticks and
// conversions.

import type { PriceSource } from '../events.ts'
import { midPrice, PRICE_HALF, type PriceMicros, priceMicros } from '../units.ts'
import type { MarketStatus } from './market.ts'

/** Maximum spread (0.10) at which the midpoint is used as the price. */
export const SPREAD_MAX = priceMicros(100_000)

/** Inputs of the price rule. Null: unknown, or that side is empty. */
export interface PriceFacts {
  readonly status: MarketStatus
  readonly settlement: PriceMicros | null
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
  readonly lastTrade: PriceMicros | null
  readonly venuePrice: PriceMicros | null
}

/**
 * In order of preference: settlement, midpoint of a tight book, last trade, the venue's price, one side,
 * one half.
 */
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
