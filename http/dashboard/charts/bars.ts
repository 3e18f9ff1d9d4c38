// The candles of a market in one interval, of a page of the server's answer and of the stream, each once and in the order of
// time, whichever comes first.

import type { Candle } from '../records.ts'

const INTERVALS = ['1m', '5m', '15m', '1h', '4h', '1d'] as const
export type Interval = (typeof INTERVALS)[number]

/** What a chart shows: so many candles of a length. */
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
/** Of all of a market's life: more would be too thin to be seen. */
const ALL_BARS = 200
/** A page of the server's has no more. */
const BARS_OF_PAGE = 1_000

/** The candles of a range; those of all of a market's life are as long as its age makes them, null: not known. */
export function stretchOf(range: Range, ageMs: number | null): Stretch {
  if (range !== 'All') return STRETCHES[range]
  const hours = ageMs === null ? Number.POSITIVE_INFINITY : ageMs / HOUR_MS
  const [interval] = LENGTHS.find(([, length]) => hours / length <= ALL_BARS) ?? ['1d']
  return { interval, bars: BARS_OF_PAGE }
}

/** What a chart needs of a candle. */
export type Bar = Pick<
  Candle,
  'timestamp_ms' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'trades_count' | 'closed'
>

/** Dollars that were traded; null: it is made of what the venue remembers of prices alone. */
export const volumeOf = ({ volume, trades_count: count }: Bar): number | null =>
  count === 0 ? null : volume

/** Where a bar went: behind all others or in place of the last; among the older; nowhere, as it says nothing new. */
export type PutResult = 'newest' | 'older' | 'known'

/** More than a chart shows; beyond it the oldest go. */
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

/** A bar only grows, and closes once. */
function isNewer(one: Bar, existing: Bar): boolean {
  if (one.trades_count !== existing.trades_count) return one.trades_count > existing.trades_count
  return one.closed && !existing.closed
}

/** The bar in a message of the channel `candles`, when it has one and it is of this interval; null otherwise. */
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
