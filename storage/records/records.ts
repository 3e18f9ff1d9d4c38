// Encodes versioned records: a schema byte, a CRC-32 over key and body if tables.ts requires it, and the fields as one
// MessagePack array, or bytes that a table packs itself. msgpackr's record extension is off, so any decoder can read
// the fields. A damaged record decodes to null.

import { Packr } from 'msgpackr'
import type { JsonRecord } from '../../engine/market/market.ts'
import type { TableLayout } from '../tables.ts'
import { crc32 } from './crc-32.ts'

/** Bytes of schema and checksum. */
export const CHECKED_HEADER_BYTES = 5

const packr = new Packr({ useRecords: false, variableMapSize: true })

/** A field does not match the schema; caught only in `decodeBy`. */
class FieldError extends Error {}

/** Encodes one record under its key. `schema` is 1..255. */
export function encodeRecord(
  layout: TableLayout,
  record: { readonly key: Buffer; readonly schema: number; readonly fields: readonly unknown[] },
): Buffer {
  const { key, schema, fields } = record
  return encodePacked(layout, { key, schema, body: packr.pack(fields) })
}

/** As `encodeRecord`, for a packed body; for tables with very many rows. */
export function encodePacked(
  layout: TableLayout,
  record: { readonly key: Buffer; readonly schema: number; readonly body: Uint8Array },
): Buffer {
  const { key, schema, body } = record
  const headerBytes = layout.isChecked ? CHECKED_HEADER_BYTES : 1
  const bytes = Buffer.allocUnsafe(headerBytes + body.length)
  bytes.set(body, headerBytes)
  if (layout.isChecked) writeCheckedHeader(bytes, bytes.length, { key, schema })
  else bytes[0] = schema
  return bytes
}

/** Writes the header before the body of a checked record, which ends at `end`. */
export function writeCheckedHeader(
  bytes: Buffer,
  end: number,
  { key, schema }: { readonly key: Buffer; readonly schema: number },
): void {
  bytes[0] = schema
  bytes.writeUInt32BE(checksum(key, schema, bytes, end), 1)
}

/** Decodes a record with the decoder of its schema version; null if checksum, version or a field is wrong. */
export function decodeRecord<Decoded>(
  layout: TableLayout,
  row: { readonly key: Buffer; readonly value: Buffer },
  schemas: { readonly [schema: number]: (fields: FieldReader) => Decoded },
): Decoded | null {
  return decodeBy(layout, row, schemas, (body) => new FieldReader(packr.unpack(body)))
}

/** Decoders of records with packed bodies, by schema version. */
export type PackedSchemas<Decoded> = {
  readonly [schema: number]: (body: Buffer, key: Buffer) => Decoded
}

/** As `decodeRecord`, for a packed body. */
export function decodePacked<Decoded>(
  layout: TableLayout,
  row: { readonly key: Buffer; readonly value: Buffer },
  schemas: PackedSchemas<Decoded>,
): Decoded | null {
  return decodeBy(layout, row, schemas, asItIs)
}

const asItIs = (body: Buffer) => body

function decodeBy<Form, Decoded>(
  layout: TableLayout,
  row: { readonly key: Buffer; readonly value: Buffer },
  schemas: { readonly [schema: number]: (form: Form, key: Buffer) => Decoded },
  open: (body: Buffer) => Form,
): Decoded | null {
  const schema = row.value[0]
  const decode = schema === undefined ? undefined : schemas[schema]
  if (schema === undefined || decode === undefined) return null
  const { key, value } = row
  try {
    if (layout.isChecked && value.readUInt32BE(1) !== checksum(key, schema, value, value.length)) {
      return null
    }
    const body = value.subarray(layout.isChecked ? CHECKED_HEADER_BYTES : 1)
    return decode(open(body), key)
  } catch {
    return null
  }
}

/** The key is included, so that a record under a damaged key is not returned for another key. */
function checksum(key: Buffer, schema: number, bytes: Buffer, end: number): number {
  const before = crc32(key, { from: 0, to: key.length, before: 0 })
  return crc32(bytes, { from: CHECKED_HEADER_BYTES, to: end, before: before ^ schema })
}

/** Reads and checks the fields of a record in order. Throws at the first invalid one. */
export class FieldReader {
  readonly #fields: readonly unknown[]
  #next = 0

  constructor(fields: unknown) {
    if (!Array.isArray(fields)) throw new FieldError('a record is an array')
    this.#fields = fields
  }

  text(): string {
    const value = this.#take()
    if (typeof value !== 'string') throw new FieldError('expected a text')
    return value
  }

  textOrNull(): string | null {
    return this.#peekNull() ? null : this.text()
  }

  number(): number {
    const value = this.#take()
    if (typeof value !== 'number') throw new FieldError('expected a number')
    return value
  }

  numberOrNull(): number | null {
    return this.#peekNull() ? null : this.number()
  }

  /** A number through its unit's constructor, or null. */
  orNull<Unit>(unit: (value: number) => Unit): Unit | null {
    return this.#peekNull() ? null : unit(this.number())
  }

  boolean(): boolean {
    const value = this.#take()
    if (typeof value !== 'boolean') throw new FieldError('expected a boolean')
    return value
  }

  booleanOrNull(): boolean | null {
    return this.#peekNull() ? null : this.boolean()
  }

  /** One of a fixed set of texts. */
  choice<Choice extends string>(choices: readonly Choice[]): Choice {
    const value = this.#take()
    for (const choice of choices) if (choice === value) return choice
    throw new FieldError('expected one of a set')
  }

  /** One of a fixed set of texts, or null. */
  choiceOrNull<Choice extends string>(choices: readonly Choice[]): Choice | null {
    return this.#peekNull() ? null : this.choice(choices)
  }

  /** Some of a fixed set of texts. */
  choices<Choice extends string>(choices: readonly Choice[]): readonly Choice[] {
    return this.texts().map((text) => {
      for (const choice of choices) if (choice === text) return choice
      throw new FieldError('expected some of a set')
    })
  }

  textsOrNull(): readonly string[] | null {
    return this.#peekNull() ? null : this.texts()
  }

  texts(): readonly string[] {
    const value = this.#take()
    if (!Array.isArray(value)) throw new FieldError('expected a list of texts')
    return value.map((one) => {
      if (typeof one !== 'string') throw new FieldError('expected a list of texts')
      return one
    })
  }

  numbers(): readonly number[] {
    const value = this.#take()
    if (!Array.isArray(value)) throw new FieldError('expected a list of numbers')
    return value.map((one) => {
      if (typeof one !== 'number') throw new FieldError('expected a list of numbers')
      return one
    })
  }

  numbersOrNull(): readonly number[] | null {
    return this.#peekNull() ? null : this.numbers()
  }

  lists(): readonly (readonly unknown[])[] {
    const value = this.#take()
    if (!Array.isArray(value)) throw new FieldError('expected a list of lists')
    return value.map((one: unknown) => {
      if (!Array.isArray(one)) throw new FieldError('expected a list of lists')
      return one
    })
  }

  bytes(): Uint8Array {
    const value = this.#take()
    if (!(value instanceof Uint8Array)) throw new FieldError('expected bytes')
    return value
  }

  json(): JsonRecord {
    const value = this.#take()
    if (!isJsonRecord(value)) throw new FieldError('expected an object')
    return value
  }

  /** Whether every field has been read; for records that may end earlier. */
  isAtEnd(): boolean {
    return this.#next >= this.#fields.length
  }

  #take(): unknown {
    if (this.#next >= this.#fields.length) throw new FieldError('a field is missing')
    const value = this.#fields[this.#next]
    this.#next += 1
    return value
  }

  #peekNull(): boolean {
    if (this.#next >= this.#fields.length || this.#fields[this.#next] !== null) return false
    this.#next += 1
    return true
  }
}

function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
