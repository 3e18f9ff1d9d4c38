// Builds examples of parameters and responses from `examples` in the schemas and from example-values.json. A key such
// as `Health.status` overrides a field in one record or operation.

import { readFileSync } from 'node:fs'
import type { VenueTable } from '../../engine/venue-table.ts'
import { EXAMPLE_OPPORTUNITY } from '../records/opportunities.ts'
import { EXAMPLE_IDS } from '../schemas.ts'
import { constants } from './constants.ts'
import { type Components, isObject, type Json, type JsonObject } from './schemas-of.ts'

const values: Readonly<Record<string, JsonObject>> = JSON.parse(
  Object.entries(EXAMPLE_IDS).reduce(
    (text, [name, id]) => text.replaceAll(`{${name}}`, id),
    readFileSync(new URL('example-values.json', import.meta.url), 'utf8'),
  ),
)

/**
 * A key is a field, a record and field (`Market.id`), or a parent field and field. `{a}` and `{b}` are replaced by the
 * venues' configured names.
 */
const FIELDS: JsonObject = Object.assign({}, ...Object.values(values))

/** Examples of complete records, because their fields must be consistent. */
const RECORDS: Readonly<Record<string, Json>> = {
  Opportunity: JSON.parse(JSON.stringify(EXAMPLE_OPPORTUNITY).replace(/venue_([ab])/g, '{$1}')),
  GetSpecificationAnswer: { openapi: '3.1.0', info: { title: 'Twinbook', version: '1.0.0' } },
  GetAsyncapiJsonAnswer: {
    asyncapi: '3.0.0',
    info: { title: 'Twinbook stream', version: '1.0.0' },
  },
}

const GAME_KEY = 'nfl-den-hou-2025-11-02'

export const refusalExamples = (): JsonObject =>
  Object.fromEntries(
    Object.entries(constants.examples.refusals).map(([status, value]) => [
      `Refusal${status}`,
      { value },
    ]),
  )

export const refusalExample = (status: number): JsonObject => ({
  refusal: { $ref: `#/components/examples/Refusal${status}` },
})

/** Maximum depth of examples of recursive schemas. */
const DEPTH_MAX = 32

export class Examples {
  readonly #components: Components
  readonly #fields: JsonObject
  readonly #records: JsonObject

  constructor(names: VenueTable, components: Components) {
    this.#components = components
    this.#fields = named(FIELDS, names)
    this.#records = named(RECORDS, names)
  }

  parameter(operation: string, name: string, schema: JsonObject): Json | undefined {
    return this.#of(schema, name, [operation], 0)
  }

  body(parent: string, schema: JsonObject): Json | undefined {
    return this.#records[parent] ?? this.#of(schema, '', [parent], 0)
  }

  text(operation: string, contentType: string): string | undefined {
    return constants.examples.texts[operation] ?? constants.examples.texts[contentType]
  }

  #of(
    schema: JsonObject,
    name: string,
    parents: readonly string[],
    depth: number,
  ): Json | undefined {
    if (depth > DEPTH_MAX) return undefined
    if (Array.isArray(schema.examples)) return schema.examples[0]
    for (const key of [...parents.map((parent) => `${parent}.${name}`), name]) {
      const value = this.#fields[key]
      if (value !== undefined && fits(value, this.#resolved(schema))) return value
    }
    const deeper = (part: JsonObject, of: string, more: readonly string[]) =>
      this.#of(part, of, more, depth + 1)
    if (typeof schema.$ref === 'string') {
      const shape = nameOf(schema.$ref)
      const record = this.#records[shape]
      if (record !== undefined) return record
      return deeper(this.#resolved(schema), '', name === '' ? [shape] : [shape, name])
    }
    if (schema.const !== undefined) return schema.const
    if (schema.default !== undefined) return schema.default
    if (Array.isArray(schema.enum)) return schema.enum[0]
    for (const keyword of ['anyOf', 'allOf']) {
      const parts = schema[keyword]
      if (!Array.isArray(parts)) continue
      const made = parts.filter(isObject).map((part) => deeper(part, name, parents))
      if (keyword === 'anyOf') return made[0]
      return Object.assign(
        {},
        ...made.filter(isObject),
        this.#fieldsOf(schema, name, parents, depth),
      )
    }
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (type === 'boolean') return true
    if (type === 'array' && isObject(schema.items)) {
      const item = deeper(schema.items, name, parents)
      return item === undefined ? undefined : [item]
    }
    if (isObject(schema.additionalProperties)) {
      const value = deeper(schema.additionalProperties, name, parents)
      return value === undefined ? undefined : { [GAME_KEY]: value }
    }
    return type === 'object' ? this.#fieldsOf(schema, name, parents, depth) : undefined
  }

  #fieldsOf(
    { properties }: JsonObject,
    name: string,
    parents: readonly string[],
    depth: number,
  ): JsonObject {
    if (!isObject(properties)) return {}
    const around = name === '' ? parents : [name, ...parents]
    const made = Object.entries(properties).flatMap(([field, schema]) => {
      const value = isObject(schema) ? this.#of(schema, field, around, depth + 1) : undefined
      return value === undefined ? [] : [[field, value] as const]
    })
    return Object.fromEntries(made)
  }

  #resolved(schema: JsonObject): JsonObject {
    if (typeof schema.$ref !== 'string') return schema
    return this.#components.shape(nameOf(schema.$ref)) ?? schema
  }
}

/** Replaces `{a}` by the configured venue name and `{a.protocol}` by the protocol, also in keys. */
function named(table: JsonObject, { all, first }: VenueTable): JsonObject {
  const text = JSON.stringify(table).replace(/\{([a-z])(\.protocol)?\}/g, (_, letter, of) => {
    const { name, protocol } = all.find(({ key }) => key === letter) ?? first
    return of === undefined ? name : protocol
  })
  return JSON.parse(text)
}

/** Fields of the same name may have different types in different records. */
function fits(value: Json, schema: JsonObject): boolean {
  if (schema.const !== undefined) return value === schema.const
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  if (Array.isArray(schema.anyOf)) {
    return schema.anyOf.some((part) => isObject(part) && fits(value, part))
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (value === null) return types.includes('null')
  if (Array.isArray(value)) {
    if (!types.includes('array') || !isObject(schema.items)) return false
    const { items } = schema
    return value.every((item) => items.$ref !== undefined || fits(item, items))
  }
  if (typeof value === 'number' && !types.includes('number')) {
    return types.includes('integer') && Number.isInteger(value)
  }
  return types.includes(typeof value)
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
