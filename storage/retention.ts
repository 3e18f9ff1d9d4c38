// Deletes expired rows in batches: first the oldest hour of all markets, then coverage and past opportunities, then
// runs without trades. Accounts and hour bars are never deleted. Above the size limit, the oldest hours and past prices
// are also deleted. Pages become free only with the next commit, so bytes of uncommitted removals are subtracted from
// the size.

import { snapshotRetentionDays } from '../engine/limits.ts'
import { firstRetainedHour } from '../engine/retention-time.ts'
import { HOUR_MS } from '../engine/units.ts'
import type { Bars } from './bars.ts'
import type { PruneLimits } from './contract/rows.ts'
import type { Coverage } from './coverage.ts'
import type { Hours, MarketHour } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Removed } from './lmdb/table.ts'
import type { Losses } from './losses.ts'
import type { Opportunities } from './opportunities.ts'
import type { PastPrices, ReadDay } from './past-prices.ts'
import type { Runs } from './runs.ts'
import type { Snapshots } from './snapshots.ts'
import type { Ticks } from './ticks.ts'
import type { Trades } from './trades.ts'

interface RetentionParts {
  readonly environment: Environment
  readonly hours: Hours
  readonly snapshotHours: Hours
  readonly trades: Trades
  readonly bars: Bars
  readonly snapshots: Snapshots
  readonly ticks: Ticks
  readonly pastPrices: PastPrices
  readonly coverage: Coverage
  readonly opportunities: Opportunities
  readonly runs: Runs
  readonly losses: Losses
}

export class Retention {
  readonly #parts: RetentionParts
  #bytesUnderWay = 0

  constructor(parts: RetentionParts) {
    this.#parts = parts
  }

  /** Removes at most `rowsMax` rows. Returns true if more rows may have to be removed. */
  prune(limits: PruneLimits): boolean {
    const { environment, coverage, opportunities, runs, losses, trades } = this.#parts
    const firstRetained = firstRetainedHour(limits.nowMs, limits.retentionDays)
    const firstRetainedSnapshot = firstRetainedHour(limits.nowMs, snapshotRetentionDays)
    const sizeBytes = environment.sizeBytes()
    let rowsLeft = limits.rowsMax
    let bytes = 0
    for (;;) {
      const isTooLarge = sizeBytes - this.#bytesUnderWay - bytes > limits.sizeBytesMax
      const next = this.#next({ firstRetained, firstRetainedSnapshot, isTooLarge })
      if (next === null || rowsLeft <= 0) break
      const removed = this.#remove(next, rowsLeft)
      // An hour without rows counts as one row, so that the loop ends.
      rowsLeft -= Math.max(removed.rowCount, 1)
      bytes += removed.byteCount
    }
    if (bytes > 0) this.#track(bytes)
    if (rowsLeft > 0) rowsLeft -= coverage.prune(firstRetained * HOUR_MS, rowsLeft)
    if (rowsLeft > 0) rowsLeft -= opportunities.prune(firstRetained * HOUR_MS, rowsLeft)
    if (rowsLeft <= 0) return true
    rowsLeft -= runs.prune(rowsLeft, (run) => trades.hasRun(run))
    if (rowsLeft <= 0) return true
    return losses.prune(runs.oldest() ?? 0, rowsLeft) === rowsLeft
  }

  #next(limits: {
    readonly firstRetained: number
    readonly firstRetainedSnapshot: number
    readonly isTooLarge: boolean
  }): MarketHour | ReadDay | null {
    const lasting = this.#parts.hours.oldest()
    if (lasting !== null && lasting.hour < limits.firstRetained) return lasting
    const brief = this.#parts.snapshotHours.oldest()
    if (brief !== null && brief.hour < limits.firstRetainedSnapshot) return brief
    if (!limits.isTooLarge) return null
    let oldest: MarketHour | ReadDay | null = lasting
    for (const other of [brief, this.#parts.pastPrices.oldestRead()]) {
      if (other !== null && (oldest === null || other.hour < oldest.hour)) oldest = other
    }
    return oldest
  }

  #remove(entry: MarketHour | ReadDay, rowsMax: number): Removed {
    const { hours, snapshotHours, pastPrices } = this.#parts
    if (entry.kind === 'pastPrices') return pastPrices.removeRead(entry)
    const removed = this.#removeRows(entry, rowsMax)
    if (removed.rowCount < rowsMax || entry.kind === 'ticks') {
      const index = entry.kind === 'snapshots' ? snapshotHours : hours
      index.remove(entry)
    }
    return removed
  }

  #removeRows({ kind, market, hour }: MarketHour, rowsMax: number): Removed {
    const { trades, bars, snapshots, ticks } = this.#parts
    const range = { market, beforeMs: (hour + 1) * HOUR_MS, rowsMax }
    switch (kind) {
      case 'trades':
        return trades.removeBefore(range)
      case 'minuteBars':
        return bars.removeBefore(range)
      case 'snapshots':
        return snapshots.removeBefore(range)
      case 'ticks':
        return ticks.removeHour(market, hour)
    }
  }

  #track(bytes: number): void {
    this.#bytesUnderWay += bytes
    const settle = () => {
      this.#bytesUnderWay -= bytes
    }
    this.#parts.environment.committed().then(settle, settle)
  }
}
