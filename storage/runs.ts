// Runs: each start of the engine and the epoch of its streams, numbered from 1. The oldest are deleted first, so the
// stored numbers have no gaps.

import { retainedRunsMax } from '../engine/limits.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { Run, RunTable } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Row, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { KEY_END, KEY_START, numberKey } from './records/keys.ts'
import type { FieldReader } from './records/records.ts'
import { TABLES } from './tables.ts'

/** Schema 2 adds the run's end. */
const SCHEMA = 2

export class Runs implements RunTable {
  readonly #runs: Table

  constructor(environment: Environment) {
    this.#runs = environment.table(TABLES.runs)
  }

  begin(epoch: string, startedAtMs: TimeMs): Run {
    const number = (this.#end({ isReverse: true }) ?? 0) + 1
    const run = { number, epoch, startedAtMs, endOffset: null }
    this.#put(run)
    return run
  }

  end(number: number, endOffset: number): void {
    const key = numberKey(number)
    const value = this.#runs.get(key)
    const run = value === null ? null : this.#read({ key, value })
    if (run !== null) this.#put({ ...run, endOffset })
  }

  all(): readonly Run[] {
    const runs: Run[] = []
    for (const row of chunkedRows(this.#runs)) {
      const run = this.#read(row)
      if (run !== null) runs.push(run)
    }
    return runs
  }

  /** Removes at most `rowsMax` of the oldest runs, up to the first that `hasTrades`; returns their count. */
  prune(rowsMax: number, hasTrades: (run: number) => boolean): number {
    const last = this.#end({ isReverse: true }) ?? 0
    for (let removed = 0; removed < rowsMax; removed += 1) {
      const first = this.#end({ isReverse: false }) ?? last
      const isRetained = first > last - retainedRunsMax && hasTrades(first)
      if (first === last || isRetained) return removed
      this.#runs.remove(numberKey(first))
    }
    return rowsMax
  }

  /** The number of the oldest stored run, or null. */
  oldest(): number | null {
    return this.#end({ isReverse: false })
  }

  #put({ number, epoch, startedAtMs, endOffset }: Run): void {
    const key = numberKey(number)
    this.#runs.put(key, this.#runs.encode(key, SCHEMA, [epoch, startedAtMs, endOffset]))
  }

  #read(row: Row): Run | null {
    const number = row.key.readUInt32BE(0)
    const begun = (fields: FieldReader) => ({
      number,
      epoch: fields.text(),
      startedAtMs: timeMs(fields.number()),
    })
    return this.#runs.decode<Run>(row, {
      1: (fields) => ({ ...begun(fields), endOffset: null }),
      2: (fields) => ({ ...begun(fields), endOffset: fields.numberOrNull() }),
    })
  }

  #end(options: { isReverse: boolean }): number | null {
    const row = this.#runs.first({ from: KEY_START, to: KEY_END, ...options })
    return row === null ? null : row.key.readUInt32BE(0)
  }
}
