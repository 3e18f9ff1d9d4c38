// Prices of many markets as they change, each a signal of its own, so that a change draws its own row and no other; and a
// price that lights up for a moment when it changes, with an arrow the way it went. Browsers that are asked for less
// motion show the figure alone.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { PriceMessage } from '../../../client/messages.ts'
import { priceText, writtenDecimals } from '../../format.ts'
import { html } from '../../html.ts'
import { Signal } from '../../signal.ts'
import { follow } from '../../stream.ts'

export type LivePrice = PriceMessage['data']

/** The least time between two prices of a market: a list that changes faster cannot be read. */
const CONFLATE_MS = 250

/** The live price of each of these markets; null until one came. */
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

/** The price of an outcome, where the first one's is known: the others mean that it does not come. */
export const priceOfOutcome = (first: number, index: number): number =>
  index === 0 ? first : Math.round((1 - first) * 1e6) / 1e6

interface PriceProps {
  /** In dollars; null: not known. */
  readonly price: number | null
  /** Of a cent, that are written at least: those of the market's price step. */
  readonly decimals?: number
}

/** A table lays points under each other by `data-decimals`. */
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
  // Another key is another element, whose animation begins anew.
  return html`<span class=${`price ${way}`} key=${count} data-decimals=${writtenDecimals(price, decimals)}>${priceText(price, decimals)}</span>`
}
