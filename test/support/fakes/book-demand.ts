import { BookWaits } from '../../../actors/book-waits.ts'
import type { BookDemand } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'

export class FakeDemand implements BookDemand {
  readonly requests: (readonly [market: MarketNumber, owner: string])[] = []
  /** Number of holds by `<market> <owner> <reason>`. */
  readonly holds = new Map<string, number>()
  readonly waits: BookWaits
  /** Called when a caller waits for a book. Tests may end the wait with `waits.end`. */
  onWait: (market: MarketNumber) => void = () => {}
  readonly refused = new Set<MarketNumber>()

  constructor(clock: Pick<Clock, 'after'>) {
    this.waits = new BookWaits(clock)
  }

  request(market: MarketNumber, owner: string): boolean {
    if (this.refused.has(market)) return false
    this.requests.push([market, owner])
    return true
  }

  hold(...[market, owner, reason]: Parameters<BookDemand['hold']>): boolean {
    if (this.refused.has(market)) return false
    this.#count(`${market} ${owner} ${reason}`, 1)
    return true
  }

  release(...[market, owner, reason]: Parameters<BookDemand['release']>): void {
    this.#count(`${market} ${owner} ${reason}`, -1)
  }

  live(market: MarketNumber, waitMs: number, owner: string): Promise<void> {
    const wait = this.waits.add(market, waitMs, owner)
    this.onWait(market)
    return wait
  }

  /** Throws if a caller releases a hold that it does not have. */
  #count(key: string, change: number): void {
    const count = (this.holds.get(key) ?? 0) + change
    if (count < 0) throw new Error(`${key} was released without a hold`)
    if (count > 0) this.holds.set(key, count)
    else this.holds.delete(key)
  }
}
