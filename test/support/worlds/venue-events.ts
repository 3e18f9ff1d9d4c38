import type { VenueEvent } from '../../../engine/events.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import type { Random } from '../../../engine/random.ts'
import { priceMicros, type TimeMs } from '../../../engine/units.ts'
import { ask, bid, change, level, listing, snapshot, trade } from './builders.ts'

/** Number of open markets at each venue. Their names are `a0`, `b0`, … */
export function manyMarkets(countEach: number): readonly MarketListing[] {
  return (['a', 'b'] as const).flatMap((venue) =>
    Array.from({ length: countEach }, (_, index) => listing(`${venue}${index}`, { venue })),
  )
}

export class VenueEvents {
  readonly #random: Random
  readonly #markets: readonly MarketListing[]
  #trades = 0

  constructor(random: Random, markets: readonly MarketListing[]) {
    this.#random = random
    this.#markets = markets
  }

  /** Returns the next event of a random market, at this time. */
  next(nowMs: TimeMs): VenueEvent {
    const { venue, nativeId } = this.#random.pick(this.#markets)
    const at = { venue, venueTimeMs: nowMs, receivedAtMs: nowMs }
    const below = (0.2 + 0.01 * this.#random.below(20)).toFixed(2)
    const price = Number(below)
    const size = 1 + this.#random.below(50)
    const dice = this.#random.next()
    if (dice < 0.15) {
      const bids = [level(price, size), level(price - 0.02, 3)]
      return snapshot(nativeId, bids, [level(price + 0.3, size)], at)
    }
    if (dice < 0.75) {
      const removed = this.#random.next() < 0.2 ? 0 : size
      const one = this.#random.next() < 0.5 ? bid(price, removed) : ask(price + 0.4, removed)
      return change(nativeId, [one], at)
    }
    if (dice < 0.97) {
      this.#trades += 1
      return trade(nativeId, `t${this.#trades}`, { ...at, price: priceMicros(price * 1e6) })
    }
    return {
      kind: 'lastPrice',
      ...at,
      outcome: trade(nativeId, '').outcome,
      price: priceMicros(price * 1e6),
    }
  }
}
