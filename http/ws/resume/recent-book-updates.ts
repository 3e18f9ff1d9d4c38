// Recent book updates of this run and, per market, its last complete replacement: enough to resume a connection without
// snapshots. Bounded by updates and levels. The oldest are overwritten, and connections that need them get snapshots.

import type { BookConfirmed, BookReplaced, BookStale, BookUpdate } from '../../../engine/events.ts'
import { ringBookLevelsMax, ringBookUpdatesMax } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { ResyncReason } from '../encode/encoder.ts'
import { MessageRing } from './message-ring.ts'

export interface Replacement {
  readonly market: MarketRef
  /** The channel's newest offset before the replacement, which lies between this one and the next. */
  readonly offset: number
  /** Counts replacements of all markets; distinguishes two at the same offset. */
  readonly serial: number
  readonly reason: ResyncReason
}

/**
 * The `resync` reason of a replaced book. A first book also ends a gap, since the book shown before was empty and
 * stale.
 */
export function resyncReason(reason: BookReplaced['reason']): ResyncReason {
  return reason === 'first' ? 'venue_gap' : reason
}

export class RecentBookUpdates {
  readonly #updates: MessageRing<BookUpdate>
  /** In order of replacement, one per market; bounded by the catalogue. */
  readonly #replaced = new Map<MarketNumber, Replacement>()
  /** Books announced as stale, until they are fresh; bounded by the catalogue. */
  readonly #stale = new Map<MarketNumber, BookStale>()
  #serial = 0

  /** `offset`: updates that this run has published so far. */
  constructor(offset: number, capacity = ringBookUpdatesMax, levelsMax = ringBookLevelsMax) {
    const weightOf = ({ changes }: BookUpdate) => changes.length
    this.#updates = new MessageRing(offset, { capacity, weightMax: levelsMax, weightOf })
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

  /** A disconnected client may have received `stale` but not `fresh`: it must get the book again. */
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

  /** The currently stale books that were announced individually. */
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

  /** Null if it is not retained. */
  get(offset: number): BookUpdate | null {
    return this.#updates.get(offset)
  }

  /** The market's newest replacement; null if there was none in this run. */
  replacement(market: MarketNumber): Replacement | null {
    return this.#replaced.get(market) ?? null
  }

  /** Every market's newest replacement, the earliest first. */
  replacements(): Iterable<Replacement> {
    return this.#replaced.values()
  }
}
