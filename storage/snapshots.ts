import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../engine/units.ts'
import type { BookSnapshot, SnapshotQuery } from './contract/rows.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import type { Removed } from './lmdb/table.ts'
import { FIRST, groupKey, groupRange, readInteger } from './records/keys.ts'
import { snapshotCodec } from './records/snapshot.ts'
import { TABLES } from './tables.ts'

export class Snapshots {
  readonly #snapshots: RecordTable<BookSnapshot>
  readonly #hours: Hours
  #count: number

  constructor(environment: Environment, hours: Hours) {
    this.#snapshots = new RecordTable(environment.table(TABLES.snapshots), snapshotCodec)
    this.#hours = hours
    this.#count = this.#snapshots.rows.committedCount()
  }

  /** Replaces a snapshot of the same millisecond. Drops levels beyond `bookSnapshotLevels`. */
  put(market: MarketNumber, snapshot: BookSnapshot): void {
    const key = groupKey(market, snapshot.timeMs)
    if (!this.#snapshots.rows.has(key)) this.#count += 1
    this.#snapshots.put(key, snapshot)
    this.#hours.add('snapshots', market, Math.floor(snapshot.timeMs / HOUR_MS))
  }

  range(query: SnapshotQuery): readonly BookSnapshot[] {
    const { market, after, order, limit } = query
    let { fromMs, toMs }: { fromMs: number; toMs: number } = query
    if (after !== null && order === 'asc') fromMs = Math.max(fromMs, after + 1)
    if (after !== null && order === 'desc') toMs = Math.min(toMs, after - 1)
    const range = { from: groupKey(market, fromMs), to: groupKey(market, toMs + 1) }
    return this.#snapshots.range({ ...range, isReverse: order === 'desc' }, limit)
  }

  oldestMs(market: MarketNumber): TimeMs | null {
    const row = this.#snapshots.rows.first(groupRange(market))
    return row === null ? null : timeMs(readInteger(row.key, 4))
  }

  count(): number {
    return this.#count
  }

  removeBefore(range: { market: MarketNumber; beforeMs: number; rowsMax: number }): Removed {
    const { market, beforeMs, rowsMax } = range
    const keys = { from: groupKey(market, FIRST), to: groupKey(market, beforeMs) }
    const removed = this.#snapshots.rows.removeRange(keys, rowsMax)
    this.#count -= removed.rowCount
    return removed
  }
}
