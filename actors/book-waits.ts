// Requests that wait for the first snapshot of a book. Their number is limited in total and per owner.

import type { Clock, StopTimer } from '../engine/clock.ts'
import { coverageWaitingMax, coverageWaitingOfOwnerMax } from '../engine/limits.ts'
import type { MarketNumber } from '../engine/market/market.ts'

export class BookWaits {
  readonly #clock: Pick<Clock, 'after'>
  readonly #waiting = new Map<MarketNumber, Set<() => void>>()
  readonly #ofOwner = new Map<string, number>()
  #count = 0

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Resolves when the book is live, or after `waitMs`. Resolves at once if too many requests wait. */
  add(market: MarketNumber, waitMs: number, owner: string): Promise<void> {
    const ofOwner = this.#ofOwner.get(owner) ?? 0
    const isFull = this.#count >= coverageWaitingMax || ofOwner >= coverageWaitingOfOwnerMax
    if (isFull) return Promise.resolve()
    this.#count += 1
    this.#ofOwner.set(owner, ofOwner + 1)
    return new Promise((resolve) => {
      const finish = () => {
        stopTimer()
        this.#remove(market, owner, finish)
        resolve()
      }
      const stopTimer: StopTimer = this.#clock.after(waitMs, finish)
      const waiting = this.#waiting.get(market)
      if (waiting === undefined) this.#waiting.set(market, new Set([finish]))
      else waiting.add(finish)
    })
  }

  end(market: MarketNumber): void {
    for (const finish of [...(this.#waiting.get(market) ?? [])]) finish()
  }

  stop(): void {
    for (const market of [...this.#waiting.keys()]) this.end(market)
  }

  #remove(market: MarketNumber, owner: string, finish: () => void): void {
    this.#count -= 1
    const ofOwner = (this.#ofOwner.get(owner) ?? 0) - 1
    if (ofOwner > 0) this.#ofOwner.set(owner, ofOwner)
    else this.#ofOwner.delete(owner)
    const waiting = this.#waiting.get(market)
    waiting?.delete(finish)
    if (waiting?.size === 0) this.#waiting.delete(market)
  }
}
