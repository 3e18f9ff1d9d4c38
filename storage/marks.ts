// Named numbers that outlive a run.

import type { MarkTable } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Table } from './lmdb/table.ts'
import { textKey } from './records/keys.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1

export class Marks implements MarkTable {
  readonly #marks: Table

  constructor(environment: Environment) {
    this.#marks = environment.table(TABLES.marks)
  }

  get(name: string): number | null {
    return this.#marks.getRecord(textKey(name), { 1: (fields) => fields.number() })
  }

  put(name: string, value: number): void {
    const key = textKey(name)
    this.#marks.putIfChanged(key, this.#marks.encode(key, SCHEMA, [value]))
  }
}
