// Price chart of a market. The stream updates the current bar. The venue's price history fills periods without recorded
// trades.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { DataMessage } from '../../client/messages.ts'
import { ApiError, request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { priceText, roundUsdText } from '../format.ts'
import { html } from '../html.ts'
import { changeQuery, chosen } from '../parts/filters.ts'
import { settle } from '../parts/requests.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import type { CandlePage } from '../records.ts'
import { currentRoute } from '../route.ts'
import { useSignal } from '../signal.ts'
import { follow } from '../stream.ts'
import { type Bar, openCandles, type PutResult, volumeOf } from './canvases.ts'

const KINDS = ['Candles', 'Line'] as const

interface CandleChartProps {
  readonly marketId: string
  readonly createdAtMs: number | null
  /** Minimum decimals of a price in cents. */
  readonly decimals: number
}

export function CandleChart({ marketId, createdAtMs, decimals }: CandleChartProps) {
  const route = useSignal(currentRoute)
  const range = chosen(route, 'range', ['1D', ...RANGES])
  const kind = chosen(route, 'chart', KINDS)
  const host = useRef<HTMLDivElement>(null)
  const ageMs = createdAtMs === null ? null : nowMs() - createdAtMs
  const stretch = stretchOf(range, ageMs)
  const drawn = useDrawnBars(host, marketId, stretch, kind === 'Line')
  const { phase, error, last, isOwnAlone, count, again } = drawn
  return html`<section class="card candles" aria-labelledby="candles-title" data-range=${range} data-interval=${stretch.interval}
    data-phase=${phase} data-bars=${count}>
    <div class="row panel-head">
      <h2 id="candles-title">Price</h2>
      ${choice('Time range', RANGES, range, (name) => changeQuery(route, { range: name }))}
      ${choice('Chart type', KINDS, kind, (name) => changeQuery(route, { chart: name }))}
    </div>
    ${last === null ? null : legend(last, decimals)}
    ${isOwnAlone ? html`<p class="muted">The venue’s price history is unavailable: only recorded trades are drawn.</p>` : null}
    ${phase === 'waiting' && last === null ? html`<${Waiting} what="the chart" />` : null}
    <${Failure} error=${error} retry=${again} />
    ${phase === 'shown' && last === null ? html`<${Empty}>No trades in this time range.<//>` : null}
    <div class="canvas" ref=${host} role="img" aria-label=${`${kind === 'Line' ? 'Price' : `Candles of ${stretch.interval}`}, ${range}`}></div>
  </section>`
}

export const choice = <Name extends string>(
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

function legend(bar: Bar, decimals: number) {
  const price = (name: 'open' | 'high' | 'low' | 'close') => priceText(bar[name], decimals)
  const figures = [
    ...[['Open', price('open')] as const, ['High', price('high')] as const],
    ...[['Low', price('low')] as const, ['Close', price('close')] as const],
    ['Volume', roundUsdText(volumeOf(bar))] as const,
  ]
  return html`<dl class="row legend" data-at=${bar.timestamp_ms} data-trades=${bar.trades_count}>
    ${figures.map(([name, text]) => html`<div key=${name}><dt>${name}</dt> <dd>${text}</dd></div>`)}
  </dl>`
}

interface Drawn {
  readonly phase: 'waiting' | 'shown' | 'failed'
  readonly error: unknown
  readonly last: Bar | null
  readonly isOwnAlone: boolean
  readonly count: number
}

/** Opens a canvas in `host` on mount and closes it on unmount. Null before and after that. */
export function useCanvas<Canvas extends { readonly close: () => void }>(
  host: { readonly current: HTMLElement | null },
  open: (host: HTMLElement) => Canvas,
) {
  const canvas = useRef<Canvas | null>(null)
  useEffect(() => {
    if (host.current === null) return undefined
    const opened = open(host.current)
    canvas.current = opened
    return () => {
      canvas.current = null
      opened.close()
    }
  }, [])
  return canvas
}

function useDrawnBars(
  host: { readonly current: HTMLElement | null },
  marketId: string,
  { interval, bars: limit }: Stretch,
  isLine: boolean,
) {
  const [drawn, setDrawn] = useState<Drawn>({
    ...{ phase: 'waiting', error: null, last: null, isOwnAlone: false, count: 0 },
  })
  const [round, setRound] = useState(0)
  const canvas = useCanvas(host, openCandles)
  const put = (change: Partial<Drawn>) => setDrawn((before) => ({ ...before, ...change }))
  useEffect(() => canvas.current?.draw(isLine ? 'line' : 'candles'), [isLine])
  useEffect(() => {
    put({ phase: 'waiting', error: null })
    const bars = new MarketBars()
    const ending = new AbortController()
    const { signal } = ending
    let isRead = false
    const read = () =>
      settle(
        fetchBars(marketId, { interval, limit }, signal),
        signal,
        ({ candles, isOwnAlone }) => {
          for (const candle of candles) bars.put(candle)
          canvas.current?.show(bars.all)
          if (!isRead) canvas.current?.goToNow()
          isRead = true
          put({ phase: 'shown', error: null, isOwnAlone, count: bars.all.length, last: bars.last })
        },
        (error) => {
          put({ phase: 'failed', error })
          // A failed reload keeps the bars of the same range.
          if (isRead) return
          canvas.current?.show([])
          put({ last: null })
        },
      )
    const onMessage = (message: DataMessage) => {
      const bar = message.type === 'candle' ? barOfMessage(message.data, interval) : null
      const result = bar === null ? 'known' : bars.put(bar)
      // A bar that arrives before the past bars is stored and drawn with them.
      if (bar === null || result === 'known' || !isRead) return
      canvas.current?.put(bar, result)
      put({ last: bars.last })
    }
    const stop = follow(
      { channel: 'candles', marketIds: [marketId], options: { interval } },
      { onMessage, onGap: read },
    )
    read()
    return () => {
      ending.abort()
      stop()
    }
  }, [marketId, interval, limit, round])
  return { ...drawn, again: () => setRound(round + 1) }
}

/** Uses only recorded trades if the venue's history returns 503. Rejects with ApiError. */
export async function fetchBars(
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

type Interval = '1m' | '5m' | '15m' | '1h' | '4h' | '1d'

interface Stretch {
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
const MINUTE_MS = 60_000
export const INTERVAL_MS: Readonly<Record<Interval, number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '1d': 1_440 * MINUTE_MS,
}
/** Intervals of the range `All`, except the longest. */
const INTERVALS_OF_ALL = ['15m', '1h', '4h'] as const
/** The range `All` uses the shortest interval that needs at most this many bars. */
const ALL_BARS = 200
const BARS_OF_PAGE = 1_000

/** `ageMs` is the age of the market and sets the interval of `All`; null: unknown. */
export function stretchOf(range: Range, ageMs: number | null): Stretch {
  if (range !== 'All') return STRETCHES[range]
  const wanted = (ageMs ?? Number.POSITIVE_INFINITY) / ALL_BARS
  const interval = INTERVALS_OF_ALL.find((one) => wanted <= INTERVAL_MS[one]) ?? '1d'
  return { interval, bars: BARS_OF_PAGE }
}

const BARS_MAX = 2_000

export class MarketBars {
  #bars: Bar[] = []

  get all(): readonly Bar[] {
    return this.#bars
  }

  get last(): Bar | null {
    return this.#bars.at(-1) ?? null
  }

  put(bar: Bar): PutResult {
    const at = this.#bars.findLastIndex((existing) => existing.timestamp_ms <= bar.timestamp_ms)
    const existing = this.#bars[at]
    const isNewest = at === this.#bars.length - 1
    if (existing?.timestamp_ms === bar.timestamp_ms) {
      if (!isNewer(bar, existing)) return 'known'
      this.#bars[at] = bar
    } else {
      this.#bars.splice(at + 1, 0, bar)
      if (this.#bars.length > BARS_MAX) this.#bars.shift()
    }
    return isNewest ? 'newest' : 'older'
  }
}

/** A newer state of a bar has more trades, or is closed. */
function isNewer(one: Bar, existing: Bar): boolean {
  if (one.trades_count !== existing.trades_count) return one.trades_count > existing.trades_count
  return one.closed && !existing.closed
}

/** The candle of a message; null if it is invalid or has another interval. */
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
