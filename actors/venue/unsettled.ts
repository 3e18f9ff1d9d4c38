// The resolved markets of one venue with an unknown payout, and when each is requested again: soon at first, then every
// hour. catalog-reader.ts makes the requests.

import type { NativeMarketId } from '../../engine/ids.ts'
import { DAY_MS } from '../../engine/units.ts'

/** Delays before each request; the last one repeats. */
const WAITS_MS = [5_000, 15_000, 45_000, 120_000, 600_000, 3_600_000] as const
/** A payout is requested for this long after the market's end; some venues never state it. */
export const UNSETTLED_MS = 30 * DAY_MS
/** Beyond this the market that has waited longest for its next request is dropped until the next start. */
const MARKETS_MAX = 10_000
/** Maximum markets per request. */
const BATCH = 100

interface Waiting {
  readonly dueMs: number
  readonly untilMs: number
}

export class UnsettledMarkets {
  /** By current delay; each map is in order of due time. */
  readonly #byWait = WAITS_MS.map((waitMs) => ({
    waitMs,
    markets: new Map<NativeMarketId, Waiting>(),
  }))

  get count(): number {
    return this.#byWait.reduce((sum, { markets }) => sum + markets.size, 0)
  }

  /**
   * Adds a market that ended at `endedAtMs`, unless it is waiting or ended over `UNSETTLED_MS` ago. `isFresh`: it has
   * just resolved, so its payout may arrive within seconds. Times are Unix milliseconds.
   */
  add(market: NativeMarketId, of: { endedAtMs: number; nowMs: number; isFresh: boolean }): void {
    if (this.#byWait.some(({ markets }) => markets.has(market))) return
    const untilMs = of.endedAtMs + UNSETTLED_MS
    if (this.count >= MARKETS_MAX) this.#dropOne()
    this.#wait(of.isFresh ? 0 : WAITS_MS.length - 1, market, of.nowMs, untilMs)
  }

  /** Takes at most a batch of due markets. Those for which `isUnsettled` holds wait for their next request. */
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
