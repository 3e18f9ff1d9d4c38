// Whether the books of a basket may be relied on at this moment, and how its markets stood at a look, so that the next one
// knows what has changed. Not for: what is bought from them (baskets.ts). Upholds ARBIT2, ARBIT3.

import type { Clock } from '../../engine/clock.ts'
import { opportunityBookAgeMsMax } from '../../engine/limits.ts'
import { type FeeModel, feesAt } from '../../engine/market/fees.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import type { SizeMicros, TimeMs } from '../../engine/units.ts'
import type { BookLevels, MarketView } from '../views.ts'
import type { Part } from './baskets.ts'

/** How a market stood at a look. */
export interface Look {
  readonly version: number
  readonly bookSeq: number
  readonly receivedAtMs: TimeMs | null
  readonly fees: FeeModel
  readonly orderSizeMin: SizeMicros | null
}

/** When data last came from what carries a market's book; null while its venue's feed is not live. */
export type HeardMs = (market: MarketRef) => TimeMs | null

/** Whether a book of this age, in milliseconds, says nothing of what can be bought; null: nobody knows its age. */
export function isTooOld(ageMs: number | null): boolean {
  return ageMs === null || ageMs > opportunityBookAgeMsMax
}

export class BookAges {
  readonly #clock: Clock
  readonly #heardMs: HeardMs

  constructor(clock: Clock, heardMs: HeardMs) {
    this.#clock = clock
    this.#heardMs = heardMs
  }

  /**
   * How long ago a book was known to be right, in milliseconds; null when it may not be. A feed that is live tells every
   * change in order, so a book without a change is as young as the newest message of the socket that carries it.
   */
  of(market: MarketView, book: BookLevels | undefined): number | null {
    if (book === undefined || book.isStale || market.isBehind) return null
    return this.since(market, book.receivedAtMs)
  }

  /** The age of a book whose last change came then, while nothing says that it is out of date. */
  since({ ref }: MarketView, receivedAtMs: TimeMs | null): number | null {
    const heardMs = this.#heardMs(ref)
    if (heardMs === null || receivedAtMs === null) return null
    return Math.max(0, this.#clock.nowMs() - Math.max(heardMs, receivedAtMs))
  }

  /** Why nothing can be bought now, whatever it costs; null: it can. */
  whyNot(parts: readonly Part[], books: readonly BookLevels[]): 'not_open' | 'stale_book' | null {
    if (parts.some(({ market }) => market.summary.status !== 'open')) return 'not_open'
    for (const [index, { market }] of parts.entries()) {
      if (isTooOld(this.of(market, books[index]))) return 'stale_book'
    }
    return null
  }

  looksAt(parts: readonly Part[], books: readonly BookLevels[]): readonly Look[] {
    const nowMs = this.#clock.nowMs()
    return parts.map(({ market: { version, summary } }, index) => ({
      version,
      bookSeq: books[index]?.seq ?? 0,
      receivedAtMs: books[index]?.receivedAtMs ?? null,
      fees: feesAt(summary.fees, nowMs),
      orderSizeMin: summary.orderSizeMin,
    }))
  }

  /** Whether nothing changed since the looks: no market, no terms, and no book is too old. */
  isAsLooked(parts: readonly Part[], looks: readonly Look[]): boolean {
    for (const [index, { market }] of parts.entries()) {
      const look = looks[index]
      if (look === undefined || market.version !== look.version) return false
      if (isTooOld(this.since(market, look.receivedAtMs))) return false
    }
    return this.hasSameTerms(parts, looks)
  }

  /** Whether the fees and the least orders are those of the looks. */
  hasSameTerms(parts: readonly Part[], looks: readonly Look[]): boolean {
    const nowMs = this.#clock.nowMs()
    return parts.every(({ market: { summary } }, index) => {
      const look = looks[index]
      return (
        look?.fees === feesAt(summary.fees, nowMs) && look.orderSizeMin === summary.orderSizeMin
      )
    })
  }
}
