// Pages of candles: the newest of a range, joined from the bars that owners keep, read in slices so
// that years of hours never hold the loop; with the gaps between trades filled when asked to.
//
//   fromMs                        pageMs                       lastMs
//     |  older pages  ............  |  candle  candle  candle  |
//                                   newest `limit`, each `lengthMs` long, by where they open

import type { MarketView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import {
  BAR_MS,
  type Bar,
  barSizeOf,
  barStart,
  flatBar,
  joined,
  lengthened,
  quotedBars,
} from '../../engine/market/candle.ts'
import { TIME_ZERO, timeMs } from '../../engine/units.ts'
import { yieldToEventLoop } from '../request/handler-times.ts'

/** Bars read at once, in some tenths of a millisecond; several times within a slice. */
const READ_BARS = 64
/** A fifth of what a handler may take in one piece. */
const TIME_SLICE_MS = 1.5

/** Which candles are wanted: those that open in [fromMs, lastMs], both multiples of `lengthMs`. */
export interface CandleRange {
  readonly lengthMs: number
  readonly fromMs: number
  readonly lastMs: number
  readonly limit: number
}

/** Ascending. */
export interface CandlePage {
  readonly candles: readonly Bar[]
  /** Older candles of the range open before it; null: there are none. */
  readonly olderMs: number | null
}

type BarSource = Pick<MarketView, 'bars'>

/** Only candles with trades. */
export async function tradedCandles(
  source: BarSource,
  range: CandleRange,
  clock: Clock,
): Promise<CandlePage> {
  // One candle more than asked for says exactly whether there are more.
  const found = await readCandles(source, { ...range, limit: range.limit + 1 }, clock)
  const candles = found.slice(0, range.limit).reverse()
  return { candles, olderMs: found.length > range.limit ? (candles[0]?.startMs ?? null) : null }
}

/**
 * Every candle from the market's first on: one without trades repeats the close before it. `lastMs`
 * should not lie in the future.
 */
export async function filledCandles(
  source: BarSource,
  range: CandleRange,
  clock: Clock,
): Promise<CandlePage> {
  const { lengthMs, fromMs, lastMs } = range
  const pageMs = pageStart(range)
  const traded = (await readCandles(source, { ...range, fromMs: pageMs }, clock)).reverse()
  const before = barBefore(source, pageMs, lengthMs)
  const candles: Bar[] = []
  let close = before?.close ?? null
  let next = 0
  for (let startMs = pageMs; startMs <= lastMs; startMs += lengthMs) {
    const candle = traded[next]
    if (candle?.startMs === startMs) {
      next += 1
      close = candle.close
      candles.push(candle)
    } else if (close !== null) candles.push(flatBar(timeMs(startMs), close))
  }
  return { candles, olderMs: before !== null && pageMs > fromMs ? pageMs : null }
}

/**
 * Candles of the newest `limit` lengths of the range: of trades where there are any, else of the venue's prices, with the
 * candle before the range left out. `lastMs` should not lie in the future.
 */
export async function quotedCandles(
  source: BarSource,
  range: CandleRange,
  { clock, prices }: { readonly clock: Clock; readonly prices: Parameters<typeof quotedBars>[0] },
): Promise<CandlePage> {
  const { lengthMs, fromMs } = range
  const pageMs = pageStart(range)
  const traded = await readCandles(source, { ...range, fromMs: pageMs }, clock)
  const byStart = new Map<number, Bar>()
  for (const bar of quotedBars(prices, lengthMs)) byStart.set(bar.startMs, bar)
  for (const bar of traded) byStart.set(bar.startMs, bar)
  const candles = [...byStart.values()]
    .filter(({ startMs }) => startMs >= pageMs && startMs <= range.lastMs)
    .sort((one, other) => one.startMs - other.startMs)
  // Venues have a price for every step of a market's life: before an empty page there was no market.
  return { candles, olderMs: pageMs > fromMs && candles.length > 0 ? pageMs : null }
}

/** Where the newest `limit` lengths of a range begin. */
export const pageStart = ({ lengthMs, fromMs, lastMs, limit }: CandleRange): number =>
  Math.max(fromMs, lastMs - (limit - 1) * lengthMs)

/** The newest bar before a time. */
function barBefore(source: BarSource, atMs: number, lengthMs: number): Bar | null {
  if (atMs <= 0) return null
  const toMs = timeMs(atMs - 1)
  const size = barSizeOf(lengthMs)
  return source.bars({ size, fromMs: TIME_ZERO, toMs, order: 'desc', limit: 1 })[0] ?? null
}

/** The newest `limit` candles with trades that open in the range, newest first. */
async function readCandles(source: BarSource, range: CandleRange, clock: Clock): Promise<Bar[]> {
  const { lengthMs, limit } = range
  const size = barSizeOf(lengthMs)
  const candles: Bar[] = []
  const fromMs = timeMs(range.fromMs)
  let toMs = range.lastMs + lengthMs - BAR_MS[size]
  let sliceEndsAtMs = clock.monotonicMs() + TIME_SLICE_MS
  while (toMs >= fromMs) {
    const query = { size, fromMs, toMs: timeMs(toMs), order: 'desc', limit: READ_BARS } as const
    const bars = source.bars(query)
    for (const bar of bars) {
      const newest = candles[candles.length - 1]
      if (newest?.startMs === barStart(bar.startMs, lengthMs)) {
        candles[candles.length - 1] = joined(newest, bar)
      } else if (candles.length === limit) return candles
      else candles.push(lengthened(bar, lengthMs))
    }
    const last = bars[bars.length - 1]
    if (last === undefined || bars.length < READ_BARS) return candles
    toMs = last.startMs - BAR_MS[size]
    if (clock.monotonicMs() < sliceEndsAtMs) continue
    await yieldToEventLoop(clock)
    sliceEndsAtMs = clock.monotonicMs() + TIME_SLICE_MS
  }
  return candles
}
