// Decides whether the books of a basket are recent enough to buy from. Records the state of its markets, so that the
// next check detects changes.

import type { Clock } from '../../engine/clock.ts'
import { type FeeModel, feesAt } from '../../engine/market/fees.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import type { SizeMicros } from '../../engine/units.ts'
import type { BookLevels, MarketView } from '../views.ts'
import type { Part } from './baskets.ts'

/** State of a market at a check. */
export interface CheckedMarket {
  readonly version: number
  readonly bookSeq: number
  readonly fees: FeeModel
  readonly orderSizeMin: SizeMicros | null
}

interface BookAgesParts {
  readonly clock: Clock
  /** Maximum age of a book that an opportunity may use. */
  readonly ageMsMax: number
  /** Requests a confirmation of the book. */
  readonly confirm: (market: MarketRef) => void
}

export class BookAges {
  readonly #parts: BookAgesParts

  constructor(parts: BookAgesParts) {
    this.#parts = parts
  }

  /**
   * Time in ms since the book was last confirmed; null if it is stale or may be. Other messages on the same socket do
   * not confirm it, because a single subscription can stop delivering.
   */
  of(market: MarketView, book: BookLevels | undefined): number | null {
    if (book === undefined || book.isStale || market.isBehind) return null
    return this.since(market)
  }

  /** Time in ms since the book was last confirmed; null if it never was. */
  since({ bookConfirmedAtMs }: MarketView): number | null {
    if (bookConfirmedAtMs === null) return null
    return Math.max(0, this.#parts.clock.nowMs() - bookConfirmedAtMs)
  }

  /** Whether a book is too old to buy from. `ageMs` null: unknown, so too old. */
  isTooOld(ageMs: number | null): boolean {
    return ageMs === null || ageMs > this.#parts.ageMsMax
  }

  /** Requests a REST read of each book of an opportunity. */
  confirm(parts: readonly Part[]): void {
    for (const { market } of parts) this.#parts.confirm(market.ref)
  }

  /** Why nothing can be bought now at any price; null if nothing prevents it. */
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

  /** Whether market versions, fees and minimum orders are those of the last check, and no book is too old. */
  isUnchanged(parts: readonly Part[], checkedMarkets: readonly CheckedMarket[]): boolean {
    for (const [index, { market }] of parts.entries()) {
      const checked = checkedMarkets[index]
      if (checked === undefined || market.version !== checked.version) return false
      if (this.isTooOld(this.since(market))) return false
    }
    return this.hasSameTerms(parts, checkedMarkets)
  }

  /** Whether fees and minimum orders are those of the last check. */
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
