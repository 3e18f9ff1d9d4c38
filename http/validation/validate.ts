// Validates query parameters and JSON bodies against their schemas, with the errors of pydantic 2. Queries are parsed
// by parameter.ts and not by ajv's coercion, which lets `Infinity` bypass `maximum`.

import {
  KindGuard,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
} from '@sinclair/typebox'
import { Ajv, type ValidateFunction } from 'ajv'
import { withAliases } from '../request/aliases.ts'
import type { RawQuery } from '../request/query.ts'
import { BodyProblems, type Refinement } from './body-problems.ts'
import { type Parameter, parameterOf } from './parameter.ts'
import { MISSING, type Problem, problemOf } from './refusals.ts'

type Parsed<T> =
  | { readonly kind: 'valid'; readonly value: T; readonly unknownNames: readonly string[] }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** All parts are valid, but an alias contradicts its canonical name. */
  | { readonly kind: 'conflict'; readonly detail: string }

/**
 * Compiles a query parser for an object schema; once per route. Properties have the aliases of the table and may have
 * more in `aliases: string[]`. All failures are listed, in property order.
 */
export function compileQuery<P extends TProperties>(
  schema: TObject<P>,
): (raw: RawQuery) => Parsed<Static<TObject<P>>> {
  const parameters = Object.entries(withAliases(schema.properties)).map(([name, property]) =>
    parameterOf(name, property, !KindGuard.IsOptional(property)),
  )
  const names = new Set(parameters.flatMap((parameter) => parameter.names))
  const check = compiled<Static<TObject<P>>>(schema)
  const parse = (raw: RawQuery): Parsed<Static<TObject<P>>> => {
    const value: Record<string, unknown> = {}
    const problems: Problem[] = []
    let conflict: string | null = null
    for (const parameter of parameters) {
      conflict = readParameter(parameter, raw, value, problems) ?? conflict
    }
    if (problems.length > 0) return { kind: 'invalid', problems }
    if (conflict !== null) return { kind: 'conflict', detail: conflict }
    // Parsers and schema must agree. If they do not, a bound is not enforced, which is a bug.
    if (!check(value)) throw new Error('a query passed its parsers but not its schema')
    const unknownNames = [...raw.keys()].filter((name) => !names.has(name))
    return { kind: 'valid', value, unknownNames }
  }
  // Most requests of single records have no query.
  let ofNone: Parsed<Static<TObject<P>>> | null = null
  return (raw) => {
    if (raw.size > 0) return parse(raw)
    ofNone ??= parse(raw)
    return ofNone
  }
}

/** Validates path parameters. All failures are listed, in property order. */
export function compilePath(
  schema: TObject,
): (read: (name: string) => string) => readonly Problem[] {
  const parameters = Object.entries<TSchema>(schema.properties).map(([name, property]) =>
    parameterOf(name, property, true),
  )
  return (read) => {
    const problems: Problem[] = []
    for (const { name, parse } of parameters) {
      const result = parse([read(name)])
      if (result.kind === 'valid') continue
      problems.push(problemOf(result.refusal, ['path', name], result.input))
    }
    return problems
  }
}

/** Reads one parameter into `value`. Returns the message of an alias conflict, or null. */
function readParameter(
  parameter: Parameter,
  raw: RawQuery,
  value: Record<string, unknown>,
  problems: Problem[],
): string | null {
  let conflict: string | null = null
  let isGiven = false
  let seen: { name: string; result: unknown } | null = null
  for (const name of parameter.names) {
    // An empty value counts as absent.
    const given = raw.get(name)?.filter((text) => text !== '') ?? []
    if (given.length === 0) continue
    isGiven = true
    const texts = parameter.isSingle && name !== parameter.name ? [given.join(',')] : given
    const result = parameter.parse(texts)
    if (result.kind === 'invalid') {
      problems.push(problemOf(result.refusal, ['query', name], result.input))
      continue
    }
    const { value: meant } = result
    if (seen !== null && parameter.meaning(seen.result) !== parameter.meaning(meant)) {
      conflict = `${seen.name} and ${name} are the same parameter and were given different values`
    }
    seen ??= { name, result: result.value }
  }
  if (seen !== null) value[parameter.name] = seen.result
  else if (parameter.fallback !== undefined) value[parameter.name] = parameter.fallback
  else if (parameter.isRequired && !isGiven) {
    problems.push(problemOf(MISSING, ['query', parameter.name], null))
  }
  return conflict
}

// Compiling a check blocks the event loop. These options shorten it: no meta-schema (TypeBox makes the schemas, and
// `strict` still rejects unknown keywords), no error messages (nobody reads them), and no code optimization.
const ajv = new Ajv({
  strict: true,
  coerceTypes: false,
  meta: false,
  validateSchema: false,
  messages: false,
  code: { optimize: false },
  keywords: ['aliases', 'synonyms', 'isCaseless', 'isSingle'],
})
/** Keyed by the schema's JSON, which is all that ajv reads: many routes share a schema. */
const checks = new Map<string, ValidateFunction>()
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Whether a value fits the schema. Compiled on first use and shared by equal schemas, since most services use few
 * routes.
 */
function compiled<T>(schema: TSchema): (value: unknown) => value is T {
  let check: ValidateFunction | null = null
  return (value): value is T => {
    check ??= checkOf(schema)
    return check(value) === true
  }
}

function checkOf(schema: TSchema): ValidateFunction {
  const text = JSON.stringify(schema)
  const check = checks.get(text) ?? ajv.compile(schema)
  checks.set(text, check)
  return check
}

type ParsedBody<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** The bytes are not valid text. */
  | { readonly kind: 'undecodable' }

/** The schema of a body and its name in errors. */
export interface BodyRule<B extends TProperties> {
  readonly schema: TObject<B>
  readonly className: string
  /** Finds problems that a schema cannot express, if the body has no other. */
  readonly refine?: (value: Static<TObject<B>>) => readonly Problem[]
  /** The same of single fields by their path, whatever is wrong with others. */
  readonly refinements?: Readonly<Record<string, Refinement>>
  /** The request may have no body; every field is optional. */
  readonly isOptional?: boolean
}

/** Compiles a parser of JSON bodies. */
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
    // As for queries, both must agree.
    if (!check(value)) throw new Error('a body has no problem and fails its schema')
    const problems = refine?.(value) ?? []
    return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'valid', value }
  }
}

function parseJson(
  bytes: Uint8Array,
):
  | { kind: 'json'; value: unknown }
  | { kind: 'undecodable' }
  | { kind: 'invalid'; problems: Problem[] } {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { kind: 'undecodable' }
  }
  if (text.trim() === '') {
    return { kind: 'invalid', problems: [problemOf(MISSING, ['body'], null)] }
  }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch (error) {
    // Uses only the position in the message: the rest quotes the body.
    const found = error instanceof Error ? /position (\d+)/.exec(error.message) : null
    const ctx = { error: 'the text is not JSON' }
    const refusal = { type: 'json_invalid', msg: 'JSON decode error', ctx }
    const loc = ['body', found === null ? text.length : Number(found[1])]
    return { kind: 'invalid', problems: [problemOf(refusal, loc, {})] }
  }
}
