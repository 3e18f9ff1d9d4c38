// Explains differences between two books. In the venue's protocol of 2025 fills appear only in the next full book.

import type { BookSide, Level, LevelChange } from '../../../engine/events.ts'
import type { PriceMicros } from '../../../engine/units.ts'
import { NaiveBook } from './naive/book.ts'

export interface Sides {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
}

interface LevelDifference {
  readonly side: BookSide
  readonly price: PriceMicros
  readonly before: number
  readonly after: number
}

/**
 * 'fill': trades reduced the size at or near the best prices. 'rest': an unfilled remainder of a taker's order added
 * size at the new best price. 'ahead': the stream sends a change to the same size after the book. 'unexplained': the
 * recording lacks a message.
 */
export type Explanation = 'fill' | 'rest' | 'ahead' | 'unexplained'

export const EXPLANATIONS = ['fill', 'rest', 'ahead', 'unexplained'] as const

export function differencesOf(before: Sides, after: Sides): LevelDifference[] {
  const [ours, theirs] = [bookOf(before), bookOf(after)]
  const differences: LevelDifference[] = []
  for (const side of ['bid', 'ask'] as const) {
    const prices = new Set([...ours.levels(side), ...theirs.levels(side)].map(({ price }) => price))
    for (const price of prices) {
      const [was, is] = [ours.sizeAt(side, price), theirs.sizeAt(side, price)]
      if (was !== is) differences.push({ side, price, before: was, after: is })
    }
  }
  return differences
}

/** `soon` contains the changes sent shortly after the book, in order. */
export function explain(
  difference: LevelDifference,
  books: { readonly before: Sides; readonly after: Sides },
  soon: readonly LevelChange[],
): Explanation {
  const { side, price, before, after } = difference
  const was = bestOf(books.before)
  const is = bestOf(books.after)
  /** A better price of this side has a larger rank. */
  const rank = (value: number): number => (side === 'bid' ? value : -value)
  const other = side === 'bid' ? 'ask' : 'bid'
  if (after < before && rank(price) >= Math.min(rank(was[side]), rank(is[side]))) return 'fill'
  if (after > before && price === is[side] && rank(price) >= rank(was[other])) return 'rest'
  const next = soon.find((change) => change.side === side && change.price === price)
  return next?.size === after ? 'ahead' : 'unexplained'
}

function bestOf({ bids, asks }: Sides): Record<BookSide, number> {
  return {
    bid: Math.max(...bids.map(({ price }) => price), Number.NEGATIVE_INFINITY),
    ask: Math.min(...asks.map(({ price }) => price), Number.POSITIVE_INFINITY),
  }
}

function bookOf({ bids, asks }: Sides): NaiveBook {
  const book = new NaiveBook()
  book.replace(bids, asks)
  return book
}
