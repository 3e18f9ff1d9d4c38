// Converts recorded changes of 2025 to the current `price_change`, which has the entries of both tokens.

import type { BookSide, Level, LevelChange } from '../../../engine/events.ts'
import { type CapturedFrame, mirrored, otherSide } from '../worlds/recordings.ts'
import type { NaiveBook } from './naive/book.ts'

type Tokens = readonly [first: string, second: string]

const text = (micros: number): string => String(micros / 1e6)

function entryOf(
  token: string,
  { side, price, size }: LevelChange,
  best: { bid: string; ask: string } | null,
): object {
  const wire = {
    asset_id: token,
    price: text(price),
    size: text(size),
    side: side === 'bid' ? 'BUY' : 'SELL',
  }
  return best === null ? wire : { ...wire, best_bid: best.bid, best_ask: best.ask }
}

/** In the venue's format: '' if a side is empty. */
function bestOf(book: NaiveBook, isFirst: boolean): { bid: string; ask: string } {
  const best = (side: BookSide): string => {
    const level = book.levels(isFirst ? side : otherSide(side))[0]
    return level === undefined ? '' : text(isFirst ? level.price : mirrored(level).price)
  }
  return { bid: best('bid'), ask: best('ask') }
}

const turned = (change: LevelChange): LevelChange => ({
  ...mirrored(change),
  side: otherSide(change.side),
})

/** `book` is the first token's book after the change. */
export function changeV1(
  frame: CapturedFrame,
  tokens: Tokens,
  set: { readonly book?: NaiveBook; readonly only?: 'own' } = {},
): string {
  const { book, only } = set
  const own = frame.isFirst ? tokens[0] : tokens[1]
  const other = frame.isFirst ? tokens[1] : tokens[0]
  const bestAs = (isFirst: boolean) => (book === undefined ? null : bestOf(book, isFirst))
  const entries = frame.changes.flatMap((change) => {
    const ours = entryOf(own, change, bestAs(frame.isFirst))
    return only === 'own' ? [ours] : [ours, entryOf(other, turned(change), bestAs(!frame.isFirst))]
  })
  return JSON.stringify({
    event_type: 'price_change',
    market: '0xrecorded',
    price_changes: entries,
    timestamp: String(frame.timeMs),
  })
}

/** A `book` frame of a token. `book` is quoted for the first token. */
export function bookFrame(book: NaiveBook, tokens: Tokens, isFirst: boolean, atMs: number): string {
  const wire = (levels: readonly Level[]) =>
    levels.map((level) => ({
      price: text(isFirst ? level.price : mirrored(level).price),
      size: text(level.size),
    }))
  return JSON.stringify({
    event_type: 'book',
    market: '0xrecorded',
    asset_id: isFirst ? tokens[0] : tokens[1],
    timestamp: String(atMs),
    hash: 'rebuilt',
    bids: wire(book.levels(isFirst ? 'bid' : 'ask')).reverse(),
    asks: wire(book.levels(isFirst ? 'ask' : 'bid')).reverse(),
  })
}
