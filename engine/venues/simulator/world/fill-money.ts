// What a fill of venue a costs whom: the price as the venue shows it, the dollars and the taker's fee.
// One place, so that rows, stream and ledgers agree to the micro. Not for: venue b, whose fees nobody sees.
// Upholds SIMWALLET3.

import { toNumber, USD_ZERO, type UsdMicros, usdMicros } from '../../../units.ts'
import type { SimMarket, SimTrade } from '../model.ts'

/** Of markets with fees: dollars a contract are rate · p · (1 − p), paid by takers who buy. */
export const TAKER_FEE_RATE = 0.07

/** Whether takers pay here; only crypto markets have a fee. */
export function hasTakerFee(market: SimMarket): boolean {
  return market.event.topic === 'crypto'
}

/**
 * The price in rows, in dollars. Live prices are quotients of amounts and often just beside the tick
 * (0.5199999923664122): one transaction in sixteen shows that. It rounds to the true price at a millionth.
 */
export function shownPrice(trade: SimTrade): number {
  const price = toNumber(trade.price)
  const isBeside = trade.isBesideTick ?? trade.txHash.endsWith('0')
  return isBeside ? Math.fround(price) : price
}

/** How much of the fill is the participant's (0 the taker, then the makers), and on which side. */
export function participation(
  trade: SimTrade,
  participant: number,
): { readonly size: number; readonly isBuy: boolean } {
  const maker = participant === 0 ? undefined : trade.makers[participant - 1]
  const isBuy = (trade.side === 'buy') === (maker === undefined)
  return { size: maker?.size ?? trade.size, isBuy }
}

/** Dollars of `size` micro-contracts at a shown price, to the nearest micro. */
export function fillUsd(price: number, size: number): UsdMicros {
  return usdMicros(Math.round(price * size))
}

/** What a participant pays beside the price, to the nearest micro. */
export function fillFee(trade: SimTrade, participant: number): UsdMicros {
  if (participant !== 0 || trade.side !== 'buy' || !hasTakerFee(trade.market)) return USD_ZERO
  const price = toNumber(trade.price)
  return usdMicros(Math.round(TAKER_FEE_RATE * price * (1 - price) * trade.size))
}
