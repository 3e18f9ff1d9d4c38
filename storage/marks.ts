// The table of marks: small numbers that outlive a run, by name.

import type { Environment } from './environment.ts'
import { textKey } from './keys.ts'
import type { MarkTable } from './storage.ts'
import type { Table } from './table.ts'
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
