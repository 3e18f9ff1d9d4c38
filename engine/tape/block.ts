// Blocks of the tape: rows of one venue and run, compressed, with a head that readers use to skip the block.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { type OffsetRange, offsetRange } from '../cluster/batch.ts'
import { bytes, count, flat, mapped, message, nested, record, single } from '../codec.ts'
import { VarintReader, varintBytesMax, writeVarint } from '../varints.ts'
import { decodeRows, encodeRows, type TapeRows } from './columns.ts'
import { encodeFrame, type Frame } from './frame.ts'

export type ItemCounts = ReadonlyMap<number, number>

export interface BlockHead {
  readonly rows: number
  /** Publish times of the first and last row, in microseconds. */
  readonly firstUs: number
  readonly lastUs: number
  /** First and last offset of the rows in each channel. Offsets in between may belong to other venues. */
  readonly offsets: readonly OffsetRange[]
  readonly counts: ItemCounts
  /** Numbers of the markets of the rows, ascending. */
  readonly markets: readonly number[]
}

const LEVEL = { level: 6 }
/** Maximum inflated size. A larger block is treated as damaged. */
const INFLATED = { maxOutputLength: 256 * 1_024 * 1_024, chunkSize: 131_072 }

type Entry = readonly [code: number, count: number]
const counts = mapped<readonly Entry[], ItemCounts>(
  flat({
    put: (to, entry) => to.push(...entry),
    take: (from) => [count.take(from), count.take(from)],
  }),
  (of) => [...of],
  (entries) => new Map(entries),
)
const markets = single<readonly number[]>(
  (value, context) => unpackNumbers(bytes.decode(value, context)),
  packNumbers,
)

export const blockHead = record<BlockHead>({
  rows: count,
  firstUs: count,
  lastUs: count,
  offsets: flat(offsetRange),
  counts,
  markets,
})
const headMessage = message(blockHead)

function packNumbers(numbers: readonly number[]): Uint8Array {
  const packed = Buffer.allocUnsafe(numbers.length * varintBytesMax)
  let [at, last] = [0, 0]
  for (const number of numbers) {
    at = writeVarint(packed, at, number - last)
    last = number
  }
  return packed.subarray(0, at)
}

function unpackNumbers(packed: Uint8Array): readonly number[] {
  const reader = new VarintReader(packed)
  const numbers: number[] = []
  for (let last = 0; !reader.isAtEnd; numbers.push(last)) last += reader.next()
  return numbers
}

/** Encodes rows, which must not be empty, as a frame. */
export function encodeBlock(
  rows: TapeRows,
  { offsets, counts, markets }: Pick<BlockHead, 'offsets' | 'counts' | 'markets'>,
): { readonly bytes: Buffer; readonly head: BlockHead } {
  const [firstUs, lastUs] = [rows.us[0] ?? 0, rows.us.at(-1) ?? 0]
  const head = { rows: rows.items.length, firstUs, lastUs, offsets, counts, markets }
  const body = deflateRawSync(encodeRows(rows), LEVEL)
  return { bytes: encodeFrame('block', headMessage.encode(head), body), head }
}

/** Null if the head is damaged. */
export const decodeBlockHead = (head: Uint8Array): BlockHead | null => headMessage.decode(head)

/** Null if the block is damaged. */
export function decodeBlock({ body }: Pick<Frame, 'body'>): TapeRows | null {
  try {
    return decodeRows(inflateRawSync(body, INFLATED))
  } catch {
    return null
  }
}

export interface BlockEntry {
  readonly position: number
  readonly length: number
  readonly head: BlockHead
}

const index = message(
  flat(record<BlockEntry>({ position: count, length: count, head: nested(blockHead) })),
)

/** Encodes the index of a closed file as a frame. */
export function encodeIndex(entries: readonly BlockEntry[]): Buffer {
  return encodeFrame('index', new Uint8Array(), deflateRawSync(index.encode(entries), LEVEL))
}

/** Null if the index is damaged. */
export function decodeIndex({ body }: Pick<Frame, 'body'>): readonly BlockEntry[] | null {
  try {
    return index.decode(inflateRawSync(body, INFLATED))
  } catch {
    return null
  }
}
