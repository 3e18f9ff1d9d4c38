// Coverage: the intervals in which a venue's feed was live; a handful a day.

import { VENUE_KEYS, type VenueKey } from '../engine/ids.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { CoverageTable } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Row, Table } from './lmdb/table.ts'
import { readInteger, venueTimeKey } from './records/keys.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1

export class Coverage implements CoverageTable {
  readonly #intervals: Table

  constructor(environment: Environment) {
    this.#intervals = environment.table(TABLES.coverage)
  }

  put(venue: VenueKey, fromMs: TimeMs, toMs: TimeMs): void {
    const key = venueTimeKey(venue, fromMs)
    this.#intervals.putIfChanged(key, this.#intervals.encode(key, SCHEMA, [toMs]))
  }

  at(venue: VenueKey, atMs: TimeMs): { readonly fromMs: TimeMs; readonly toMs: TimeMs } | null {
    const row = this.#intervals.first({
      from: venueTimeKey(venue, -Number.MAX_SAFE_INTEGER),
      to: venueTimeKey(venue, atMs + 1),
      isReverse: true,
    })
    const toMs = row === null ? null : this.#toMs(row)
    if (row === null || toMs === null || toMs < atMs) return null
    return { fromMs: timeMs(readInteger(row.key, 1)), toMs }
  }

  /** Removes at most `rowsMax` intervals that ended before a time, oldest first; returns their count. */
  prune(beforeMs: number, rowsMax: number): number {
    let removed = 0
    for (const venue of VENUE_KEYS) {
      const from = venueTimeKey(venue, -Number.MAX_SAFE_INTEGER)
      const to = venueTimeKey(venue, beforeMs)
      while (removed < rowsMax) {
        const row = this.#intervals.first({ from, to })
        const toMs = row === null ? null : this.#toMs(row)
        if (row === null || (toMs !== null && toMs >= beforeMs)) break
        this.#intervals.remove(row.key)
        removed += 1
      }
    }
    return removed
  }

  #toMs(row: Row): TimeMs | null {
    return this.#intervals.decode(row, { 1: (fields) => timeMs(fields.number()) })
  }
}
