// Computes the price of a market and its source, for REST, streams and stored ticks alike.

import type { PriceSource } from '../events.ts'
import { midPrice, PRICE_HALF, type PriceMicros, priceMicros } from '../units.ts'
import type { MarketStatus } from './market.ts'

/** Maximum spread (0.10) at which the midpoint is used as the price. */
export const SPREAD_MAX = priceMicros(100_000)

/** Null: unknown, or the side is empty. */
export interface PriceFacts {
  readonly status: MarketStatus
  readonly settlement: PriceMicros | null
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
  /** Whether bid and ask are from the listing, because the market has no subscribed book. */
  readonly isListed?: boolean
  readonly lastTrade: PriceMicros | null
  readonly isTradeNewer?: boolean
  readonly venuePrice: PriceMicros | null
}

/**
 * In order of preference: settlement, midpoint of a tight book, last trade, the venue's price, one side, one half.
 * Without a subscribed book: settlement, a trade that is newer than the listing, the listing's prices, an older trade,
 * one side, one half.
 */
export function priceOf(facts: PriceFacts): { price: PriceMicros; source: PriceSource } {
  const { bid, ask, lastTrade, venuePrice, isListed = false } = facts
  if (facts.status === 'resolved' && facts.settlement !== null) {
    return { price: facts.settlement, source: 'settlement' }
  }
  if (isListed && lastTrade !== null && facts.isTradeNewer === true) {
    return { price: lastTrade, source: 'last_trade' }
  }
  if (bid !== null && ask !== null && ask >= bid && ask - bid <= SPREAD_MAX) {
    return { price: midPrice(bid, ask), source: isListed ? 'venue' : 'midpoint' }
  }
  if (isListed && venuePrice !== null) return { price: venuePrice, source: 'venue' }
  if (lastTrade !== null) return { price: lastTrade, source: 'last_trade' }
  if (venuePrice !== null) return { price: venuePrice, source: 'venue' }
  const side = bid ?? ask
  return side === null ? { price: PRICE_HALF, source: 'none' } : { price: side, source: 'one_side' }
}
