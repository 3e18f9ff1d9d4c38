// Compares books with the trades of their markets. A trade removes orders from a book, so a book that does not change
// is wrong.

import type { TradeUpdate } from '../../engine/events.ts'
import type { PriceMicros } from '../../engine/units.ts'
import type { KnownMarket } from '../catalog/catalog.ts'

/** A trade outside the best prices contradicts the book if no message about the book follows within this time. */
const WITHOUT_CHANGE_MS = 5_000
/** Trades that arrive with a larger delay are ignored, because they do not describe the current book. */
const TRADE_AGE_MS_MAX = 30_000
/** A contradicted book is not compared with trades for this time, because some trades may bypass the book. */
const COOLDOWN_MS = 30_000

interface Watch {
  readonly dueMs: number
  /** The earlier of the first trade's venue time and receive time. */
  readonly tradedAtMs: number
  readonly receivedAtMs: number
  low: PriceMicros
  high: PriceMicros
}

export interface Contradictions {
  /** Both conditions hold: a trade was outside the best prices, and these prices were not confirmed for a long time. */
  readonly contradicted: readonly KnownMarket[]
  /** Only one of the two conditions holds. */
  readonly suspect: readonly KnownMarket[]
}

export class TradeChecks {
  readonly #watches = new Map<KnownMarket, Watch>()
  readonly #coolingDown = new Map<KnownMarket, number>()

  note(
    market: KnownMarket,
    { trade, venueTimeMs, receivedAtMs }: TradeUpdate,
    nowMs: number,
  ): void {
    if (trade.isBlock || receivedAtMs - venueTimeMs > TRADE_AGE_MS_MAX) return
    if (!market.actor.isBookLive || this.#coolingDown.has(market)) return
    const { price } = trade
    const watch = this.#watches.get(market)
    if (watch === undefined) {
      const tradedAtMs = Math.min(venueTimeMs, receivedAtMs)
      const dueMs = nowMs + WITHOUT_CHANGE_MS
      this.#watches.set(market, { dueMs, tradedAtMs, receivedAtMs, low: price, high: price })
      return
    }
    if (price < watch.low) watch.low = price
    if (price > watch.high) watch.high = price
  }

  /** Evaluates the trades that are at least WITHOUT_CHANGE_MS old. Must be called a few times a second. */
  takeDue(nowMs: number): Contradictions {
    const contradicted: KnownMarket[] = []
    const suspect: KnownMarket[] = []
    for (const [market, untilMs] of this.#coolingDown) {
      if (untilMs > nowMs) break
      this.#coolingDown.delete(market)
    }
    for (const [market, watch] of this.#watches) {
      if (watch.dueMs > nowMs) break
      this.#watches.delete(market)
      const { isBookLive, bookConfirmedAtMs } = market.actor
      if (!isBookLive || bookConfirmedAtMs === null) continue
      if (bookConfirmedAtMs >= watch.receivedAtMs) continue
      const isOld = bookConfirmedAtMs < watch.tradedAtMs - WITHOUT_CHANGE_MS
      const isOutside = isOutsideOf(market, watch)
      if (isOutside && isOld) {
        this.#coolingDown.set(market, nowMs + COOLDOWN_MS)
        contradicted.push(market)
      } else if (isOutside || isOld) suspect.push(market)
    }
    return { contradicted, suspect }
  }

  remove(market: KnownMarket): void {
    this.#watches.delete(market)
    this.#coolingDown.delete(market)
  }
}

function isOutsideOf({ actor }: KnownMarket, { low, high }: Watch): boolean {
  const { bids, asks } = actor.levels(1)
  const [bid, ask] = [bids[0]?.price, asks[0]?.price]
  return (bid !== undefined && low < bid) || (ask !== undefined && high > ask)
}
