// The newest book updates of this run and, for each market, where its book was last replaced as a
// whole: what a resuming connection needs to be brought up to date without a snapshot. Bounded by
// updates and by the levels in them, whichever comes first; full, the oldest go, and a connection that needed them
// gets snapshots. 12 MB when it is full. Not for: sending (book-resume.ts), how updates are kept (update-ring.ts).
// Upholds RESUME4.

import type { BookReplaced, BookUpdate } from '../../../engine/events.ts'
import { bookHistoryCount, bookHistoryLevelsMax } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { ResyncReason } from '../encode/encoder.ts'
import { UpdateRing } from './update-ring.ts'

/** A market's newest replacement. */
export interface Replacement {
  readonly market: MarketRef
  /** The channel's newest offset before it: it lies between this one and the next. */
  readonly offset: number
  /** Counts the replacements of all markets, so that two at one offset differ. */
  readonly serial: number
  readonly reason: ResyncReason
}

/** What a replaced book is announced with: a first book ends a gap too, since what was shown before
 * it was empty and marked stale. */
export function resyncReason(reason: BookReplaced['reason']): ResyncReason {
  return reason === 'first' ? 'venue_gap' : reason
}

export class BookHistory {
  readonly #updates: UpdateRing
  /** In the order of replacement, one a market: bounded by the catalogue. */
  readonly #replaced = new Map<MarketNumber, Replacement>()
  #serial = 0

  /** `offset`: how many updates this run has published already. */
  constructor(offset: number, capacity = bookHistoryCount, levelsMax = bookHistoryLevelsMax) {
    this.#updates = new UpdateRing(offset, { capacity, levelsMax })
  }

  get newest(): number {
    return this.#updates.newest
  }

  /** Of the newest replacement; 0 before the first. */
  get serial(): number {
    return this.#serial
  }

  push(update: BookUpdate): void {
    this.#updates.push(update)
  }

  replace({ market, offset, reason }: BookReplaced): void {
    this.#serial += 1
    this.#replaced.delete(market.number)
    const replacement = { market, offset, serial: this.#serial, reason: resyncReason(reason) }
    this.#replaced.set(market.number, replacement)
  }

  /** The market is gone for good. */
  forget(market: MarketNumber): void {
    this.#replaced.delete(market)
  }

  /** Whether every update behind this offset is kept. */
  reachesBack(offset: number): boolean {
    return offset <= this.newest && offset >= this.#updates.oldest - 1
  }

  /** Null when it is not kept. */
  get(offset: number): BookUpdate | null {
    return this.#updates.get(offset)
  }

  /** The market's newest replacement; null when this run has seen none. */
  replacement(market: MarketNumber): Replacement | null {
    return this.#replaced.get(market) ?? null
  }

  /** Every market's newest replacement, the earliest first. */
  replacements(): Iterable<Replacement> {
    return this.#replaced.values()
  }
}
