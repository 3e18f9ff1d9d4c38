// One table of an LMDB environment, as bytes. Reads merge committed and uncommitted rows, so a put is visible at once.
// No cursor outlives a call.

import type { Database } from 'lmdb'
import { assert, EngineError } from '../../engine/errors.ts'
import { compareKeys, keyBytesMax } from '../records/keys.ts'
import {
  decodePacked,
  decodeRecord,
  encodePacked,
  encodeRecord,
  type FieldReader,
  type PackedSchemas,
} from '../records/records.ts'
import type { TableLayout } from '../tables.ts'
import { type OpenRow, PendingCursor, PendingRows } from './pending.ts'

/** The environment's callbacks. */
interface TableEnvironment {
  /** Counts a row that was not waiting before. */
  readonly onPut: () => void
  /** `page`: LMDB could not read the table; `record`: a row failed its checksum. */
  readonly onDamage: (reason: 'page' | 'record') => void
  readonly isAccepting: () => boolean
}

/** Keys in [from, to), within one group of the table. */
export interface KeyRange {
  readonly from: Buffer
  readonly to: Buffer
  readonly isReverse?: boolean
}

export interface Row {
  readonly key: Buffer
  readonly value: Buffer
}

/** Decoders of a record by schema version. */
export type Schemas<Decoded> = { readonly [schema: number]: (fields: FieldReader) => Decoded }

/** The result of a removal. */
export interface Removed {
  readonly rowCount: number
  /** Approximate bytes of the rows on disk. */
  readonly byteCount: number
}

/** LMDB's overhead per row: its header and its entry in the page's list. */
const ROW_HEADER_BYTES = 10

export class Table {
  readonly layout: TableLayout
  #database: Database<Buffer, Buffer>
  readonly #environment: TableEnvironment
  /** The two alternate. */
  #open: PendingRows
  #committing: PendingRows
  #commitCount = 0

  constructor(
    layout: TableLayout,
    database: Database<Buffer, Buffer>,
    environment: TableEnvironment,
  ) {
    this.layout = layout
    this.#database = database
    this.#environment = environment
    this.#open = new PendingRows(layout)
    this.#committing = new PendingRows(layout)
  }

  /** Switches to another copy of the same rows. */
  moveTo(database: Database<Buffer, Buffer>): void {
    this.#database = database
  }

  get(key: Buffer): Buffer | null {
    const pending = this.#pending(key)
    if (pending !== undefined) return pending
    return this.#read(() => this.#database.get(key)) ?? null
  }

  has(key: Buffer): boolean {
    const pending = this.#pending(key)
    if (pending !== undefined) return pending !== null
    return this.#read(() => this.#database.getBinaryFast(key)) !== undefined
  }

  /**
   * Copies the key and the value's first bytes. Returns false if rejected because commits fail and too many rows wait.
   */
  put(key: Buffer, value: Buffer, valueBytes = value.length): boolean {
    assert(key.length > 0 && key.length <= keyBytesMax, 'a key has 1 to 512 bytes')
    if (!this.#environment.isAccepting()) return false
    if (this.#open.put(key, value, valueBytes)) this.#environment.onPut()
    return true
  }

  /** As `put`, for a row whose value may change until `commitCount` changes or its key is put again. */
  open(row: OpenRow): boolean {
    if (!this.#environment.isAccepting()) return false
    if (this.#open.open(row)) this.#environment.onPut()
    return true
  }

  /** Whether a row would be accepted; counts it as dropped if not. */
  isAccepting(): boolean {
    return this.#environment.isAccepting()
  }

  /** Changes when a commit takes the waiting rows. */
  get commitCount(): number {
    return this.#commitCount
  }

  /** Puts unless the table already has exactly these bytes. */
  putIfChanged(key: Buffer, value: Buffer): void {
    const pending = this.#pending(key)
    const current = pending === undefined ? this.get(key) : pending
    if (current === null || !value.equals(current)) this.put(key, value)
  }

  remove(key: Buffer): void {
    if (!this.#environment.isAccepting()) return
    if (this.#open.put(key, null)) this.#environment.onPut()
  }

  /** Visits rows in key order (or its reverse) until `visit` returns false; `visit` must not put. */
  scan(range: KeyRange, visit: (row: Row) => boolean): void {
    const isReverse = range.isReverse ?? false
    const waiting = new PendingCursor(
      { newer: this.#open, older: this.#committing },
      { from: range.from, to: range.to, isReverse },
    )
    let pending = waiting.peek()
    const rows = this.#read(() => this.#committedRows(range, isReverse)[Symbol.iterator]())
    try {
      for (;;) {
        const next = this.#read(() => rows.next())
        if (next.done === true) break
        const row = next.value
        let isReplaced = false
        while (pending !== undefined && !waiting.precedes(row.key, pending)) {
          isReplaced = compareKeys(pending, row.key) === 0
          if (!visitWaiting(pending, waiting.take(pending), visit)) return
          pending = waiting.peek()
        }
        if (!isReplaced && !visit(row)) return
      }
    } finally {
      rows.return?.()
    }
    while (pending !== undefined) {
      if (!visitWaiting(pending, waiting.take(pending), visit)) return
      pending = waiting.peek()
    }
  }

  /** The first row of a range, or the last with `isReverse`. */
  first(range: KeyRange): Row | null {
    let found: Row | null = null
    this.scan(range, (row) => {
      found = row
      return false
    })
    return found
  }

  /** Rows that were committed when the files were opened. Counters add later puts to it. */
  committedCount(): number {
    const stats: { readonly entryCount?: unknown } = this.#database.getStats()
    return typeof stats.entryCount === 'number' ? stats.entryCount : 0
  }

  /** Encodes a record of this table. */
  encode(key: Buffer, schema: number, fields: readonly unknown[]): Buffer {
    return encodeRecord(this.layout, { key, schema, fields })
  }

  /** Decodes a row's record; returns null and reports it if it is damaged. */
  decode<Decoded>(row: Row, schemas: Schemas<Decoded>): Decoded | null {
    const decoded = decodeRecord(this.layout, row, schemas)
    if (decoded === null) this.#environment.onDamage('record')
    return decoded
  }

  /** The record under a key; null if it is missing, or damaged, which is reported. */
  getRecord<Decoded>(key: Buffer, schemas: Schemas<Decoded>): Decoded | null {
    const value = this.get(key)
    return value === null ? null : this.decode({ key, value }, schemas)
  }

  /** Encodes a record that packs its own body. */
  encodePacked(key: Buffer, schema: number, body: Uint8Array): Buffer {
    return encodePacked(this.layout, { key, schema, body })
  }

  /** Decodes a record with a packed body; returns null and reports it if it is damaged. */
  decodePacked<Decoded>(row: Row, schemas: PackedSchemas<Decoded>): Decoded | null {
    const decoded = decodePacked(this.layout, row, schemas)
    if (decoded === null) this.#environment.onDamage('record')
    return decoded
  }

  /** Removes the first `rowsMax` rows of a range. */
  removeRange(range: KeyRange, rowsMax: number): Removed {
    const keys: Buffer[] = []
    let byteCount = 0
    if (rowsMax < 1) return { rowCount: 0, byteCount }
    this.scan(range, ({ key, value }) => {
      keys.push(key)
      byteCount += key.length + value.length + ROW_HEADER_BYTES
      return keys.length < rowsMax
    })
    for (const key of keys) this.remove(key)
    return { rowCount: keys.length, byteCount }
  }

  /** Moves the waiting rows into the next commit; rows of a failed commit are committed again. */
  beginCommit(): void {
    if (this.#open.count === 0) return
    this.#commitCount += 1
    if (this.#committing.count > 0) {
      this.#open.each((key, value) => this.#committing.put(key, value))
      this.#open.clear()
      return
    }
    const begun = this.#open
    this.#open = this.#committing
    this.#committing = begun
  }

  /** Writes the rows of this commit to LMDB, inside the environment's batch. Must not throw. */
  writePending(): void {
    this.#committing.each((key, value) => {
      if (value === null) void this.#database.remove(key)
      else void this.#database.put(key, value)
    })
  }

  /** Releases the rows of this commit, which are durable or dropped. */
  endCommit(): void {
    this.#committing.clear()
  }

  /** The uncommitted value; null if the row is to be removed; undefined if no such row waits. */
  #pending(key: Buffer): Buffer | null | undefined {
    const open = this.#open.get(key)
    return open === undefined ? this.#committing.get(key) : open
  }

  /** Reads from LMDB. Throws UNAVAILABLE if a page of the table cannot be read. */
  #read<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (cause) {
      this.#environment.onDamage('page')
      const detail = `stored data is damaged (table ${this.layout.name}); the operator must restore it`
      throw new EngineError('UNAVAILABLE', detail, { cause, retryAfterSeconds: 300 })
    }
  }

  #committedRows(range: KeyRange, isReverse: boolean): Iterable<Row> {
    if (!isReverse) return this.#database.getRange({ start: range.from, end: range.to })
    // In reverse, lmdb-js starts at and includes the upper key, and stops before the lower one.
    return this.#database.getRange({
      start: range.to,
      exclusiveStart: true,
      end: range.from,
      inclusiveEnd: true,
      reverse: true,
    })
  }
}

/** Visits an uncommitted row unless it is to be removed; false if the visit ends. */
function visitWaiting(key: Buffer, value: Buffer | null, visit: (row: Row) => boolean): boolean {
  return value === null || visit({ key, value })
}
