// Query parameters and JSON bodies against their schemas, with the errors of pydantic 2,
// because that is what clients of such APIs know.
// Queries are parsed by the parsers of parameter.ts, never by ajv's coercion, which lets `Infinity`
// skip `maximum`.

import {
  KindGuard,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import { Ajv, type ValidateFunction } from 'ajv'
import { isRecord } from '../../engine/json-record.ts'
import { withAliases } from '../request/aliases.ts'
import type { RawQuery } from '../request/query.ts'
import { BodyProblems, inFieldOrder, soundFields } from './body-problems.ts'
import { type Parameter, type Problem, parameterOf } from './parameter.ts'

type Parsed<T> =
  | { readonly kind: 'valid'; readonly value: T; readonly unknownNames: readonly string[] }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** Every part is valid, but an alias contradicts its canonical name. */
  | { readonly kind: 'conflict'; readonly detail: string }

/**
 * A parser of queries for an object schema; compiled once per route. Properties have the aliases of
 * the table, and may carry more in `aliases: string[]`. All failures are listed, in the order of the properties.
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
    // The parsers and the schema must agree; if not, a bound is not enforced, and that is our bug.
    if (!check(value)) throw new Error('a query passed its parsers but not its schema')
    const unknownNames = [...raw.keys()].filter((name) => !names.has(name))
    return { kind: 'valid', value, unknownNames }
  }
  // A query that is kept (KeptQueries) means the same each time.
  const cache = new WeakMap<RawQuery, Parsed<Static<TObject<P>>>>()
  return (raw) => {
    const cached = cache.get(raw)
    if (cached !== undefined) return cached
    const parsed = parse(raw)
    if (parsed.kind !== 'valid') return parsed
    for (const part of Object.values(parsed.value)) Object.freeze(part)
    Object.freeze(parsed.value)
    cache.set(raw, parsed)
    return parsed
  }
}

/** Checks the path's parameters; all failures are listed, in the order of the properties. */
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
      const { type, ...rest } = result.problem
      problems.push({ type, loc: ['path', name], ...rest })
    }
    return problems
  }
}

/** Reads one parameter into `value`; returns the sentence of an alias conflict, or null. */
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
    // An empty value means that the parameter is not given.
    const given = raw.get(name)?.filter((text) => text !== '') ?? []
    if (given.length === 0) continue
    isGiven = true
    const texts = parameter.isSingle && name !== parameter.name ? [given.join(',')] : given
    const result = parameter.parse(texts)
    if (result.kind === 'invalid') {
      const { type, ...rest } = result.problem
      problems.push({ type, loc: ['query', name], ...rest })
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
    problems.push({
      type: 'missing',
      loc: ['query', parameter.name],
      msg: 'Field required',
      input: null,
    })
  }
  return conflict
}

// The loop stands still while a check is compiled: the first took 10.2 ms, the dearest after it 10.5, all 39 took 67; now
// 2.9, 3.6 to 5.1 and 36. Left out are the schema of schemas (two thirds of the first: ours are made by TypeBox, and `strict`
// still refuses what it does not know), words for errors that nobody reads, and the polishing of the code.
const ajv = new Ajv({
  strict: true,
  coerceTypes: false,
  meta: false,
  validateSchema: false,
  messages: false,
  code: { optimize: false },
  keywords: ['aliases', 'synonyms', 'isCaseless', 'isSingle'],
})
/** By the schema's JSON, which is all that ajv reads: most routes ask for what another route asks for. */
const checks = new Map<string, ValidateFunction>()
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Whether a value fits the schema; compiled once for all schemas that say the same, when the first value comes, since few
 * routes are ever asked of most services.
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
  /** The bytes are not text. */
  | { readonly kind: 'undecodable' }

/**
 * A parser of JSON bodies. `refine` finds what a schema cannot say; it runs only once every field
 * has its type, so that a missing or non-string field is reported alone. `refineParts` is given the
 * fields that have theirs when others have not, so that every failure is listed at once.
 */
export function compileBody<P extends TProperties>(
  schema: TObject<P>,
  className: string,
  refine: (value: Static<TObject<P>>) => readonly Problem[] = () => [],
  refineParts?: (parts: Partial<Static<TObject<P>>>) => readonly Problem[],
): (bytes: Uint8Array) => ParsedBody<Static<TObject<P>>> {
  const checkParts = compiled<Partial<Static<TObject<P>>>>(Type.Partial(schema))
  const check = compiled<Static<TObject<P>>>(schema)
  const found = new BodyProblems(schema, className)
  return (bytes) => {
    const json = parseJson(bytes)
    if (json.kind !== 'json') return json
    const { value } = json
    const failures = found.of(value)
    if (failures.length > 0) {
      if (refineParts === undefined || !isRecord(value)) {
        return { kind: 'invalid', problems: failures }
      }
      const parts = soundFields(schema, value, failures)
      const more = checkParts(parts) ? refineParts(parts) : []
      return { kind: 'invalid', problems: inFieldOrder(schema, [...failures, ...more]) }
    }
    // As for queries: both must agree.
    if (!check(value)) throw new Error('a body has no problem and fails its schema')
    const problems = refine(value)
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
    const problem = { type: 'missing', loc: ['body'], msg: 'Field required', input: null }
    return { kind: 'invalid', problems: [problem] }
  }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch (error) {
    // Only the position is taken from the message: the rest of it quotes the body.
    const found = error instanceof Error ? /position (\d+)/.exec(error.message) : null
    const problem: Problem = {
      type: 'json_invalid',
      loc: ['body', found === null ? text.length : Number(found[1])],
      msg: 'JSON decode error',
      input: {},
      ctx: { error: 'the text is not JSON' },
    }
    return { kind: 'invalid', problems: [problem] }
  }
}

/** The problem of a text that is too short or too long. */
export function lengthProblem(found: {
  loc: Problem['loc']
  input: unknown
  isShort: boolean
  limit: number
}): Problem {
  const unit = found.limit === 1 ? 'character' : 'characters'
  const msg = `String should have at ${found.isShort ? 'least' : 'most'} ${found.limit} ${unit}`
  const ctx = found.isShort ? { min_length: found.limit } : { max_length: found.limit }
  const type = found.isShort ? 'string_too_short' : 'string_too_long'
  return { type, loc: found.loc, msg, input: found.input, ctx }
}
