// A MarketActor and a subscriber of its snapshots and updates. Their two books are compared after every event.

import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { MarketActor } from '../../../actors/market/market.ts'
import type { MarketMessage } from '../../../actors/market/parts.ts'
import type { Level, Update } from '../../../engine/events.ts'
import { nativeMarketId, outcomeId, type VenueKey } from '../../../engine/ids.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import { NaiveBook } from '../reference/naive/book.ts'
import { listing, marketParts, marketRef, recordingPublisher } from './builders.ts'
import { marketSummary } from './stored.ts'

const CHECKSUM_LEVELS = 10

export class FollowedMarket {
  readonly name: string
  readonly actor: MarketActor
  readonly subscriber = new NaiveBook()
  /** Reasons for which the actor requested a fresh book. */
  readonly resyncs: string[]
  /** Reasons for which messages had no effect. */
  readonly ignored: string[]
  updateCount = 0
  replacedCount = 0
  checksumCount = 0
  #seq = 0
  #context = ''

  constructor(name: string, venue: VenueKey, outcomes: readonly [first: string, second: string]) {
    this.name = name
    const { publisher } = recordingPublisher()
    publisher.watch({ name: 'subscriber', onUpdate: (update) => this.#follow(update) })
    const storage = openMemoryStorage()
    const watching = marketParts({ publisher, storage })
    this.resyncs = watching.resyncs
    this.ignored = watching.ignored
    const market = listing(name, {
      venue,
      nativeId: nativeMarketId(name),
      outcomes: [
        { label: 'Yes', id: outcomeId(outcomes[0]) },
        { label: 'No', id: outcomeId(outcomes[1]) },
      ],
    })
    const ref = { ...marketRef(name, storage.markets.put(market)), venue }
    this.actor = new MarketActor(ref, marketSummary(market), watching.parts)
  }

  /** Also checks all invariants. */
  receive(message: MarketMessage, context: string): void {
    this.#context = context
    this.actor.receive(message)
    // One damaged frame marks all books of a connection as stale and changes no level, so only the mark is checked.
    if (message.kind === 'void') assert.ok(!this.actor.isBookLive, context)
    else this.#check()
  }

  #follow(update: Update): void {
    if (update.kind === 'bookReplaced') {
      // As in the stream hub, the snapshot is the current view and does not use a sequence number.
      const view = this.actor.book()
      assert.equal(update.seq, this.#seq, this.#context)
      assert.equal(view.seq, this.#seq, this.#context)
      this.subscriber.replace(view.bids, view.asks)
      this.replacedCount += 1
    } else if (update.kind === 'book') {
      this.#seq += 1
      assert.equal(update.seq, this.#seq, this.#context)
      assert.ok(update.changes.length > 0, this.#context)
      for (const change of update.changes) this.subscriber.set(change)
      this.updateCount += 1
      if (update.checksum === null) return
      this.checksumCount += 1
      assert.equal(update.checksum, checksumOf(this.subscriber), this.#context)
    }
  }

  #check(): void {
    const view = this.actor.book()
    assertSide(view.bids, 1, this.#context)
    assertSide(view.asks, -1, this.#context)
    if (!view.isStale) {
      const [bid, ask] = [view.bids[0], view.asks[0]]
      const isCrossed = bid !== undefined && ask !== undefined && bid.price >= ask.price
      assert.ok(!isCrossed, `crossed and served as live: ${this.#context}`)
    }
    const isFollowed =
      isSame(view.bids, this.subscriber.levels('bid')) &&
      isSame(view.asks, this.subscriber.levels('ask'))
    assert.ok(isFollowed, `the subscriber's book is another: ${this.#context}`)
  }

  /** The levels may be in any order. */
  equals(book: { readonly bids: readonly Level[]; readonly asks: readonly Level[] }): boolean {
    const wanted = new NaiveBook()
    wanted.replace(book.bids, book.asks)
    return this.equalsBook(wanted)
  }

  equalsBook(wanted: NaiveBook): boolean {
    const view = this.actor.book()
    return isSame(view.bids, wanted.levels('bid')) && isSame(view.asks, wanted.levels('ask'))
  }
}

/** The checks of OrderBook.assertSound for public levels: best first, no duplicate price, no empty level. */
function assertSide(levels: readonly Level[], sign: 1 | -1, context: string): void {
  let before = Number.POSITIVE_INFINITY
  for (const { price, size } of levels) {
    const isSound =
      Number.isInteger(price) && price >= 0 && price <= 1_000_000 && price * sign < before
    assert.ok(isSound, `price ${price}: ${context}`)
    assert.ok(Number.isSafeInteger(size) && size > 0, `size ${size}: ${context}`)
    before = price * sign
  }
}

function isSame(ours: readonly Level[], theirs: readonly Level[]): boolean {
  if (ours.length !== theirs.length) return false
  return ours.every(({ price, size }, rank) => {
    const other = theirs[rank]
    return other !== undefined && other.price === price && other.size === size
  })
}

/** Computes the checksum from its definition, without the engine's code. */
function checksumOf(book: NaiveBook): number {
  const levels = [
    ...book.levels('bid').slice(0, CHECKSUM_LEVELS),
    ...book.levels('ask').slice(0, CHECKSUM_LEVELS),
  ]
  return crc32(levels.map(({ price, size }) => `${price}:${size}`).join(':'))
}
