// Rebuilds books from a bench subscriber's messages, as a client would: from a snapshot on, by absolute sizes. Used off
// the clock. Does not import the harness, so that subscriber processes stay small.

import { FollowedBook } from '../test/support/clients/stream-follower.ts'

interface Level {
  readonly price: number
  readonly size: number
}

/** A `snapshot` or `update` of the channel `orderbook`. */
export interface BookMessage {
  readonly type: string
  readonly market_id: string
  readonly seq: number
  readonly data: { readonly bids: readonly Level[]; readonly asks: readonly Level[] }
}

export class FollowedBooks {
  readonly #books = new Map<string, FollowedBook>()

  /** Applies the next message; returns a protocol violation as text, else null. */
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

  /** Each book as a line in the format of `bookLine` (sim-load.ts). */
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
