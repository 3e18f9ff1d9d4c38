// Generates `http/client/python/twinbook/records.py` from the OpenAPI and AsyncAPI documents.

import { isObject, type Json, type JsonObject } from '../../../http/documents/schemas-of.ts'

interface Root {
  /** Name of the Python class. */
  readonly name: string
  /** Name of the component, and fields in it that contain the schema. */
  readonly path: readonly [component: string, ...fields: string[]]
}

const named = (name: string): Root => ({ name, path: [name] })

/** Records of the REST API. */
const RECORDS: readonly Root[] = [
  ...['Market', 'Event', 'Trade', 'Price', 'Orderbook', 'BookSnapshot', 'Candle'].map(named),
  ...['Opportunity', 'WalletTrade', 'WalletPosition', 'WalletActivity', 'Health'].map(named),
  { name: 'PastOpportunity', path: ['GetArbitrageHistoryAnswer', 'opportunities'] },
  { name: 'Match', path: ['GetMatchingMarketsAnswer', 'matches'] },
  { name: 'RankedWallet', path: ['GetWalletsAnswer', 'wallets'] },
  { name: 'Wallet', path: ['GetWalletAnswer'] },
  { name: 'WalletPnl', path: ['GetWalletPnlAnswer'] },
  { name: 'Whale', path: ['GetWhalesAnswer', 'trades'] },
]

/** Messages that `GET /v1/replay` sends. */
const MESSAGES: readonly string[] = [
  ...['Snapshot', 'Update', 'Price', 'Trade', 'Whale', 'Lifecycle', 'Stale', 'Fresh', 'Resync'],
  ...['Gap', 'Status', 'Disconnect'],
].map((name) => `${name}Message`)

const HEADER = `"""Records of the REST API and messages of the stream.

Generated from the API documents. To write this file again:
GOLDEN=write node --import tsx --test test/http/client/python-records.test.ts
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, Literal, TypeVar, Union

N = TypeVar("N", float, Decimal)
"""Type of prices, sizes and amounts: the \`price_type\` of the client."""
`

interface Field {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
}

interface PythonClass {
  readonly fields: readonly Field[]
  readonly isGeneric: boolean
}

const pascal = (name: string): string =>
  name.replace(/(^|_)([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase())

function componentsOf(document: JsonObject): JsonObject {
  const { components } = document
  const schemas = isObject(components) ? components.schemas : undefined
  if (!isObject(schemas)) throw new Error('the document has no schemas')
  return schemas
}

function objectOf(value: Json | undefined, what: string): JsonObject {
  if (!isObject(value)) throw new Error(`${what} is not an object`)
  return value
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

class Generator {
  readonly #schemas: JsonObject
  readonly #classes: Map<string, PythonClass>
  /** Name of the class of each inline schema, by its fields. */
  readonly #inline = new Map<string, string>()

  constructor(schemas: JsonObject, classes: Map<string, PythonClass>) {
    this.#schemas = schemas
    this.#classes = classes
  }

  add({ name, path: [component, ...fields] }: Root): void {
    let schema = objectOf(this.#schemas[component], component)
    for (const field of fields) {
      schema = objectOf(objectOf(schema.properties, component)[field], field)
      if (schema.type === 'array') schema = objectOf(schema.items, field)
    }
    this.#class(name, schema)
  }

  /** Returns the type with its parameter. */
  #class(name: string, schema: JsonObject): string {
    const known = this.#classes.get(name)
    const parameter = (isGeneric: boolean): string => (isGeneric ? `${name}[N]` : name)
    const required = new Set(listOf(schema.required))
    const fields = Object.entries(objectOf(schema.properties, name)).map(([field, value]) => {
      const type = this.#type(`${name}${pascal(field)}`, objectOf(value, field))
      return { name: field, type, isRequired: required.has(field) }
    })
    const made = { fields, isGeneric: fields.some(({ type }) => /\bN\b/.test(type)) }
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(made)) {
      throw new Error(`two schemas are named ${name}: name one of them in RECORDS`)
    }
    this.#classes.set(name, made)
    return parameter(made.isGeneric)
  }

  #type(name: string, schema: JsonObject): string {
    const { $ref: ref, anyOf, allOf, type } = schema
    if (typeof ref === 'string') {
      const component = ref.slice(ref.lastIndexOf('/') + 1)
      const target = objectOf(this.#schemas[component], component)
      return target.properties === undefined
        ? this.#type(component, target)
        : this.#class(component, target)
    }
    if (Array.isArray(anyOf)) {
      return anyOf.map((one: Json) => this.#type(name, objectOf(one, name))).join(' | ')
    }
    if (Array.isArray(allOf)) return this.#merged(name, allOf)
    const values = schema.const === undefined ? schema.enum : [schema.const]
    if (Array.isArray(values)) return literal(values)
    const types: readonly Json[] = Array.isArray(type) ? type : [type ?? null]
    return types.map((one) => this.#plain(name, schema, one)).join(' | ')
  }

  #merged(name: string, parts: readonly Json[]): string {
    const [first] = parts
    if (parts.length === 1) return this.#type(name, objectOf(first, name))
    const all = parts.map((part) => this.#resolved(objectOf(part, name)))
    return this.#class(name, {
      required: all.flatMap(({ required }) => listOf(required)),
      properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    })
  }

  #resolved(schema: JsonObject): JsonObject {
    const { $ref: ref } = schema
    if (typeof ref !== 'string') return schema
    return objectOf(this.#schemas[ref.slice(ref.lastIndexOf('/') + 1)], ref)
  }

  #plain(name: string, schema: JsonObject, type: Json): string {
    switch (type) {
      case 'string':
        return 'str'
      case 'boolean':
        return 'bool'
      case 'integer':
        return 'int'
      case 'number':
        return 'N'
      case 'null':
        return 'None'
      case 'array':
        return `list[${this.#type(name.replace(/s$/, ''), objectOf(schema.items, name))}]`
      case 'object':
        return this.#object(name, schema)
      default:
        return 'object'
    }
  }

  #object(name: string, schema: JsonObject): string {
    if (schema.properties === undefined) {
      const { additionalProperties: values } = schema
      return `dict[str, ${isObject(values) ? this.#type(name.replace(/s$/, ''), values) : 'object'}]`
    }
    const shape = JSON.stringify(schema.properties, (key, value) =>
      key === 'description' ? undefined : value,
    )
    const made = this.#class(this.#inline.get(shape) ?? name, schema)
    this.#inline.set(shape, made.replace('[N]', ''))
    return made
  }
}

function literal(values: readonly Json[]): string {
  if (values.every((value) => typeof value === 'boolean')) return 'bool'
  return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
}

/** A name that Python reserves gets an underscore. */
const RESERVED = new Set(['from', 'return', 'class', 'global', 'is', 'in', 'not', 'or', 'and'])

function classText([name, { fields, isGeneric }]: [string, PythonClass]): string {
  const lines = fields.map(({ name: field, type, isRequired }) => {
    const isNullable = /(^|\| )None$/.test(type)
    const optional = isNullable ? type : `${type} | None`
    const shown = RESERVED.has(field) ? `${field}_` : field
    return `    ${shown}: ${isRequired ? type : `${optional} = None`}`
  })
  const head = `class ${name}${isGeneric ? '(Generic[N])' : ''}:`
  return ['@dataclass(slots=True, kw_only=True)', head, ...lines].join('\n')
}

/** The text of `records.py`. Throws Error if a record is missing in the documents. */
export function pythonRecords(openapi: JsonObject, asyncapi: JsonObject): string {
  const classes = new Map<string, PythonClass>()
  const rest = new Generator(componentsOf(openapi), classes)
  for (const root of RECORDS) rest.add(root)
  const stream = new Generator(componentsOf(asyncapi), classes)
  for (const name of MESSAGES) stream.add(named(name))
  const members = MESSAGES.map((name) => `    ${name}${classes.get(name)?.isGeneric ? '[N]' : ''},`)
  const union = ['ReplayMessage = Union[', ...members, ']'].join('\n')
  return `${[HEADER.trimEnd(), ...[...classes].map(classText), union].join('\n\n\n')}\n`
}
