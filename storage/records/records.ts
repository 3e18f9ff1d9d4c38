// Encodes versioned records: a schema byte, a CRC-32 over key and body if tables.ts requires it, and the body. The body
// is a MessagePack list of fields, or packed bytes. msgpackr's record extension is off, so that other decoders can read
// the fields. A damaged record decodes to null.

import { crc32 } from 'node:zlib'
import { Packr } from 'msgpackr'
import { type Field, FieldReader, fieldsOf, NEWEST, type ReadContext } from '../../engine/codec.ts'
import type { TableLayout } from '../tables.ts'

const packr = new Packr({ useRecords: false, variableMapSize: true })

export interface RecordCodec<Value> {
  /** The newest schema, 1..255. Schemas from `oldest` (default 1) to `newest` can be read. */
  readonly newest: number
  readonly oldest?: number
  /** The schema under which a value is stored. Default: the newest. */
  readonly schemaOf?: (value: Value) => number
  readonly encode: (value: Value, key: Buffer) => Uint8Array
  /** Throws if the record is invalid. */
  readonly decode: (body: Buffer, key: Buffer, schema: number) => Value
}

interface ListedOptions<Value> {
  readonly schemaOf?: (value: Value) => number
  readonly marketOf?: ReadContext['marketOf']
}

/** A record whose body is a list of fields. `marketOf` finds the markets to which the record refers. */
export function listed<Value>(
  newest: number,
  field: Field<Value>,
  { schemaOf = () => newest, marketOf = NEWEST.marketOf }: ListedOptions<Value> = {},
): RecordCodec<Value> {
  return {
    newest,
    schemaOf,
    encode: (value) => packr.pack(fieldsOf(field, value)),
    decode: (body, key, schema) =>
      field.take(new FieldReader(packr.unpack(body), { schema, key, marketOf })),
  }
}

export function encodeRecord<Value>(
  { isChecked }: Pick<TableLayout, 'isChecked'>,
  key: Buffer,
  codec: RecordCodec<Value>,
  value: Value,
): Buffer {
  const body = codec.encode(value, key)
  const headerBytes = isChecked ? 5 : 1
  const bytes = Buffer.allocUnsafe(headerBytes + body.length)
  const schema = codec.schemaOf?.(value) ?? codec.newest
  bytes[0] = schema
  bytes.set(body, headerBytes)
  if (isChecked) bytes.writeUInt32BE(checksum(key, schema, body), 1)
  return bytes
}

/** Null if the checksum, the schema or a field is wrong. */
export function decodeRecord<Value>(
  { isChecked }: Pick<TableLayout, 'isChecked'>,
  { key, value }: { readonly key: Buffer; readonly value: Buffer },
  codec: RecordCodec<Value>,
): Value | null {
  const schema = value[0] ?? 0
  if (schema < (codec.oldest ?? 1) || schema > codec.newest) return null
  try {
    const body = value.subarray(isChecked ? 5 : 1)
    if (isChecked && value.readUInt32BE(1) !== checksum(key, schema, body)) return null
    return codec.decode(body, key, schema)
  } catch {
    return null
  }
}

/** The checksum includes the key. A record under a damaged key is therefore not returned for another key. */
function checksum(key: Buffer, schema: number, body: Uint8Array): number {
  return crc32(body, (crc32(key) ^ schema) >>> 0)
}
