// The books that a subscriber of a bench rebuilds from what came to it, as a user would: from a snapshot on, by
// absolute sizes. Read off the clock. Needs nothing of the harness, so that subscribers stay small processes.

import { FollowedBook } from '../test/support/clients/stream-follower.ts'

interface Level {
  readonly price: number
  readonly size: number
}

/** A `snapshot` or an `update` of the channel `orderbook`. */
export interface BookMessage {
  readonly type: string
  readonly market_id: string
  readonly seq: number
  readonly data: { readonly bids: readonly Level[]; readonly asks: readonly Level[] }
}

export class FollowedBooks {
  readonly #books = new Map<string, FollowedBook>()

  /** Takes the next message; what the protocol forbids is returned as text, else null. */
  take({ type, market_id: id, seq, data }: BookMessage): string | null {
    if (type === 'snapshot') this.#books.set(id, new FollowedBook())
    const book = this.#books.get(id)
    if (book === undefined) return `${id}: an update before its snapshot`
    if (type !== 'snapshot' && seq !== book.seq + 1) return `${id}: ${seq} after ${book.seq}`
    book.seq = seq
    for (const side of ['bids', 'asks'] as const) {
      for (const { price, size } of data[side]) {
        if (size === 0) book[side].delete(price)
        else book[side].set(price, size)
      }
    }
    return null
  }

  /** Each book as a line, as `bookLine` (sim-load.ts) writes the world's. */
  lines(): readonly string[] {
    return [...this.#books].map(([id, book]) => {
      const side = (name: 'bids' | 'asks') =>
        book
          .levels(name)
          .map(([price, size]) => `${price}:${size}`)
          .join(',')
      return `${id} ${side('bids')} | ${side('asks')}`
    })
  }
}
