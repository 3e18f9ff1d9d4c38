// Validates a JSON body against its schema, with errors like those of pydantic 2. Lists all problems in field order,
// then unknown fields. For a body with secrets, errors repeat only values of known fields.

import {
  KindGuard,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
} from '@sinclair/typebox'
import { isRecord } from '../../engine/json-record.ts'
import {
  boundRefusal,
  choiceRefusal,
  choicesOf,
  countRefusal,
  echo,
  isSecretName,
  MISSING,
  type Problem,
  problemOf,
  type Refusal,
  textRefusal,
} from './problems.ts'
import { compiled } from './query.ts'

/** Maximum unknown fields that are listed. Otherwise an answer could be twenty times as long as the body. */
const UNKNOWN_FIELDS_MAX = 100

/** A rule that a schema cannot express. Receives only values that fit their schema. */
export type Refinement = (
  value: unknown,
) => readonly { at: Problem['loc']; refusal: Refusal; input: unknown }[]

/** Finds the problems of bodies with one object schema. */
export class BodyProblems {
  readonly #schema: TSchema
  readonly #className: string
  readonly #names: readonly string[]
  /** Names of all fields if an unknown field may be a misspelled secret. Null if the body has no secrets. */
  readonly #known: readonly string[] | null
  readonly #refinements: Readonly<Record<string, Refinement>>

  /** `className`: the name of the body in errors. `refinements`: rules by path of a field, such as `filters.wallets`. */
  constructor(
    schema: TSchema,
    className: string,
    refinements: Readonly<Record<string, Refinement>> = {},
  ) {
    this.#schema = schema
    this.#className = className
    this.#names = namesOf(schema)
    this.#known = this.#names.some(isSecretName) ? this.#names : null
    this.#refinements = refinements
  }

  of(body: unknown): readonly Problem[] {
    if (isRecord(body)) return this.#fields(this.#schema, body, ['body'])
    const class_name = this.#className
    const msg = `Input should be a valid dictionary or instance of ${class_name}`
    const refusal = { type: 'model_type', msg, ctx: { class_name } }
    return [problemOf(refusal, ['body'], echo(body, '', this.#known))]
  }

  #fields(
    { properties, additionalProperties }: TSchema,
    value: Readonly<Record<string, unknown>>,
    at: Problem['loc'],
  ): readonly Problem[] {
    const problems = Object.entries<TSchema>(properties).flatMap(([name, schema]) => {
      const loc = [...at, name]
      if (Object.hasOwn(value, name)) return this.#value(schema, value[name], loc)
      if (KindGuard.IsOptional(schema)) return []
      return [problemOf(MISSING, loc, echo(value, '', this.#known))]
    })
    if (additionalProperties !== false) return problems
    const unknownFields = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name))
    const extra = unknownFields.slice(0, UNKNOWN_FIELDS_MAX).map(([name, item]) => {
      // The name may itself be a secret, so it is truncated and redacted like a text.
      return problemOf(EXTRA, [...at, String(echo(name))], echo(item, '', this.#names))
    })
    return [...problems, ...extra]
  }

  #value(schema: TSchema, value: unknown, loc: Problem['loc']): readonly Problem[] {
    const bare = withoutNull(schema)
    if (bare !== schema && value === null) return []
    const refusal = refusalOf(bare, value)
    if (refusal !== null) {
      const name = String(loc.findLast((part) => typeof part === 'string'))
      return [problemOf(refusal, loc, echo(value, name, this.#known))]
    }
    const inside = Array.isArray(value)
      ? value.flatMap((item, index) => this.#value(bare.items, item, [...loc, index]))
      : isRecord(value)
        ? this.#fields(bare, value, loc)
        : []
    const refine = this.#refinements[loc.slice(1).join('.')]
    if (inside.length > 0 || refine === undefined) return inside
    return refine(value).map(({ at, refusal: wrong, input }) =>
      problemOf(wrong, [...loc, ...at], input),
    )
  }
}

const EXTRA: Refusal = { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }

const TYPES: Readonly<Record<string, readonly [type: string, noun: string]>> = {
  string: ['string_type', 'string'],
  integer: ['int_type', 'integer'],
  number: ['float_type', 'number'],
  boolean: ['bool_type', 'boolean'],
  array: ['list_type', 'list'],
  object: ['dict_type', 'dictionary'],
}

/** Does not contain the value. Null: valid. */
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
  // JSON allows `1e400`, which is parsed as Infinity.
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

/** A nullable schema without null. Other schemas are returned unchanged. */
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

type ParsedBody<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** The bytes are not valid UTF-8 text. */
  | { readonly kind: 'undecodable' }

/** The schema of a body and its name in errors. */
export interface BodyRule<B extends TProperties> {
  readonly schema: TObject<B>
  readonly className: string
  /** Finds problems that a schema cannot express. Called only if the body has no other problem. */
  readonly refine?: (value: Static<TObject<B>>) => readonly Problem[]
  /** Rules for single fields by path. They run even if other fields are invalid. */
  readonly refinements?: Readonly<Record<string, Refinement>>
  /** The request may have no body. Requires that every field is optional. */
  readonly isOptional?: boolean
}

export function compileBody<P extends TProperties>({
  schema,
  className,
  refine,
  refinements,
}: BodyRule<P>): (bytes: Uint8Array) => ParsedBody<Static<TObject<P>>> {
  const check = compiled<Static<TObject<P>>>(schema)
  const found = new BodyProblems(schema, className, refinements)
  return (bytes) => {
    const json = parseJson(bytes)
    if (json.kind !== 'json') return json
    const { value } = json
    const failures = found.of(value)
    if (failures.length > 0) return { kind: 'invalid', problems: failures }
    // The schema and the problems disagree, which is a bug.
    if (!check(value)) throw new Error('a body without problems does not match its schema')
    const problems = refine?.(value) ?? []
    return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'valid', value }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Null if the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

function parseJson(
  bytes: Uint8Array,
):
  | { kind: 'json'; value: unknown }
  | { kind: 'undecodable' }
  | { kind: 'invalid'; problems: Problem[] } {
  const text = textOf(bytes)
  if (text === null) return { kind: 'undecodable' }
  if (text.trim() === '') {
    return { kind: 'invalid', problems: [problemOf(MISSING, ['body'], null)] }
  }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch (error) {
    // Use only the position from the message, because the rest quotes the body.
    const found = error instanceof Error ? /position (\d+)/.exec(error.message) : null
    const ctx = { error: 'the text is not JSON' }
    const refusal = { type: 'json_invalid', msg: 'JSON decode error', ctx }
    const loc = ['body', found === null ? text.length : Number(found[1])]
    return { kind: 'invalid', problems: [problemOf(refusal, loc, {})] }
  }
}
