// The table of runs: each start of the engine and the epoch of its streams, numbered from 1.

import { type TimeMs, timeMs } from '../engine/units.ts'
import type { Environment } from './environment.ts'
import { KEY_END, KEY_START, numberKey } from './keys.ts'
import { chunkedRows } from './markets.ts'
import type { Run, RunTable } from './storage.ts'
import type { Table } from './table.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1

export class Runs implements RunTable {
  readonly #runs: Table

  constructor(environment: Environment) {
    this.#runs = environment.table(TABLES.runs)
  }

  begin(epoch: string, startedAtMs: TimeMs): Run {
    const last = this.#runs.first({ from: KEY_START, to: KEY_END, isReverse: true })
    const number = last === null ? 1 : last.key.readUInt32BE(0) + 1
    const key = numberKey(number)
    this.#runs.put(key, this.#runs.encode(key, SCHEMA, [epoch, startedAtMs]))
    return { number, epoch, startedAtMs }
  }

  all(): readonly Run[] {
    const runs: Run[] = []
    for (const row of chunkedRows(this.#runs)) {
      const number = row.key.readUInt32BE(0)
      const run = this.#runs.decode(row, {
        1: (fields) => ({ number, epoch: fields.text(), startedAtMs: timeMs(fields.number()) }),
      })
      if (run !== null) runs.push(run)
    }
    return runs
  }
}
