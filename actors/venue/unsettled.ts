// The resolved markets of one venue whose payout is not known, and when each is requested again: soon at first, then every
// hour. The requests themselves are made in catalog-reader.ts.

import type { NativeMarketId } from '../../engine/ids.ts'
import { DAY_MS } from '../../engine/units.ts'

/** The waits before each request; the last one repeats. */
const WAITS_MS = [5_000, 15_000, 45_000, 120_000, 600_000, 3_600_000] as const
/** A payout is requested for so long after the market's end; some venues never state it. */
export const UNSETTLED_MS = 30 * DAY_MS
/** When there are more, the one that has waited longest for its next request is left to the next start. */
const MARKETS_MAX = 10_000
/** Requested at once: as many as one request names. */
const BATCH = 100

interface Waiting {
  readonly dueMs: number
  readonly untilMs: number
}

export class UnsettledMarkets {
  /** By the wait that runs: each map is in the order of its times. */
  readonly #byWait = WAITS_MS.map((waitMs) => ({
    waitMs,
    markets: new Map<NativeMarketId, Waiting>(),
  }))

  get count(): number {
    return this.#byWait.reduce((sum, { markets }) => sum + markets.size, 0)
  }

  /**
   * Adds a market that ended at `endedAtMs`, unless it waits or ended over `UNSETTLED_MS` ago. `isFresh`: it has just
   * resolved, so that its payout may come within seconds. Times are Unix milliseconds.
   */
  add(market: NativeMarketId, of: { endedAtMs: number; nowMs: number; isFresh: boolean }): void {
    if (this.#byWait.some(({ markets }) => markets.has(market))) return
    const untilMs = of.endedAtMs + UNSETTLED_MS
    if (this.count >= MARKETS_MAX) this.#dropOne()
    this.#wait(of.isFresh ? 0 : WAITS_MS.length - 1, market, of.nowMs, untilMs)
  }

  /** Takes the markets that are due, a batch at most; each that `isUnsettled` still waits for its next request. */
  takeDue(nowMs: number, isUnsettled: (market: NativeMarketId) => boolean): NativeMarketId[] {
    const due: NativeMarketId[] = []
    for (const [step, { markets }] of this.#byWait.entries()) {
      for (const [market, { dueMs, untilMs }] of markets) {
        if (dueMs > nowMs || due.length === BATCH) break
        markets.delete(market)
        if (!isUnsettled(market)) continue
        due.push(market)
        this.#wait(Math.min(step + 1, WAITS_MS.length - 1), market, nowMs, untilMs)
      }
    }
    return due
  }

  #wait(step: number, market: NativeMarketId, nowMs: number, untilMs: number): void {
    const next = this.#byWait[step]
    if (next === undefined || nowMs >= untilMs) return
    next.markets.set(market, { dueMs: nowMs + next.waitMs, untilMs })
  }

  #dropOne(): void {
    for (const { markets } of this.#byWait.toReversed()) {
      const [oldest] = markets.keys()
      if (oldest !== undefined) {
        markets.delete(oldest)
        return
      }
    }
  }
}
