// A trade in terms of the outcome that its taker traded. Stored trades are in terms of the market's first outcome.

import type { Trade, TradeSide } from '../events.ts'
import { complement, type PriceMicros } from '../units.ts'

/** The taker's side in the outcome at `outcomeIndex`. */
export function takerSide({ side, outcomeIndex }: Pick<Trade, 'side' | 'outcomeIndex'>): TradeSide {
  return (outcomeIndex === 0) === (side === 'buy') ? 'buy' : 'sell'
}

/** Price of the traded outcome. Price times size is the trade's `usd`. */
export function takerPrice({
  price,
  outcomeIndex,
}: Pick<Trade, 'price' | 'outcomeIndex'>): PriceMicros {
  return outcomeIndex === 0 ? price : complement(price)
}
