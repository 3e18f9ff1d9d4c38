// A table whose values are records of one codec. Damaged records are counted, logged and skipped.

import { decodeRecord, encodeRecord, type RecordCodec } from '../records/records.ts'
import type { KeyRange } from './pending.ts'
import type { Row, Table } from './table.ts'

export class RecordTable<Value> {
  readonly rows: Table
  readonly #codec: RecordCodec<Value>

  constructor(rows: Table, codec: RecordCodec<Value>) {
    this.rows = rows
    this.#codec = codec
  }

  /** Null if the table has no such key or the record is damaged. */
  get(key: Buffer): Value | null {
    const value = this.rows.get(key)
    return value === null ? null : this.decode({ key, value })
  }

  put(key: Buffer, value: Value): void {
    this.rows.put(key, this.#encode(key, value))
  }

  putIfChanged(key: Buffer, value: Value): void {
    this.rows.putIfChanged(key, this.#encode(key, value))
  }

  /** All records of a range in key order. The caller may put between two records. */
  *all(range?: KeyRange): Generator<Value, void> {
    for (const row of this.rows.all(range)) {
      const value = this.decode(row)
      if (value !== null) yield value
    }
  }

  /** The first `limit` records of a range that `take` accepts, in the range's order. */
  range(range: KeyRange, limit: number, take?: (value: Value) => boolean): readonly Value[] {
    const found: Value[] = []
    if (limit < 1 || range.from.compare(range.to) >= 0) return found
    this.rows.scan(range, (row) => {
      const value = this.decode(row)
      if (value !== null && take?.(value) !== false) found.push(value)
      return found.length < limit
    })
    return found
  }

  decode(row: Row): Value | null {
    const value = decodeRecord(this.rows.layout, row, this.#codec)
    if (value === null) this.rows.reportDamage()
    return value
  }

  #encode(key: Buffer, value: Value): Buffer {
    return encodeRecord(this.rows.layout, key, this.#codec, value)
  }
}
