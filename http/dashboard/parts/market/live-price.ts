// Live prices of many markets, one signal each, so that a change rerenders a single row. A changed price
// flashes with an arrow, unless the browser requests reduced motion.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { PriceMessage } from '../../../client/messages.ts'
import { priceText, writtenDecimals } from '../../format.ts'
import { html } from '../../html.ts'
import { Signal } from '../../signal.ts'
import { follow } from '../../stream.ts'

export type LivePrice = PriceMessage['data']

/** Minimum time between two prices of a market. Faster changes are unreadable. */
const CONFLATE_MS = 250

/** The live price of each market; null before the first message. */
export function useLivePrices(
  marketIds: readonly string[],
): ReadonlyMap<string, Signal<LivePrice | null>> {
  const names = marketIds.join('\n')
  const signals = useMemo(
    () => new Map(marketIds.map((id) => [id, new Signal<LivePrice | null>(null)])),
    [names],
  )
  useEffect(() => {
    if (signals.size === 0) return undefined
    const options = { conflate_ms: CONFLATE_MS }
    return follow(
      { channel: 'prices', marketIds: [...signals.keys()], options },
      {
        onMessage: (message) => {
          if (message.type === 'price') signals.get(message.market_id)?.set(message.data)
        },
      },
    )
  }, [signals])
  return signals
}

/** Price of an outcome, computed from the first outcome's price: the complement for all others. */
export const priceOfOutcome = (first: number, index: number): number =>
  index === 0 ? first : Math.round((1 - first) * 1e6) / 1e6

interface PriceProps {
  /** In dollars; null: unknown. */
  readonly price: number | null
  /** Minimum decimals of a cent, those of the market's price step. */
  readonly decimals?: number
}

/** Tables align decimal points by `data-decimals`. */
export const Price = ({ price, decimals = 0 }: PriceProps) =>
  html`<span data-decimals=${writtenDecimals(price, decimals)}>${priceText(price, decimals)}</span>`

export function ChangingPrice({ price, decimals = 0 }: PriceProps) {
  const last = useRef<{ price: number | null; count: number; way: string }>({
    price,
    count: 0,
    way: '',
  })
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
