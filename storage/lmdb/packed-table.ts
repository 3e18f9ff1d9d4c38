// A table that packs neighbouring rows into LMDB rows (blocks) of up to an eighth of a page. This saves the node, the
// full key and the half-empty page that each small row would cost. A block's key is at or below the keys of its rows.
// Keys have one length within a table. A row of an older format, stored alone, is a block of one row.
//
//   255 | row | row | …      each in the order of keys:
//   shared << 4 | zeros (u8) | value's bytes (varint) | rest of the key | value
//
// The rest of the key omits the prefix shared with the block's key, and trailing zeros.
//
// Most rows come in order of time and are appended in place after the last row of their group. The block counts as one
// uncommitted row, however many rows are appended. Bytes passed to a commit never change, since appends only write
// after them. Other inserts rewrite the block, split in two if it is full. The last two blocks of up to 4,096 groups
// (some 4 MB) are cached; others are read again.

import { assert } from '../../engine/errors.ts'
import { compareKeys, copyBytes } from '../records/keys.ts'
import { writeVarint } from '../records/varints.ts'
import type { OpenRow } from './pending.ts'
import type { KeyRange, Row, Table } from './table.ts'

/** Eight blocks fill an LMDB page (4,096 bytes: 24 of header, and 26 per block for node and key). */
const BLOCK_BYTES = 483
/**
 * First byte of a packed block. Unpacked rows never start with it: theirs is a schema, or the highest byte of a market
 * number.
 */
const MARK = 255
const NIBBLE_MAX = 15
/** Bytes of a varint below 2 MiB: a record's fields take a few kilobytes. */
const VALUE_LENGTH_BYTES_MAX = 3
/** Maximum number of cached groups; above it the cache is cleared. */
const GROUPS_MAX = 4_096
/** Not a commit number. */
const NEVER = -1
const VALUE_LENGTH_END = 0x80 ** VALUE_LENGTH_BYTES_MAX
/** Value of rows after damaged bytes; every record check rejects it. */
const DAMAGED: Buffer = Buffer.of(0)

/**
 * An LMDB row that packs rows in `bytes` up to `end`. While uncommitted, its value is its current content. The bytes
 * and keys of a growing block are one allocation outside Node's pool: each of the thousands of cached blocks would
 * otherwise retain an 8 KiB pool slab.
 */
class Block implements OpenRow {
  readonly keyBytes: number
  readonly bytes: Buffer
  /** Bytes available for rows. */
  readonly capacity: number
  end: number
  /** Nothing may be appended: it is a row of an older format, or its last bytes are damaged. */
  readonly isClosed: boolean
  /** The number of the commit that will write it. */
  commitCount = NEVER
  /** Its own key and the key of its last row, from `#keysAt` on. */
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

  /** Length of the common prefix of a key and the block's key. */
  sharedBytes(key: Buffer, most: number): number {
    let shared = 0
    while (shared < most && key[shared] === this.#keys[this.#keysAt + shared]) shared += 1
    return shared
  }

  /** Compares the last row's key with this key. */
  compareLast(key: Buffer): number {
    const at = this.#keysAt + this.keyBytes
    for (let index = 0; index < key.length; index += 1) {
      const difference = (this.#keys[at + index] ?? 0) - (key[index] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** Sets the last row's key and end. */
  endAt(end: number, lastKey: Buffer): void {
    this.end = end
    copyBytes(lastKey, 0, this.#keys, this.#keysAt + this.keyBytes, lastKey.length)
  }
}

type BlockMemory = Pick<Block, 'bytes' | 'capacity' | 'end' | 'isClosed'> & {
  readonly keys: Buffer
  readonly keysAt: number
}

/** Cached blocks of one group of keys: its last block and the one last read. */
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

  /** The table that stores the blocks; for records' bytes. */
  get blocks(): Pick<Table, 'layout' | 'decodePacked'> {
    return this.#table
  }

  get(key: Buffer): Buffer | null {
    const block = this.#floor(key)
    if (block === null || block.compareLast(key) < 0) return null
    return valueIn(block, key)
  }

  /** Copies the key and the first `valueBytes` of the value. */
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

  /** Visits rows in key order (or its reverse) until `visit` returns false; `visit` must not put. */
  scan(range: KeyRange, visit: (row: Row) => boolean): void {
    const { from, to, isReverse = false } = range
    const { tail } = this.#groupBlocksOf(from)
    const isInTail = tail !== null && compareKeys(tail.key, from) <= 0
    const end = tail !== null && compareKeys(tail.key, to) < 0 ? tail.key : to
    if (isReverse) {
      if (tail !== null && !visitRows(tail, range, visit)) return
      if (isInTail) return
      // The range starts in the last block whose key is not above it.
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

  /** Adds a group's last block to the next commit, which writes its content at that time. */
  #markDirty(block: Block): void {
    const { commitCount } = this.#table
    if (block.commitCount === commitCount) return
    block.commitCount = commitCount
    if (!this.#table.open(block)) this.#groups.clear()
  }

  /** Inserts a row before the last of its group; replaces a row with the same key. */
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
      // Rows in descending order, or a row alone after a full block, form blocks of their own.
      this.#put(groupBlocks, packed(row.key, [row]))
      return
    }
    rows.splice(index, isReplacement ? 1 : 0, row)
    this.#replace(groupBlocks, block, floor === null ? row.key : block.key, rows)
  }

  /** Rewrites a block's rows under a key at or below the first of them. */
  #replace(groupBlocks: GroupBlocks, block: Block, key: Buffer, rows: readonly Row[]): void {
    const wasTail = groupBlocks.tail?.key.equals(block.key) ?? false
    block.commitCount = NEVER
    if (rows.length === 0 || !key.equals(block.key)) this.#table.remove(block.key)
    groupBlocks.recent = null
    if (rows.length === 0) {
      // The preceding block, if any, is now the last one.
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

  /** The block that contains this key or would contain it; null if the key is below all of its group. */
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

/** An empty block whose key is a copy of this one. */
function newBlock(key: Buffer, capacity: number): Block {
  const bytes = Buffer.allocUnsafeSlow(capacity + 2 * key.length)
  bytes[0] = MARK
  return new Block(key, { bytes, capacity, end: 1, isClosed: false, keys: bytes, keysAt: capacity })
}

/** A copy of the block with full capacity. */
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

/** Appends a row to a block that has room for it. */
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

/** The rows of a block. */
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

/**
 * Visits the rows of a block that lie in a range. Returns false if no later block has rows of the range, or `visit`
 * returned false.
 */
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

/** Iterates over the rows of a block; creates keys and values only on request. */
class BlockRows {
  readonly #blockKey: Buffer
  readonly #bytes: Buffer
  readonly #end: number
  #next: number
  /** The row's key: length of the prefix shared with the block's key, length of the rest, and position of the rest. */
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

  /** Advances to the next row; false after the last row and at damaged bytes. */
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

  /** A copy of the row's key; of the block's key before the first row. */
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

  /** Compares the row's key with this key. */
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
