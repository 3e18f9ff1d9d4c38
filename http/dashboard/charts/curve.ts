// Canvas chart of realized profit over time. Times are in the viewer's time zone; steps of whole days are UTC
// days.

import {
  BaselineSeries,
  type BaselineSeriesPartialOptions,
  ColorType,
  createChart,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { roundUsdText, timeText } from '../format.ts'
import { type ChartColors, chartColors, onSchemeChange } from './chart-colors.ts'

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
    tick: (time, kind) => tickText(time, kind < FIRST_KIND_OF_HOURS, isByDay),
  }
  const chart = createChart(host, { autoSize: true, ...options(chartColors(host), texts) })
  const series = chart.addSeries(BaselineSeries, lineOptions(chartColors(host)))
  const scale = chart.timeScale()
  // Fits the whole curve again after a resize.
  const fit = () => scale.fitContent()
  scale.subscribeSizeChange(fit)
  const removeSchemeListener = onSchemeChange(() => {
    chart.applyOptions(options(chartColors(host), texts))
    series.applyOptions(lineOptions(chartColors(host)))
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

function options({ ink, muted, edge }: ChartColors, { moment, tick }: Texts) {
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
function lineOptions({ bid, ask }: ChartColors): BaselineSeriesPartialOptions {
  return {
    ...{ baseValue: { type: 'price', price: 0 }, lineWidth: 2 },
    ...{ topLineColor: bid, topFillColor1: seeThrough(bid), topFillColor2: 'transparent' },
    ...{ bottomLineColor: ask, bottomFillColor1: 'transparent', bottomFillColor2: seeThrough(ask) },
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

function tickText(time: Time, isDay: boolean, areUtcDays: boolean): string {
  if (typeof time !== 'number') return ''
  const format = areUtcDays ? utcTickDay : isDay ? localTickDay : localTickHour
  return format.format(time * 1_000)
}

function momentText(time: Time, isByDay: boolean): string {
  if (typeof time !== 'number') return ''
  return isByDay ? utcDay.format(time * 1_000) : timeText(time * 1_000, 'full')
}

function timestamp(seconds: number): UTCTimestamp {
  if (!isTimestamp(seconds)) throw new Error(`${seconds} is no whole second`)
  return seconds
}

const isTimestamp = (seconds: number): seconds is UTCTimestamp => Number.isInteger(seconds)

/** An `rgb(…)` color with opacity 0.25. */
const seeThrough = (color: string): string =>
  color.startsWith('rgb(') ? color.replace('rgb(', 'rgba(').replace(')', ', 0.25)') : color
