// Reference implementation of engine/market/candle.ts, actors/market/trades.ts and http/pages/candles.ts.

import { complement, type PriceMicros } from '../../../../engine/units.ts'

interface Traded {
  readonly timeMs: number
  readonly ordinal: number
  readonly price: PriceMicros
  readonly size: number
  readonly usd: number
}

/** In millionths. */
export interface NaiveCandle {
  readonly startMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly usd: number
  readonly count: number
  readonly vwap: number
}

/** All candles with trades, oldest first. `isSecond`: quoted for the second outcome. */
export function naiveCandles(
  trades: readonly Traded[],
  lengthMs: number,
  isSecond = false,
): NaiveCandle[] {
  const sorted = [...trades].sort(
    (one, other) => one.timeMs - other.timeMs || one.ordinal - other.ordinal,
  )
  const groups = new Map<number, Traded[]>()
  for (const row of sorted) {
    const startMs = row.timeMs - (row.timeMs % lengthMs)
    groups.set(startMs, [...(groups.get(startMs) ?? []), row])
  }
  return [...groups].map(([startMs, rows]) => {
    const prices = rows.map(({ price }) => (isSecond ? complement(price) : price))
    const size = rows.reduce((sum, row) => sum + BigInt(row.size), 0n)
    const weighted = rows.reduce((sum, row) => sum + BigInt(row.price) * BigInt(row.size), 0n)
    const mean = isSecond ? 1_000_000n * size - weighted : weighted
    return {
      startMs,
      open: prices[0] ?? 0,
      high: Math.max(...prices),
      low: Math.min(...prices),
      close: prices.at(-1) ?? 0,
      usd: rows.reduce((sum, row) => sum + row.usd, 0),
      count: rows.length,
      vwap: Number((2n * mean + size) / (2n * size)),
    }
  })
}

/** Fills gaps with flat candles, from the first candle to the candle that opens at `lastMs`. */
export function naiveFilled(
  candles: readonly NaiveCandle[],
  lengthMs: number,
  lastMs: number,
): NaiveCandle[] {
  const byStart = new Map(candles.map((candle) => [candle.startMs, candle]))
  const filled: NaiveCandle[] = []
  for (let startMs = candles[0]?.startMs ?? lastMs + 1; startMs <= lastMs; startMs += lengthMs) {
    const close = filled.at(-1)?.close ?? 0
    const flat = { startMs, open: close, high: close, low: close, close, usd: 0, count: 0 }
    filled.push(byStart.get(startMs) ?? { ...flat, vwap: close })
  }
  return filled
}
