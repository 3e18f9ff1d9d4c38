// Amounts of a fill at venue a. Rows, stream and ledgers use these functions, so that they agree exactly.

import { toNumber, USD_ZERO, type UsdMicros, usdMicros } from '../../../units.ts'
import type { SimTrade } from '../model.ts'
import { feeScheduleOf } from './fees.ts'

/** Fees have five decimals of a dollar and are rounded down. */
const FEE_STEP_MICROS = 10

/**
 * The price that rows show, in dollars. Like the venue's prices, it is slightly off the tick (0.5199999923664122) for
 * one transaction in sixteen. Rounded to a millionth it is exact.
 */
export function shownPrice(trade: SimTrade): number {
  const price = toNumber(trade.price)
  const isBeside = trade.isBesideTick ?? trade.txHash.endsWith('0')
  return isBeside ? Math.fround(price) : price
}

/** The share of a participant in the fill, and its side. Participant 0 is the taker, the others are makers. */
export function participation(
  trade: SimTrade,
  participant: number,
): { readonly size: number; readonly isBuy: boolean } {
  const maker = participant === 0 ? undefined : trade.makers[participant - 1]
  const isBuy = (trade.side === 'buy') === (maker === undefined)
  return { size: maker?.size ?? trade.size, isBuy }
}

/** Dollars of `size` micro-contracts at a displayed price, to the nearest micro. */
export function fillUsd(price: number, size: number): UsdMicros {
  return usdMicros(Math.round(price * size))
}

/** Only takers pay a fee, for purchases and sales. */
export function fillFee(trade: SimTrade, participant: number): UsdMicros {
  const schedule = participant === 0 ? feeScheduleOf(trade.market) : null
  if (schedule === null) return USD_ZERO
  const price = toNumber(trade.price)
  const exact = schedule.rate * (price * (1 - price)) ** schedule.exponent * trade.size
  return usdMicros(Math.floor(exact / FEE_STEP_MICROS) * FEE_STEP_MICROS)
}
