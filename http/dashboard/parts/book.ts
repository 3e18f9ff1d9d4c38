// Live order book. Redrawn at most once a frame.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { BookView, Level } from '../../client/connect.ts'
import { every } from '../browser.ts'
import { countText, priceDecimals, priceText, sizeDecimals, sizeText } from '../format.ts'
import { html } from '../html.ts'
import { useRedraw, useSignal } from '../signal.ts'
import {
  bookOf,
  type FeedState,
  feeds,
  followBooks,
  type StreamState,
  streamState,
} from '../stream.ts'
import { CsvButton } from './csv-button.ts'
import { Ago } from './figures.ts'
import { Empty, Waiting } from './states.ts'

/** Levels of each side, collapsed and expanded. */
const FEW = 10
const MANY = 50
/** Minimum rows of each side in a book without marked levels. */
const ROWS_MIN = 6

/** Rerenders at most once a frame. */
export function useBooks(marketIds: readonly string[]): void {
  useRedraw((redraw) => followBooks(marketIds, redraw), [marketIds.join('\n')])
}

export function useBook(
  marketId: string,
  platform: string,
  depth?: number,
): { readonly book: BookView | null; readonly state: BookState } {
  const { state: connection } = useSignal(streamState)
  const feed = useSignal(feeds).get(platform) ?? null
  useBooks([marketId])
  const book = bookOf(marketId, depth)
  return { book, state: bookStateOf(book, connection, feed) }
}

export function BookPanel({
  marketId,
  platform,
  decimals: least,
}: {
  readonly marketId: string
  readonly platform: string
  /** Minimum decimals of a price in cents. */
  readonly decimals: number
}) {
  const [levels, setLevels] = useState(FEW)
  const decimals = useRef<Decimals>({ price: least, size: 0 })
  // One more level than shown reveals whether there are more levels.
  const { book, state } = useBook(marketId, platform, levels + 1)
  // The decimals never decrease, so that columns keep their width.
  if (book !== null) decimals.current = decimalsOf(best(book, levels), decimals.current)
  return html`<section
    class="card book" aria-labelledby="book-title"
    data-state=${state} data-seq=${book?.seq ?? null} data-epoch=${book?.epoch ?? null}
  >
    <div class="row panel-head">
      <h2 id="book-title">Order book</h2>
      <span class=${`tag book-state ${state}`}>${BOOK_STATE_LABELS[state]}</span>
    </div>
    ${book === null ? null : html`<p class="muted">Changed <${Ago} atMs=${book.receivedMs} /></p>`}
    ${book === null ? html`<${Waiting} what="the book" />` : ladder(ladderOf(best(book, levels)), book, decimals.current)}
    ${book === null ? null : html`<${CsvButton} name="order book" rows=${() => levelRows(bookOf(marketId))} />`}
    ${
      levels === FEW && !hasBelow(book, FEW)
        ? null
        : html`<button type="button" class="quiet" onClick=${() => setLevels(levels === FEW ? MANY : FEW)}>
            ${levels === FEW ? `Show ${MANY} levels` : `Show ${FEW} levels`}
          </button>`
    }
  </section>`
}

const levelRows = (book: BookView | null) =>
  book === null
    ? []
    : [
        ...book.asks.map((level) => ({ side: 'ask', ...level })),
        ...book.bids.map((level) => ({ side: 'bid', ...level })),
      ]

const best = ({ bids, asks }: BookView, levels: number) => ({
  bids: bids.slice(0, levels),
  asks: asks.slice(0, levels),
})

interface Decimals {
  readonly price: number
  readonly size: 0 | 2
}

export function decimalsOf(
  { bids, asks }: Pick<BookView, 'bids' | 'asks'>,
  least: Decimals = { price: 0, size: 0 },
): Decimals {
  const levels = [...bids, ...asks]
  return {
    price: Math.max(least.price, priceDecimals(levels.map(({ price }) => price))),
    size: least.size === 2 ? 2 : sizeDecimals(levels.map(({ size }) => size)),
  }
}

const hasBelow = (book: BookView | null, levels: number): boolean =>
  book !== null && Math.max(book.bids.length, book.asks.length) > levels

/** `taken`: contracts that an opportunity takes from each ask, best ask first. They get an extra column. */
export function ladder(
  { bids, asks }: ReturnType<typeof ladderOf>,
  { spread, midPrice }: { readonly spread: number | null; readonly midPrice: number | null },
  decimals: Decimals,
  taken: readonly number[] | null = null,
) {
  if (bids.length === 0 && asks.length === 0) {
    return html`<${Empty}>This book has no orders.<//>`
  }
  const [columns, rowsMin] = taken === null ? [3, ROWS_MIN] : [4, 0]
  return html`<div class="scroll-x">
    <table class="list ladder">
      <caption class="visually-hidden">Asks, the highest first, then bids</caption>
      <thead>
        <tr>
          <th scope="col" class="num">Price</th><th scope="col" class="num">Contracts</th><th scope="col" class="num">Total</th>
          ${taken === null ? null : html`<th scope="col" class="num">Taken</th>`}
        </tr>
      </thead>
      <tbody data-side="ask">${blanks(asks, rowsMin)}${asks
        .map((row, index) =>
          levelRow('ask', row, decimals, taken === null ? null : (taken[index] ?? 0)),
        )
        .reverse()}</tbody>
      <tbody class="middle">
        <tr>
          <td colspan=${columns}>
            Spread <strong data-figure="spread">${priceText(spread, decimals.price)}</strong>
            <span class="gap"> Midpoint <strong data-figure="mid">${priceText(midPrice, decimals.price)}</strong></span>
          </td>
        </tr>
      </tbody>
      <tbody data-side="bid">${bids.map((row) => levelRow('bid', row, decimals, taken === null ? null : 0))}${blanks(bids, rowsMin)}</tbody>
    </table>
  </div>`
}

const blanks = (rows: readonly LadderRow[], rowsMin: number) =>
  Array.from(
    { length: Math.max(0, rowsMin - rows.length) },
    (_, index) =>
      html`<tr class="blank" key=${`blank ${index}`} aria-hidden="true"><td colspan="3"></td></tr>`,
  )

function levelRow(
  side: 'bid' | 'ask',
  { price, size, total, share }: LadderRow,
  decimals: Decimals,
  taken: number | null,
) {
  const isTaken = taken !== null && taken > 0
  return html`<tr key=${price} class=${isTaken ? 'taken' : ''}>
    <td class=${`num ${side}`}>${priceText(price, decimals.price)}</td>
    <td class="num">${sizeText(size, decimals.size)}</td>
    <td class="num total">
      <span class=${`bar ${side}`} style=${{ transform: `scaleX(${share.toFixed(4)})` }}></span>
      <span class="figure">${sizeText(total, decimals.size)}</span>
    </td>
    ${taken === null ? null : html`<td class="num" data-taken=${isTaken ? taken : null}>${isTaken ? sizeText(taken, decimals.size) : ''}</td>`}
  </tr>`
}

interface LadderRow extends Level {
  /** Cumulative contracts from the best level to this one. */
  readonly total: number
  /** `total` divided by the total of the larger side. */
  readonly share: number
}

interface Ladder {
  readonly bids: readonly LadderRow[]
  readonly asks: readonly LadderRow[]
}

/** The bars of both sides have the same scale. */
export function ladderOf({ bids, asks }: Pick<BookView, 'bids' | 'asks'>): Ladder {
  const deepest = Math.max(sizeOf(bids), sizeOf(asks))
  return { bids: rowsOf(bids, deepest), asks: rowsOf(asks, deepest) }
}

const sizeOf = (levels: readonly Level[]): number => levels.reduce((sum, { size }) => sum + size, 0)

function rowsOf(levels: readonly Level[], deepest: number): LadderRow[] {
  let total = 0
  return levels.map(({ price, size }) => {
    total += size
    return { price, size, total, share: deepest === 0 ? 0 : total / deepest }
  })
}

/**
 * `waiting`: no book received. `polled`: requested by REST every few seconds. `offline`: no connection; the last book
 * is shown. `late`: no message for longer than the heartbeat period. `behind`: missing messages are being fetched.
 * `stale`: the venue's feed or its book is not live. `live`: in sync.
 */
type BookState = 'waiting' | 'polled' | 'late' | 'offline' | 'behind' | 'stale' | 'live'

/** Returns the most severe of all states that apply. */
export function bookStateOf(
  book: Pick<BookView, 'isInSync' | 'isStale'> | null,
  connection: StreamState['state'],
  feed: FeedState | null,
): BookState {
  if (book !== null && connection === 'polling') return book.isStale ? 'stale' : 'polled'
  if (book !== null && connection === 'late') return 'late'
  const isDisconnected = connection !== 'live' && connection !== 'catching_up'
  const isBeginning = connection === 'connecting' || connection === 'resting'
  if (book === null) return isDisconnected && !isBeginning ? 'offline' : 'waiting'
  if (isDisconnected) return 'offline'
  if (!book.isInSync || connection === 'catching_up') return 'behind'
  return book.isStale || (feed !== null && feed.state !== 'live') ? 'stale' : 'live'
}

export const BOOK_STATE_LABELS: Readonly<Record<BookState, string>> = {
  waiting: 'Waiting for the book',
  polled: 'Polled every 5 s',
  late: 'No new messages: may be outdated',
  offline: 'Not connected: the last known book',
  behind: 'Catching up: the last known book',
  stale: 'Stale: the book may be out of date',
  live: 'In sync',
}

// Depth chart: cumulative contracts of bids and asks. Redrawn at most four times a second.

const PERIOD_MS = 250
/** The chart shows prices within this distance of the midpoint, in dollars. */
const REACH = 0.2
const WIDTH = 1_000
const HEIGHT = 240

/** Paths use view box units, measured from the upper left corner. */
interface DepthDrawing {
  /** Prices at the left and right edge, in dollars. */
  readonly from: number
  readonly to: number
  readonly bidPath: string
  readonly askPath: string
  /** Contracts of all levels in the shown price range. */
  readonly bidSize: number
  readonly askSize: number
}

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

/**
 * The path starts at the best price on the baseline, rises by one step per level, and returns to the baseline at
 * `edge`.
 */
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
