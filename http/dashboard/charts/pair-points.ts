import { priceOfOutcome } from '../parts/quotes.ts'
import type { Candle, Market } from '../records.ts'

type Bar = Pick<Candle, 'timestamp_ms' | 'close'>

/** Prices of one outcome at both venues in dollars, 0 to 1; null before the first price. */
export interface PairPoint {
  readonly atMs: number
  readonly own: number | null
  readonly other: number | null
  /** Start of the bar with the price; null before the first price. */
  readonly ownAtMs: number | null
  readonly otherAtMs: number | null
  /** The gap exceeds the fees, and both prices are at most `ageMaxMs` old. */
  readonly isAboveFees: boolean
  /** Taker fees of both venues per contract in dollars, before rounding; null: a price or a fee is unknown. */
  readonly fees: number | null
}

type Fees = Market['fees']

interface PairOptions {
  /** The first outcome of one market is the second of the other. */
  readonly isInverted: boolean
  readonly fees: readonly [own: Fees, other: Fees]
  /** Start of the first point if a market has an older bar. Older bars have no points. */
  readonly fromMs: number
  /** Maximum age of a price in a gap that is marked. */
  readonly ageMaxMs: number
}

/** Joins the closes of two markets. A market without a bar at a time has its last close. */
export function pairPoints(
  bars: { readonly own: readonly Bar[]; readonly other: readonly Bar[] },
  { isInverted, fees, fromMs, ageMaxMs }: PairOptions,
): readonly PairPoint[] {
  const all = [...bars.own, ...bars.other]
  const times = new Set(all.map(({ timestamp_ms: ms }) => Math.max(ms, fromMs)))
  const lasts = [lastBars(bars.own), lastBars(bars.other)] as const
  return [...times]
    .sort((one, next) => one - next)
    .map((atMs) => {
      const [ownBar, otherBar] = [lasts[0](atMs), lasts[1](atMs)]
      const own = ownBar?.close ?? null
      const close = otherBar?.close ?? null
      const other = close === null ? null : priceOfOutcome(close, isInverted ? 1 : 0)
      const [ownAtMs, otherAtMs] = [ownBar?.timestamp_ms ?? null, otherBar?.timestamp_ms ?? null]
      const point = { atMs, own, other, ownAtMs, otherAtMs, fees: feesOf([own, other], fees) }
      return { ...point, isAboveFees: isGapAboveFees(point, atMs - ageMaxMs) }
    })
}

/** False if a price is unknown or older than `sinceMs`, or a fee is unknown. */
export function isGapAboveFees(
  { own, other, ownAtMs, otherAtMs, fees }: Omit<PairPoint, 'isAboveFees'>,
  sinceMs: number,
): boolean {
  if (own === null || other === null || ownAtMs === null || otherAtMs === null) return false
  return Math.min(ownAtMs, otherAtMs) >= sinceMs && fees !== null && Math.abs(other - own) > fees
}

/** Returns a function for the last bar at or before a time. Its times must not decrease. `bars`: oldest first. */
function lastBars(bars: readonly Bar[]): (atMs: number) => Bar | null {
  let count = 0
  return (atMs) => {
    while ((bars[count]?.timestamp_ms ?? Number.POSITIVE_INFINITY) <= atMs) count += 1
    return bars[count - 1] ?? null
  }
}

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
