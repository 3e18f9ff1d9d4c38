// A table whose rows share rows of LMDB: up to an eighth of a page of neighbours in one block, whose key is at or below
// theirs, so that a small row does not pay for a node, a whole key and a page half full. Keys have one length
// within a table. A row of an older format, which has a row of LMDB to itself, is a block of one.
//
//   255 | row | row | …      each in the order of keys:
//   shared << 4 | zeros (u8) | value's bytes (varint) | key without what it shares with the block's and the zeros at its end | value
//
// A row is added behind the last one of its group without a look at the others: trades come in the order of time.
// Elsewhere its block is written anew, in two halves when it is full. Not for: what a row means, or whether it is
// damaged (each record has its own check). Upholds STORE1, STORE34.

import { assert } from '../../engine/errors.ts'
import { VarintReader, writeVarint } from '../records/varints.ts'
import type { KeyRange, Row, Table } from './table.ts'

/** So that eight fill a page of LMDB (4,096 bytes, 24 of them a header, and 26 a block for node and key). */
const BLOCK_BYTES = 483
/** No row of a table that is not packed begins so: the highest byte of a market's number, or a schema. */
const MARK = 255
const NO_ROWS: Buffer = Buffer.of(MARK)
const NIBBLE_MAX = 15
/** Of a varint below 2 MiB: a record's fields are a few kilobytes. */
const VALUE_LENGTH_BYTES_MAX = 3
/** Groups whose blocks are remembered; above it the memory starts afresh. */
const GROUPS_MAX = 4_096

interface Block {
  readonly key: Buffer
  readonly bytes: Buffer
  readonly lastKey: Buffer
}

/** Of one group of keys: its last block, and the one that was last looked into. */
interface Known {
  tail: Block | null
  recent: Block | null
}

export class PackedTable {
  readonly #table: Table
  readonly #known = new Map<number, Known>()

  constructor(table: Table) {
    this.#table = table
  }

  /** The table in which the blocks are rows; for records' bytes. */
  get blocks(): Pick<Table, 'encodePacked' | 'decodePacked'> {
    return this.#table
  }

  get(key: Buffer): Buffer | null {
    const block = this.#floor(key)
    if (block === null || block.lastKey.compare(key) < 0) return null
    for (const row of rowsOf(block)) if (row.key.equals(key)) return row.value
    return null
  }

  put(key: Buffer, value: Buffer): void {
    const known = this.#knownOf(key)
    const { tail } = known
    if (tail === null) this.#putBehind(known, null, { key, value })
    else if (tail.lastKey.compare(key) >= 0) this.#insert(known, { key, value })
    else {
      const bytes = tail.bytes.length + rowBytesMax(key, value)
      const hasRoom = tail.bytes[0] === MARK && bytes <= BLOCK_BYTES
      this.#putBehind(known, hasRoom ? tail : null, { key, value })
    }
  }

  remove(key: Buffer): void {
    const block = this.#floor(key)
    if (block === null) return
    const rows = rowsOf(block).filter((row) => !row.key.equals(key))
    this.#replace(this.#knownOf(key), block, block.key, rows)
  }

  /** Visits rows in key order (or its reverse) until `visit` returns false; it may not put. */
  scan(range: KeyRange, visit: (row: Row) => boolean): void {
    const { from, to } = range
    const isReverse = range.isReverse ?? false
    const start = this.#floor(from)?.key ?? from
    this.#table.scan({ from: start, to, isReverse }, (row) => {
      const rows = unpacked(row)
      if (isReverse) rows.reverse()
      for (const one of rows) {
        const isWithin = one.key.compare(from) >= 0 && one.key.compare(to) < 0
        if (isWithin && !visit(one)) return false
      }
      return true
    })
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

  /** Puts a row behind all of its group: into its last block, or a block of its own. */
  #putBehind(known: Known, tail: Block | null, row: Row): void {
    const key = tail === null ? row.key : tail.key
    const block = { key, bytes: withRow(tail?.bytes ?? NO_ROWS, key, row), lastKey: row.key }
    this.#put(known, block)
    known.tail = block
  }

  /** Puts a row before the last of its group, in place of the one with its key if there is one. */
  #insert(known: Known, row: Row): void {
    const floor = this.#floor(row.key)
    const block = floor ?? this.#firstOfGroup(row.key)
    assert(block !== null, 'a group with a last block has a first one')
    const rows = rowsOf(block)
    let index = rows.findIndex((one) => one.key.compare(row.key) >= 0)
    const isKnown = rows[index]?.key.equals(row.key) ?? false
    if (index < 0) index = rows.length
    const isFull = block.bytes.length + rowBytesMax(row.key, row.value) > BLOCK_BYTES
    if (!isKnown && isFull && (floor === null || index === rows.length)) {
      // Rows that come newest first, or in a row of their own behind a full block, fill blocks of their own.
      const bytes = withRow(NO_ROWS, row.key, row)
      this.#put(known, { key: row.key, bytes, lastKey: row.key })
      return
    }
    rows.splice(index, isKnown ? 1 : 0, row)
    this.#replace(known, block, floor === null ? row.key : block.key, rows)
  }

  /** Writes a block's rows anew, under a key at or below the first of them. */
  #replace(known: Known, block: Block, key: Buffer, rows: readonly Row[]): void {
    const wasTail = known.tail?.key.equals(block.key) ?? false
    if (rows.length === 0 || !key.equals(block.key)) this.#table.remove(block.key)
    known.recent = null
    const last = rows.at(-1)
    if (last === undefined) {
      // The block before, if any, is the last one now.
      this.#known.delete(this.#groupOf(key))
      return
    }
    const bytes = packedAll(key, rows)
    const middle = rows.length >> 1
    const second = rows[middle]
    const halves = bytes.length > BLOCK_BYTES && middle > 0 && second !== undefined
    const kept = halves ? rows.slice(0, middle) : rows
    const upper = halves ? rows.slice(middle) : []
    const lower = kept.at(-1) ?? last
    let newest: Block = {
      key,
      bytes: halves ? packedAll(key, kept) : bytes,
      lastKey: lower.key,
    }
    this.#put(known, newest)
    if (halves) {
      newest = { key: second.key, bytes: packedAll(second.key, upper), lastKey: last.key }
      this.#put(known, newest)
    }
    if (wasTail) known.tail = newest
  }

  #put(known: Known, block: Block): void {
    known.recent = null
    if (!this.#table.put(block.key, block.bytes)) this.#known.clear()
  }

  /** The block in which this key is, or would be; null when it is below all of its group. */
  #floor(key: Buffer): Block | null {
    const known = this.#knownOf(key)
    const { tail, recent } = known
    if (tail === null || tail.key.compare(key) <= 0) return tail
    if (recent !== null && recent.key.compare(key) <= 0 && recent.lastKey.compare(key) >= 0) {
      return recent
    }
    const row = this.#lastUpTo(key, this.#groupStart(key))
    if (row === null) return null
    known.recent = blockOf(row)
    return known.recent
  }

  #lastUpTo(key: Buffer, from: Buffer): Row | null {
    const to = Buffer.concat([key, Buffer.of(0)])
    return this.#table.first({ from, to, isReverse: true })
  }

  #firstOfGroup(key: Buffer): Block | null {
    const row = this.#table.first({ from: this.#groupStart(key), to: this.#groupEnd(key) })
    return row === null ? null : blockOf(row)
  }

  #knownOf(key: Buffer): Known {
    const group = this.#groupOf(key)
    const known = this.#known.get(group)
    if (known !== undefined) return known
    const row = this.#lastUpTo(this.#groupEnd(key), this.#groupStart(key))
    const made: Known = { tail: row === null ? null : blockOf(row), recent: null }
    if (this.#known.size >= GROUPS_MAX) this.#known.clear()
    this.#known.set(group, made)
    return made
  }

  #groupOf(key: Buffer): number {
    return key.readUIntBE(0, this.#table.layout.groupBytes)
  }

  #groupStart(key: Buffer): Buffer {
    const { groupBytes } = this.#table.layout
    return Buffer.alloc(key.length).fill(key.subarray(0, groupBytes), 0, groupBytes)
  }

  #groupEnd(key: Buffer): Buffer {
    const { groupBytes } = this.#table.layout
    return Buffer.alloc(key.length, 0xff).fill(key.subarray(0, groupBytes), 0, groupBytes)
  }
}

function blockOf(row: Row): Block {
  const rows = unpacked(row)
  return { key: row.key, bytes: row.value, lastKey: rows.at(-1)?.key ?? row.key }
}

function rowsOf(block: Block): Row[] {
  return unpacked({ key: block.key, value: block.bytes })
}

/** The bytes of a block with one more row behind its last. */
function withRow(before: Buffer, blockKey: Buffer, { key, value }: Row): Buffer {
  let shared = 0
  while (shared < NIBBLE_MAX && shared < key.length && key[shared] === blockKey[shared]) shared += 1
  let end = key.length
  while (end > shared && key.length - end < NIBBLE_MAX && key[end - 1] === 0) end -= 1
  const bytes = Buffer.allocUnsafe(before.length + rowBytesMax(key, value))
  bytes.set(before)
  bytes[before.length] = shared * (NIBBLE_MAX + 1) + key.length - end
  let position = writeVarint(bytes, before.length + 1, value.length)
  for (let index = shared; index < end; index += 1, position += 1) bytes[position] = key[index] ?? 0
  bytes.set(value, position)
  return bytes.subarray(0, position + value.length)
}

function rowBytesMax(key: Buffer, value: Buffer): number {
  return 1 + VALUE_LENGTH_BYTES_MAX + key.length + value.length
}

function packedAll(key: Buffer, rows: readonly Row[]): Buffer {
  let bytes = NO_ROWS
  for (const row of rows) bytes = withRow(bytes, key, row)
  return bytes
}

/** The rows of a block; those behind damaged bytes come as one row, which no record's check lets through. */
function unpacked({ key: blockKey, value: bytes }: Row): Row[] {
  if (bytes[0] !== MARK) return [{ key: blockKey, value: bytes }]
  const rows: Row[] = []
  const reader = new VarintReader(bytes, 1)
  try {
    while (!reader.isAtEnd) {
      const head = bytes.readUInt8(reader.skip(1))
      const shared = head >> 4
      const valueBytes = reader.next()
      const partBytes = blockKey.length - shared - (head & NIBBLE_MAX)
      if (partBytes < 0) throw new RangeError('a key is longer than its block')
      const start = reader.skip(partBytes)
      const key = Buffer.allocUnsafe(blockKey.length)
      blockKey.copy(key, 0, 0, shared)
      bytes.copy(key, shared, start, start + partBytes)
      key.fill(0, shared + partBytes)
      const valueStart = reader.skip(valueBytes)
      rows.push({ key, value: bytes.subarray(valueStart, valueStart + valueBytes) })
    }
  } catch {
    rows.push({ key: rows.at(-1)?.key ?? blockKey, value: Buffer.of(0) })
  }
  return rows
}
