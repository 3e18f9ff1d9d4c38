// The books of one venue that wait for a fresh snapshot, asked for again until it comes.
// Upholds VEN3.

import { staleRetryMs } from '../engine/limits.ts'
import type { MarketSeat } from './catalog.ts'

/** At most this many books are asked for in one call, the longest waiting first. */
const BATCH = 500

export class StaleBooks {
  /** When each was last asked for, on the monotonic clock. */
  readonly #askedAtMs = new Map<MarketSeat, number>()

  get count(): number {
    return this.#askedAtMs.size
  }

  add(seat: MarketSeat, nowMs: number): void {
    if (!this.#askedAtMs.has(seat)) this.#askedAtMs.set(seat, nowMs)
  }

  remove(seat: MarketSeat): void {
    this.#askedAtMs.delete(seat)
  }

  /** Those whose last request is over `staleRetryMs` ago, now counted as asked. */
  takeDue(nowMs: number): MarketSeat[] {
    const due: MarketSeat[] = []
    for (const [seat, askedAtMs] of this.#askedAtMs) {
      if (due.length === BATCH) break
      if (nowMs - askedAtMs >= staleRetryMs) due.push(seat)
    }
    for (const seat of due) {
      this.#askedAtMs.delete(seat)
      this.#askedAtMs.set(seat, nowMs)
    }
    return due
  }
}
