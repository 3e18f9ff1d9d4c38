// A batch is a header, followed by the items as MessagePack arrays. Decoders reject any deviation, because bytes of the
// log are untrusted.

import { Packr } from 'msgpackr'
import {
  count,
  type Field,
  type Fields,
  fieldsOf,
  flat,
  readExactly,
  record,
  text,
  where,
} from '../codec.ts'
import { MARKET_SCHEMA } from '../market/market.ts'
import { MsgpackWriter, writeValue } from '../msgpack-writer.ts'
import { clusterBatchBytesMax } from './cluster-log.ts'

/**
 * Version of batches and checkpoints. Readers reject other versions. It includes the version of market records
 * (MARKET_SCHEMA). For any other format change, increment the first number.
 */
const FORMAT = 4 + (MARKET_SCHEMA - 5)

export interface OffsetRange {
  readonly channel: string
  readonly first: number
  readonly last: number
}

export interface BatchHeader {
  /** The epoch in the items' stamps: the engine run that published the items. */
  readonly epoch: string
  /** Lease term of the leader. Terms increase with each leader. */
  readonly term: number
  /** Number of the batch within its shard and epoch, from 1. A missing number means a missing batch. */
  readonly batch: number
  readonly offsets: readonly OffsetRange[]
  readonly count: number
}

/** The first element is a number, the item's kind. */
export type RawItem = readonly unknown[]

export interface Batch extends BatchHeader {
  readonly items: readonly RawItem[]
}

const writer = new MsgpackWriter()
const packr = new Packr({ useRecords: false, variableMapSize: true, int64AsType: 'number' })

export function versioned<Header extends object>(fields: Fields<Header>): Field<Header> {
  const [format, header] = [where(count, (found) => found === FORMAT), record(fields)]
  return {
    put: (to, value) => {
      format.put(to, FORMAT)
      header.put(to, value)
    },
    take: (from) => {
      format.take(from)
      return header.take(from)
    },
  }
}

export const offsetRange = record<OffsetRange>({ channel: text, first: count, last: count })

const header = versioned<BatchHeader>({
  epoch: where(text, (epoch) => epoch !== ''),
  term: count,
  batch: count,
  offsets: where(flat(offsetRange), (ranges) => ranges.every(({ first, last }) => first <= last)),
  count,
})

/** `items`: encoded and concatenated items. */
export function encodeBatch(of: BatchHeader, items: Uint8Array): Uint8Array {
  writer.begin()
  writeValue(writer, fieldsOf(header, of))
  const head = writer.end()
  // Uses Node's buffer pool, because a separate small array costs more memory than its content.
  const bytes = Buffer.allocUnsafe(head.length + items.length)
  bytes.set(head)
  bytes.set(items, head.length)
  return bytes
}

/** Null unless the bytes are exactly one batch. */
export function decodeBatch(bytes: Uint8Array): Batch | null {
  return bytes.length > clusterBatchBytesMax ? null : decodeItems(bytes, header)
}

/** Decodes a header and as many items as the header states. Null if the bytes have any other form. */
export function decodeItems<Header extends { readonly count: number }>(
  bytes: Uint8Array,
  field: Field<Header>,
): (Header & { readonly items: readonly RawItem[] }) | null {
  const [head, ...items] = unpackAll(bytes) ?? []
  try {
    const header = readExactly(field, head)
    return header.count === items.length && items.every(isItem) ? { ...header, items } : null
  } catch {
    return null
  }
}

/** Decodes concatenated values. Null if the bytes are not MessagePack. */
export function unpackAll(bytes: Uint8Array): readonly unknown[] | null {
  if (bytes.length === 0) return null
  try {
    const values: unknown = packr.unpackMultiple(bytes)
    return Array.isArray(values) ? values : null
  } catch {
    return null
  }
}

export function isItem(value: unknown): value is RawItem {
  return Array.isArray(value) && typeof value[0] === 'number'
}
