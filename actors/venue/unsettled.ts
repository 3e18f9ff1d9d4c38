// The resolved markets of one venue whose payout is unknown. Each is requested after seconds at first, then every hour.
// catalog-reader.ts makes the requests.

import type { NativeMarketId } from '../../engine/ids.ts'
import { DAY_MS } from '../../engine/units.ts'

/** Delays before the first, second and further requests. The last delay repeats. */
const WAITS_MS = [5_000, 15_000, 45_000, 120_000, 600_000, 3_600_000] as const
/** A payout is requested for this long after the market's end. A venue may never publish it. */
export const UNSETTLED_MS = 30 * DAY_MS
/** When full, drops the least recently requested market of those with the longest delay. */
const MARKETS_MAX = 10_000
const BATCH = 100

interface Waiting {
  readonly dueMs: number
  readonly untilMs: number
}

export class UnsettledMarkets {
  readonly #byWait = WAITS_MS.map((waitMs) => ({
    waitMs,
    markets: new Map<NativeMarketId, Waiting>(),
  }))

  get count(): number {
    return this.#byWait.reduce((sum, { markets }) => sum + markets.size, 0)
  }

  /**
   * Ignores a market that is already listed or ended more than `UNSETTLED_MS` ago. `isFresh`: the market has just
   * resolved, so its payout may follow within seconds. Times are Unix milliseconds.
   */
  add(market: NativeMarketId, of: { endedAtMs: number; nowMs: number; isFresh: boolean }): void {
    if (this.#byWait.some(({ markets }) => markets.has(market))) return
    const untilMs = of.endedAtMs + UNSETTLED_MS
    if (this.count >= MARKETS_MAX) this.#dropOne()
    this.#wait(of.isFresh ? 0 : WAITS_MS.length - 1, market, of.nowMs, untilMs)
  }

  /**
   * Returns at most BATCH due markets for which `isUnsettled` is true, shortest delay first, and schedules their next
   * request. Removes due markets for which `isUnsettled` is false.
   */
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
      if (oldest === undefined) continue
      markets.delete(oldest)
      return
    }
  }
}
