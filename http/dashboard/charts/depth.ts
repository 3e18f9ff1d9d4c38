// Depth chart: cumulative contracts of bids and asks. Redrawn at most four times a second, and only when the
// book has changed.

import { useEffect, useState } from 'preact/hooks'
import type { BookView, Level } from '../../client/connect.ts'
import { every } from '../browser.ts'
import { countText, priceText, sizeText } from '../format.ts'
import { html } from '../html.ts'
import { bookOf } from '../stream.ts'

const PERIOD_MS = 250
/** Price range on either side of the midpoint, in dollars. */
const REACH = 0.2
/** Size of the SVG view box. */
const WIDTH = 1_000
const HEIGHT = 240

/** Paths in view box units from the upper left corner. */
interface DepthDrawing {
  /** Prices at the left and right edge, in dollars. */
  readonly from: number
  readonly to: number
  readonly bidPath: string
  readonly askPath: string
  /** Contracts within the price range. */
  readonly bidSize: number
  readonly askSize: number
}

/** The depth of a book; null if it has no orders. */
export function depthOf({ bids, asks }: Pick<BookView, 'bids' | 'asks'>): DepthDrawing | null {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price]
  if (bid === undefined && ask === undefined) return null
  const middle = ((bid ?? ask ?? 0) + (ask ?? bid ?? 0)) / 2
  const [from, to] = [Math.max(0, middle - REACH), Math.min(1, middle + REACH)]
  const [nearBids, nearAsks] = [
    bids.filter(({ price }) => price >= from),
    asks.filter(({ price }) => price <= to),
  ]
  const [bidSize, askSize] = [sum(nearBids), sum(nearAsks)]
  const most = Math.max(bidSize, askSize)
  const scale = {
    x: (price: number) => round(((price - from) / (to - from)) * WIDTH),
    y: (size: number) => round(HEIGHT - (most === 0 ? 0 : size / most) * HEIGHT),
  }
  return {
    from,
    to,
    bidPath: stairs(nearBids, 0, scale),
    askPath: stairs(nearAsks, WIDTH, scale),
    bidSize,
    askSize,
  }
}

/** Path from the best price at the baseline, up one step per level, to the edge and back to the baseline. */
function stairs(
  levels: readonly Level[],
  edge: number,
  { x, y }: { x: (price: number) => number; y: (size: number) => number },
): string {
  const [best] = levels
  if (best === undefined) return ''
  let total = 0
  let path = `M${x(best.price)} ${HEIGHT}`
  for (const { price, size } of levels) {
    total += size
    path += `H${x(price)}V${y(total)}`
  }
  return `${path}H${edge}V${HEIGHT}Z`
}

const sum = (levels: readonly Level[]): number =>
  levels.reduce((total, { size }) => total + size, 0)

const round = (units: number): number => Math.round(units * 10) / 10

export function DepthChart({ marketId }: { readonly marketId: string }) {
  const [book, setBook] = useState<BookView | null>(null)
  useEffect(() => {
    let shown = ''
    const refresh = () => {
      const now = bookOf(marketId)
      const version = now === null ? '' : `${now.epoch} ${now.seq} ${now.isInSync}`
      if (version === shown) return
      shown = version
      setBook(now)
    }
    refresh()
    return every(PERIOD_MS, refresh)
  }, [marketId])
  const drawing = book === null ? null : depthOf(book)
  if (drawing === null) return null
  const { from, to, bidPath, askPath, bidSize, askSize } = drawing
  const label = `${sizeText(bidSize)} contracts bid down to ${priceText(from)}, ${sizeText(askSize)} asked up to ${priceText(to)}`
  return html`<section class="card depth" aria-labelledby="depth-title" data-seq=${book?.seq}>
    <h2 id="depth-title">Depth</h2>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      <path class="bid" d=${bidPath} /><path class="ask" d=${askPath} />
    </svg>
    <div class="row edges" aria-hidden="true">
      <span>${priceText(from)}</span>
      <span class="bid">${countText(Math.round(bidSize))} bid</span>
      <span class="ask">${countText(Math.round(askSize))} asked</span>
      <span>${priceText(to)}</span>
    </div>
  </section>`
}
