// The resolved markets of one venue whose payout is unknown, and when each is requested next: after seconds at first,
// then every hour. catalog-reader.ts makes the requests.

import type { NativeMarketId } from '../../engine/ids.ts'
import { DAY_MS } from '../../engine/units.ts'

/** Delays before the first, second and further requests. The last delay repeats. */
const WAITS_MS = [5_000, 15_000, 45_000, 120_000, 600_000, 3_600_000] as const
/** A payout is requested for this long after the market's end. A venue may never publish it. */
export const UNSETTLED_MS = 30 * DAY_MS
/** If there are more markets, the one that was requested least recently is dropped until the next start. */
const MARKETS_MAX = 10_000
const BATCH = 100

interface Waiting {
  readonly dueMs: number
  readonly untilMs: number
  /** Index of the current delay in WAITS_MS. */
  readonly step: number
}

export class UnsettledMarkets {
  /** In order of their last request. */
  readonly #markets = new Map<NativeMarketId, Waiting>()

  get count(): number {
    return this.#markets.size
  }

  /**
   * Adds a market that ended at `endedAtMs`, unless it is already listed or ended more than `UNSETTLED_MS` ago.
   * `isFresh`: it has just resolved, so its payout may follow within seconds. Times are Unix milliseconds.
   */
  add(market: NativeMarketId, of: { endedAtMs: number; nowMs: number; isFresh: boolean }): void {
    if (this.#markets.has(market)) return
    const [oldest] = this.#markets.keys()
    if (oldest !== undefined && this.count >= MARKETS_MAX) this.#markets.delete(oldest)
    const untilMs = of.endedAtMs + UNSETTLED_MS
    this.#wait(market, { nowMs: of.nowMs, untilMs, step: of.isFresh ? 0 : WAITS_MS.length - 1 })
  }

  /**
   * Returns at most BATCH due markets for which `isUnsettled` holds, and schedules their next request. Removes due
   * markets for which it does not hold.
   */
  takeDue(nowMs: number, isUnsettled: (market: NativeMarketId) => boolean): NativeMarketId[] {
    const due: NativeMarketId[] = []
    for (const [market, { dueMs, untilMs, step }] of this.#markets) {
      if (due.length === BATCH) break
      if (dueMs > nowMs) continue
      this.#markets.delete(market)
      if (!isUnsettled(market)) continue
      due.push(market)
      this.#wait(market, { nowMs, untilMs, step: Math.min(step + 1, WAITS_MS.length - 1) })
    }
    return due
  }

  #wait(
    market: NativeMarketId,
    { nowMs, untilMs, step }: { nowMs: number; untilMs: number; step: number },
  ): void {
    const waitMs = WAITS_MS[step]
    if (waitMs === undefined || nowMs >= untilMs) return
    this.#markets.set(market, { dueMs: nowMs + waitMs, untilMs, step })
  }
}
