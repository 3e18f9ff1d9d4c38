// Candles of one market and interval, merged from REST and the stream in order of time, without duplicates.

import type { Candle } from '../records.ts'

const INTERVALS = ['1m', '5m', '15m', '1h', '4h', '1d'] as const
export type Interval = (typeof INTERVALS)[number]

/** A number of candles of one interval. */
export interface Stretch {
  readonly interval: Interval
  readonly bars: number
}

export const RANGES = ['1H', '1D', '1W', '1M', 'All'] as const
export type Range = (typeof RANGES)[number]

const STRETCHES: Readonly<Record<Exclude<Range, 'All'>, Stretch>> = {
  '1H': { interval: '1m', bars: 60 },
  '1D': { interval: '5m', bars: 288 },
  '1W': { interval: '1h', bars: 168 },
  '1M': { interval: '4h', bars: 180 },
}
const HOUR_MS = 3_600_000
const LENGTHS: readonly (readonly [Interval, hours: number])[] = [
  ['15m', 0.25],
  ['1h', 1],
  ['4h', 4],
  ['1d', 24],
]
/** Bar count aimed at for the range `All`: more bars would be too thin. */
const ALL_BARS = 200
/** Maximum number of bars in one page of the API. */
const BARS_OF_PAGE = 1_000

/** The interval and bars of a range. For `All`, the interval depends on the market's age; null: unknown. */
export function stretchOf(range: Range, ageMs: number | null): Stretch {
  if (range !== 'All') return STRETCHES[range]
  const hours = ageMs === null ? Number.POSITIVE_INFINITY : ageMs / HOUR_MS
  const [interval] = LENGTHS.find(([, length]) => hours / length <= ALL_BARS) ?? ['1d']
  return { interval, bars: BARS_OF_PAGE }
}

export type Bar = Pick<
  Candle,
  'timestamp_ms' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'trades_count' | 'closed'
>

/** Traded dollars; null if the bar is based on the venue's price history only. */
export const volumeOf = ({ volume, trades_count: count }: Bar): number | null =>
  count === 0 ? null : volume

/** Result of `put`: new or replaced last bar; inserted or replaced among older bars; nothing new. */
export type PutResult = 'newest' | 'older' | 'known'

/** More than a chart shows. Beyond it the oldest bars are dropped. */
const BARS_MAX = 2_000

export class MarketBars {
  #bars: Bar[] = []

  /** Oldest first. */
  get all(): readonly Bar[] {
    return this.#bars
  }

  get last(): Bar | null {
    return this.#bars.at(-1) ?? null
  }

  put(bar: Bar): PutResult {
    const last = this.last
    if (last === null || bar.timestamp_ms > last.timestamp_ms) {
      this.#bars.push(bar)
      if (this.#bars.length > BARS_MAX) this.#bars = this.#bars.slice(-BARS_MAX)
      return 'newest'
    }
    const at = this.#bars.findLastIndex((existing) => existing.timestamp_ms <= bar.timestamp_ms)
    const existing = this.#bars[at]
    if (existing?.timestamp_ms === bar.timestamp_ms) {
      if (!isNewer(bar, existing)) return 'known'
      this.#bars[at] = bar
      return at === this.#bars.length - 1 ? 'newest' : 'older'
    }
    this.#bars.splice(at + 1, 0, bar)
    return 'older'
  }
}

/** The trade count of a bar only increases, and a bar closes once. */
function isNewer(one: Bar, existing: Bar): boolean {
  if (one.trades_count !== existing.trades_count) return one.trades_count > existing.trades_count
  return one.closed && !existing.closed
}

/** The bar of a `candles` message; null if it has none of this interval. */
export function barOfMessage(
  fields: Readonly<Record<string, unknown>> | null,
  interval: Interval,
): Bar | null {
  if (fields?.interval !== interval) return null
  const figures = {
    timestamp_ms: Number(fields.timestamp_ms),
    open: Number(fields.open),
    high: Number(fields.high),
    low: Number(fields.low),
    close: Number(fields.close),
    volume: Number(fields.volume),
    trades_count: Number(fields.trades_count),
  }
  if (!Object.values(figures).every(Number.isFinite)) return null
  return { ...figures, closed: fields.closed === true }
}
