// The candles of a market in one interval, of a page of the server's answer and of the stream, each once and in the order of
// time, whichever comes first. Not for: drawing (charts/candles.ts). Upholds DASH42.

import type { Candle } from '../records.ts'

export const INTERVALS = ['1m', '5m', '15m', '1h', '4h', '1d'] as const
export type Interval = (typeof INTERVALS)[number]

/** What a chart needs of a candle. */
export type Bar = Pick<
  Candle,
  'timestamp_ms' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'trades_count' | 'closed'
>

/** Where a bar went: behind all others or in place of the last; among the older; nowhere, as it says nothing new. */
export type Placed = 'newest' | 'older' | 'known'

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

  put(bar: Bar): Placed {
    const last = this.last
    if (last === null || bar.timestamp_ms > last.timestamp_ms) {
      this.#bars.push(bar)
      if (this.#bars.length > BARS_MAX) this.#bars = this.#bars.slice(-BARS_MAX)
      return 'newest'
    }
    const at = this.#bars.findLastIndex((known) => known.timestamp_ms <= bar.timestamp_ms)
    const known = this.#bars[at]
    if (known?.timestamp_ms === bar.timestamp_ms) {
      if (!isNewer(bar, known)) return 'known'
      this.#bars[at] = bar
      return at === this.#bars.length - 1 ? 'newest' : 'older'
    }
    this.#bars.splice(at + 1, 0, bar)
    return 'older'
  }
}

/** A bar only grows, and closes once. */
function isNewer(one: Bar, known: Bar): boolean {
  if (one.trades_count !== known.trades_count) return one.trades_count > known.trades_count
  return one.closed && !known.closed
}

/** The bar in a message of the channel `candles`, when it is one of this interval; null otherwise. */
export function barOfMessage(
  fields: Readonly<Record<string, unknown>>,
  interval: Interval,
): Bar | null {
  if (fields.interval !== interval) return null
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
