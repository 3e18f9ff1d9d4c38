// Uncommitted rows of one table, found by key and sorted within their group, so that reads can merge them with LMDB's
// rows. A removed row has no value. Rows are sorted when a range is first read: most are committed before that. Keys
// and small values are copied into chunks of memory that successive commits reuse, and are found through tables of
// numbers. Such a row is not an object, so garbage collection does not copy it.
//
//   slots  | - | 2 | - | 1 | …                            by hash of the key: row number plus one
//   places | chunk, key, value, end of its room, end, hash | …      positions of row 0, row 1 …
//   chunks | key value key value … | …
//
// The caller bounds it: ingestion slows above outstandingWritesMax.

import { assert } from '../../engine/errors.ts'
import { compareKeys, copyBytes } from '../records/keys.ts'
import type { TableLayout } from '../tables.ts'

/** A row whose value grows until its commit begins, such as a group's last block (packed-table.ts). */
export interface OpenRow {
  readonly key: Buffer
  readonly value: Buffer
}

/** A row with its key, sorted within its group. */
interface SortedRow {
  readonly key: Buffer
  readonly row: number
}

const NO_ROWS: readonly SortedRow[] = []

/** Fields of a row in `places`. */
const CHUNK = 0
const KEY = 1
const VALUE = 2
const CAPACITY_END = 3
const END = 4
const HASH = 5
const NUMBERS = 6
/** The end of a value that is missing or held by an object. */
const REMOVED = -1
const HELD = -2

const ROWS_AT_FIRST = 64
/** Larger tables of numbers are not reused by the next commit. */
const ROWS_RETAINED = 8_192
const CHUNK_BYTES = 8_192
const CHUNKS_RETAINED = 16
/**
 * The largest value stored in a chunk. Each value has room for a multiple of `ROOM_BYTES`, so that it may change in
 * place.
 */
const SMALL_BYTES = 128
const CAPACITY_BYTES = 16

/** Uncommitted rows of one table in one commit. */
export class PendingRows {
  readonly #groupBytes: number
  #slots = new Int32Array(2 * ROWS_AT_FIRST)
  #positions = new Int32Array(NUMBERS * ROWS_AT_FIRST)
  #count = 0
  /** Of these `#chunkCount` are in use, the last one up to `#chunkEnd`. */
  readonly #chunks: Buffer[] = []
  #chunkCount = 0
  #chunkEnd = CHUNK_BYTES
  /** Objects that hold the values that are in no chunk, by row. */
  readonly #held = new Map<number, { readonly value: Buffer }>()
  readonly #groups = new Map<string, SortedRow[]>()
  /** Rows from this one on are not sorted into groups yet. */
  #sortedCount = 0
  /** Reused for each key that is visited. */
  #shownKey = Buffer.alloc(0)

  constructor({ groupBytes }: Pick<TableLayout, 'groupBytes'>) {
    this.#groupBytes = groupBytes
  }

  get count(): number {
    return this.#count
  }

  /** The value under a key; null if it is to be removed; undefined if no such row waits. */
  get(key: Buffer): Buffer | null | undefined {
    if (this.#count === 0) return undefined
    const row = this.#find(key, hashOf(key))
    return row < 0 ? undefined : this.value(row)
  }

  /** A row's value, which the caller may keep; null if it is to be removed. */
  value(row: number): Buffer | null {
    const shared = this.#sharedValue(row)
    return shared === null || this.#at(row, END) === HELD ? shared : Buffer.from(shared)
  }

  /**
   * Visits every row in no particular order. The key is valid until `visit` returns, the value until the next `clear`.
   */
  each(visit: (key: Buffer, value: Buffer | null) => void): void {
    for (let row = 0; row < this.#count; row += 1) {
      const [start, end] = [this.#at(row, KEY), this.#at(row, VALUE)]
      if (this.#shownKey.length !== end - start) this.#shownKey = Buffer.alloc(end - start)
      copyBytes(this.#chunkOf(row), start, this.#shownKey, 0, end - start)
      visit(this.#shownKey, this.#sharedValue(row))
    }
  }

  /**
   * Puts a copy of the key and of the value's first bytes; a null value removes the row. Returns whether no such row
   * waited before.
   */
  put(key: Buffer, value: Buffer | null, valueBytes = value?.length ?? 0): boolean {
    const before = this.#count
    const row = this.#rowOf(key)
    this.#held.delete(row)
    if (value === null) this.#set(row, END, REMOVED)
    else if (valueBytes > SMALL_BYTES) {
      this.#hold(row, { value: Buffer.from(value.subarray(0, valueBytes)) })
    } else {
      if (valueBytes > this.#at(row, CAPACITY_END) - this.#at(row, VALUE)) {
        this.#allocate(row, key, Math.ceil(valueBytes / CAPACITY_BYTES) * CAPACITY_BYTES)
      }
      const start = this.#at(row, VALUE)
      copyBytes(value, 0, this.#chunkOf(row), start, valueBytes)
      this.#set(row, END, start + valueBytes)
    }
    return this.#count > before
  }

  /** Puts a row whose value may change until the commit begins or its key is put again. */
  open(row: OpenRow): boolean {
    const before = this.#count
    this.#hold(this.#rowOf(row.key), row)
    return this.#count > before
  }

  /** Removes all rows; their memory is reused. */
  clear(): void {
    if (this.#count === 0) return
    if (this.#count > ROWS_RETAINED) {
      this.#slots = new Int32Array(2 * ROWS_AT_FIRST)
      this.#positions = new Int32Array(NUMBERS * ROWS_AT_FIRST)
    } else this.#slots.fill(0)
    this.#count = 0
    if (this.#chunks.length > CHUNKS_RETAINED) this.#chunks.length = CHUNKS_RETAINED
    this.#chunkCount = 0
    this.#chunkEnd = CHUNK_BYTES
    this.#held.clear()
    this.#groups.clear()
    this.#sortedCount = 0
  }

  /** The rows of the key's group, ascending. Invalid after a put. */
  group(key: Buffer): readonly SortedRow[] {
    for (; this.#sortedCount < this.#count; this.#sortedCount += 1) this.#sort(this.#sortedCount)
    return this.#groups.get(this.#groupName(key)) ?? NO_ROWS
  }

  #sort(row: number): void {
    const chunk = this.#chunkOf(row)
    const key = Buffer.from(chunk.subarray(this.#at(row, KEY), this.#at(row, VALUE)))
    const name = this.#groupName(key)
    const group = this.#groups.get(name)
    const last = group?.at(-1)
    if (group === undefined) this.#groups.set(name, [{ key, row }])
    else if (last === undefined || compareKeys(last.key, key) < 0) group.push({ key, row })
    else group.splice(firstAtOrAfter(group, key), 0, { key, row })
  }

  #groupName(key: Buffer): string {
    return key.toString('latin1', 0, this.#groupBytes)
  }

  /** The row with this key; adds one without a value if there is none. */
  #rowOf(key: Buffer): number {
    const hash = hashOf(key)
    const existing = this.#find(key, hash)
    if (existing >= 0) return existing
    const row = this.#count
    if (2 * row >= this.#slots.length) this.#grow()
    this.#count += 1
    this.#set(row, HASH, hash)
    this.#allocate(row, key, 0)
    this.#enter(row)
    return row
  }

  #find(key: Buffer, hash: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = (slots[slot] ?? 0) - 1
      if (row < 0 || (this.#at(row, HASH) === hash && this.#hasKey(row, key))) return row
    }
  }

  #hasKey(row: number, key: Buffer): boolean {
    const start = this.#at(row, KEY)
    if (this.#at(row, VALUE) - start !== key.length) return false
    const chunk = this.#chunkOf(row)
    for (let index = 0; index < key.length; index += 1) {
      if (chunk[start + index] !== key[index]) return false
    }
    return true
  }

  /** Adds a row to the hash table. */
  #enter(row: number): void {
    const mask = this.#slots.length - 1
    let slot = this.#at(row, HASH) & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = row + 1
  }

  #grow(): void {
    const positions = new Int32Array(2 * this.#positions.length)
    positions.set(this.#positions)
    this.#positions = positions
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let row = 0; row < this.#count; row += 1) this.#enter(row)
  }

  /** Writes a row's key to a position that has room for the value after it. */
  #allocate(row: number, key: Buffer, capacityBytes: number): void {
    const byteCount = key.length + capacityBytes
    if (this.#chunkEnd + byteCount > CHUNK_BYTES) {
      this.#chunks[this.#chunkCount] ??= Buffer.allocUnsafeSlow(CHUNK_BYTES)
      this.#chunkCount += 1
      this.#chunkEnd = 0
    }
    const start = this.#chunkEnd
    this.#chunkEnd += byteCount
    this.#set(row, CHUNK, this.#chunkCount - 1)
    this.#set(row, KEY, start)
    this.#set(row, VALUE, start + key.length)
    this.#set(row, CAPACITY_END, this.#chunkEnd)
    copyBytes(key, 0, this.#chunkOf(row), start, key.length)
  }

  #hold(row: number, holder: { readonly value: Buffer }): void {
    this.#held.set(row, holder)
    this.#set(row, END, HELD)
  }

  #sharedValue(row: number): Buffer | null {
    const end = this.#at(row, END)
    if (end === REMOVED) return null
    if (end === HELD) return this.#held.get(row)?.value ?? null
    return this.#chunkOf(row).subarray(this.#at(row, VALUE), end)
  }

  #chunkOf(row: number): Buffer {
    const chunk = this.#chunks[this.#at(row, CHUNK)]
    assert(chunk !== undefined, 'a row stands in a chunk')
    return chunk
  }

  #at(row: number, which: number): number {
    return this.#positions[row * NUMBERS + which] ?? 0
  }

  #set(row: number, which: number, number: number): void {
    this.#positions[row * NUMBERS + which] = number
  }
}

/** Iterates over the rows of [from, to) of two commits as one; if both have a key, the newer row is used. */
export class PendingCursor {
  readonly #newer: PendingRows
  readonly #older: PendingRows
  readonly #newerRows: readonly SortedRow[]
  readonly #olderRows: readonly SortedRow[]
  readonly #isReverse: boolean
  readonly #from: Buffer
  readonly #to: Buffer
  #newerIndex: number
  #olderIndex: number

  constructor(
    { newer, older }: { readonly newer: PendingRows; readonly older: PendingRows },
    {
      from,
      to,
      isReverse,
    }: { readonly from: Buffer; readonly to: Buffer; readonly isReverse: boolean },
  ) {
    this.#newer = newer
    this.#older = older
    this.#newerRows = newer.group(from)
    this.#olderRows = older.group(from)
    this.#isReverse = isReverse
    this.#from = from
    this.#to = to
    const start = (rows: readonly SortedRow[]) =>
      isReverse ? firstAtOrAfter(rows, to) - 1 : firstAtOrAfter(rows, from)
    this.#newerIndex = start(this.#newerRows)
    this.#olderIndex = start(this.#olderRows)
  }

  /** The next row's key, or undefined at the end of the range. */
  peek(): Buffer | undefined {
    const newer = this.#within(this.#newerRows[this.#newerIndex])
    const older = this.#within(this.#olderRows[this.#olderIndex])
    if (newer === undefined) return older
    return older === undefined || !this.precedes(older, newer) ? newer : older
  }

  /**
   * Advances past the row whose key `peek` returned, in both commits. Returns its value; null if it is to be removed.
   */
  take(key: Buffer): Buffer | null {
    const step = this.#isReverse ? -1 : 1
    const newer = this.#newerRows[this.#newerIndex]
    const older = this.#olderRows[this.#olderIndex]
    const isOlder = older !== undefined && compareKeys(older.key, key) === 0
    if (isOlder) this.#olderIndex += step
    if (newer === undefined || compareKeys(newer.key, key) !== 0) {
      return isOlder ? this.#older.value(older.row) : null
    }
    this.#newerIndex += step
    return this.#newer.value(newer.row)
  }

  /** Whether key `one` is visited before key `other`. */
  precedes(one: Buffer, other: Buffer): boolean {
    const order = compareKeys(one, other)
    return this.#isReverse ? order > 0 : order < 0
  }

  #within(row: SortedRow | undefined): Buffer | undefined {
    if (row === undefined || compareKeys(row.key, this.#from) < 0) return undefined
    return compareKeys(row.key, this.#to) < 0 ? row.key : undefined
  }
}

function firstAtOrAfter(rows: readonly SortedRow[], key: Buffer): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && compareKeys(row.key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** 32-bit FNV-1a hash of a key, mixed once more since the lowest bits select a slot. */
function hashOf(key: Buffer): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ (key[index] ?? 0), 0x01000193)
  }
  return hash ^ (hash >>> 15)
}
