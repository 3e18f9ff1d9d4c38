// Splits a row of the activity stream or the Data API into its fills. The row states the sum and average price of a
// transaction. `last_trade_price` messages have the fills without wallets. A split is accepted if its size and dollars
// add up to the row.

import { restPrice } from '../../../trade-parts.ts'
import { complement, MICROS, sizeMicros } from '../../../units.ts'
import type { Fill, LastTrade, TradeRow } from './trade-ledger.ts'

/** Tolerance of sums of size, in millionths of a contract. */
const SIZE_NOISE = 2
/** Tolerance of average prices, in millionths of a dollar. Hosts round prices, and the chain rounds each amount. */
const PRICE_NOISE = 50
/** Order prices are multiples of 0.0001 dollars. The value is in millionths. */
const GRID = 100
const TRIES_MAX = 1_000

/** Whether a row certainly has several fills, because its price is not a valid order price. */
export function isAverage({ price }: Fill): boolean {
  return price % GRID !== 0
}

/**
 * The fills that add up to the row. 'incomplete': their sum is less than the row, so more fills may arrive. 'unlike':
 * they can never add up to the row. Equal messages count as separate fills if the sum allows it, otherwise as repeats.
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

/** The known fills and one fill for the remaining part of the row. Null if the known fills do not belong to the row. */
export function fillsWithRest(row: TradeRow, trades: readonly LastTrade[]): readonly Fill[] | null {
  const fills = distinct(trades.flatMap((trade) => inTokenOf(row, trade) ?? []))
  const size = row.size - sizeOf(fills)
  const price = fills.length === 0 ? null : restPrice(row, fills)
  return size <= SIZE_NOISE || price === null ? null : [...fills, { price, size: sizeMicros(size) }]
}

/** One fill per maker's order, best price first. Null if their sum differs from the row. */
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

/** Converts a message to prices of the row's token. Null if the message has the other side or another market. */
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

/** Drops repeats whose sizes add up to `excess`. Null if no combination does. */
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
