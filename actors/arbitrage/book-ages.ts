// Decides whether the books of a basket are recent enough to buy from.

import type { Clock } from '../../engine/clock.ts'
import { type FeeModel, feesAt } from '../../engine/market/fees.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import type { SizeMicros } from '../../engine/units.ts'
import type { BookLevels, MarketView } from '../views.ts'
import type { Part } from './baskets.ts'

export interface CheckedMarket {
  readonly version: number
  readonly bookSeq: number
  readonly fees: FeeModel
  readonly orderSizeMin: SizeMicros | null
}

interface BookAgesParts {
  readonly clock: Clock
  readonly ageMsMax: number
  readonly confirm: (market: MarketRef) => void
}

export class BookAges {
  readonly #parts: BookAgesParts

  constructor(parts: BookAgesParts) {
    this.#parts = parts
  }

  /**
   * Time in ms since the book was last confirmed. Null if the book is or may be stale. Messages about other books on
   * the same socket confirm nothing, because a single subscription can stop delivering.
   */
  of(market: MarketView, book: BookLevels | undefined): number | null {
    if (book === undefined || book.isStale || market.isBehind) return null
    return this.since(market)
  }

  /** Milliseconds since the book was last confirmed. Null if it never was. */
  since({ bookConfirmedAtMs }: MarketView): number | null {
    if (bookConfirmedAtMs === null) return null
    return Math.max(0, this.#parts.clock.nowMs() - bookConfirmedAtMs)
  }

  /** Null means an unknown age, which is too old. */
  isTooOld(ageMs: number | null): boolean {
    return ageMs === null || ageMs > this.#parts.ageMsMax
  }

  confirm(parts: readonly Part[]): void {
    for (const { market } of parts) this.#parts.confirm(market.ref)
  }

  /** Null: the basket can be bought. */
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

  isUnchanged(parts: readonly Part[], checkedMarkets: readonly CheckedMarket[]): boolean {
    for (const [index, { market }] of parts.entries()) {
      const checked = checkedMarkets[index]
      if (checked === undefined || market.version !== checked.version) return false
      if (this.isTooOld(this.since(market))) return false
    }
    return this.hasSameTerms(parts, checkedMarkets)
  }

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
