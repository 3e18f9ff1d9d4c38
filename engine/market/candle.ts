// Candles: adding a trade, joining short bars into long ones, and inverting a bar for the second outcome. The result
// does not depend on the order of the trades.

import type { Trade } from '../events.ts'
import {
  complement,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type PriceMicros,
  priceMicros,
  type TimeMs,
  timeMs,
  USD_ZERO,
  type UsdMicros,
  usdMicros,
} from '../units.ts'

/** Every candle interval is a whole number of minute bars or of hour bars. */
export type BarSize = 'minute' | 'hour'
export const BAR_MS: Readonly<Record<BarSize, number>> = { minute: MINUTE_MS, hour: HOUR_MS }

export const CANDLE_MS = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '1d': DAY_MS,
} as const
export type CandleInterval = keyof typeof CANDLE_MS

export function barSizeOf(lengthMs: number): BarSize {
  return lengthMs < BAR_MS.hour ? 'minute' : 'hour'
}

/** Sums over the trades of a bar, at least one trade. Prices are of the first outcome. */
export interface Bar {
  /** A multiple of the bar's length, UTC. */
  readonly startMs: TimeMs
  readonly open: PriceMicros
  readonly openMs: TimeMs
  readonly openOrdinal: number
  readonly high: PriceMicros
  readonly low: PriceMicros
  readonly close: PriceMicros
  readonly closeMs: TimeMs
  readonly closeOrdinal: number
  /** Amount paid, in the outcomes that were traded. */
  readonly usd: UsdMicros
  readonly count: number
  /** Σ size in millionths, and Σ price × size in millionths squared. Floats, because only the average price uses them. */
  readonly size: number
  readonly weighted: number
}

type Trading = Pick<Trade, 'timeMs' | 'ordinal' | 'price' | 'size' | 'usd'>

export function barOf(size: BarSize, trade: Trading): Bar {
  const { price, timeMs: atMs, ordinal } = trade
  return {
    startMs: barStart(atMs, BAR_MS[size]),
    open: price,
    openMs: atMs,
    openOrdinal: ordinal,
    high: price,
    low: price,
    close: price,
    closeMs: atMs,
    closeOrdinal: ordinal,
    usd: trade.usd,
    count: 1,
    size: trade.size,
    weighted: price * trade.size,
  }
}

/** Joins two bars, in any order. The result has the start of the earlier bar. */
export function joined(one: Bar, other: Bar): Bar {
  const first = isBefore(one.openMs, one.openOrdinal, other.openMs, other.openOrdinal) ? one : other
  const last = isBefore(one.closeMs, one.closeOrdinal, other.closeMs, other.closeOrdinal)
    ? other
    : one
  return {
    startMs: one.startMs <= other.startMs ? one.startMs : other.startMs,
    open: first.open,
    openMs: first.openMs,
    openOrdinal: first.openOrdinal,
    high: one.high >= other.high ? one.high : other.high,
    low: one.low <= other.low ? one.low : other.low,
    close: last.close,
    closeMs: last.closeMs,
    closeOrdinal: last.closeOrdinal,
    // A sum beyond the safe integers is clamped, so that the order of addition does not matter.
    usd: usdMicros(Math.min(one.usd + other.usd, Number.MAX_SAFE_INTEGER)),
    count: one.count + other.count,
    size: one.size + other.size,
    weighted: one.weighted + other.weighted,
  }
}

/** The bar in prices of the second outcome. Prices are complements, so high and low are exchanged. */
export function invertedBar(bar: Bar): Bar {
  return {
    ...bar,
    open: complement(bar.open),
    high: complement(bar.low),
    low: complement(bar.high),
    close: complement(bar.close),
    weighted: 1_000_000 * bar.size - bar.weighted,
  }
}

export function lengthened(bar: Bar, lengthMs: number): Bar {
  return { ...bar, startMs: barStart(bar.startMs, lengthMs) }
}

/** A bar without trades. All its prices are the last price before it. */
export function flatBar(startMs: TimeMs, close: PriceMicros): Bar {
  return {
    startMs,
    open: close,
    openMs: startMs,
    openOrdinal: 0,
    high: close,
    low: close,
    close,
    closeMs: startMs,
    closeOrdinal: 0,
    usd: USD_ZERO,
    count: 0,
    size: 0,
    weighted: 0,
  }
}

/**
 * Bars from prices without trades. Each bar opens at the price before it. The prices must be in ascending order of
 * time.
 */
export function quotedBars(
  prices: readonly { readonly timeMs: TimeMs; readonly price: PriceMicros }[],
  lengthMs: number,
): readonly Bar[] {
  const bars: Bar[] = []
  for (const { timeMs: atMs, price } of prices) {
    const startMs = barStart(atMs, lengthMs)
    const last = bars[bars.length - 1]
    const bar = last?.startMs === startMs ? last : flatBar(startMs, last?.close ?? price)
    const [high, low] = [price > bar.high ? price : bar.high, price < bar.low ? price : bar.low]
    const grown = { ...bar, high, low, close: price, closeMs: atMs }
    if (bar === last) bars[bars.length - 1] = grown
    else bars.push(grown)
  }
  return bars
}

/** Volume-weighted average price, rounded to micros. The close if nothing was traded. */
export function vwapOf({ weighted, size, low, high, close }: Bar): PriceMicros {
  if (size <= 0) return close
  // Large sums are rounded floats. The clamp keeps the average between low and high.
  return priceMicros(Math.min(Math.max(Math.round(weighted / size), low), high))
}

export function barStart(atMs: number, lengthMs: number): TimeMs {
  return timeMs(Math.floor(atMs / lengthMs) * lengthMs)
}

function isBefore(oneMs: number, oneOrdinal: number, otherMs: number, otherOrdinal: number) {
  return oneMs < otherMs || (oneMs === otherMs && oneOrdinal <= otherOrdinal)
}
