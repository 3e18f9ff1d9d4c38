// Each start of the engine is a run with its own epoch, numbered from 1. The oldest runs are deleted first, so stored
// numbers have no gaps.

import { number, orNull, record, since, stated, text, time } from '../engine/codec.ts'
import { retainedRunsMax } from '../engine/limits.ts'
import type { TimeMs } from '../engine/units.ts'
import type { Run } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY } from './lmdb/table.ts'
import { numberKey } from './records/keys.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'

const runCodec = listed(
  2,
  record<Run>({
    number: stated(({ key }) => key.readUInt32BE(0)),
    epoch: text,
    startedAtMs: time,
    endOffset: since(2, orNull(number), null),
  }),
)

export class Runs {
  readonly #runs: RecordTable<Run>

  constructor(environment: Environment) {
    this.#runs = new RecordTable(environment.table(TABLES.runs), runCodec)
  }

  /** Numbers ascend and are never reused. */
  begin(epoch: string, startedAtMs: TimeMs): Run {
    const run = { number: (this.#newest() ?? 0) + 1, epoch, startedAtMs, endOffset: null }
    this.#runs.put(numberKey(run.number), run)
    return run
  }

  /** Stores the offset at which a run ended. Does nothing if the run is not stored. */
  end(number: number, endOffset: number): void {
    const run = this.#runs.get(numberKey(number))
    if (run !== null) this.#runs.put(numberKey(number), { ...run, endOffset })
  }

  all(): readonly Run[] {
    return [...this.#runs.all()]
  }

  /** Removes at most `rowsMax` of the oldest runs, and stops at the first run that `hasTrades`. Returns their number. */
  prune(rowsMax: number, hasTrades: (run: number) => boolean): number {
    const last = this.#newest() ?? 0
    for (let removed = 0; removed < rowsMax; removed += 1) {
      const first = this.oldest() ?? last
      const isRetained = first > last - retainedRunsMax && hasTrades(first)
      if (first === last || isRetained) return removed
      this.#runs.rows.remove(numberKey(first))
    }
    return rowsMax
  }

  /** Null if no run is stored. */
  oldest(): number | null {
    return this.#runs.rows.first(EVERY_KEY)?.key.readUInt32BE(0) ?? null
  }

  #newest(): number | null {
    return this.#runs.rows.first({ ...EVERY_KEY, isReverse: true })?.key.readUInt32BE(0) ?? null
  }
}
