// What is removed by age, and in which order: the oldest hour of all markets first, trades and
// ticks alike, then the runs that no trade names any longer; in slices, never accounts. Days count
// whole hours: an hour goes when all of it is past. Above the size bound the oldest hours go too,
// until what was removed would suffice; the pages come free with the next commit, so what is under
// way is counted. Not for: which markets go (actors/). Upholds STORE9, STORE20, R37.

import type { Environment } from './environment.ts'
import type { Hours, MarketHour } from './hours.ts'
import type { Runs } from './runs.ts'
import type { Ticks } from './ticks.ts'
import type { Trades } from './trades.ts'

const HOUR_MS = 3_600_000
const DAY_HOURS = 24

export class Retention {
  readonly #environment: Environment
  readonly #hours: Hours
  readonly #trades: Trades
  readonly #ticks: Ticks
  readonly #runs: Runs
  /** Bytes removed whose commit is still out. */
  #bytesUnderWay = 0

  constructor(parts: {
    environment: Environment
    hours: Hours
    trades: Trades
    ticks: Ticks
    runs: Runs
  }) {
    this.#environment = parts.environment
    this.#hours = parts.hours
    this.#trades = parts.trades
    this.#ticks = parts.ticks
    this.#runs = parts.runs
  }

  /** Removes at most `rowsMax` rows; true when there is more to remove. */
  prune(limits: {
    readonly nowMs: number
    readonly retentionDays: number
    readonly sizeBytesMax: number
    readonly rowsMax: number
  }): boolean {
    const firstKeptHour = Math.floor(limits.nowMs / HOUR_MS) - limits.retentionDays * DAY_HOURS
    const sizeBytes = this.#environment.sizeBytes()
    let rowsLeft = limits.rowsMax
    let bytes = 0
    let isMore = false
    for (;;) {
      const oldest = this.#hours.oldest()
      if (oldest === null) break
      const isTooLarge = sizeBytes - this.#bytesUnderWay - bytes > limits.sizeBytesMax
      if (oldest.hour >= firstKeptHour && !isTooLarge) break
      if (rowsLeft <= 0) {
        isMore = true
        break
      }
      const removed = this.#remove(oldest, rowsLeft)
      rowsLeft -= removed.rowCount
      bytes += removed.byteCount
    }
    if (bytes > 0) this.#track(bytes)
    // A call that used up its rows has not looked at what else there is.
    if (isMore || rowsLeft <= 0) return true
    return this.#runs.prune(rowsLeft, (run) => this.#trades.hasRun(run)) === rowsLeft
  }

  #remove(entry: MarketHour, rowsMax: number): { rowCount: number; byteCount: number } {
    if (entry.kind === 'ticks') {
      const byteCount = this.#ticks.remove(entry.market, entry.hour)
      this.#hours.remove(entry)
      return { rowCount: 1, byteCount }
    }
    const beforeMs = (entry.hour + 1) * HOUR_MS
    const removed = this.#trades.removeBefore({ market: entry.market, beforeMs, rowsMax })
    if (removed.rowCount < rowsMax) this.#hours.remove(entry)
    // An hour that turns out empty still counts, so that a call always ends.
    return { rowCount: Math.max(removed.rowCount, 1), byteCount: removed.byteCount }
  }

  #track(bytes: number): void {
    this.#bytesUnderWay += bytes
    const settle = () => {
      this.#bytesUnderWay -= bytes
    }
    this.#environment.committed().then(settle, settle)
  }
}
