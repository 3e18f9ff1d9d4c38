// One table of an LMDB environment, with keys and values as bytes. Reads merge committed and uncommitted rows, so a put
// is visible at once. No cursor stays open after a call.

import { assert, EngineError } from '../../engine/errors.ts'
import { keyBytesMax } from '../records/keys.ts'
import type { TableLayout } from '../tables.ts'
import { type KeyRange, merged, type PendingRow, PendingRows } from './pending.ts'

interface TableEnvironment {
  /** Called for each new waiting row. Not called for a change of a waiting row. */
  readonly onPut: () => void
  /** `page`: LMDB could not read the table. `record`: a row failed its checksum. */
  readonly onDamage: (reason: 'page' | 'record') => void
  readonly isAccepting: () => boolean
}

export interface Database {
  get(key: Buffer): Buffer | undefined
  getBinaryFast(key: Buffer): Buffer | undefined
  put(key: Buffer, value: Buffer): unknown
  remove(key: Buffer): unknown
  getRange(options: {
    readonly start: Buffer
    readonly end: Buffer
    readonly exclusiveStart?: boolean
    readonly inclusiveEnd?: boolean
    readonly reverse?: boolean
  }): Iterable<Row>
  getStats(): { readonly [name: string]: unknown }
}

export interface Row {
  readonly key: Buffer
  readonly value: Buffer
}

export interface Removed {
  readonly rowCount: number
  readonly byteCount: number
}

/** LMDB's overhead per row in bytes: the row's header and its entry in the page's list. */
const ROW_HEADER_BYTES = 10
/** Number of rows that `all` reads at once. No cursor may stay open while the caller works. */
const CHUNK_ROWS = 1_000
/** Must not be used for tables with groups. */
export const EVERY_KEY: KeyRange = { from: Buffer.alloc(1), to: Buffer.alloc(keyBytesMax, 0xff) }

export class Table {
  readonly layout: TableLayout
  #database: Database
  readonly #environment: TableEnvironment
  /** `#open` has the rows for the next commit, `#committing` the rows of the current commit. */
  #open: PendingRows
  #committing: PendingRows
  #commitCount = 0

  constructor(layout: TableLayout, database: Database, environment: TableEnvironment) {
    this.layout = layout
    this.#database = database
    this.#environment = environment
    this.#open = new PendingRows(layout.groupBytes)
    this.#committing = new PendingRows(layout.groupBytes)
  }

  moveTo(database: Database): void {
    this.#database = database
  }

  get(key: Buffer): Buffer | null {
    const pending = this.#pending(key)
    if (pending !== undefined) return pending.value
    return this.#read(() => this.#database.get(key)) ?? null
  }

  has(key: Buffer): boolean {
    const pending = this.#pending(key)
    if (pending !== undefined) return pending.value !== null
    return this.#read(() => this.#database.getBinaryFast(key)) !== undefined
  }

  /**
   * Puts a row. The caller must not change key and value afterwards. Returns false if the row is rejected because
   * commits fail and too many rows wait.
   */
  put(key: Buffer, value: Buffer): boolean {
    assert(key.length > 0 && key.length <= keyBytesMax, 'a key has 1 to 512 bytes')
    return this.open({ key, value })
  }

  /** Puts a row whose value the caller may change until `commitCount` changes or its key is put again. */
  open(row: PendingRow): boolean {
    if (!this.#environment.isAccepting()) return false
    if (this.#open.put(row)) this.#environment.onPut()
    return true
  }

  /** Whether a row would be accepted. A rejected row is counted as dropped. */
  isAccepting(): boolean {
    return this.#environment.isAccepting()
  }

  /** Increments when a commit takes the waiting rows. */
  get commitCount(): number {
    return this.#commitCount
  }

  /** Puts a row unless the table already contains the same bytes. */
  putIfChanged(key: Buffer, value: Buffer): void {
    if (this.get(key)?.equals(value) !== true) this.put(key, value)
  }

  remove(key: Buffer): void {
    this.open({ key, value: null })
  }

  /** Visits rows in key order, or in reverse, until `visit` returns false. `visit` must not put. */
  scan(range: KeyRange, visit: (row: Row) => boolean): void {
    const isReverse = range.isReverse ?? false
    const pending = merged(this.#open.range(range), this.#committing.range(range), isReverse)
    for (const { key, value } of merged(pending, this.#committedRows(range), isReverse)) {
      if (value !== null && !visit({ key, value })) return
    }
  }

  first(range: KeyRange): Row | null {
    let found: Row | null = null
    this.scan(range, (row) => {
      found = row
      return false
    })
    return found
  }

  /** The rows of a range in key order, read in chunks. The caller may put rows between two rows. */
  *all(range: KeyRange = EVERY_KEY): Generator<Row, void> {
    let { from } = range
    for (;;) {
      const rows: Row[] = []
      this.scan({ from, to: range.to }, (row) => rows.push(row) < CHUNK_ROWS)
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < CHUNK_ROWS) return
      from = Buffer.concat([last.key, Buffer.of(0)])
    }
  }

  /** Number of rows that were committed when the files were opened. The caller adds later puts. */
  committedCount(): number {
    return statistic(this.#database, 'entryCount')
  }

  reportDamage(): void {
    this.#environment.onDamage('record')
  }

  removeRange(range: KeyRange, rowsMax: number): Removed {
    const keys: Buffer[] = []
    let byteCount = 0
    if (rowsMax < 1) return { rowCount: 0, byteCount }
    this.scan(range, ({ key, value }) => {
      byteCount += key.length + value.length + ROW_HEADER_BYTES
      return keys.push(key) < rowsMax
    })
    for (const key of keys) this.remove(key)
    return { rowCount: keys.length, byteCount }
  }

  /** Moves the waiting rows into the next commit. Rows of a failed commit are included again. */
  beginCommit(): void {
    if (this.#open.count === 0) return
    this.#commitCount += 1
    if (this.#committing.count > 0) {
      for (const row of this.#open.values()) this.#committing.put(row)
      this.#open.clear()
      return
    }
    const begun = this.#open
    this.#open = this.#committing
    this.#committing = begun
  }

  /** Writes the rows of this commit to LMDB, inside the environment's batch. Must not throw. */
  writePending(): void {
    for (const { key, value } of this.#committing.values()) {
      if (value === null) void this.#database.remove(key)
      else void this.#database.put(key, value)
    }
  }

  endCommit(): void {
    this.#committing.clear()
  }

  #pending(key: Buffer): PendingRow | undefined {
    return this.#open.get(key) ?? this.#committing.get(key)
  }

  /** Throws UNAVAILABLE if a page of the table cannot be read. */
  #read<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (cause) {
      throw this.#unreadable(cause)
    }
  }

  #unreadable(cause: unknown): EngineError {
    this.#environment.onDamage('page')
    const detail = `stored data is damaged (table ${this.layout.name}); the operator must restore it`
    return new EngineError('UNAVAILABLE', detail, { cause, retryAfterSeconds: 300 })
  }

  *#committedRows({ from, to, isReverse }: KeyRange): Generator<Row, void> {
    // In reverse, lmdb-js includes the upper key and excludes the lower key.
    const options = isReverse
      ? { start: to, exclusiveStart: true, end: from, inclusiveEnd: true, reverse: true }
      : { start: from, end: to }
    try {
      yield* this.#database.getRange(options)
    } catch (cause) {
      throw this.#unreadable(cause)
    }
  }
}

export function statistic(database: Pick<Database, 'getStats'>, name: string): number {
  const value = database.getStats()[name]
  return typeof value === 'number' ? value : 0
}
