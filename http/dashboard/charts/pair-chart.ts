// Chart of a matched pair: one price line per venue, with the gap between them as an area.

import { useEffect, useRef, useState } from 'preact/hooks'
import { after, every, nowMs, type StopTimer } from '../browser.ts'
import { gapText, priceText } from '../format.ts'
import { html } from '../html.ts'
import { Time } from '../parts/figures.ts'
import { difference } from '../parts/quotes.ts'
import { settle } from '../parts/requests.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { venueText } from '../parts/venues.ts'
import type { Market } from '../records.ts'
import { follow } from '../stream.ts'
import {
  barOfMessage,
  choice,
  fetchBars,
  INTERVAL_MS,
  MarketBars,
  RANGES,
  type Range,
  stretchOf,
  useCanvas,
} from './candles.ts'
import { openPairLines } from './canvases.ts'
import { isGapAboveFees, type PairPoint, pairPoints } from './pair-points.ts'

/** Minimum time between two drawings. */
const REDRAW_MS = 1_000
/** Time between drawings without news, since prices become old. */
const REFRESH_MS = 60_000
/** Maximum age of both prices of a marked gap, in bars. */
const AGE_MAX_BARS = 3

interface PairChartProps {
  readonly market: Market
  readonly matchedMarket: Market
  /** True if the first outcome of one market is the second of the other. */
  readonly isInverted: boolean
}

export function PairChart(props: PairChartProps) {
  const { market, matchedMarket } = props
  const [range, choose] = useState<Range>('1D')
  const host = useRef<HTMLDivElement>(null)
  const { points, phase, error, isOwnAlone, ageMaxMs, again } = usePairPoints(host, range, props)
  const names = [market, matchedMarket].map(({ platforms }) => venueText(platforms[0]?.platform))
  const last = points.at(-1) ?? null
  const outcome = market.outcomes[0]?.label ?? 'Yes'
  return html`<section class="card candles pair-chart" aria-labelledby="pair-chart-title" data-phase=${phase} data-points=${points.length}>
    <div class="row panel-head">
      <h2 id="pair-chart-title">“${outcome}” at both venues</h2>
      ${choice('Time range of both venues', RANGES, range, choose)}
    </div>
    ${last === null ? null : legend(last, names, ageMaxMs)}
    ${isOwnAlone ? html`<p class="muted">A venue’s price history is unavailable: only recorded trades of that venue are drawn.</p>` : null}
    ${phase === 'waiting' && last === null ? html`<${Waiting} what="the chart of both venues" />` : null}
    <${Failure} error=${error} retry=${again} />
    ${phase === 'shown' && last === null ? html`<${Empty}>No trades in this time range.<//>` : null}
    <div class="canvas" ref=${host} role="img" aria-label=${`Price at ${names.join(' and ')}, ${range}`}></div>
  </section>`
}

function legend(last: PairPoint, [ourName, otherName]: readonly string[], ageMaxMs: number) {
  const { own, other, ownAtMs, otherAtMs, fees } = last
  const gap = difference(other, own)
  const isAbove = isGapAboveFees(last, nowMs() - ageMaxMs)
  return html`<dl class="row legend" data-gap=${gap} data-fees=${fees}>
      <div><dt class="line-own">${ourName}</dt> <dd>${priceText(own)}</dd> ${timeOf(ownAtMs)}</div>
      <div><dt class="line-other">${otherName}</dt> <dd>${priceText(other)}</dd> ${timeOf(otherAtMs)}</div>
      <div><dt>Gap</dt> <dd class=${isAbove ? 'up' : ''}>${gapText(gap)}</dd></div>
      <div><dt>Fees of both</dt> <dd>${priceText(fees)}</dd></div>
    </dl>
    <p class="muted">Last prices, not offers. ${
      fees === null
        ? 'A fee is unknown, so the area between the lines has one color.'
        : 'The area between the lines is green where the gap exceeds the fees of one contract at both venues and both prices are recent.'
    }</p>`
}

const timeOf = (atMs: number | null) =>
  atMs === null ? null : html`<dd class="muted"><${Time} atMs=${atMs} style="clock" /></dd>`

interface Drawn {
  readonly phase: 'waiting' | 'shown' | 'failed'
  readonly error: unknown
  readonly points: readonly PairPoint[]
  /** The history of a venue is unavailable. */
  readonly isOwnAlone: boolean
}

const NOTHING: Drawn = { phase: 'waiting', error: null, points: [], isOwnAlone: false }

function usePairPoints(
  host: { readonly current: HTMLElement | null },
  range: Range,
  { market, matchedMarket, isInverted }: PairChartProps,
) {
  const [drawn, setDrawn] = useState(NOTHING)
  const [round, setRound] = useState(0)
  const canvas = useCanvas(host, openPairLines)
  const created = [market, matchedMarket].flatMap(({ created_at: seconds }) => seconds ?? [])
  const ageMs = created.length === 0 ? null : nowMs() - Math.min(...created) * 1_000
  const { interval, bars: limit } = stretchOf(range, ageMs)
  const ageMaxMs = AGE_MAX_BARS * INTERVAL_MS[interval]
  const ids = [market.id, matchedMarket.id] as const
  const fees = useRef([market.fees, matchedMarket.fees] as const)
  fees.current = [market.fees, matchedMarket.fees]
  useEffect(() => {
    setDrawn((before) => ({ ...before, phase: 'waiting', error: null }))
    const bars = [new MarketBars(), new MarketBars()] as const
    const ending = new AbortController()
    const { signal } = ending
    let isRead = false
    let isOwnAlone = false
    let cancelDraw: StopTimer | null = null
    const draw = () => {
      cancelDraw = null
      const closes = { own: bars[0].all, other: bars[1].all }
      // The range `All` has no start.
      const firstBar = Math.floor(nowMs() / INTERVAL_MS[interval]) - limit
      const fromMs = range === 'All' ? 0 : firstBar * INTERVAL_MS[interval]
      const points = pairPoints(closes, { isInverted, fees: fees.current, fromMs, ageMaxMs })
      canvas.current?.show(points)
      setDrawn((before) => ({ ...before, points, isOwnAlone }))
    }
    const drawSoon = () => {
      if (isRead) cancelDraw ??= after(REDRAW_MS, draw)
    }
    const read = () =>
      settle(
        Promise.all(ids.map((id) => fetchBars(id, { interval, limit }, signal))),
        signal,
        (answers) => {
          isOwnAlone = answers.some((answer) => answer.isOwnAlone)
          for (const [index, { candles }] of answers.entries())
            for (const candle of candles) bars[index === 0 ? 0 : 1].put(candle)
          draw()
          setDrawn((before) => ({ ...before, phase: 'shown', error: null }))
          if (!isRead) canvas.current?.goToNow()
          isRead = true
        },
        (error) => {
          setDrawn((before) => ({ ...(isRead ? before : NOTHING), phase: 'failed', error }))
          // A failed reload keeps the lines of the same range.
          if (!isRead) canvas.current?.show([])
        },
      )
    const stop = follow(
      { channel: 'candles', marketIds: ids, options: { interval } },
      {
        onGap: read,
        onMessage: (message) => {
          if (message.type !== 'candle') return
          const bar = barOfMessage(message.data, interval)
          const result =
            bar === null ? 'known' : bars[message.market_id === ids[0] ? 0 : 1].put(bar)
          if (result !== 'known') drawSoon()
        },
      },
    )
    const stopRefresh = every(REFRESH_MS, drawSoon)
    read()
    return () => {
      ending.abort()
      cancelDraw?.()
      stopRefresh()
      stop()
    }
  }, [...ids, isInverted, range, interval, limit, round])
  return { ...drawn, ageMaxMs, again: () => setRound(round + 1) }
}
