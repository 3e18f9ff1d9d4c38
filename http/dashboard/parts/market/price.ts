// A price that changes before one's eyes: the figure lights up for a moment, with an arrow the way it went. Browsers
// that are asked for less motion show the figure alone. Upholds DASH37.

import { useRef } from 'preact/hooks'
import { priceText } from '../../format.ts'
import { html } from '../../html.ts'

/** `price` in dollars, with so many decimals of a cent at least. */
export function ChangingPrice({
  price,
  decimals = 0,
}: {
  readonly price: number | null
  readonly decimals?: number
}) {
  const last = useRef<{ price: number | null; count: number; way: string }>({
    price,
    count: 0,
    way: '',
  })
  const before = last.current
  if (before.price !== price) {
    const isKnown = before.price !== null && price !== null
    const way = !isKnown ? '' : Number(price) > Number(before.price) ? 'flash rose' : 'flash fell'
    last.current = { price, count: before.count + 1, way }
  }
  const { count, way } = last.current
  // Another key is another element, whose animation begins anew.
  return html`<span class=${`price ${way}`} key=${count}>${priceText(price, decimals)}</span>`
}
