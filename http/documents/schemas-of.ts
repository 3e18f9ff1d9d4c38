// Converts TypeBox schemas to JSON Schema 2020-12. Named schemas become references to `components`.

import type { TSchema } from '@sinclair/typebox'
import * as marketShapes from '../records/markets.ts'
import { VenueAMarketSchema, VenueATradeSchema } from '../records/native-venue-a.ts'
import { VenueBMarketSchema, VenueBTradeSchema } from '../records/native-venue-b.ts'
import * as shapes from '../schemas.ts'
import * as webhookShapes from '../webhooks/schemas.ts'
import { EVENTS } from '../webhooks/types/event-types.ts'
import type { FieldMeanings } from './field-meanings.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

const EXPORTED: Readonly<Record<string, unknown>> = {
  ...shapes,
  ...marketShapes,
  ...webhookShapes,
  ...Object.fromEntries(EVENTS.flatMap((type) => Object.entries(type.shapes))),
  VenueAMarketSchema,
  VenueATradeSchema,
  VenueBMarketSchema,
  VenueBTradeSchema,
}

/** Keywords of this project that the documents omit. */
const OURS: readonly string[] = [
  'aliases',
  'hasAliases',
  'synonyms',
  'isCaseless',
  'isSingle',
  '$id',
]

interface Descriptions {
  readonly meaningOf: FieldMeanings
  /** True if a description may be next to a `$ref`, as in OpenAPI 3.1. */
  readonly hasRefSiblings: boolean
}

/** Collects named schemas that are referenced. A document has one instance. */
export class Components {
  readonly #names = new Map<string, string>()
  readonly #schemas = new Map<string, JsonObject>()
  readonly #descriptions: Descriptions
  readonly #summaries = new Map<string, string>()

  constructor(
    exported: Readonly<Record<string, unknown>> = EXPORTED,
    { meaningOf = () => undefined, hasRefSiblings = true }: Partial<Descriptions> = {},
  ) {
    this.#descriptions = { meaningOf, hasRefSiblings }
    for (const [name, schema] of Object.entries(exported)) {
      if (!name.endsWith('Schema') || !isObject(schema) || !isRecord(schema)) continue
      // Compares schemas by content, because Type.Optional and similar functions return a copy.
      this.#names.set(JSON.stringify(schema), name.slice(0, -'Schema'.length))
    }
  }

  schema(schema: TSchema): JsonObject {
    return this.#convert(JSON.parse(JSON.stringify(schema)), [])
  }

  /** Gives an unnamed record a name and its summary as description. Throws if the name is taken. */
  named(schema: TSchema, name: string, summary: string): JsonObject {
    const text = JSON.stringify(schema)
    if (isRecord(schema) && !this.#names.has(text)) {
      if ([...this.#names.values()].includes(name)) throw new Error(`two shapes named ${name}`)
      this.#names.set(text, name)
      this.#summaries.set(name, summary)
    }
    return this.schema(schema)
  }

  shape(name: string): JsonObject | undefined {
    return this.#schemas.get(name)
  }

  get all(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([one], [two]) => (one < two ? -1 : 1)))
  }

  /** `parents` are the surrounding records and fields, innermost first. */
  #convert(schema: JsonObject, parents: readonly string[]): JsonObject {
    const name = this.#names.get(JSON.stringify(schema))
    if (name === undefined) return this.#written(schema, parents)
    if (!this.#schemas.has(name)) {
      // Registered before its parts are converted, because they may refer to the schema.
      this.#schemas.set(name, {})
      const written = this.#written(schema, [name])
      const meaning = this.#descriptions.meaningOf(name, []) ?? this.#summaries.get(name)
      this.#schemas.set(name, described(written, meaning))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #field(name: string, schema: JsonObject, parents: readonly string[]): JsonObject {
    const { meaningOf, hasRefSiblings } = this.#descriptions
    const written = this.#convert(schema, [name, ...parents])
    const isAlone = written.$ref !== undefined && !hasRefSiblings
    return described(isAlone ? { allOf: [written] } : written, meaningOf(name, parents))
  }

  #written(schema: JsonObject, parents: readonly string[]): JsonObject {
    const { anyOf, patternProperties, ...rest } = schema
    const out: Record<string, Json> = {}
    for (const [keyword, value] of Object.entries(rest)) {
      if (OURS.includes(keyword)) continue
      if (keyword === 'properties' && isObject(value)) {
        out[keyword] = mapValues(value, (field, name) => this.#field(name, field, parents))
      } else if (keyword === 'allOf' && Array.isArray(value)) {
        out[keyword] = value.filter(isObject).map((part) => this.#convert(part, parents))
      } else if (SINGLE.includes(keyword) && isObject(value)) {
        out[keyword] = this.#convert(value, parents)
      } else out[keyword] = value
    }
    // TypeBox represents a record with arbitrary keys by a single pattern.
    if (isObject(patternProperties)) {
      const [value] = Object.values(patternProperties)
      out.additionalProperties = isObject(value) ? this.#convert(value, parents) : true
    }
    return Array.isArray(anyOf) ? { ...out, ...this.#union(anyOf.filter(isObject), parents) } : out
  }

  /**
   * Converts a union to an `enum` of strings, to `type: [x, null]`, or to `anyOf`. Null is never part of an `enum`,
   * because client generators reject it.
   */
  #union(options: readonly JsonObject[], parents: readonly string[]): JsonObject {
    const isNullable = options.some(({ type }) => type === 'null')
    const others = options.filter(({ type }) => type !== 'null')
    const texts = others.map((option) => option.const)
    if (texts.length > 0 && texts.every((text) => typeof text === 'string')) {
      const choices = { type: 'string', enum: texts }
      return isNullable ? { anyOf: [choices, { type: 'null' }] } : choices
    }
    const written = others.map((option) => this.#convert(option, parents))
    const [only] = written
    if (written.length !== 1 || only === undefined) {
      return { anyOf: isNullable ? [...written, { type: 'null' }] : written }
    }
    if (!isNullable) return only
    if (only.enum === undefined && only.const === undefined && typeof only.type === 'string') {
      return { ...only, type: [only.type, 'null'] }
    }
    // Description and default also apply to null, so they belong to the outer schema.
    const about = Object.entries(only).filter(([keyword]) => ABOUT.includes(keyword))
    const rest = Object.entries(only).filter(([keyword]) => !ABOUT.includes(keyword))
    return { ...Object.fromEntries(about), anyOf: [Object.fromEntries(rest), { type: 'null' }] }
  }
}

const ABOUT: readonly string[] = ['description', 'default']

const SINGLE: readonly string[] = ['items', 'additionalProperties', 'not', 'unevaluatedProperties']

/** Capitalizes the first letter and adds a full stop. */
export function sentence(text: string): string {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1)
  return begun.endsWith('.') ? begun : `${begun}.`
}

/** Keeps an existing description. The added description becomes a sentence. */
function described(schema: JsonObject, meaning: string | undefined): JsonObject {
  const { description = meaning } = schema
  return typeof description === 'string'
    ? { ...schema, description: sentence(description) }
    : schema
}

function mapValues(
  from: JsonObject,
  change: (value: JsonObject, name: string) => JsonObject,
): JsonObject {
  const changed = Object.entries(from).map(([name, value]) => {
    return [name, isObject(value) ? change(value, name) : value] as const
  })
  return Object.fromEntries(changed)
}

/** True for an object with known fields, and for an `allOf`. */
function isRecord(schema: JsonObject | TSchema): boolean {
  if (schema.type === 'object' && schema.properties !== undefined) return true
  return Array.isArray(schema.allOf)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
