// A table whose rows share rows of LMDB: up to an eighth of a page of neighbours in one block, whose key is at or below
// theirs, so that a small row does not pay for a node, a whole key and a page half full. Keys have one length
// within a table. A row of an older format, which has a row of LMDB to itself, is a block of one.
//
//   255 | row | row | …      each in the order of keys:
//   shared << 4 | zeros (u8) | value's bytes (varint) | key without what it shares with the block's and the zeros at its end | value
//
// A row is added behind the last one of its group, in place, without a look at the others: trades come in the order of time.
// The block waits for its commit as one row, however many are added to it until then; what a commit has
// been handed is never written again, since bytes are only added behind it. Elsewhere a row's block is written anew, in two
// halves when it is full. In memory stay the last two blocks of up to 4,096 groups, some 4 MB; beyond it they are
// read again.

import { assert } from '../../engine/errors.ts'
import { compareKeys, copyBytes } from '../records/keys.ts'
import { writeVarint } from '../records/varints.ts'
import type { OpenRow } from './pending.ts'
import type { KeyRange, Row, Table } from './table.ts'

/** So that eight fill a page of LMDB (4,096 bytes, 24 of them a header, and 26 a block for node and key). */
const BLOCK_BYTES = 483
/** No row of a table that is not packed begins so: the highest byte of a market's number, or a schema. */
const MARK = 255
const NIBBLE_MAX = 15
/** Of a varint below 2 MiB: a record's fields are a few kilobytes. */
const VALUE_LENGTH_BYTES_MAX = 3
/** Groups whose blocks are remembered; above it the memory starts afresh. */
const GROUPS_MAX = 4_096
/** No number of a commit. */
const NEVER = -1
const VALUE_LENGTH_END = 0x80 ** VALUE_LENGTH_BYTES_MAX
/** What stands for rows behind damaged bytes: no record's check lets it through. */
const DAMAGED: Buffer = Buffer.of(0)

/**
 * A row of LMDB that holds rows: of `bytes`, those up to `end`. As a row that waits, it has the value of the moment.
 * A block that grows is one piece of memory, its keys behind its bytes, and not of Node's pool: the last blocks of
 * a thousand groups, minutes old, would each keep 8 KiB of that.
 */
class Block implements OpenRow {
  readonly keyBytes: number
  readonly bytes: Buffer
  /** How many of the bytes are for rows. */
  readonly capacity: number
  end: number
  /** Whether nothing may be added: it is a row of an older format, or its last bytes are damaged. */
  readonly isClosed: boolean
  /** The commit for which it waits. */
  commitCount = NEVER
  /** Its own key and that of its last row, from here on. */
  readonly #keys: Buffer
  readonly #keysAt: number
  #key: Buffer | null = null

  constructor(key: Buffer, { bytes, capacity, end, isClosed, keys, keysAt }: BlockMemory) {
    this.keyBytes = key.length
    this.bytes = bytes
    this.capacity = capacity
    this.end = end
    this.isClosed = isClosed
    this.#keys = keys
    this.#keysAt = keysAt
    copyBytes(key, 0, keys, keysAt, key.length)
  }

  get value(): Buffer {
    return this.bytes.subarray(0, this.end)
  }

  get key(): Buffer {
    this.#key ??= this.#keys.subarray(this.#keysAt, this.#keysAt + this.keyBytes)
    return this.#key
  }

  /** How many of its first bytes a key has in common with the block's. */
  sharedBytes(key: Buffer, most: number): number {
    let shared = 0
    while (shared < most && key[shared] === this.#keys[this.#keysAt + shared]) shared += 1
    return shared
  }

  /** The order of the last row's key and this one. */
  compareLast(key: Buffer): number {
    const at = this.#keysAt + this.keyBytes
    for (let index = 0; index < key.length; index += 1) {
      const difference = (this.#keys[at + index] ?? 0) - (key[index] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The last row is the one with this key, and ends here. */
  endAt(end: number, lastKey: Buffer): void {
    this.end = end
    copyBytes(lastKey, 0, this.#keys, this.#keysAt + this.keyBytes, lastKey.length)
  }
}

type BlockMemory = Pick<Block, 'bytes' | 'capacity' | 'end' | 'isClosed'> & {
  readonly keys: Buffer
  readonly keysAt: number
}

/** Of one group of keys: its last block, and the one that was last looked into. */
interface GroupBlocks {
  tail: Block | null
  recent: Block | null
}

export class PackedTable {
  readonly #table: Table
  readonly #groups = new Map<number, GroupBlocks>()

  constructor(table: Table) {
    this.#table = table
  }

  /** The table in which the blocks are rows; for records' bytes. */
  get blocks(): Pick<Table, 'layout' | 'decodePacked'> {
    return this.#table
  }

  get(key: Buffer): Buffer | null {
    const block = this.#floor(key)
    if (block === null || block.compareLast(key) < 0) return null
    return valueIn(block, key)
  }

  /** The value is the first `valueBytes` of these bytes; they and the key are copied. */
  put(key: Buffer, value: Buffer, valueBytes = value.length): void {
    const groupBlocks = this.#groupBlocksOf(key)
    const { tail } = groupBlocks
    if (tail !== null && tail.compareLast(key) >= 0) {
      this.#insert(groupBlocks, {
        key: Buffer.from(key),
        value: Buffer.from(value.subarray(0, valueBytes)),
      })
      return
    }
    if (!this.#table.isAccepting()) {
      this.#groups.clear()
      return
    }
    const bytes = rowBytesMax(key, valueBytes)
    if (tail !== null && !tail.isClosed && tail.end + bytes <= BLOCK_BYTES) {
      const grown = tail.capacity < tail.end + bytes ? withFullCapacity(tail) : tail
      addRow(grown, key, value, valueBytes)
      groupBlocks.tail = grown
      this.#markDirty(grown)
      return
    }
    const block = newBlock(key, Math.max(BLOCK_BYTES, 1 + bytes))
    addRow(block, key, value, valueBytes)
    groupBlocks.recent = tail
    groupBlocks.tail = block
    this.#markDirty(block)
  }

  remove(key: Buffer): void {
    const block = this.#floor(key)
    if (block === null) return
    const rows = rowsOf(block).filter((row) => !row.key.equals(key))
    this.#replace(this.#groupBlocksOf(key), block, block.key, rows)
  }

  /** Visits rows in key order (or its reverse) until `visit` returns false; it may not put. */
  scan(range: KeyRange, visit: (row: Row) => boolean): void {
    const { from, to, isReverse = false } = range
    const { tail } = this.#groupBlocksOf(from)
    const isInTail = tail !== null && compareKeys(tail.key, from) <= 0
    const end = tail !== null && compareKeys(tail.key, to) < 0 ? tail.key : to
    if (isReverse) {
      if (tail !== null && !visitRows(tail, range, visit)) return
      if (isInTail) return
      // The block in which the range begins is the first whose key is not above it.
      this.#table.scan({ from: this.#groupStart(from), to: end, isReverse }, (row) => {
        return visitRows(row, range, visit) && compareKeys(row.key, from) > 0
      })
      return
    }
    let hasMore = true
    if (!isInTail) {
      const start = this.#floor(from)?.key ?? from
      this.#table.scan({ from: start, to: end, isReverse }, (row) => {
        hasMore = visitRows(row, range, visit)
        return hasMore
      })
    }
    if (hasMore && tail !== null) visitRows(tail, range, visit)
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

  /** Lets the commit that comes write the last block of a group as it is then. */
  #markDirty(block: Block): void {
    const { commitCount } = this.#table
    if (block.commitCount === commitCount) return
    block.commitCount = commitCount
    if (!this.#table.open(block)) this.#groups.clear()
  }

  /** Puts a row before the last of its group, in place of the one with its key if there is one. */
  #insert(groupBlocks: GroupBlocks, row: Row): void {
    const floor = this.#floor(row.key)
    const block = floor ?? this.#firstOfGroup(row.key)
    assert(block !== null, 'a group with a last block has a first one')
    const rows = rowsOf(block)
    let index = rows.findIndex((one) => compareKeys(one.key, row.key) >= 0)
    const isReplacement = rows[index]?.key.equals(row.key) ?? false
    if (index < 0) index = rows.length
    const isFull = block.end + rowBytesMax(row.key, row.value.length) > BLOCK_BYTES
    if (!isReplacement && isFull && (floor === null || index === rows.length)) {
      // Rows that come newest first, or in a row of their own behind a full block, fill blocks of their own.
      this.#put(groupBlocks, packed(row.key, [row]))
      return
    }
    rows.splice(index, isReplacement ? 1 : 0, row)
    this.#replace(groupBlocks, block, floor === null ? row.key : block.key, rows)
  }

  /** Writes a block's rows anew, under a key at or below the first of them. */
  #replace(groupBlocks: GroupBlocks, block: Block, key: Buffer, rows: readonly Row[]): void {
    const wasTail = groupBlocks.tail?.key.equals(block.key) ?? false
    block.commitCount = NEVER
    if (rows.length === 0 || !key.equals(block.key)) this.#table.remove(block.key)
    groupBlocks.recent = null
    if (rows.length === 0) {
      // The block before, if any, is the last one now.
      this.#groups.delete(this.#groupOf(key))
      return
    }
    let newest = packed(key, rows)
    const middle = rows.length >> 1
    const second = rows[middle]
    if (newest.end > BLOCK_BYTES && middle > 0 && second !== undefined) {
      this.#put(groupBlocks, packed(key, rows.slice(0, middle)))
      newest = packed(second.key, rows.slice(middle))
    }
    this.#put(groupBlocks, newest)
    if (wasTail) groupBlocks.tail = newest
  }

  #put(groupBlocks: GroupBlocks, { key, value }: Block): void {
    groupBlocks.recent = null
    if (!this.#table.put(key, value)) this.#groups.clear()
  }

  /** The block in which this key is, or would be; null when it is below all of its group. */
  #floor(key: Buffer): Block | null {
    const groupBlocks = this.#groupBlocksOf(key)
    const { tail, recent } = groupBlocks
    if (tail === null || compareKeys(tail.key, key) <= 0) return tail
    if (recent !== null && compareKeys(recent.key, key) <= 0 && recent.compareLast(key) >= 0) {
      return recent
    }
    const row = this.#lastUpTo(key, this.#groupStart(key))
    if (row === null) return null
    groupBlocks.recent = blockOf(row)
    return groupBlocks.recent
  }

  #lastUpTo(key: Buffer, from: Buffer): Row | null {
    const to = Buffer.alloc(key.length + 1)
    key.copy(to)
    return this.#table.first({ from, to, isReverse: true })
  }

  #firstOfGroup(key: Buffer): Block | null {
    const row = this.#table.first({ from: this.#groupStart(key), to: this.#groupEnd(key) })
    return row === null ? null : blockOf(row)
  }

  #groupBlocksOf(key: Buffer): GroupBlocks {
    const group = this.#groupOf(key)
    const groupBlocks = this.#groups.get(group)
    if (groupBlocks !== undefined) return groupBlocks
    const row = this.#lastUpTo(this.#groupEnd(key), this.#groupStart(key))
    const tail = row === null ? null : blockOf(row)
    const made: GroupBlocks = { tail, recent: null }
    if (this.#groups.size >= GROUPS_MAX) this.#groups.clear()
    this.#groups.set(group, made)
    return made
  }

  #groupOf(key: Buffer): number {
    return this.#table.layout.groupBytes === 1 ? key.readUInt8(0) : key.readUInt32BE(0)
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

function rowBytesMax(key: Buffer, valueBytes: number): number {
  return 1 + VALUE_LENGTH_BYTES_MAX + key.length + valueBytes
}

/** A block without rows whose key is a copy of this one. */
function newBlock(key: Buffer, capacity: number): Block {
  const bytes = Buffer.allocUnsafeSlow(capacity + 2 * key.length)
  bytes[0] = MARK
  return new Block(key, { bytes, capacity, end: 1, isClosed: false, keys: bytes, keysAt: capacity })
}

/** The same block with room for more. */
function withFullCapacity(block: Block): Block {
  const grown = newBlock(block.key, BLOCK_BYTES)
  copyBytes(block.bytes, 0, grown.bytes, 0, block.end)
  grown.end = block.end
  return grown
}

function packed(key: Buffer, rows: readonly Row[]): Block {
  let byteCount = 1
  for (const row of rows) byteCount += rowBytesMax(row.key, row.value.length)
  const block = newBlock(key, byteCount)
  for (const row of rows) addRow(block, row.key, row.value, row.value.length)
  return block
}

/** Adds a row behind the last of a block that has room for it. */
function addRow(block: Block, key: Buffer, value: Buffer, valueBytes: number): void {
  const { bytes } = block
  const shared = block.sharedBytes(key, Math.min(NIBBLE_MAX, key.length))
  let end = key.length
  while (end > shared && key.length - end < NIBBLE_MAX && key[end - 1] === 0) end -= 1
  bytes[block.end] = shared * (NIBBLE_MAX + 1) + key.length - end
  let position = writeVarint(bytes, block.end + 1, valueBytes)
  copyBytes(key, shared, bytes, position, end - shared)
  position += end - shared
  copyBytes(value, 0, bytes, position, valueBytes)
  block.endAt(position + valueBytes, key)
}

function blockOf({ key, value }: Row): Block {
  const rows = new BlockRows(key, value)
  while (rows.next()) {}
  const isClosed = value[0] !== MARK || rows.isDamaged
  const end = value.length
  const keys = Buffer.allocUnsafeSlow(2 * key.length)
  const block = new Block(key, { bytes: value, capacity: end, end, isClosed, keys, keysAt: 0 })
  block.endAt(end, rows.key())
  return block
}

/** The rows that share a row of LMDB. */
export function rowsOf({ key, value }: Row): Row[] {
  const rows = new BlockRows(key, value)
  const found: Row[] = []
  while (rows.next()) found.push({ key: rows.key(), value: rows.value() })
  if (rows.isDamaged) found.push({ key: rows.key(), value: DAMAGED })
  return found
}

function valueIn({ key: blockKey, bytes, end }: Block, key: Buffer): Buffer | null {
  const rows = new BlockRows(blockKey, bytes, end)
  while (rows.next()) if (rows.compare(key) === 0) return rows.value()
  return rows.isDamaged ? DAMAGED : null
}

/** Visits the rows of a block that lie in a range; false when none of a later block does, or `visit` has enough. */
function visitRows(block: Row, range: KeyRange, visit: (row: Row) => boolean): boolean {
  const { from, to } = range
  if (range.isReverse) {
    for (const row of rowsOf(block).reverse()) {
      if (compareKeys(row.key, from) < 0) return false
      if (compareKeys(row.key, to) < 0 && !visit(row)) return false
    }
    return true
  }
  const rows = new BlockRows(block.key, block.value)
  let isWithin = compareKeys(block.key, from) >= 0
  while (rows.next()) {
    if (rows.compare(to) >= 0) return false
    isWithin ||= rows.compare(from) >= 0
    if (!isWithin) continue
    if (!visit({ key: rows.key(), value: rows.value() })) return false
  }
  return !rows.isDamaged || visit({ key: rows.key(), value: DAMAGED })
}

/** Goes through the rows of a block; keys and values are made for those alone that are asked for. */
class BlockRows {
  readonly #blockKey: Buffer
  readonly #bytes: Buffer
  readonly #end: number
  #next: number
  /** Of the row's key: bytes that are the block's, bytes that follow, and where those stand. */
  #shared: number
  #partBytes = 0
  #partStart = 0
  #valueStart = 0
  #valueEnd = 0
  isDamaged = false

  constructor(blockKey: Buffer, bytes: Buffer, end = bytes.length) {
    this.#blockKey = blockKey
    this.#bytes = bytes
    this.#end = end
    this.#next = bytes[0] === MARK ? 1 : 0
    this.#shared = blockKey.length
  }

  /** Goes to the next row; false behind the last one, and where bytes are damaged. */
  next(): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let position = this.#next
    if (this.isDamaged || position >= end) return false
    if (position === 0) {
      this.#valueEnd = end
      this.#next = end
      return true
    }
    const head = bytes[position] ?? 0
    const shared = head >> 4
    const partBytes = this.#blockKey.length - shared - (head & NIBBLE_MAX)
    let valueBytes = 0
    let byte = 0x80
    for (let scale = 1; byte >= 0x80 && scale < VALUE_LENGTH_END; scale *= 0x80) {
      position += 1
      byte = bytes[position] ?? 0
      valueBytes += (byte & 0x7f) * scale
    }
    position += 1
    const valueStart = position + partBytes
    this.isDamaged = byte >= 0x80 || partBytes < 0 || valueStart + valueBytes > end
    if (this.isDamaged) return false
    this.#shared = shared
    this.#partBytes = partBytes
    this.#partStart = position
    this.#valueStart = valueStart
    this.#valueEnd = valueStart + valueBytes
    this.#next = this.#valueEnd
    return true
  }

  /** The row's key, a copy; the block's before the first. */
  key(): Buffer {
    const blockKey = this.#blockKey
    const bytes = this.#bytes
    const key = Buffer.allocUnsafe(blockKey.length)
    const partEnd = this.#shared + this.#partBytes
    let index = 0
    for (; index < this.#shared; index += 1) key[index] = blockKey[index] ?? 0
    for (let from = this.#partStart; index < partEnd; index += 1, from += 1) {
      key[index] = bytes[from] ?? 0
    }
    for (; index < key.length; index += 1) key[index] = 0
    return key
  }

  value(): Buffer {
    return this.#bytes.subarray(this.#valueStart, this.#valueEnd)
  }

  /** The order of the row's key and this one. */
  compare(key: Buffer): number {
    for (let index = 0; index < key.length; index += 1) {
      const difference = this.#keyByte(index) - (key[index] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  #keyByte(index: number): number {
    const shared = this.#shared
    if (index < shared) return this.#blockKey[index] ?? 0
    return index < shared + this.#partBytes
      ? (this.#bytes[this.#partStart + index - shared] ?? 0)
      : 0
  }
}
