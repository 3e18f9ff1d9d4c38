// Format of a batch: a header, then its items, each one MessagePack array. Bytes from the log are
// untrusted: any deviation from this format is rejected.

import { Packr } from 'msgpackr'
import { MsgpackWriter } from '../msgpack-writer.ts'
import { clusterBatchBytesMax } from './cluster-log.ts'

/** Version of batches and checkpoints. Readers reject any other, so upgrade gateways before the engine. */
const FORMAT = 1

/** The range of a channel's offsets among the items. */
export interface OffsetRange {
  readonly channel: string
  readonly first: number
  readonly last: number
}

export interface BatchHeader {
  /** The run that stamped the items. */
  readonly epoch: string
  /** The leader's term, which increases with each leader. */
  readonly term: number
  /** Numbers the batches of a shard within an epoch, from 1. A gap is a loss. */
  readonly batch: number
  readonly offsets: readonly OffsetRange[]
  readonly count: number
}

/** An item is an array whose first element is a number: its kind. */
export type RawItem = readonly unknown[]

export interface Batch extends BatchHeader {
  readonly items: readonly RawItem[]
}

const packr = new Packr({ useRecords: false, variableMapSize: true, int64AsType: 'number' })
const writer = new MsgpackWriter()
const HEADER_FIELDS = 6

/** The bytes of a batch. `items` are encoded already, concatenated. */
export function encodeBatch(header: BatchHeader, items: Uint8Array): Uint8Array {
  writer.begin()
  writer.array(HEADER_FIELDS)
  writer.integer(FORMAT)
  writer.text(header.epoch)
  writer.integer(header.term)
  writer.integer(header.batch)
  writer.array(header.offsets.length * 3)
  for (const { channel, first, last } of header.offsets) {
    writer.text(channel)
    writer.integer(first)
    writer.integer(last)
  }
  writer.integer(header.count)
  const head = writer.end()
  // Allocated from the pool: a small array of its own costs more memory than its content.
  const bytes = Buffer.allocUnsafe(head.length + items.length)
  bytes.set(head)
  bytes.set(items, head.length)
  return bytes
}

/** The batch in these bytes. Null unless they are exactly one. */
export function decodeBatch(bytes: Uint8Array): Batch | null {
  return bytes.length > clusterBatchBytesMax ? null : decodeItems(bytes, readHeader)
}

/** A header and as many items as it states. Null for anything else. */
export function decodeItems<Header extends { readonly count: number }>(
  bytes: Uint8Array,
  headerOf: (value: unknown) => Header | null,
): (Header & { readonly items: readonly RawItem[] }) | null {
  const values = unpackAll(bytes)
  if (values === null) return null
  const header = headerOf(values[0])
  if (header === null || values.length !== header.count + 1) return null
  const items = values.slice(1)
  return items.every(isItem) ? { ...header, items } : null
}

/** All concatenated values in these bytes. Null when they are not MessagePack. */
export function unpackAll(bytes: Uint8Array): readonly unknown[] | null {
  if (bytes.length === 0) return null
  try {
    const values: unknown = packr.unpackMultiple(bytes)
    return Array.isArray(values) ? values : null
  } catch {
    return null
  }
}

/** Whether a decoded value has the form of an item. */
export function isItem(value: unknown): value is RawItem {
  return Array.isArray(value) && typeof value[0] === 'number'
}

function readHeader(value: unknown): BatchHeader | null {
  if (!Array.isArray(value) || value.length !== HEADER_FIELDS) return null
  const [format, epoch, term, batch, ranges, count]: readonly unknown[] = value
  if (format !== FORMAT || typeof epoch !== 'string' || epoch === '') return null
  if (!isCount(term) || !isCount(batch) || !isCount(count)) return null
  const offsets = readOffsets(ranges)
  return offsets === null ? null : { epoch, term, batch, offsets, count }
}

function readOffsets(value: unknown): readonly OffsetRange[] | null {
  if (!Array.isArray(value) || value.length % 3 !== 0) return null
  const offsets: OffsetRange[] = []
  for (let index = 0; index < value.length; index += 3) {
    const [channel, first, last]: readonly unknown[] = value.slice(index, index + 3)
    if (typeof channel !== 'string' || !isCount(first) || !isCount(last) || first > last)
      return null
    offsets.push({ channel, first, last })
  }
  return offsets
}

/** An integer from 0. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
