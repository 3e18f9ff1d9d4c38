// Candles of a market's trades, with a choice of intervals: a page of past ones, then the present bar as it grows.
// Not for: drawing (candle-canvas.ts). Upholds DASH42.

import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { priceText, roundUsdText } from '../format.ts'
import { html } from '../html.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import type { CandlePage } from '../records.ts'
import { follow } from '../stream.ts'
import { type Bar, barOfMessage, INTERVALS, type Interval, MarketBars } from './bars.ts'
import { CandleCanvas } from './candle-canvas.ts'

/** Bars of a page. */
const LIMIT = 300
const FIRST_INTERVAL: Interval = '5m'

type Phase =
  | { readonly kind: 'waiting' | 'shown' }
  | { readonly kind: 'failed'; readonly error: unknown }

export function CandleChart({ marketId }: { readonly marketId: string }) {
  const [interval, choose] = useState<Interval>(FIRST_INTERVAL)
  const [round, setRound] = useState(0)
  const host = useRef<HTMLDivElement>(null)
  const { phase, last } = useDrawnBars(host, marketId, interval, round)
  return html`<section class="card candles" aria-labelledby="candles-title" data-interval=${interval} data-phase=${phase.kind}>
    <div class="row panel-head">
      <h2 id="candles-title">Price</h2>
      <div class="row choice" role="group" aria-label="Length of a candle">
        ${INTERVALS.map(
          (name) => html`<button
            type="button" class="quiet" key=${name} aria-pressed=${name === interval}
            onClick=${() => choose(name)}
          >${name}</button>`,
        )}
      </div>
    </div>
    ${legend(last)}
    ${phase.kind === 'waiting' && last === null ? html`<${Waiting} what="candles" />` : null}
    ${phase.kind === 'failed' ? html`<${Failure} error=${phase.error} retry=${() => setRound(round + 1)} />` : null}
    ${phase.kind === 'shown' && last === null ? html`<${Empty}>Nothing was traded in this market yet.<//>` : null}
    <div class="canvas" ref=${host} role="img" aria-label=${`Candles of ${interval}`}></div>
  </section>`
}

function legend(bar: Bar | null) {
  if (bar === null) return null
  const figures: readonly (readonly [string, string])[] = [
    ['Open', priceText(bar.open)],
    ['High', priceText(bar.high)],
    ['Low', priceText(bar.low)],
    ['Close', priceText(bar.close)],
    ['Volume', roundUsdText(bar.volume)],
  ]
  return html`<dl class="row legend" data-at=${bar.timestamp_ms} data-trades=${bar.trades_count}>
    ${figures.map(([name, text]) => html`<div key=${name}><dt>${name}</dt> <dd>${text}</dd></div>`)}
  </dl>`
}

interface BarListener {
  /** `isFirst`: nothing of this interval was shown before. */
  readonly onPage: (bars: MarketBars, isFirst: boolean) => void
  readonly onBar: (bar: Bar, placed: 'newest' | 'older', bars: MarketBars) => void
  readonly onFailure: (error: unknown) => void
}

/** Draws the bars into `host` for as long as the part is shown; another `round` begins anew. */
function useDrawnBars(
  host: { readonly current: HTMLElement | null },
  marketId: string,
  interval: Interval,
  round: number,
): { readonly phase: Phase; readonly last: Bar | null } {
  const [phase, setPhase] = useState<Phase>({ kind: 'waiting' })
  const [last, setLast] = useState<Bar | null>(null)
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
  useEffect(() => {
    // What was shown stays until the page is there.
    setPhase({ kind: 'waiting' })
    return followBars(marketId, interval, {
      onPage: (bars, isFirst) => {
        canvas.current?.show(bars.all)
        if (isFirst) canvas.current?.goToNow()
        setLast(bars.last)
        setPhase({ kind: 'shown' })
      },
      onBar: (bar, placed, bars) => {
        canvas.current?.put(bar, placed)
        setLast(bars.last)
      },
      onFailure: (error) => {
        canvas.current?.show([])
        setLast(null)
        setPhase({ kind: 'failed', error })
      },
    })
  }, [marketId, interval, round])
  return { phase, last }
}

/** Follows the present bar and reads the past ones beside it, once more after a hole; returns how to stop. */
function followBars(marketId: string, interval: Interval, listener: BarListener): () => void {
  const bars = new MarketBars()
  const ending = new AbortController()
  let isRead = false
  const read = () => {
    const path = `/v1/markets/${encodeURIComponent(marketId)}/candles`
    const query = { interval, limit: LIMIT }
    request<CandlePage>(path, { query, signal: ending.signal }).then(
      ({ candles }) => {
        if (ending.signal.aborted) return
        for (const candle of candles) bars.put(candle)
        listener.onPage(bars, !isRead)
        isRead = true
      },
      (error: unknown) => ending.signal.aborted || listener.onFailure(error),
    )
  }
  const stop = follow(
    { channel: 'candles', marketIds: [marketId], options: { interval } },
    {
      onMessage: (message) => {
        const bar = message.type === 'candle' ? barOfMessage(message.data, interval) : null
        if (bar === null) return
        const placed = bars.put(bar)
        // Before the past ones are there it is only kept: both are drawn together.
        if (isRead && placed !== 'known') listener.onBar(bar, placed, bars)
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
