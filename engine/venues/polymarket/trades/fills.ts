// The fills of a transaction. The activity stream and the Data API have one row a transaction, at the average price; the
// market channel has a `last_trade_price` for each fill, without the wallet. A row whose size and dollars are the sum of
// such messages is split into them.

import { restPrice } from '../../../trade-parts.ts'
import { complement, MICROS, sizeMicros } from '../../../units.ts'
import type { Fill, LastTrade, TradeRow } from './trade-ledger.ts'

/** Millionths of a contract by which sums may differ. */
const SIZE_NOISE = 2
/** Millionths of a dollar by which average prices may differ: hosts round them, and so does the chain each amount. */
const PRICE_NOISE = 50
/** Millionths: prices of orders are multiples of a hundredth of a cent. */
const GRID = 100
/** Ways to leave out repeats that are tried; real transactions need one or two. */
const TRIES_MAX = 1_000

/** Whether a row is certainly of several fills: its price can be none of an order. */
export function isAverage({ price }: Fill): boolean {
  return price % GRID !== 0
}

/**
 * The fills that the row is the sum of. 'incomplete': the messages are less than the row, so that more may come.
 * 'unlike': they are not its fills, whatever comes. Equal messages are fills of their own, unless the sum is too large
 * with them: then they are repeats of one message.
 */
export function fillsOf(
  row: TradeRow,
  trades: readonly LastTrade[],
): readonly Fill[] | 'incomplete' | 'unlike' {
  const shown = trades.flatMap((trade) => inTokenOf(row, trade) ?? [])
  const excess = sizeOf(shown) - row.size
  if (excess < -SIZE_NOISE) return 'incomplete'
  const fills = excess <= SIZE_NOISE ? shown : withoutRepeats(shown, excess)
  if (fills === null || fills.some(isAverage)) return 'unlike'
  return hasDollarsOf(row, fills) ? fills : 'unlike'
}

/**
 * The row as the fills that are known, and one for the rest of its size and dollars; null where these are no part of it.
 */
export function fillsWithRest(row: TradeRow, trades: readonly LastTrade[]): readonly Fill[] | null {
  const fills = distinct(trades.flatMap((trade) => inTokenOf(row, trade) ?? []))
  const size = row.size - sizeOf(fills)
  const price = fills.length === 0 ? null : restPrice(row, fills)
  return size <= SIZE_NOISE || price === null ? null : [...fills, { price, size: sizeMicros(size) }]
}

/**
 * The fills of a taker's row by the rows of its makers, one for each order that it met; null where their sum is another.
 * The better prices come first, since an order meets them first.
 */
export function fillsOfMakers(row: TradeRow, makers: readonly TradeRow[]): readonly Fill[] | null {
  if (makers.length === 0) return null
  const fills = fillsOf(
    row,
    makers
      .filter(({ wallet }) => wallet !== row.wallet)
      .map((maker) => ({ ...maker, side: maker.side === 'buy' ? 'sell' : 'buy' })),
  )
  if (typeof fills === 'string') return null
  const sign = row.side === 'buy' ? 1 : -1
  return fills.toSorted((one, other) => sign * (one.price - other.price))
}

/** A message in the token of the row; null where it is of the other side, or of another market. */
function inTokenOf(row: TradeRow, { market, asset, side, price, size }: LastTrade): Fill | null {
  if (asset === row.asset) return side === row.side ? { price, size } : null
  return market === row.market && side !== row.side ? { price: complement(price), size } : null
}

const sizeOf = (fills: readonly Fill[]): number => fills.reduce((sum, { size }) => sum + size, 0)

function hasDollarsOf(row: TradeRow, fills: readonly Fill[]): boolean {
  const micros = fills.reduce((sum, { price, size }) => sum + (price * size) / MICROS, 0)
  const noise = (PRICE_NOISE * row.size) / MICROS + fills.length + 2
  return Math.abs(micros - (row.price * row.size) / MICROS) <= noise
}

const isEqual = (one: Fill, other: Fill): boolean =>
  one.price === other.price && one.size === other.size

function distinct(fills: readonly Fill[]): readonly Fill[] {
  return fills.filter((fill, at) => fills.findIndex((other) => isEqual(other, fill)) === at)
}

/** The fills without repeats that are worth `excess`; null where no choice of them is. */
function withoutRepeats(fills: readonly Fill[], excess: number): readonly Fill[] | null {
  const kinds = distinct(fills).map((fill) => ({
    fill,
    repeats: fills.filter((other) => isEqual(other, fill)).length - 1,
  }))
  let tries = 0
  const choose = (at: number, left: number): readonly Fill[] | null => {
    tries += 1
    if (Math.abs(left) <= SIZE_NOISE) return []
    const kind = kinds[at]
    if (kind === undefined || left < 0 || tries > TRIES_MAX) return null
    for (let count = kind.repeats; count >= 0; count -= 1) {
      const further = choose(at + 1, left - count * kind.fill.size)
      if (further !== null) return [...Array<Fill>(count).fill(kind.fill), ...further]
    }
    return null
  }
  const removed = choose(0, excess)
  if (removed === null) return null
  const left = [...removed]
  return fills.filter((fill) => {
    const at = left.findIndex((other) => isEqual(other, fill))
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
