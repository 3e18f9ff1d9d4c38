// Packs neighbouring rows of a table into LMDB rows (blocks) of up to an eighth of a page, to save disk space. The key
// of a block is at or below the keys of its rows. All keys of a table have the same length.
//
//   block: 255 | row | row | …, in the order of keys
//   row:   shared << 4 | zeros (u8) | byte count of the value (varint) | key bytes | value
//
// The key bytes of a row omit the `shared` first bytes, which the block's key also has, and `zeros` trailing zero bytes.
//
// Most rows arrive in order of time and are appended in place to the last block of their group. An append writes only
// after the existing bytes, so bytes passed to a commit never change. Any other insert rewrites the block, or splits a
// full block in two. The last blocks of up to 4,096 groups are cached.

import { assert } from '../../engine/errors.ts'
import { VarintReader, writeVarint } from '../../engine/varints.ts'
import { compareKeys } from '../records/keys.ts'
import type { KeyRange } from './pending.ts'
import type { Row, Table } from './table.ts'

/**
 * Block size limit. Eight blocks fill an LMDB page of 4,096 bytes: the page header takes 24 bytes, node and key of each
 * block take 26.
 */
const BLOCK_BYTES = 483
const MARK = 255
const NIBBLE_MAX = 15
/** Maximum bytes of a row besides key and value. A value is below 2 MiB, so its length takes at most three bytes. */
const ROW_HEAD_BYTES = 4
const GROUPS_MAX = 4_096
const NEVER = -1
/** The value of rows after damaged bytes. Every record check rejects this value. */
const DAMAGED: Buffer = Buffer.of(0)

class Block {
  readonly key: Buffer
  bytes: Buffer
  end: number
  lastKey: Buffer
  /** True if the end of the block is damaged. A damaged block accepts no appended rows. */
  readonly isDamaged: boolean
  commitCount = NEVER

  constructor({ key, value }: Row) {
    const last = rowsOf({ key, value }).at(-1)
    this.key = key
    this.bytes = value
    this.end = value.length
    this.lastKey = last?.key ?? key
    this.isDamaged = last?.value === DAMAGED
  }

  get value(): Buffer {
    return this.bytes.subarray(0, this.end)
  }

  append({ key, value }: Row): void {
    const mostBytes = this.end + ROW_HEAD_BYTES + key.length + value.length
    if (mostBytes > this.bytes.length) {
      // Node's buffer pool is avoided: each cached block would retain 8 KiB of the pool.
      const grown = Buffer.allocUnsafeSlow(Math.max(mostBytes, BLOCK_BYTES))
      grown.set(this.value)
      this.bytes = grown
    }
    const { bytes } = this
    let shared = 0
    while (shared < Math.min(NIBBLE_MAX, key.length) && key[shared] === this.key[shared])
      shared += 1
    let end = key.length
    while (end > shared && key.length - end < NIBBLE_MAX && key[end - 1] === 0) end -= 1
    bytes[this.end] = shared * (NIBBLE_MAX + 1) + key.length - end
    const position = writeVarint(bytes, this.end + 1, value.length)
    bytes.set(key.subarray(shared, end), position)
    bytes.set(value, position + end - shared)
    this.end = position + end - shared + value.length
    this.lastKey = key
  }
}

export class PackedTable {
  readonly blocks: Table
  /** The last block of each cached group. Null: the group has no block. */
  readonly #tails = new Map<number, Block | null>()

  constructor(blocks: Table) {
    this.blocks = blocks
  }

  get(key: Buffer): Buffer | null {
    const block = this.#floor(key)
    if (block === null || compareKeys(block.lastKey, key) < 0) return null
    const isFound = (row: Row) => row.key.equals(key) || row.value === DAMAGED
    return rowsOf(block).find(isFound)?.value ?? null
  }

  put(key: Buffer, value: Buffer): void {
    const tail = this.#tail(key)
    const row = { key, value }
    if (tail !== null && compareKeys(tail.lastKey, key) >= 0) return this.#insert(row)
    if (!this.blocks.isAccepting()) return this.#tails.clear()
    const isFull = tail === null || tail.isDamaged || tail.end + rowBytesMax(row) > BLOCK_BYTES
    const block = isFull ? packed(key, []) : tail
    block.append(row)
    this.#tails.set(this.#groupOf(key), block)
    // Adds the block to the next commit unless the commit already contains the block. The commit writes the bytes at
    // commit time.
    if (block.commitCount === this.blocks.commitCount) return
    block.commitCount = this.blocks.commitCount
    if (!this.blocks.open(block)) this.#tails.clear()
  }

  remove(key: Buffer): void {
    const block = this.#floor(key)
    if (block === null) return
    const rows = rowsOf(block).filter((row) => !row.key.equals(key))
    this.#replace(block, block.key, rows)
  }

  /** Visits rows in key order, or in reverse, until `visit` returns false. `visit` must not put. */
  scan(range: KeyRange, visit: (row: Row) => boolean): void {
    const { from, to, isReverse = false } = range
    // The first row of the range may be in a block whose key is below the range's start.
    const start = this.#floor(from)?.key ?? from
    this.blocks.scan({ from: start, to, isReverse }, (block) => {
      const rows = rowsOf(block)
      if (isReverse) rows.reverse()
      for (const row of rows) {
        if (compareKeys(row.key, from) < 0 && row.value !== DAMAGED) continue
        if (compareKeys(row.key, to) >= 0 && row.value !== DAMAGED) continue
        if (!visit(row)) return false
      }
      return true
    })
  }

  first(range: KeyRange): Row | null {
    let found: Row | null = null
    this.scan(range, (row) => {
      found = row
      return false
    })
    return found
  }

  /** Inserts a row before the last row of its group. Replaces a row with the same key. */
  #insert(row: Row): void {
    const floor = this.#floor(row.key)
    const block = floor ?? this.#firstOfGroup(row.key)
    assert(block !== null, 'a group with a last block has a first one')
    const rows = rowsOf(block)
    let index = rows.findIndex((one) => compareKeys(one.key, row.key) >= 0)
    const isReplacement = rows[index]?.key.equals(row.key) ?? false
    if (index < 0) index = rows.length
    const isFull = block.end + rowBytesMax(row) > BLOCK_BYTES
    if (!isReplacement && isFull && (floor === null || index === rows.length)) {
      // A row before all others of its group, or after a full block, forms a new block.
      return this.#put(packed(row.key, [row]))
    }
    rows.splice(index, isReplacement ? 1 : 0, row)
    this.#replace(block, floor === null ? row.key : block.key, rows)
  }

  /** Rewrites a block's rows under `key`, which must not be above the first row's key. */
  #replace(block: Block, key: Buffer, rows: readonly Row[]): void {
    const group = this.#groupOf(key)
    const isTail = this.#tail(key)?.key.equals(block.key) ?? false
    block.commitCount = NEVER
    if (rows.length === 0 || !key.equals(block.key)) this.blocks.remove(block.key)
    if (rows.length === 0) {
      // The preceding block is now the last block of the group. It is read on demand.
      this.#tails.delete(group)
      return
    }
    let newest = packed(key, rows)
    const middle = rows.length >> 1
    const second = rows[middle]
    if (newest.end > BLOCK_BYTES && middle > 0 && second !== undefined) {
      this.#put(packed(key, rows.slice(0, middle)))
      newest = packed(second.key, rows.slice(middle))
    }
    if (isTail) this.#tails.set(group, newest)
    this.#put(newest)
  }

  #put({ key, value }: Block): void {
    if (!this.blocks.put(key, value)) this.#tails.clear()
  }

  #floor(key: Buffer): Block | null {
    const tail = this.#tail(key)
    if (tail === null || compareKeys(tail.key, key) <= 0) return tail
    return this.#lastUpTo(key, this.#groupEdge(key, 0))
  }

  #lastUpTo(key: Buffer, from: Buffer): Block | null {
    const to = Buffer.concat([key, Buffer.of(0)])
    const row = this.blocks.first({ from, to, isReverse: true })
    return row === null ? null : new Block(row)
  }

  #firstOfGroup(key: Buffer): Block | null {
    const range = { from: this.#groupEdge(key, 0), to: this.#groupEdge(key, 0xff) }
    const row = this.blocks.first(range)
    return row === null ? null : new Block(row)
  }

  #tail(key: Buffer): Block | null {
    const group = this.#groupOf(key)
    const cached = this.#tails.get(group)
    if (cached !== undefined) return cached
    const tail = this.#lastUpTo(this.#groupEdge(key, 0xff), this.#groupEdge(key, 0))
    if (this.#tails.size >= GROUPS_MAX) this.#tails.clear()
    this.#tails.set(group, tail)
    return tail
  }

  #groupOf(key: Buffer): number {
    return this.blocks.layout.groupBytes === 1 ? key.readUInt8(0) : key.readUInt32BE(0)
  }

  /** The lowest or highest possible key of a group: the group's bytes, padded with `byte`. */
  #groupEdge(key: Buffer, byte: number): Buffer {
    const edge = Buffer.alloc(key.length, byte)
    edge.set(key.subarray(0, this.blocks.layout.groupBytes))
    return edge
  }
}

const rowBytesMax = ({ key, value }: Row): number => ROW_HEAD_BYTES + key.length + value.length

function packed(key: Buffer, rows: readonly Row[]): Block {
  const block = new Block({ key, value: Buffer.of(MARK) })
  for (const row of rows) block.append(row)
  return block
}

export function rowsOf({ key: blockKey, value }: Row): Row[] {
  const rows: Row[] = []
  const reader = new VarintReader(value, 1)
  try {
    if (value[0] !== MARK) throw new RangeError('not a block')
    while (!reader.isAtEnd) {
      const head = value.readUInt8(reader.skip(1))
      const shared = head >> 4
      const valueBytes = reader.next()
      const restBytes = blockKey.length - shared - (head & NIBBLE_MAX)
      if (restBytes < 0) throw new RangeError('a key is too long')
      const restAt = reader.skip(restBytes)
      const key = Buffer.alloc(blockKey.length)
      key.set(blockKey.subarray(0, shared))
      key.set(value.subarray(restAt, restAt + restBytes), shared)
      const valueAt = reader.skip(valueBytes)
      rows.push({ key, value: value.subarray(valueAt, valueAt + valueBytes) })
    }
  } catch {
    rows.push({ key: rows.at(-1)?.key ?? blockKey, value: DAMAGED })
  }
  return rows
}
