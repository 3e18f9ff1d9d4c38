// Book snapshots: one row per market and moment. They are many, so they expire after two days regardless of the other
// retention.

import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../engine/units.ts'
import type { BookSnapshot, SnapshotQuery, SnapshotTable } from './contract/storage.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Removed, Table } from './lmdb/table.ts'
import { groupKey, readInteger } from './records/keys.ts'
import type { PackedSchemas } from './records/records.ts'
import { packSnapshot, unpackSnapshot } from './records/snapshot.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1
const SCHEMAS: PackedSchemas<BookSnapshot> = {
  [SCHEMA]: (body, key) => unpackSnapshot(readInteger(key, 4), body),
}

export class Snapshots implements SnapshotTable {
  readonly #snapshots: Table
  readonly #hours: Hours
  #count: number

  constructor(environment: Environment, hours: Hours) {
    this.#snapshots = environment.table(TABLES.snapshots)
    this.#hours = hours
    this.#count = this.#snapshots.committedCount()
  }

  put(market: MarketNumber, snapshot: BookSnapshot): void {
    const key = groupKey(market, snapshot.timeMs)
    if (!this.#snapshots.has(key)) this.#count += 1
    this.#snapshots.put(key, this.#snapshots.encodePacked(key, SCHEMA, packSnapshot(snapshot)))
    this.#hours.add('snapshots', market, Math.floor(snapshot.timeMs / HOUR_MS))
  }

  range(query: SnapshotQuery): readonly BookSnapshot[] {
    const { market, after, order, limit } = query
    let { fromMs, toMs }: { fromMs: number; toMs: number } = query
    if (after !== null && order === 'asc') fromMs = Math.max(fromMs, after + 1)
    if (after !== null && order === 'desc') toMs = Math.min(toMs, after - 1)
    const found: BookSnapshot[] = []
    if (limit < 1 || fromMs > toMs) return found
    const range = { from: groupKey(market, fromMs), to: groupKey(market, toMs + 1) }
    this.#snapshots.scan({ ...range, isReverse: order === 'desc' }, (row) => {
      const snapshot = this.#snapshots.decodePacked(row, SCHEMAS)
      if (snapshot !== null) found.push(snapshot)
      return found.length < limit
    })
    return found
  }

  oldestMs(market: MarketNumber): TimeMs | null {
    const from = groupKey(market, -Number.MAX_SAFE_INTEGER)
    const row = this.#snapshots.first({ from, to: groupKey(market, Number.MAX_SAFE_INTEGER) })
    return row === null ? null : timeMs(readInteger(row.key, 4))
  }

  count(): number {
    return this.#count
  }

  /** Removes a market's oldest `rowsMax` snapshots before `beforeMs`. */
  removeBefore(range: { market: MarketNumber; beforeMs: number; rowsMax: number }): Removed {
    const { market, beforeMs, rowsMax } = range
    const from = groupKey(market, -Number.MAX_SAFE_INTEGER)
    const removed = this.#snapshots.removeRange({ from, to: groupKey(market, beforeMs) }, rowsMax)
    this.#count -= removed.rowCount
    return removed
  }
}
