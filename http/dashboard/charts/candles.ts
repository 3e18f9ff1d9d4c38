// Price chart of a market: candles or line over a range of time, with the current bar updated from the
// stream. The venue's price history fills spans without recorded trades.

import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { priceText, roundUsdText } from '../format.ts'
import { html } from '../html.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import type { Candle, CandlePage } from '../records.ts'
import { follow } from '../stream.ts'
import { CandleCanvas } from './canvases.ts'

const FIRST_RANGE: Range = '1D'
const KINDS = ['Candles', 'Line'] as const

type Phase =
  | { readonly kind: 'waiting' | 'shown' }
  | { readonly kind: 'failed'; readonly error: unknown }

interface CandleChartProps {
  readonly marketId: string
  /** Creation time of the market; null: unknown. */
  readonly createdAtMs: number | null
  /** Decimals of a cent in the market's prices. */
  readonly decimals: number
}

export function CandleChart({ marketId, createdAtMs, decimals }: CandleChartProps) {
  const [range, choose] = useState<Range>(FIRST_RANGE)
  const [kind, chooseKind] = useState<(typeof KINDS)[number]>('Candles')
  const [round, setRound] = useState(0)
  const host = useRef<HTMLDivElement>(null)
  const ageMs = createdAtMs === null ? null : nowMs() - createdAtMs
  const stretch = stretchOf(range, ageMs)
  const drawn = useDrawnBars(host, marketId, { stretch, round, isLine: kind === 'Line' })
  const { phase, last, isOwnAlone } = drawn
  return html`<section class="card candles" aria-labelledby="candles-title" data-range=${range} data-interval=${stretch.interval}
    data-phase=${phase.kind} data-bars=${drawn.bars}>
    <div class="row panel-head">
      <h2 id="candles-title">Price</h2>
      ${choice('How far back', RANGES, range, choose)}
      ${choice('How it is drawn', KINDS, kind, chooseKind)}
    </div>
    ${legend(last, decimals)}
    ${isOwnAlone ? html`<p class="muted">The venue does not give its history now: only trades seen here are drawn.</p>` : null}
    ${phase.kind === 'waiting' && last === null ? html`<${Waiting} what="the chart" />` : null}
    ${phase.kind === 'failed' ? html`<${Failure} error=${phase.error} retry=${() => setRound(round + 1)} />` : null}
    ${phase.kind === 'shown' && last === null ? html`<${Empty}>Nothing was traded in this time.<//>` : null}
    <div class="canvas" ref=${host} role="img" aria-label=${`${kind === 'Line' ? 'Price' : `Candles of ${stretch.interval}`}, ${range}`}></div>
  </section>`
}

const choice = <Name extends string>(
  label: string,
  names: readonly Name[],
  chosen: Name,
  choose: (name: Name) => void,
) => html`<div class="row choice" role="group" aria-label=${label}>
  ${names.map(
    (name) => html`<button
      type="button" class="quiet" key=${name} aria-pressed=${name === chosen}
      onClick=${() => choose(name)}
    >${name}</button>`,
  )}
</div>`

function legend(bar: Bar | null, decimals: number) {
  if (bar === null) return null
  const figures: readonly (readonly [string, string])[] = [
    ['Open', priceText(bar.open, decimals)],
    ['High', priceText(bar.high, decimals)],
    ['Low', priceText(bar.low, decimals)],
    ['Close', priceText(bar.close, decimals)],
    ['Volume', roundUsdText(volumeOf(bar))],
  ]
  return html`<dl class="row legend" data-at=${bar.timestamp_ms} data-trades=${bar.trades_count}>
    ${figures.map(([name, text]) => html`<div key=${name}><dt>${name}</dt> <dd>${text}</dd></div>`)}
  </dl>`
}

interface BarListener {
  /** `isFirst`: no bars of this interval have been shown before. */
  readonly onPage: (bars: MarketBars, isFirst: boolean, isOwnAlone: boolean) => void
  readonly onBar: (bar: Bar, result: 'newest' | 'older', bars: MarketBars) => void
  /** `isFirst`: no bars of this interval have been shown before. */
  readonly onFailure: (error: unknown, isFirst: boolean) => void
}

interface Wanted {
  readonly stretch: Stretch
  /** A changed value restarts loading. */
  readonly round: number
  readonly isLine: boolean
}

interface Drawn {
  readonly phase: Phase
  readonly last: Bar | null
  /** The venue's history is unavailable, so only recorded trades are shown. */
  readonly isOwnAlone: boolean
  readonly bars: number
}

/** Draws the bars into `host` while the component is mounted. */
function useDrawnBars(
  host: { readonly current: HTMLElement | null },
  marketId: string,
  { stretch, round, isLine }: Wanted,
): Drawn {
  const [phase, setPhase] = useState<Phase>({ kind: 'waiting' })
  const [last, setLast] = useState<Bar | null>(null)
  const [isOwnAlone, setOwnAlone] = useState(false)
  const [count, setCount] = useState(0)
  const canvas = useRef<CandleCanvas | null>(null)
  useEffect(() => {
    if (host.current === null) return undefined
    const drawn = new CandleCanvas(host.current)
    canvas.current = drawn
    return () => {
      canvas.current = null
      drawn.remove()
    }
  }, [])
  useEffect(() => canvas.current?.draw(isLine ? 'line' : 'candles'), [isLine])
  useEffect(() => {
    // The previous bars stay visible until the new page has loaded.
    setPhase({ kind: 'waiting' })
    return followBars(marketId, stretch, {
      onPage: (bars, isFirst, isAlone) => {
        canvas.current?.show(bars.all)
        if (isFirst) canvas.current?.goToNow()
        setOwnAlone(isAlone)
        setCount(bars.all.length)
        setLast(bars.last)
        setPhase({ kind: 'shown' })
      },
      onBar: (bar, result, bars) => {
        canvas.current?.put(bar, result)
        setLast(bars.last)
      },
      onFailure: (error, isFirst) => {
        setPhase({ kind: 'failed', error })
        // Bars of this range stay visible. The page shows how old they may be.
        if (!isFirst) return
        canvas.current?.show([])
        setLast(null)
      },
    })
  }, [marketId, stretch.interval, stretch.bars, round])
  return { phase, last, isOwnAlone, bars: count }
}

/** Follows the current bar and loads past bars, again after a gap. Returns a stop function. */
function followBars(
  marketId: string,
  { interval, bars: limit }: Stretch,
  listener: BarListener,
): () => void {
  const bars = new MarketBars()
  const ending = new AbortController()
  let isRead = false
  const read = () => {
    fetchBars(marketId, { interval, limit }, ending.signal).then(
      ({ candles, isOwnAlone }) => {
        if (ending.signal.aborted) return
        for (const candle of candles) bars.put(candle)
        listener.onPage(bars, !isRead, isOwnAlone)
        isRead = true
      },
      (error: unknown) => ending.signal.aborted || listener.onFailure(error, !isRead),
    )
  }
  const stop = follow(
    { channel: 'candles', marketIds: [marketId], options: { interval } },
    {
      onMessage: (message) => {
        const bar = message.type === 'candle' ? barOfMessage(message.data, interval) : null
        if (bar === null) return
        const result = bars.put(bar)
        // Before the past bars have loaded, the bar is only stored. Both are drawn together.
        if (isRead && result !== 'known') listener.onBar(bar, result, bars)
      },
      onGap: read,
    },
  )
  read()
  return () => {
    ending.abort()
    stop()
  }
}

/**
 * Loads candles with the venue's history; if that returns 503, only those of recorded trades. Rejects with
 * ApiError.
 */
async function fetchBars(
  marketId: string,
  query: { readonly interval: Interval; readonly limit: number },
  signal: AbortSignal,
): Promise<{ readonly candles: readonly Bar[]; readonly isOwnAlone: boolean }> {
  const path = `/v1/markets/${encodeURIComponent(marketId)}/candles`
  const fetchPage = (history: boolean) =>
    request<CandlePage>(path, { query: { ...query, history }, signal })
  try {
    return { candles: (await fetchPage(true)).candles, isOwnAlone: false }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 503) throw error
    return { candles: (await fetchPage(false)).candles, isOwnAlone: true }
  }
}

// Candles of one market and interval, merged from REST and the stream in order of time, without duplicates.

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
