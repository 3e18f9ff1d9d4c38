import { useEffect, useRef, useState } from 'preact/hooks'
import { every, nowMs } from '../browser.ts'
import {
  durationText,
  localDay,
  priceText,
  signedUsdText,
  type TimeStyle,
  timeText,
  utcText,
  writtenDecimals,
} from '../format.ts'
import { html, type Shown } from '../html.ts'

export function useTick(periodMs: number | null): void {
  const [, setTick] = useState(0)
  useEffect(() => {
    if (periodMs === null) return undefined
    return every(periodMs, () => setTick((tick) => tick + 1))
  }, [periodMs])
}

interface TimeProps {
  /** Unix milliseconds. Null is shown as a dash. */
  readonly atMs?: number | null
  /** Alternative to `atMs`, in Unix seconds. */
  readonly seconds?: number | null
  readonly style?: TimeStyle
}

/** Shows the viewer's time zone. The tooltip shows UTC. Style `clock` adds the date if it is not today. */
export function Time({ seconds = null, atMs = millisOf(seconds), style = 'full' }: TimeProps) {
  if (atMs === null) return html`<span>–</span>`
  const shown = style === 'clock' && localDay(atMs) !== localDay(nowMs()) ? 'past' : style
  return html`<time class=${shown} datetime=${new Date(atMs).toISOString()} title=${utcText(atMs)}>${timeText(atMs, shown)}</time>`
}

const millisOf = (seconds: number | null): number | null =>
  seconds === null ? null : seconds * 1_000

export function Ago({ atMs }: { readonly atMs: number | null }) {
  useTick(1_000)
  if (atMs === null) return html`<span>–</span>`
  return html`<time datetime=${new Date(atMs).toISOString()} title=${utcText(atMs)}>${agoText(nowMs() - atMs)}</time>`
}

const agoText = (ms: number): string => (ms < 1_000 ? 'just now' : `${durationText(ms)} ago`)

interface PriceProps {
  /** In dollars; null: unknown. */
  readonly price: number | null
  /** Minimum decimals of the price in cents, from the market's price step. */
  readonly decimals?: number
}

/** The style sheet aligns the decimal points of a table by `data-decimals`. */
export const Price = ({ price, decimals = 0 }: PriceProps) =>
  html`<span data-decimals=${writtenDecimals(price, decimals)}>${priceText(price, decimals)}</span>`

/** A price that flashes and shows an arrow when it changes. The style sheet disables the flash for reduced motion. */
export function ChangingPrice({ price, decimals = 0 }: PriceProps) {
  const last = useRef({ price, count: 0, way: '' })
  const before = last.current
  if (before.price !== price) {
    const hasBoth = before.price !== null && price !== null
    const way = !hasBoth ? '' : Number(price) > Number(before.price) ? 'flash rose' : 'flash fell'
    last.current = { price, count: before.count + 1, way }
  }
  const { count, way } = last.current
  // A new key creates a new element, which restarts the animation.
  return html`<span class=${`price ${way}`} key=${count} data-decimals=${writtenDecimals(price, decimals)}>${priceText(price, decimals)}</span>`
}

export const Profit = ({ usd }: { readonly usd: number }) =>
  html`<span class=${usd > 0 ? 'up' : usd < 0 ? 'down' : ''}>${signedUsdText(usd)}</span>`

export const Figures = ({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: Shown])[]
}) => html`<dl class="figures">
  ${of.map(([name, value]) => html`<div key=${name} data-figure=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`

interface TradeFacts {
  readonly side: string
  /** Price of the market's first outcome, 0 to 1. */
  readonly price: number
  readonly size: number
  /** Dollars paid for the traded outcome. */
  readonly size_usd: number
  /** Label of the traded outcome; null: unknown, treated as the first outcome. */
  readonly outcome: string | null
}

interface Traded {
  /** Null if the traded outcome cannot be determined, because both outcomes have the same price. */
  readonly side: 'buy' | 'sell' | null
  readonly price: number
  readonly outcome: string | null
}

/** Prices closer than this count as equal. */
const SAME = 1e-5

/**
 * Converts a trade to the outcome that was traded. The API reports a buy of the second outcome at 19 cents as a sell of
 * the first outcome at 81 cents. `outcomes`: labels in order; null: unknown.
 */
export function tradedOf(trade: TradeFacts, outcomes: readonly string[] | null): Traded {
  const { price, outcome } = trade
  const quotedSide = trade.side === 'buy' ? 'buy' : 'sell'
  const isSecond = isSecondOutcome(trade, outcomes)
  if (isSecond === null) return { side: null, price, outcome }
  if (!isSecond) return { side: quotedSide, price, outcome: outcome ?? outcomes?.[0] ?? null }
  const other = Math.round((1 - price) * 1e6) / 1e6
  return { side: quotedSide === 'buy' ? 'sell' : 'buy', price: other, outcome }
}

/** Compares labels, or the paid amount if the labels are unknown. Null if both outcomes have the same price. */
function isSecondOutcome(
  { price, size, size_usd: usd, outcome }: TradeFacts,
  outcomes: readonly string[] | null,
): boolean | null {
  const name = outcome?.toLowerCase()
  if (name === undefined) return false
  const index = outcomes?.findIndex((label) => label.toLowerCase() === name) ?? -1
  if (index >= 0) return index > 0
  if (name === 'yes' || name === 'no') return name === 'no'
  if (Math.abs(1 - 2 * price) < SAME) return null
  return Math.abs(usd - (1 - price) * size) < Math.abs(usd - price * size)
}

/** Example: `Bought Nationals`. The color of the verb shows the side. */
export const TradedText = ({ of: { side, outcome } }: { readonly of: Traded }) =>
  html`<span class=${side === null ? 'verb' : side === 'buy' ? 'verb up' : 'verb down'}>${
    side === null ? 'Traded' : side === 'buy' ? 'Bought' : 'Sold'
  }</span>${' '}<span class="traded">${outcome ?? ''}</span>`
