// Canvas charts: price candles with volume, and a wallet's profit curve.

import {
  type AutoscaleInfo,
  BaselineSeries,
  CandlestickSeries,
  type ChartOptions,
  ColorType,
  createChart,
  type DeepPartial,
  HistogramSeries,
  type ITimeScaleApi,
  LineSeries,
  LineStyle,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { hourText, monthDayText, priceText, roundUsdText, timeText, utcDayText } from '../format.ts'
import type { Candle } from '../records.ts'
import { currentTheme } from '../theme.ts'
import { GapBand } from './gap-band.ts'
import type { PairPoint } from './pair-points.ts'

export type Bar = Pick<
  Candle,
  'timestamp_ms' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'trades_count' | 'closed'
>

/**
 * Result of adding a bar. `newest`: the last bar was added or replaced. `older`: an earlier bar was added or replaced.
 * `known`: nothing changed.
 */
export type PutResult = 'newest' | 'older' | 'known'

/** Volume in dollars; null if the bar has no recorded trades. */
export const volumeOf = ({ volume, trades_count: count }: Bar): number | null =>
  count === 0 ? null : volume

const VOLUME_SHARE = 0.18
/** Pixels between the bars of a long history. Short histories are stretched to at most SPACING_MAX. */
const SPACING = 9
const SPACING_MAX = 30
/** Pixels of margin at both edges, which prevents cut-off time labels. */
const LABEL = 20
const RIGHT_MARGIN_BARS = 4
const SPAN_MIN = 0.01

export function openCandles(host: HTMLElement) {
  const { chart, scale, colorsNow, close } = openChart(host, CANDLE_OPTIONS, recolor, layout)
  const candles = chart.addSeries(CandlestickSeries, {
    ...{ autoscaleInfoProvider: widened, borderVisible: false, priceFormat: CENTS },
  })
  const line = chart.addSeries(LineSeries, {
    ...{ autoscaleInfoProvider: widened, visible: false, lineWidth: 2, priceFormat: CENTS },
  })
  const volumes = chart.addSeries(HistogramSeries, {
    ...{ priceScaleId: 'volume', priceFormat: { type: 'volume' } },
    ...{ lastValueVisible: false, priceLineVisible: false },
  })
  candles.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: VOLUME_SHARE + 0.06 } })
  volumes.priceScale().applyOptions({ scaleMargins: { top: 1 - VOLUME_SHARE, bottom: 0 } })
  let drawn = new Map<number, Bar>()
  recolor()

  function recolor(): void {
    const { bid, ask, accent } = colorsNow()
    candles.applyOptions({ upColor: bid, downColor: ask, wickUpColor: bid, wickDownColor: ask })
    line.applyOptions({ color: accent })
    // Volume bars store their own color.
    const bars = [...drawn.values()].sort((one, other) => one.timestamp_ms - other.timestamp_ms)
    volumes.setData(bars.map(volumeBar))
  }
  function layout(): void {
    stretch(scale, drawn.size)
  }
  /** Bars of the venue's history have no volume. A single bar beside them would look like all volume of the range. */
  function showVolumes(): void {
    let count = 0
    for (const bar of drawn.values()) if (volumeOf(bar) !== null) count += 1
    volumes.applyOptions({ visible: count > 1 || drawn.size === 1 })
  }
  function volumeBar(bar: Bar) {
    if (volumeOf(bar) === null) return { time: openingOf(bar) }
    const { bid, ask } = colorsNow()
    const color = seeThrough(bar.close < bar.open ? ask : bid, 0.65)
    return { time: openingOf(bar), value: bar.volume, color }
  }
  return {
    close,
    show(bars: readonly Bar[]) {
      candles.setData(bars.map(candleOf))
      line.setData(bars.map(closeOf))
      volumes.setData(bars.map(volumeBar))
      drawn = new Map(bars.map((bar) => [bar.timestamp_ms, bar]))
      showVolumes()
    },
    draw(kind: 'candles' | 'line') {
      candles.applyOptions({ visible: kind === 'candles' })
      line.applyOptions({ visible: kind === 'line' })
    },
    goToNow() {
      scrollToNow(scale, drawn.size)
    },
    put(bar: Bar, result: Exclude<PutResult, 'known'>) {
      candles.update(candleOf(bar), result === 'older')
      line.update(closeOf(bar), result === 'older')
      volumes.update(volumeBar(bar), result === 'older')
      const isNew = !drawn.has(bar.timestamp_ms)
      drawn.set(bar.timestamp_ms, bar)
      if (isNew) showVolumes()
      if (isNew) layout()
    },
  }
}

/** Stretches a short history to the full width. Does not scroll a longer history. */
function stretch(scale: ITimeScaleApi<Time>, count: number): void {
  const width = scale.width()
  const wanted = count + RIGHT_MARGIN_BARS
  if (width === 0 || count === 0 || wanted * SPACING > width) return
  const slots = Math.max(wanted, Math.floor(width / SPACING_MAX))
  const margin = (LABEL * slots) / width
  scale.setVisibleLogicalRange({ from: -Math.max(0.5, margin), to: slots - 0.5 })
}

/** Shows all `count` bars. */
function scrollToNow(scale: ITimeScaleApi<Time>, count: number): void {
  const width = scale.width()
  const margin = width === 0 ? 0 : (LABEL * (count + RIGHT_MARGIN_BARS)) / width
  scale.setVisibleLogicalRange({
    from: -Math.max(0.5, margin),
    to: count - 0.5 + Math.max(RIGHT_MARGIN_BARS, margin),
  })
  stretch(scale, count)
}

export function openPairLines(host: HTMLElement) {
  let count = 0
  const layout = () => stretch(scale, count)
  const { chart, scale, colorsNow, close } = openChart(host, CANDLE_OPTIONS, recolor, layout)
  const shared = { autoscaleInfoProvider: widened, priceFormat: CENTS }
  const band = chart.addCustomSeries(new GapBand(), {
    ...{ ...shared, lastValueVisible: false, priceLineVisible: false },
  })
  const own = chart.addSeries(LineSeries, { ...shared, lineWidth: 2 })
  const other = chart.addSeries(LineSeries, {
    ...shared,
    lineWidth: 2,
    lineStyle: LineStyle.Dashed,
  })
  recolor()

  function recolor(): void {
    const { bid, accent, warn, muted } = colorsNow()
    own.applyOptions({ color: accent })
    other.applyOptions({ color: warn })
    band.applyOptions({ above: seeThrough(bid, 0.35), below: seeThrough(muted, 0.18) })
  }
  const lineOf = (points: readonly PairPoint[], name: 'own' | 'other') =>
    points.map(({ atMs, [name]: value }) => {
      const time = timestamp(atMs / 1_000)
      return value === null ? { time } : { time, value }
    })
  return {
    close,
    show(points: readonly PairPoint[]) {
      count = points.length
      own.setData(lineOf(points, 'own'))
      other.setData(lineOf(points, 'other'))
      band.setData(points.map(bandOf))
    },
    goToNow() {
      scrollToNow(scale, count)
    },
  }
}

function bandOf({ atMs, own, other, isAboveFees }: PairPoint) {
  const time = timestamp(atMs / 1_000)
  return own === null || other === null ? { time } : { time, own, other, isAboveFees }
}

/** TickMarkType of lightweight-charts: lower values are days, months and years. */
const FIRST_KIND_OF_HOURS = 3

const CANDLE_OPTIONS: DeepPartial<ChartOptions> = {
  rightPriceScale: { entireTextOnly: true },
  timeScale: {
    ...{ rightOffset: RIGHT_MARGIN_BARS, barSpacing: SPACING, secondsVisible: false },
    tickMarkFormatter: (time: Time, kind: number) =>
      (kind < FIRST_KIND_OF_HOURS ? monthDayText : hourText)(millis(time)),
  },
  // Wheel and vertical touch scroll the page, not the chart.
  handleScroll: { mouseWheel: false, vertTouchDrag: false },
  handleScale: { mouseWheel: false },
  localization: { timeFormatter: (time: Time) => timeText(millis(time), 'full') },
}

/** Price label of the axis. Empty outside of 0 to 1, where the chart draws volume. */
const CENTS = {
  type: 'custom',
  formatter: (price: number) => (price < 0 || price > 1 ? '' : priceText(price)),
  minMove: 0.0001,
} as const

/** Widens the price range of the visible bars to SPAN_MIN. */
function widened(original: () => AutoscaleInfo | null): AutoscaleInfo | null {
  const own = original()
  if (own === null || own.priceRange === null) return own
  const { minValue, maxValue } = own.priceRange
  const missing = Math.max(0, SPAN_MIN - (maxValue - minValue)) / 2
  const [low, high] = [Math.max(0, minValue - missing), Math.min(1, maxValue + missing)]
  return { ...own, priceRange: { minValue: low, maxValue: high } }
}

const openingOf = ({ timestamp_ms: ms }: Bar): UTCTimestamp => timestamp(ms / 1_000)
const closeOf = (bar: Bar) => ({ time: openingOf(bar), value: bar.close })
const candleOf = (bar: Bar) => {
  const { open, high, low, close } = bar
  return { time: openingOf(bar), open, high, low, close }
}

export interface CurvePoint {
  /** Unix seconds. */
  readonly time: number
  readonly usd: number
}

const DAY = 86_400

/**
 * Returns a close function. `host` must have a size. Points are in order of time, at most one per second. With
 * `isByDay`, each point is a UTC day.
 */
export function openCurve(
  host: HTMLElement,
  points: readonly CurvePoint[],
  isByDay: boolean,
): () => void {
  const options: DeepPartial<ChartOptions> = {
    rightPriceScale: { entireTextOnly: true },
    timeScale: {
      tickMarkFormatter: (time: Time, kind: number) =>
        isByDay || kind < FIRST_KIND_OF_HOURS
          ? monthDayText(millis(time), isByDay)
          : hourText(millis(time)),
      // Prevents cut-off dates at both edges.
      ...{ fixLeftEdge: true, fixRightEdge: true },
    },
    localization: {
      timeFormatter: (time: Time) =>
        isByDay ? utcDayText(millis(time)) : timeText(millis(time), 'full'),
    },
    // Touch and wheel scroll the page, since the whole curve is visible.
    ...{ handleScroll: false, handleScale: false },
  }
  const fit = () => scale.fitContent()
  const { chart, scale, colorsNow, close } = openChart(host, options, recolor, fit)
  const series = chart.addSeries(BaselineSeries, {
    ...{ baseValue: { type: 'price', price: 0 }, lineWidth: 2 },
    ...{ topFillColor2: 'transparent', bottomFillColor1: 'transparent' },
    priceFormat: { type: 'custom', formatter: roundUsdText, minMove: 0.01 },
  })
  function recolor(): void {
    const { bid, ask } = colorsNow()
    series.applyOptions({ topLineColor: bid, topFillColor1: seeThrough(bid, 0.25) })
    series.applyOptions({ bottomLineColor: ask, bottomFillColor2: seeThrough(ask, 0.25) })
  }
  recolor()
  const [first] = points
  // A single point draws no line, so the curve starts with an added point of zero.
  const before = first === undefined ? [] : [{ time: first.time - (isByDay ? DAY : 1), usd: 0 }]
  series.setData(
    [...before, ...points].map(({ time, usd }) => ({ time: timestamp(time), value: usd })),
  )
  fit()
  return close
}

function openChart(
  host: HTMLElement,
  options: DeepPartial<ChartOptions>,
  recolor: () => void,
  onSize: () => void,
) {
  let colors = chartColors(host)
  const chart = createChart(host, {
    autoSize: true,
    ...options,
    // The Content-Security-Policy blocks the logo of the library, which is markup in a string.
    layout: {
      attributionLogo: false,
      background: { type: ColorType.Solid, color: 'transparent' },
    },
    timeScale: { timeVisible: true, ...options.timeScale },
  })
  const colorChart = () => {
    const { ink, muted, edge } = colors
    chart.applyOptions({
      layout: { textColor: ink },
      grid: { vertLines: { color: edge }, horzLines: { color: edge } },
      rightPriceScale: { borderColor: edge },
      timeScale: { borderColor: edge },
      crosshair: { vertLine: { color: muted }, horzLine: { color: muted } },
    })
  }
  colorChart()
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const onScheme = () => {
    colors = chartColors(host)
    colorChart()
    recolor()
  }
  scheme.addEventListener('change', onScheme)
  const stopTheme = currentTheme.subscribe(onScheme)
  const scale = chart.timeScale()
  scale.subscribeSizeChange(onSize)
  const close = () => {
    scheme.removeEventListener('change', onScheme)
    stopTheme()
    scale.unsubscribeSizeChange(onSize)
    chart.remove()
  }
  return { chart, scale, colorsNow: () => colors, close }
}

function chartColors(host: HTMLElement) {
  const probe = document.createElement('span')
  host.append(probe)
  const color = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const text = { ink: color('ink'), muted: color('muted'), edge: color('edge') }
  const colors = {
    ...text,
    accent: color('accent'),
    warn: color('warn'),
    bid: color('bid'),
    ask: color('ask'),
  }
  probe.remove()
  return colors
}

const millis = (time: Time): number => (typeof time === 'number' ? time * 1_000 : 0)

function timestamp(seconds: number): UTCTimestamp {
  if (!isTimestamp(seconds)) throw new Error(`${seconds} is not an integer number of seconds`)
  return seconds
}

const isTimestamp = (seconds: number): seconds is UTCTimestamp => Number.isInteger(seconds)

const seeThrough = (color: string, opacity: number): string =>
  color.startsWith('rgb(') ? color.replace('rgb(', 'rgba(').replace(')', `, ${opacity})`) : color
