// Recent book updates of the current run, and the last replacement of each book, for a resume without snapshots. The
// oldest updates are overwritten. A connection that needs an overwritten update gets snapshots instead.

import type { BookConfirmed, BookReplaced, BookStale, BookUpdate } from '../../../engine/events.ts'
import { ringBookLevelsMax, ringBookUpdatesMax } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { ResyncReason } from '../encode/encoder.ts'
import { BookUpdateRing } from './book-update-ring.ts'

export interface Replacement {
  readonly market: MarketRef
  /** The channel's latest offset when the book was replaced. */
  readonly offset: number
  /** Increases with each replacement of any market. Orders replacements at the same offset. */
  readonly serial: number
  readonly reason: ResyncReason
}

/**
 * The `resync` reason of a replaced book. The first book of a market also ends a gap: the book before it was empty and
 * stale.
 */
export function resyncReason(reason: BookReplaced['reason']): ResyncReason {
  return reason === 'first' ? 'venue_gap' : reason
}

export class RecentBookUpdates {
  readonly #updates: BookUpdateRing
  /** One replacement per market, in order of time. The catalogue bounds the number of entries. */
  readonly #replaced = new Map<MarketNumber, Replacement>()
  /** Books that were reported as stale and are not confirmed yet. The catalogue bounds the number of entries. */
  readonly #stale = new Map<MarketNumber, BookStale>()
  #serial = 0

  /** `offset`: updates that this run has published so far. */
  constructor(offset: number, capacity = ringBookUpdatesMax, levelsMax = ringBookLevelsMax) {
    this.#updates = new BookUpdateRing(offset, { capacity, levelsMax })
  }

  get newest(): number {
    return this.#updates.newest
  }

  get serial(): number {
    return this.#serial
  }

  push(update: BookUpdate): void {
    this.#updates.push(update)
  }

  replace({ market, offset, reason }: BookReplaced): void {
    this.#replace({ market, offset, reason: resyncReason(reason) })
  }

  /**
   * A confirmation counts as a replacement: a disconnected client may have received `stale` but not `fresh`, so it
   * needs the book again.
   */
  confirm({ market, offset }: BookConfirmed): void {
    this.#replace({ market, offset, reason: 'venue_gap' })
  }

  #replace(replaced: Omit<Replacement, 'serial'>): void {
    const { number } = replaced.market
    this.#serial += 1
    this.#stale.delete(number)
    this.#replaced.delete(number)
    this.#replaced.set(number, { ...replaced, serial: this.#serial })
  }

  markStale(stale: BookStale): void {
    this.#stale.set(stale.market.number, stale)
  }

  /** Stale books that were reported one by one, not with their venue. */
  staleBooks(): Iterable<BookStale> {
    return this.#stale.values()
  }

  removeMarket(market: MarketNumber): void {
    this.#replaced.delete(market)
    this.#stale.delete(market)
  }

  reachesBack(offset: number): boolean {
    return offset <= this.newest && offset >= this.#updates.oldest - 1
  }

  get(offset: number): BookUpdate | null {
    return this.#updates.get(offset)
  }

  /** Does not build the update. Null if the update is not retained. */
  marketAt(offset: number): MarketRef | null {
    return this.#updates.marketAt(offset)
  }

  replacement(market: MarketNumber): Replacement | null {
    return this.#replaced.get(market) ?? null
  }

  /** The latest replacement of each market, earliest first. */
  replacements(): Iterable<Replacement> {
    return this.#replaced.values()
  }
}
