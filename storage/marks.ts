import { number } from '../engine/codec.ts'
import { RecordTable } from './lmdb/record-table.ts'
import type { Table } from './lmdb/table.ts'
import { textKey } from './records/keys.ts'
import { listed } from './records/records.ts'

/** Named numbers that outlive a run, such as the time of the last catalogue refresh. */
export class Marks {
  readonly #marks: RecordTable<number>

  constructor(table: Table) {
    this.#marks = new RecordTable(table, listed(1, number))
  }

  get(name: string): number | null {
    return this.#marks.get(textKey(name))
  }

  put(name: string, value: number): void {
    this.#marks.putIfChanged(textKey(name), value)
  }
}
