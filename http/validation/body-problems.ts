// Validates a JSON body against its schema, with the errors of pydantic 2: all failures at any depth in field order,
// then unknown fields. For a body that contains secrets, errors repeat only the values of known fields. `soundFields`
// returns the valid fields of a rejected body, so that rules beyond the schema can check them for the same answer.

import { KindGuard, type TSchema } from '@sinclair/typebox'
import { isRecord } from '../../engine/json-record.ts'
import { echo, echoField, echoKnownFields, isSecretName } from './echo.ts'
import type { Problem } from './parameter.ts'
import {
  boundRefusal,
  choiceRefusal,
  choicesOf,
  countRefusal,
  type Refusal,
  textRefusal,
} from './refusals.ts'

type FieldPath = Problem['loc']

/** Further ones are not listed: the answer would be twenty times as long as the body. */
const UNKNOWN_FIELDS_MAX = 100

/** Finds the failures of bodies of one object schema. */
export class BodyProblems {
  readonly #schema: TSchema
  readonly #className: string
  /** Names of all fields, at any depth. */
  readonly #names: readonly string[]
  /** An unknown field may be a secret with a mistyped name. */
  readonly #takesSecrets: boolean

  /** `className`: the name of the body in errors. */
  constructor(schema: TSchema, className: string) {
    this.#schema = schema
    this.#className = className
    this.#names = namesOf(schema)
    this.#takesSecrets = this.#names.some(isSecretName)
  }

  /** Returns all problems; empty if there are none. */
  of(body: unknown): readonly Problem[] {
    const problems: Problem[] = []
    if (isRecord(body)) this.#fields(this.#schema, body, ['body'], problems)
    else problems.push(this.#notAnObject(body))
    return problems
  }

  #fields(
    { properties, additionalProperties }: TSchema,
    value: Readonly<Record<string, unknown>>,
    at: FieldPath,
    problems: Problem[],
  ): void {
    for (const [name, schema] of Object.entries<TSchema>(properties)) {
      const loc = [...at, name]
      if (Object.hasOwn(value, name)) this.#value(schema, value[name], loc, problems)
      else if (!KindGuard.IsOptional(schema)) {
        const input = this.#repeated(value, '')
        problems.push({ type: 'missing', loc, msg: 'Field required', input })
      }
    }
    if (additionalProperties !== false) return
    const unknownFields = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name))
    for (const [name, item] of unknownFields.slice(0, UNKNOWN_FIELDS_MAX)) {
      // The name is truncated and redacted like a text: it may be a secret itself.
      const loc = [...at, String(echo(name))]
      const input = echoKnownFields(item, this.#names)
      problems.push({ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input })
    }
  }

  #value(schema: TSchema, value: unknown, loc: FieldPath, problems: Problem[]): void {
    const bare = withoutNull(schema)
    if (bare !== schema && value === null) return
    const refusal = refusalOf(bare, value)
    if (refusal !== null) {
      const { type, msg, ctx } = refusal
      const input = this.#repeated(value, String(loc.findLast((part) => typeof part === 'string')))
      problems.push({ type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) })
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        this.#value(bare.items, item, [...loc, index], problems)
      })
    } else if (isRecord(value)) this.#fields(bare, value, loc, problems)
  }

  #notAnObject(body: unknown): Problem {
    const className = this.#className
    const msg = `Input should be a valid dictionary or instance of ${className}`
    const input = this.#takesSecrets ? echoKnownFields(body, this.#names) : echo(body)
    return { type: 'model_type', loc: ['body'], msg, input, ctx: { class_name: className } }
  }

  /** The part of a field's value that an error may repeat; '' names the whole body. */
  #repeated(value: unknown, name: string): unknown {
    if (!this.#takesSecrets) return echo(value, name)
    return name === '' ? echoKnownFields(value, this.#names) : echoField(value, name, this.#names)
  }
}

const TYPES: Readonly<Record<string, readonly [type: string, noun: string]>> = {
  string: ['string_type', 'string'],
  integer: ['int_type', 'integer'],
  number: ['float_type', 'number'],
  boolean: ['bool_type', 'boolean'],
  array: ['list_type', 'list'],
  object: ['dict_type', 'dictionary'],
}

/** Why the value itself is invalid, regardless of its contents; null: valid. */
function refusalOf(schema: TSchema, value: unknown): Refusal | null {
  const choices = choicesOf(schema)
  if (choices !== null) {
    return typeof value === 'string' && choices.includes(value) ? null : choiceRefusal(choices)
  }
  if (!isOfType(schema.type, value)) {
    const [type, noun] = TYPES[schema.type] ?? ['value_error', 'value']
    return { type, msg: `Input should be a valid ${noun}` }
  }
  if (typeof value === 'string') return textRefusal(value, schema)
  if (typeof value === 'number') return numberRefusal(value, schema)
  return Array.isArray(value) ? countRefusal(value.length, schema) : null
}

function numberRefusal(value: number, schema: TSchema): Refusal | null {
  // JSON admits `1e400`, which parses to Infinity.
  const outside = boundRefusal(value, schema)
  if (outside !== null || Number.isFinite(value)) return outside
  return { type: 'finite_number', msg: 'Input should be a finite number' }
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/** The non-null schema of a nullable one, or the schema itself. */
function withoutNull(schema: TSchema): TSchema {
  const options: unknown = schema.anyOf
  if (!Array.isArray(options)) return schema
  const others: readonly TSchema[] = options.filter(({ type }: TSchema) => type !== 'null')
  const [only] = others
  return others.length === 1 && options.length === 2 && only !== undefined ? only : schema
}

function namesOf(schema: TSchema): readonly string[] {
  const parts: readonly TSchema[] =
    schema.anyOf ?? (schema.items === undefined ? [] : [schema.items])
  const own = Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, property]) => {
    return [name, ...namesOf(property)]
  })
  return [...own, ...parts.flatMap(namesOf)]
}

type Fields = Readonly<Record<string, unknown>>

/** The known fields of a body in which nothing failed. In an object with failures, its other fields are included. */
export function soundFields(
  schema: TSchema,
  value: Fields,
  failures: readonly Problem[],
  at: FieldPath = ['body'],
): Fields {
  const sound: Record<string, unknown> = {}
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    if (!Object.hasOwn(value, name)) continue
    const item = value[name]
    const path = [...at, name]
    const inside = failures.filter(({ loc }) => path.every((part, depth) => loc[depth] === part))
    if (inside.length === 0) sound[name] = item
    else if (isRecord(item) && inside.every(({ loc }) => loc.length > path.length)) {
      sound[name] = soundFields(withoutNull(property), item, inside, path)
    }
  }
  return sound
}

/** Sorts problems in the order of the schema's fields; unknown fields follow their siblings. */
export function inFieldOrder(schema: TSchema, problems: readonly Problem[]): readonly Problem[] {
  const sortable = problems.map((problem) => ({
    problem,
    position: positions(schema, problem.loc),
  }))
  sortable.sort((one, other) => comparePositions(one.position, other.position))
  return sortable.map(({ problem }) => problem)
}

/** A path as numbers: the index of each field in its object, or of each item in its list. */
function positions(schema: TSchema, [, ...path]: FieldPath): readonly number[] {
  let within: TSchema | undefined = schema
  return path.map((part) => {
    const bare: TSchema | undefined = within === undefined ? undefined : withoutNull(within)
    if (typeof part === 'number') {
      within = bare?.items
      return part
    }
    const properties: Readonly<Record<string, TSchema>> = bare?.properties ?? {}
    const position = Object.keys(properties).indexOf(part)
    within = position < 0 ? undefined : properties[part]
    return position < 0 ? Number.MAX_SAFE_INTEGER : position
  })
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  for (const [depth, position] of one.entries()) {
    const difference = position - (other[depth] ?? -1)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}
