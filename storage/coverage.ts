import { record, stated, time } from '../engine/codec.ts'
import { VENUE_KEYS, type VenueKey } from '../engine/ids.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { FIRST, readInteger, venueTimeKey } from './records/keys.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'

interface Interval {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
}

const intervalCodec = listed(
  1,
  record<Interval>({ fromMs: stated(({ key }) => timeMs(readInteger(key, 1))), toMs: time }),
)

/**
 * Intervals in which a venue's feed was live. Within an interval, a second without a tick means that the price did not
 * change.
 */
export class Coverage {
  readonly #intervals: RecordTable<Interval>

  constructor(environment: Environment) {
    this.#intervals = new RecordTable(environment.table(TABLES.coverage), intervalCodec)
  }

  put(venue: VenueKey, fromMs: TimeMs, toMs: TimeMs): void {
    this.#intervals.putIfChanged(venueTimeKey(venue, fromMs), { fromMs, toMs })
  }

  /** The interval that contains a time, including both ends. Null if the feed was not live. */
  at(venue: VenueKey, atMs: TimeMs): Interval | null {
    const [from, to] = [venueTimeKey(venue, FIRST), venueTimeKey(venue, atMs + 1)]
    const row = this.#intervals.rows.first({ from, to, isReverse: true })
    const interval = row === null ? null : this.#intervals.decode(row)
    return interval === null || interval.toMs < atMs ? null : interval
  }

  /** Removes at most `rowsMax` intervals that ended before `beforeMs`. Returns their number. */
  prune(beforeMs: number, rowsMax: number): number {
    let removed = 0
    for (const venue of VENUE_KEYS) {
      const [from, to] = [venueTimeKey(venue, FIRST), venueTimeKey(venue, beforeMs)]
      while (removed < rowsMax) {
        const row = this.#intervals.rows.first({ from, to })
        const interval = row === null ? null : this.#intervals.decode(row)
        if (row === null || (interval !== null && interval.toMs >= beforeMs)) break
        this.#intervals.rows.remove(row.key)
        removed += 1
      }
    }
    return removed
  }
}
