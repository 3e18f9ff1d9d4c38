// Amounts of each side of a fill at venue a. Rows, stream and ledgers use it, so that they agree to the micro.

import { type SizeMicros, sizeMicros, toNumber, type UsdMicros, usdMicros } from '../../../units.ts'
import type { SimTrade } from '../model.ts'
import { feeScheduleOf } from './fees.ts'

/** Fees have five decimals of a dollar and are rounded down. */
const FEE_STEP_MICROS = 10

/**
 * The price in rows, in dollars. Live prices are quotients of amounts and often slightly off the tick
 * (0.5199999923664122). One transaction in sixteen shows that. Rounded to a millionth it is the true price.
 */
export function shownPrice(trade: SimTrade): number {
  const price = toNumber(trade.price)
  const isBeside = trade.isBesideTick ?? trade.txHash.endsWith('0')
  return isBeside ? Math.fround(price) : price
}

/** The participant's part of the fill (0 the taker, then the makers), and its side. */
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

/** From this date a buyer's fee is in dollars on top of the price. Before, it was deducted from the contracts. */
const DOLLARS_SINCE_MS = Date.UTC(2026, 3, 28)

/** Contracts that a participant of a fill receives. */
export function fillSize(trade: SimTrade, participant: number): SizeMicros {
  const { size, isBuy } = participation(trade, participant)
  if (!isBuy || trade.atMs >= DOLLARS_SINCE_MS || trade.price === 0) return sizeMicros(size)
  const fee = exactFee(trade, participant)
  return sizeMicros(size - Math.floor(fee / toNumber(trade.price)))
}

/** Fee of a participant. Only takers pay one, on either side. */
export function fillFee(trade: SimTrade, participant: number): UsdMicros {
  const { size } = participation(trade, participant)
  const withheld = size - fillSize(trade, participant)
  if (withheld > 0) return fillUsd(toNumber(trade.price), withheld)
  return usdMicros(Math.floor(exactFee(trade, participant) / FEE_STEP_MICROS) * FEE_STEP_MICROS)
}

/** In micro-dollars. */
function exactFee(trade: SimTrade, participant: number): number {
  const schedule = participant === 0 ? feeScheduleOf(trade.market) : null
  if (schedule === null) return 0
  const price = toNumber(trade.price)
  return schedule.rate * (price * (1 - price)) ** schedule.exponent * trade.size
}
