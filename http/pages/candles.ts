// Pages of candles, from a range's newest stored bars. Bars are read in time slices, so that a long range does not
// block the event loop. A page covers [pageMs, lastMs] of the range [fromMs, lastMs].

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
import { nextMeasuredTick } from '../request/time-slices.ts'

/** Bars per read. A read takes some tenths of a millisecond. */
const READ_BARS = 64
/** A fifth of the time for which a handler may block the event loop. */
const TIME_SLICE_MS = 1.5

/** Candles whose open time is in [fromMs, lastMs]. Both bounds are multiples of `lengthMs`. */
export interface CandleRange {
  readonly lengthMs: number
  readonly fromMs: number
  readonly lastMs: number
  readonly limit: number
}

export interface CandlePage {
  readonly candles: readonly Bar[]
  /** Older candles of the range open before this time. Null if the page is the last. */
  readonly olderMs: number | null
}

type BarSource = Pick<MarketView, 'bars'>

/** Omits intervals without trades. */
export async function tradedCandles(
  source: BarSource,
  range: CandleRange,
  clock: Clock,
): Promise<CandlePage> {
  // One more candle reveals whether there is another page.
  const found = await readCandles(source, { ...range, limit: range.limit + 1 }, clock)
  const candles = found.slice(0, range.limit).reverse()
  return { candles, olderMs: found.length > range.limit ? (candles[0]?.startMs ?? null) : null }
}

/**
 * Reads a candle for every interval since the market's first trade. Intervals without trades repeat the previous close.
 * `lastMs` should not be in the future.
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
 * Reads the newest `limit` candles. Intervals without trades get candles from the venue's prices. `lastMs` should not
 * be in the future.
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
  // A venue has prices for every interval of a market's life. An empty page means that the market is younger.
  return { candles, olderMs: pageMs > fromMs && candles.length > 0 ? pageMs : null }
}

export const pageStart = ({ lengthMs, fromMs, lastMs, limit }: CandleRange): number =>
  Math.max(fromMs, lastMs - (limit - 1) * lengthMs)

function barBefore(source: BarSource, atMs: number, lengthMs: number): Bar | null {
  if (atMs <= 0) return null
  const toMs = timeMs(atMs - 1)
  const size = barSizeOf(lengthMs)
  return source.bars({ size, fromMs: TIME_ZERO, toMs, order: 'desc', limit: 1 })[0] ?? null
}

/** Newest first. */
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
    await nextMeasuredTick(clock)
    sliceEndsAtMs = clock.monotonicMs() + TIME_SLICE_MS
  }
  return candles
}
