// Whether the books of a basket may be relied on at this moment, and how its markets stood at a look, so that the next one
// knows what has changed.

import type { Clock } from '../../engine/clock.ts'
import { type FeeModel, feesAt } from '../../engine/market/fees.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import type { SizeMicros } from '../../engine/units.ts'
import type { BookLevels, MarketView } from '../views.ts'
import type { Part } from './baskets.ts'

/** How a market stood at a look. */
export interface CheckedMarket {
  readonly version: number
  readonly bookSeq: number
  readonly fees: FeeModel
  readonly orderSizeMin: SizeMicros | null
}

interface BookAgesParts {
  readonly clock: Clock
  /** An older book is part of no opportunity. */
  readonly ageMsMax: number
  /** Has a book confirmed, soon. */
  readonly confirm: (market: MarketRef) => void
}

export class BookAges {
  readonly #parts: BookAgesParts

  constructor(parts: BookAgesParts) {
    this.#parts = parts
  }

  /**
   * How long ago a book itself was known to be right, in milliseconds; null when it may not be. What else came over its
   * socket says nothing: a subscription may be silent alone.
   */
  of(market: MarketView, book: BookLevels | undefined): number | null {
    if (book === undefined || book.isStale || market.isBehind) return null
    return this.since(market)
  }

  /** The age of a book while nothing says that it is out of date; null: it was never confirmed. */
  since({ bookConfirmedAtMs }: MarketView): number | null {
    if (bookConfirmedAtMs === null) return null
    return Math.max(0, this.#parts.clock.nowMs() - bookConfirmedAtMs)
  }

  /** Whether a book of this age, in milliseconds, says nothing of what can be bought; null: its age is not known. */
  isTooOld(ageMs: number | null): boolean {
    return ageMs === null || ageMs > this.#parts.ageMsMax
  }

  /** Has the books of an opportunity confirmed. */
  confirm(parts: readonly Part[]): void {
    for (const { market } of parts) this.#parts.confirm(market.ref)
  }

  /** Why nothing can be bought now, whatever it costs; null: it can. */
  blockerOf(
    parts: readonly Part[],
    books: readonly BookLevels[],
  ): 'not_open' | 'stale_book' | null {
    if (parts.some(({ market }) => market.summary.status !== 'open')) return 'not_open'
    let isStale = false
    for (const [index, { market }] of parts.entries()) {
      const ageMs = this.of(market, books[index])
      if (!this.isTooOld(ageMs)) continue
      isStale = true
      if (ageMs !== null) this.#parts.confirm(market.ref)
    }
    return isStale ? 'stale_book' : null
  }

  checkedMarketsOf(parts: readonly Part[], books: readonly BookLevels[]): readonly CheckedMarket[] {
    const nowMs = this.#parts.clock.nowMs()
    return parts.map(({ market: { version, summary } }, index) => ({
      version,
      bookSeq: books[index]?.seq ?? 0,
      fees: feesAt(summary.fees, nowMs),
      orderSizeMin: summary.orderSizeMin,
    }))
  }

  /** Whether nothing changed since the looks: no market, no terms, and no book is too old. */
  isUnchanged(parts: readonly Part[], checkedMarkets: readonly CheckedMarket[]): boolean {
    for (const [index, { market }] of parts.entries()) {
      const checked = checkedMarkets[index]
      if (checked === undefined || market.version !== checked.version) return false
      if (this.isTooOld(this.since(market))) return false
    }
    return this.hasSameTerms(parts, checkedMarkets)
  }

  /** Whether the fees and the least orders are those of the looks. */
  hasSameTerms(parts: readonly Part[], checkedMarkets: readonly CheckedMarket[]): boolean {
    const nowMs = this.#parts.clock.nowMs()
    return parts.every(({ market: { summary } }, index) => {
      const checked = checkedMarkets[index]
      return (
        checked?.fees === feesAt(summary.fees, nowMs) &&
        checked.orderSizeMin === summary.orderSizeMin
      )
    })
  }
}
