// Canvas chart of candles (or a line of closes) with volume. Times are in the viewer's time zone.

import {
  type AutoscaleInfo,
  BaselineSeries,
  type BaselineSeriesPartialOptions,
  CandlestickSeries,
  type CandlestickSeriesOptions,
  ColorType,
  createChart,
  type DeepPartial,
  HistogramSeries,
  LineSeries,
  type LineSeriesOptions,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { priceText, roundUsdText, timeText } from '../format.ts'
import { type Bar, type PutResult, volumeOf } from './candles.ts'

/** Share of the height used for volume. */
const VOLUME_SHARE = 0.18
/** Pixels between bars of a long history. Bars of a short history are spread over the width, up to SPACING_MAX. */
const SPACING = 9
const SPACING_MAX = 30
/** Pixels of margin at the edges, so that the first and last time labels are not cut. */
const LABEL = 20
/** Empty bar slots at the right edge. */
const RIGHT_MARGIN_BARS = 4
/** Minimum price span of the vertical axis, in dollars. A constant price is a line in the middle. */
const SPAN_MIN = 0.01

export class CandleCanvas {
  readonly #host: HTMLElement
  readonly #chart: ReturnType<typeof createChart>
  readonly #candles
  readonly #line
  readonly #volumes
  readonly #removeSchemeListener: () => void
  readonly #removeSizeListener: () => void
  /** Drawn bars by opening time. */
  #bars = new Map<number, Bar>()
  #colors: ChartColors

  constructor(host: HTMLElement) {
    this.#host = host
    this.#colors = chartColors(host)
    this.#chart = createChart(host, { autoSize: true, ...OPTIONS })
    this.#chart.applyOptions(colored(this.#colors))
    this.#candles = this.#chart.addSeries(CandlestickSeries, {
      ...candleOptions(this.#colors),
      autoscaleInfoProvider: widened,
    })
    this.#line = this.#chart.addSeries(LineSeries, {
      ...lineOptions(this.#colors),
      autoscaleInfoProvider: widened,
      visible: false,
    })
    this.#volumes = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false,
    })
    this.#candles.priceScale().applyOptions({
      scaleMargins: { top: 0.08, bottom: VOLUME_SHARE + 0.06 },
    })
    this.#volumes.priceScale().applyOptions({ scaleMargins: { top: 1 - VOLUME_SHARE, bottom: 0 } })
    this.#removeSchemeListener = onSchemeChange(() => this.#recolor())
    const scale = this.#chart.timeScale()
    const layout = () => this.#layout()
    scale.subscribeSizeChange(layout)
    this.#removeSizeListener = () => scale.unsubscribeSizeChange(layout)
  }

  /** Replaces all drawn bars. */
  show(bars: readonly Bar[]): void {
    this.#candles.setData(bars.map(candleOf))
    this.#line.setData(bars.map(closeOf))
    this.#volumes.setData(bars.map((bar) => this.#volumeOf(bar)))
    this.#bars = new Map(bars.map((bar) => [bar.timestamp_ms, bar]))
  }

  draw(kind: 'candles' | 'line'): void {
    this.#candles.applyOptions({ visible: kind === 'candles' })
    this.#line.applyOptions({ visible: kind === 'line' })
  }

  /** Shows all bars, with the last one near the right edge. A short history starts at the left edge. */
  goToNow(): void {
    const scale = this.#chart.timeScale()
    const slots = this.#bars.size + RIGHT_MARGIN_BARS
    const width = scale.width()
    const margin = width === 0 ? 0 : (LABEL * slots) / width
    scale.setVisibleLogicalRange({
      from: -Math.max(0.5, margin),
      to: this.#bars.size - 0.5 + Math.max(RIGHT_MARGIN_BARS, margin),
    })
    this.#layout()
  }

  /** Adds or replaces one bar. */
  put(bar: Bar, result: Exclude<PutResult, 'known'>): void {
    this.#candles.update(candleOf(bar), result === 'older')
    this.#line.update(closeOf(bar), result === 'older')
    this.#volumes.update(this.#volumeOf(bar), result === 'older')
    const isNew = !this.#bars.has(bar.timestamp_ms)
    this.#bars.set(bar.timestamp_ms, bar)
    if (isNew) this.#layout()
  }

  remove(): void {
    this.#removeSchemeListener()
    this.#removeSizeListener()
    this.#chart.remove()
  }

  /** Spreads a short history over the width. The viewer's scroll position in a longer history is not changed. */
  #layout(): void {
    const scale = this.#chart.timeScale()
    const width = scale.width()
    const wanted = this.#bars.size + RIGHT_MARGIN_BARS
    if (width === 0 || this.#bars.size === 0 || wanted * SPACING > width) return
    const slots = Math.max(wanted, Math.floor(width / SPACING_MAX))
    scale.setVisibleLogicalRange({ from: -0.5, to: slots - 0.5 })
  }

  #volumeOf(bar: Bar) {
    if (volumeOf(bar) === null) return { time: seconds(bar) }
    const color = bar.close < bar.open ? this.#colors.ask : this.#colors.bid
    return { time: seconds(bar), value: bar.volume, color: seeThrough(color) }
  }

  #recolor(): void {
    this.#colors = chartColors(this.#host)
    this.#chart.applyOptions(colored(this.#colors))
    this.#candles.applyOptions(candleOptions(this.#colors))
    this.#line.applyOptions(lineOptions(this.#colors))
    // The color of volume is set per bar.
    const bars = [...this.#bars.values()].sort(
      (one, other) => one.timestamp_ms - other.timestamp_ms,
    )
    this.#volumes.setData(bars.map((bar) => this.#volumeOf(bar)))
  }
}

/** Options that depend on the color scheme. Nothing that the viewer may have changed is included. */
function colored({ ink, muted, edge }: ChartColors) {
  return {
    layout: { textColor: ink },
    grid: { vertLines: { color: edge }, horzLines: { color: edge } },
    rightPriceScale: { borderColor: edge },
    timeScale: { borderColor: edge },
    crosshair: { vertLine: { color: muted }, horzLine: { color: muted } },
  }
}

const OPTIONS = {
  layout: {
    attributionLogo: false,
    background: { type: ColorType.Solid, color: 'transparent' },
  },
  rightPriceScale: { entireTextOnly: true },
  timeScale: {
    rightOffset: RIGHT_MARGIN_BARS,
    barSpacing: SPACING,
    timeVisible: true,
    secondsVisible: false,
    tickMarkFormatter: (time: Time, kind: number) => tickText(time, kind),
  },
  // Wheel and vertical touch scroll the page, not the chart.
  handleScroll: { mouseWheel: false, vertTouchDrag: false },
  handleScale: { mouseWheel: false },
  localization: {
    timeFormatter: (time: Time) => timeText(millis(time), 'full'),
  },
}

function candleOptions({ bid, ask }: ChartColors): DeepPartial<CandlestickSeriesOptions> {
  return {
    upColor: bid,
    downColor: ask,
    wickUpColor: bid,
    wickDownColor: ask,
    borderVisible: false,
    priceFormat: CENTS,
  }
}

const lineOptions = ({ accent }: ChartColors): DeepPartial<LineSeriesOptions> => ({
  color: accent,
  lineWidth: 2,
  priceFormat: CENTS,
})

/** Axis label of a price. Empty outside of 0 to 1, where volume is drawn. */
export const axisText = (price: number): string => (price < 0 || price > 1 ? '' : priceText(price))

const CENTS = {
  type: 'custom',
  formatter: (price: number) => axisText(price),
  minMove: 0.0001,
} as const

const closeOf = (bar: Bar) => ({ time: seconds(bar), value: bar.close })

/** The price range of the visible bars, widened to the minimum span. */
function widened(original: () => AutoscaleInfo | null): AutoscaleInfo | null {
  const own = original()
  if (own === null || own.priceRange === null) return own
  const { minValue, maxValue } = own.priceRange
  const missing = Math.max(0, SPAN_MIN - (maxValue - minValue)) / 2
  const [low, high] = [Math.max(0, minValue - missing), Math.min(1, maxValue + missing)]
  return { ...own, priceRange: { minValue: low, maxValue: high } }
}

const candleOf = (bar: Bar) => {
  const { open, high, low, close } = bar
  return { time: seconds(bar), open, high, low, close }
}

const hour = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const date = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** Kinds of marks from 3 on are hours and minutes (TickMarkType of lightweight-charts). */
const tickText = (time: Time, kind: number): string => (kind < 3 ? date : hour).format(millis(time))

/** Chart time, always in whole seconds, to milliseconds. */
const millis = (time: Time): number => (typeof time === 'number' ? time * 1_000 : 0)

function seconds({ timestamp_ms: ms }: Bar): UTCTimestamp {
  const time: number = ms / 1_000
  if (!isTimestamp(time)) throw new Error(`a bar opens at ${ms} ms, which is no whole second`)
  return time
}

const isTimestamp = (time: number): time is UTCTimestamp => Number.isInteger(time)

/** An `rgb(…)` color with opacity 0.65, visible on light and dark backgrounds. */
const seeThrough = (color: string): string =>
  color.startsWith('rgb(') ? color.replace('rgb(', 'rgba(').replace(')', ', 0.65)') : color

// Canvas chart of realized profit over time. Times are in the viewer's time zone; steps of whole days are UTC
// days.

/** The cumulative sum at a time, in dollars. */
export interface CurvePoint {
  /** Unix seconds. */
  readonly time: number
  readonly usd: number
}

/** Seconds. */
const DAY = 86_400

export interface Curve {
  /** Points in order of time, with at most one per second. */
  show(points: readonly CurvePoint[], isByDay: boolean): void
  close(): void
}

/** Draws into `host`, which must have a size. */
export function openCurve(host: HTMLElement): Curve {
  let isByDay = false
  const texts: Texts = {
    moment: (time) => momentText(time, isByDay),
    tick: (time, kind) => curveTickText(time, kind < FIRST_KIND_OF_HOURS, isByDay),
  }
  const chart = createChart(host, { autoSize: true, ...curveOptions(chartColors(host), texts) })
  const series = chart.addSeries(BaselineSeries, curveLineOptions(chartColors(host)))
  const scale = chart.timeScale()
  // Fits the whole curve again after a resize.
  const fit = () => scale.fitContent()
  scale.subscribeSizeChange(fit)
  const removeSchemeListener = onSchemeChange(() => {
    chart.applyOptions(curveOptions(chartColors(host), texts))
    series.applyOptions(curveLineOptions(chartColors(host)))
  })
  return {
    show(points, areDays) {
      isByDay = areDays
      const [first] = points
      // Adds a zero point before the first one, since a single point draws no line.
      const before = first === undefined ? [] : [{ time: first.time - (areDays ? DAY : 1), usd: 0 }]
      series.setData(
        [...before, ...points].map(({ time, usd }) => ({ time: timestamp(time), value: usd })),
      )
      fit()
    },
    close() {
      removeSchemeListener()
      scale.unsubscribeSizeChange(fit)
      chart.remove()
    },
  }
}

/** Time formats: full for the crosshair, short for the axis. */
interface Texts {
  readonly moment: (time: Time) => string
  readonly tick: (time: Time, kind: number) => string
}

function curveOptions({ ink, muted, edge }: ChartColors, { moment, tick }: Texts) {
  return {
    layout: {
      attributionLogo: false,
      background: { type: ColorType.Solid, color: 'transparent' },
      textColor: ink,
    },
    grid: { vertLines: { color: edge }, horzLines: { color: edge } },
    rightPriceScale: { borderColor: edge, entireTextOnly: true },
    timeScale: {
      ...{ borderColor: edge, timeVisible: true, tickMarkFormatter: tick },
      // Prevents cut dates at the edges.
      ...{ fixLeftEdge: true, fixRightEdge: true },
    },
    crosshair: { vertLine: { color: muted }, horzLine: { color: muted } },
    localization: { timeFormatter: moment },
    // Touch and wheel scroll the page. The whole curve is always visible.
    handleScroll: false,
    handleScale: false,
  }
}

/** Profit and loss have the colors of the figures, above and below zero. */
function curveLineOptions({ bid, ask }: ChartColors): BaselineSeriesPartialOptions {
  return {
    ...{ baseValue: { type: 'price', price: 0 }, lineWidth: 2 },
    ...{ topLineColor: bid, topFillColor1: fainter(bid), topFillColor2: 'transparent' },
    ...{ bottomLineColor: ask, bottomFillColor1: 'transparent', bottomFillColor2: fainter(ask) },
    priceFormat: { type: 'custom', formatter: roundUsdText, minMove: 0.01 },
  }
}

const utcDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

const tickDay = { month: 'short', day: 'numeric' } as const
const utcTickDay = new Intl.DateTimeFormat(undefined, { ...tickDay, timeZone: 'UTC' })
const localTickDay = new Intl.DateTimeFormat(undefined, tickDay)
const localTickHour = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
/** First TickMarkType of lightweight-charts for times of day. Lower ones are days, months and years. */
const FIRST_KIND_OF_HOURS = 3

function curveTickText(time: Time, isDay: boolean, areUtcDays: boolean): string {
  if (typeof time !== 'number') return ''
  const format = areUtcDays ? utcTickDay : isDay ? localTickDay : localTickHour
  return format.format(time * 1_000)
}

function momentText(time: Time, isByDay: boolean): string {
  if (typeof time !== 'number') return ''
  return isByDay ? utcDay.format(time * 1_000) : timeText(time * 1_000, 'full')
}

function timestamp(seconds: number): UTCTimestamp {
  if (!isWholeSecond(seconds)) throw new Error(`${seconds} is no whole second`)
  return seconds
}

const isWholeSecond = (seconds: number): seconds is UTCTimestamp => Number.isInteger(seconds)

/** An `rgb(…)` color with opacity 0.25. */
const fainter = (color: string): string =>
  color.startsWith('rgb(') ? color.replace('rgb(', 'rgba(').replace(')', ', 0.25)') : color

// Theme colors for canvas charts, computed from the CSS variables.

export interface ChartColors {
  readonly ink: string
  readonly muted: string
  readonly edge: string
  readonly accent: string
  readonly bid: string
  readonly ask: string
}

/** The current colors at `host`. */
export function chartColors(host: HTMLElement): ChartColors {
  const probe = document.createElement('span')
  host.append(probe)
  const color = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colors = {
    ink: color('ink'),
    muted: color('muted'),
    edge: color('edge'),
    accent: color('accent'),
    bid: color('bid'),
    ask: color('ask'),
  }
  probe.remove()
  return colors
}

/** Calls `listener` when the color scheme changes; returns a stop function. */
export function onSchemeChange(listener: () => void): () => void {
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', listener)
  return () => scheme.removeEventListener('change', listener)
}
