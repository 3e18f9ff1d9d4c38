import type { Candle, Market } from '../records.ts'

type Bar = Pick<Candle, 'timestamp_ms' | 'close'>

/** Prices of one outcome at both venues in dollars, 0 to 1; null before the first price. */
export interface PairPoint {
  readonly atMs: number
  readonly own: number | null
  readonly other: number | null
  /** Taker fees of both venues per contract in dollars, before rounding; null: a price or a fee is unknown. */
  readonly fees: number | null
}

type Fees = Market['fees']

/**
 * Joins the closes of two markets. A market without a bar at a time has its last close. `isInverted`: the first outcome of one
 * market is the second of the other.
 */
export function pairPoints(
  bars: { readonly own: readonly Bar[]; readonly other: readonly Bar[] },
  {
    isInverted,
    fees,
  }: {
    readonly isInverted: boolean
    readonly fees: readonly [own: Fees, other: Fees]
  },
): readonly PairPoint[] {
  const times = new Set([...bars.own, ...bars.other].map(({ timestamp_ms: ms }) => ms))
  const closes = [closesOf(bars.own), closesOf(bars.other)] as const
  let own: number | null = null
  let other: number | null = null
  return [...times]
    .sort((one, next) => one - next)
    .map((atMs) => {
      own = closes[0].get(atMs) ?? own
      const close = closes[1].get(atMs)
      if (close !== undefined) other = isInverted ? Math.round((1 - close) * 1e6) / 1e6 : close
      return { atMs, own, other, fees: feesOf([own, other], fees) }
    })
}

const closesOf = (bars: readonly Bar[]): ReadonlyMap<number, number> =>
  new Map(bars.map(({ timestamp_ms: ms, close }) => [ms, close]))

function feesOf(
  prices: readonly [own: number | null, other: number | null],
  fees: readonly [own: Fees, other: Fees],
): number | null {
  let sum = 0
  for (const [index, price] of prices.entries()) {
    const fee = price === null ? null : takerFee(fees[index]?.taker ?? null, price)
    if (fee === null) return null
    sum += fee
  }
  return sum
}

/** Fee of one contract in dollars, before rounding. Both outcomes of a market have the same fee. */
const takerFee = (curve: Fees['taker'], price: number): number | null =>
  curve === null ? null : curve.multiplier * curve.rate * (price * (1 - price)) ** curve.exponent
