// The drawing of candles, or of their closes as a line, and of their volume on a canvas, with times in the viewer's zone.

import {
  type AutoscaleInfo,
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
import { priceText, timeText } from '../format.ts'
import { type Bar, type PutResult, volumeOf } from './bars.ts'
import { type ChartColors, chartColors, onSchemeChange } from './chart-colors.ts'

/** The part of the height that volume has. */
const VOLUME_SHARE = 0.18
/** Pixels between two bars of a long history; of a short one, whose bars fill the width as far as that goes. */
const SPACING = 9
const SPACING_MAX = 30
/** Pixels of room at an edge: half of a date below the first bars, half of a time below the last. */
const LABEL = 20
/** Bars of room at the right edge. */
const RIGHT_MARGIN_BARS = 4
/** Dollars that the height spans at least: a price that stands still is a line in its middle. */
const SPAN_MIN = 0.01

export class CandleCanvas {
  readonly #host: HTMLElement
  readonly #chart: ReturnType<typeof createChart>
  readonly #candles
  readonly #line
  readonly #volumes
  readonly #removeSchemeListener: () => void
  readonly #removeSizeListener: () => void
  /** What is drawn, by the moment at which each opens. */
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

  /** Draws these alone. */
  show(bars: readonly Bar[]): void {
    this.#candles.setData(bars.map(candleOf))
    this.#line.setData(bars.map(closeOf))
    this.#volumes.setData(bars.map((bar) => this.#volumeOf(bar)))
    this.#bars = new Map(bars.map((bar) => [bar.timestamp_ms, bar]))
  }

  /** As candles, or as the line of their closes. */
  draw(kind: 'candles' | 'line'): void {
    this.#candles.applyOptions({ visible: kind === 'candles' })
    this.#line.applyOptions({ visible: kind === 'line' })
  }

  /** Shows all bars, the last one near the right edge; a short history begins at the left one. */
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

  /** Draws one bar more, or one anew. */
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

  /** A history too short for the width is spread over it, from the left; a longer one stays as the viewer has it. */
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
    // Of volume, each bar has a colour of its own.
    const bars = [...this.#bars.values()].sort(
      (one, other) => one.timestamp_ms - other.timestamp_ms,
    )
    this.#volumes.setData(bars.map((bar) => this.#volumeOf(bar)))
  }
}

/** What follows the viewer's scheme, and nothing that a viewer has moved. */
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
  // A wheel, or a finger that goes up or down, moves the page, as everywhere else on it.
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

/** Prices lie between nothing and a dollar: beyond, where the volume is drawn, the axis has no marks. */
export const axisText = (price: number): string => (price < 0 || price > 1 ? '' : priceText(price))

const CENTS = {
  type: 'custom',
  formatter: (price: number) => axisText(price),
  minMove: 0.0001,
} as const

/** What the line goes through. */
const closeOf = (bar: Bar) => ({ time: seconds(bar), value: bar.close })

/** The range of the bars in sight, and never less than the least span. */
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

/** Kinds of marks from 3 on are hours and minutes (the package's TickMarkType). */
const tickText = (time: Time, kind: number): string => (kind < 3 ? date : hour).format(millis(time))

/** Only whole seconds are given to the chart. */
const millis = (time: Time): number => (typeof time === 'number' ? time * 1_000 : 0)

function seconds({ timestamp_ms: ms }: Bar): UTCTimestamp {
  const time: number = ms / 1_000
  if (!isTimestamp(time)) throw new Error(`a bar opens at ${ms} ms, which is no whole second`)
  return time
}

const isTimestamp = (time: number): time is UTCTimestamp => Number.isInteger(time)

/** Two thirds of an `rgb(…)` colour's weight: below the candles, and still to be seen on either ground. */
const seeThrough = (color: string): string =>
  color.startsWith('rgb(') ? color.replace('rgb(', 'rgba(').replace(')', ', 0.65)') : color
