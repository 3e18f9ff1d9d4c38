// A record is described by the list of its fields in stored order. The description encodes a value as a list of
// MessagePack values, and decodes and validates the list.

import { Packr } from 'msgpackr'
import type { JsonRecord, MarketNumber, MarketRef } from './market/market.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from './units.ts'

export interface Field<Value> {
  put(to: unknown[], value: Value): void
  /** Throws an Error if the next values do not belong to this field. */
  take(from: FieldReader): Value
}

export interface Single<Value> extends Field<Value> {
  encode(value: Value): unknown
  decode(value: unknown, context: ReadContext): Value
}

export interface ReadContext {
  /** Number of the schema that the record was written with. */
  readonly schema: number
  readonly key: Buffer
  /** Null: the market is unknown. */
  readonly marketOf: (number: MarketNumber) => MarketRef | null
}

export const NEWEST: ReadContext = {
  schema: Number.POSITIVE_INFINITY,
  key: Buffer.alloc(0),
  marketOf: () => null,
}

export class FieldReader {
  readonly context: ReadContext
  readonly #fields: readonly unknown[]
  #next: number

  /** Reads the values from index `from` on. */
  constructor(fields: unknown, context: ReadContext, from = 0) {
    if (!Array.isArray(fields)) throw new TypeError('expected a list')
    this.#fields = fields
    this.context = context
    this.#next = from
  }

  get isAtEnd(): boolean {
    return this.#next >= this.#fields.length
  }

  /** The next `count` values, or fewer at the end, without reading them. */
  peek(count: number): readonly unknown[] {
    return this.#fields.slice(this.#next, this.#next + count)
  }

  skip(count: number): void {
    this.#next += count
  }

  next(): unknown {
    if (this.isAtEnd) throw new TypeError('a field is missing')
    const value = this.#fields[this.#next]
    this.#next += 1
    return value
  }
}

/** Decodes a list that, from index `from` on, has exactly the field's values. Throws an Error for any other list. */
export function readExactly<Value>(
  field: Field<Value>,
  fields: unknown,
  context: ReadContext = NEWEST,
  from = 0,
): Value {
  const reader = new FieldReader(fields, context, from)
  const value = field.take(reader)
  if (!reader.isAtEnd) throw new TypeError('fields are left over')
  return value
}

export function fieldsOf<Value>(field: Field<Value>, value: Value): unknown[] {
  const fields: unknown[] = []
  field.put(fields, value)
  return fields
}

/** A field of one value. Without `encode` the value is stored unchanged. */
export function single<Value>(
  decode: (value: unknown, context: ReadContext) => Value,
  encode: (value: Value) => unknown = (value) => value,
): Single<Value> {
  return {
    encode,
    decode,
    put: (to, value) => {
      to.push(encode(value))
    },
    take: (from) => decode(from.next(), from.context),
  }
}

function wrong(expected: string): never {
  throw new TypeError(`expected ${expected}`)
}

export const text = single((value) => (typeof value === 'string' ? value : wrong('a text')))
export const number = single((value) => (typeof value === 'number' ? value : wrong('a number')))
export const boolean = single((value) => (typeof value === 'boolean' ? value : wrong('a boolean')))
export const bytes = single((value) => (value instanceof Uint8Array ? value : wrong('bytes')))
export const json = single((value) => (isJsonRecord(value) ? value : wrong('an object')))

function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function as<Base, Value extends Base>(
  base: Single<Base>,
  brand: (value: Base) => Value,
): Single<Value> {
  return single((value, context) => brand(base.decode(value, context)), base.encode)
}

/** Maximum number of texts that later records share. */
const SHARED_MAX = 4_096
const shared = new Map<string, string>()

/** A text that many records contain. Records that are decoded in sequence share one copy of equal texts. */
export const sharedText = single((value) => {
  const read = text.decode(value, NEWEST)
  const existing = shared.get(read)
  if (existing !== undefined) return existing
  if (shared.size >= SHARED_MAX) shared.clear()
  shared.set(read, read)
  return read
})

/** A non-negative integer. */
export const count = single((value) => (isCount(value) ? value : wrong('a count')))

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

export const time = as(number, timeMs)
export const countMs = as(count, timeMs)
export const price = as(number, priceMicros)
export const size = as(number, sizeMicros)
export const usd = as(number, usdMicros)

export class UnknownMarket extends Error {}

/** Reading throws {@link UnknownMarket} if the context does not have the market. */
export const marketRef: Single<MarketRef> = single(
  (value, context) => {
    const market = context.marketOf(number.decode(value, context))
    if (market === null) throw new UnknownMarket('a market is unknown')
    return market
  },
  ({ number: market }) => market,
)

export function choice<Choice extends string>(choices: readonly Choice[]): Single<Choice> {
  return single((value) => choices.find((one) => one === value) ?? wrong('one of a set'))
}

export function orNull<Value>({ encode, decode }: Single<Value>): Single<Value | null> {
  return single(
    (value, context) => (value === null ? null : decode(value, context)),
    (value) => (value === null ? null : encode(value)),
  )
}

/** A list with one item per value. */
export function list<Value>({ encode, decode }: Single<Value>): Single<readonly Value[]> {
  return single(
    (values, context) =>
      Array.isArray(values) ? values.map((value) => decode(value, context)) : wrong('a list'),
    (values) => values.map(encode),
  )
}

export const texts = list(text)

/** A list of the fields of several values in sequence. */
export function flat<Value>(item: Field<Value>): Single<readonly Value[]> {
  const items = rest(item)
  return single(
    (fields, context) => items.take(new FieldReader(fields, context)),
    (values) => fieldsOf(items, values),
  )
}

/** A list of the fields of one value. */
export function nested<Value>(item: Field<Value>): Single<Value> {
  return single(
    (fields, context) => readExactly(item, fields, context),
    (value) => fieldsOf(item, value),
  )
}

export function rest<Value>(item: Field<Value>): Field<readonly Value[]> {
  return {
    put: (to, values) => {
      for (const value of values) item.put(to, value)
    },
    take: (from) => {
      const values: Value[] = []
      while (!from.isAtEnd) values.push(item.take(from))
      return values
    },
  }
}

/** A last field that the record omits if it is null. */
export function lastOrNull<Value>(item: Field<Value>): Field<Value | null> {
  return {
    put: (to, value) => {
      if (value !== null) item.put(to, value)
    },
    take: (from) => (from.isAtEnd ? null : item.take(from)),
  }
}

/** A field that was added in `schema`. Records of older schemas decode to `missing`. */
export function since<Value>(schema: number, field: Field<Value>, missing: Value): Field<Value> {
  return {
    put: field.put,
    take: (from) => (from.context.schema < schema ? missing : field.take(from)),
  }
}

/** A value from the read context, which the record does not contain. */
export function stated<Value>(take: (context: ReadContext) => Value): Field<Value> {
  return { put: () => undefined, take: ({ context }) => take(context) }
}

export function constant<const Value>(value: Value): Field<Value> {
  return stated(() => value)
}

/** A field whose value is stored in another form. */
export function mapped<Stored, Value>(
  field: Field<Stored>,
  toStored: (value: Value) => Stored,
  fromStored: (stored: Stored) => Value,
): Field<Value> {
  return {
    put: (to, value) => field.put(to, toStored(value)),
    take: (from) => fromStored(field.take(from)),
  }
}

export type Fields<Value> = { readonly [Name in keyof Value]-?: Field<Value[Name]> }

/** An object, stored as the fields of its properties in the order of `fields`. No field may decode to `undefined`. */
export function record<Value extends object>(fields: Fields<Value>): Field<Value> {
  const names = Object.keys(fields)
  const forEach = (toSource: (name: string, index: number) => string) =>
    names.map(toSource).join('')
  // An object literal in generated code gives all values the same hidden class. The names are constants of this
  // program.
  const source = `
    ${forEach((name, index) => `const field${index} = fields[${JSON.stringify(name)}];\n`)}
    return {
      put(to, value) { ${forEach((name, index) => `field${index}.put(to, value[${JSON.stringify(name)}]);`)} },
      take(from) { return { ${forEach((name, index) => `${JSON.stringify(name)}: field${index}.take(from),`)} } },
    }`
  return new Function('fields', source)(fields)
}

export function where<Value>(of: Single<Value>, holds: (value: Value) => boolean): Single<Value> {
  return single((value, context) => {
    const found = of.decode(value, context)
    return holds(found) ? found : wrong('another value')
  }, of.encode)
}

const packr = new Packr({ useRecords: false, variableMapSize: true })

/** A message between processes: the list of a value's fields. */
export interface Message<Value> {
  encode(value: Value): Uint8Array
  /** Null unless the bytes are exactly one message of this type. */
  decode(bytes: Uint8Array): Value | null
}

export function message<Value>(field: Field<Value>): Message<Value> {
  return {
    encode: (value) => packr.pack(fieldsOf(field, value)),
    decode: (bytes) => {
      try {
        return readExactly(field, packr.unpack(bytes))
      } catch {
        return null
      }
    },
  }
}
