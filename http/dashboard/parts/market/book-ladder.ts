// A book as a ladder of rows: each level with what would be had down to it, and how long its bar is. Also how far a
// book can be trusted, in one word. Not for: drawing (book-panel.ts). Upholds DASH39, DASH40.

import type { BookView, Level } from '../../../client/connect.ts'
import type { FeedState, StreamState } from '../../stream.ts'

export interface LadderRow extends Level {
  /** Contracts from the best level down to this one. */
  readonly total: number
  /** `total` as a share of the greater side's, 0 to 1. */
  readonly share: number
}

export interface Ladder {
  /** Best first. */
  readonly bids: readonly LadderRow[]
  /** Best first. */
  readonly asks: readonly LadderRow[]
}

/** Rows of the levels that a look at a book has; both sides' bars are to one scale. */
export function ladderOf({ bids, asks }: Pick<BookView, 'bids' | 'asks'>): Ladder {
  const deepest = Math.max(sizeOf(bids), sizeOf(asks))
  return { bids: rowsOf(bids, deepest), asks: rowsOf(asks, deepest) }
}

/** Contracts on these levels. */
export const sizeOf = (levels: readonly Level[]): number =>
  levels.reduce((sum, { size }) => sum + size, 0)

function rowsOf(levels: readonly Level[], deepest: number): LadderRow[] {
  let total = 0
  return levels.map(({ price, size }) => {
    total += size
    return { price, size, total, share: deepest === 0 ? 0 : total / deepest }
  })
}

/**
 * `waiting`: no book yet; `offline`: the connection is gone, the book is the last known; `behind`: something is being
 * fetched that is missing; `stale`: the venue's feed, or its book, is not live; `live`: as the venue has it.
 */
export type BookState = 'waiting' | 'offline' | 'behind' | 'stale' | 'live'

/** The worst that is true. */
export function bookStateOf(
  book: Pick<BookView, 'isInSync' | 'isStale'> | null,
  connection: StreamState['state'],
  feed: FeedState | null,
): BookState {
  const isGone = connection !== 'live' && connection !== 'catching_up'
  if (book === null) return isGone && connection !== 'connecting' ? 'offline' : 'waiting'
  if (isGone) return 'offline'
  if (!book.isInSync || connection === 'catching_up') return 'behind'
  return book.isStale || (feed !== null && feed.state !== 'live') ? 'stale' : 'live'
}

/** For a person. */
export const BOOK_STATE_WORDS: Readonly<Record<BookState, string>> = {
  waiting: 'Waiting for the book',
  offline: 'Not connected: the last known book',
  behind: 'Catching up: the last known book',
  stale: 'Stale: the venue’s feed is not live',
  live: 'In sync',
}
