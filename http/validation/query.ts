// Validates query and path parameters with errors like those of pydantic 2. Numbers are parsed here, because ajv's
// conversion lets `Infinity` bypass `maximum`, and JavaScript's Number accepts `0x10`, `1e2` and blanks as integers.

import {
  KindGuard,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
} from '@sinclair/typebox'
import { Ajv, type ValidateFunction } from 'ajv'
import type { HandleForm } from '../../engine/ids.ts'
import { queryBytesMax } from '../../engine/limits.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import {
  boundRefusal,
  choiceRefusal,
  choicesOf,
  countRefusal,
  echo,
  MISSING,
  type Problem,
  problemOf,
  type Refusal,
  textRefusal,
} from './problems.ts'

/** Decoded values by name in request order. A parameter without `=` has the value ''. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

const EMPTY_QUERY: RawQuery = new Map()
/**
 * Null if percent-encoding or UTF-8 is malformed or the text is too long. The library returns undefined for a URL
 * without `?`, despite its types.
 */
export function parseQuery(text: string | undefined): RawQuery | null {
  if (text === undefined || text === '') return EMPTY_QUERY
  if (text.length > queryBytesMax) return null
  const values = new Map<string, string[]>()
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? '' : decode(part.slice(equals + 1))
    if (name === null || value === null) return null
    const existing = values.get(name)
    if (existing === undefined) values.set(name, [value])
    else existing.push(value)
  }
  return values
}

function decode(text: string): string | null {
  return decodePath(text.replaceAll('+', ' '))
}

/** In a path, `+` is not a blank. Null if the text is malformed. */
export function decodePath(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/**
 * Groups of equivalent parameter names. If a route defines several names of a group, they are separate parameters. The
 * remaining names are aliases of the defined name that comes first.
 */
const ALIAS_GROUPS: readonly (readonly string[])[] = [
  ['condition_id', 'condition_ids'],
  ['cursor', 'pagination_key'],
  ['end_time', 'end_ts', 'end', 'to', 'max_ts', 'created_before'],
  ['event_slug', 'event_slugs'],
  ['event_ticker', 'event_tickers', 'kalshi_event_ticker'],
  ['interval', 'resolution', 'period_interval'],
  ['market_ids', 'market_id', 'ids'],
  ['market_slug', 'market_slugs', 'slug', 'slugs', 'polymarket_market_slug'],
  ['min_score', 'min_similarity', 'min_match_score'],
  ['min_usd', 'min_size_usd', 'min_amount'],
  ['min_volume', 'min_volume_24h', 'min_total_volume'],
  ['search', 'keyword', 'q'],
  ['series_ticker', 'series_tickers'],
  ['start_time', 'start_ts', 'start', 'from', 'min_ts', 'created_after'],
  ['tags', 'tag'],
  ['ticker', 'tickers', 'market_ticker', 'market_tickers'],
  ['token_id', 'token_ids', 'clob_token_ids'],
  ['wallet', 'user'],
]

const GROUP_OF: ReadonlyMap<string, readonly string[]> = new Map(
  ALIAS_GROUPS.flatMap((group) => group.map((name) => [name, group] as const)),
)

/** The name of a parameter is never an alias of another parameter. `hasAliases: false` excludes it from its group. */
export function withAliases(
  properties: Readonly<Record<string, TSchema>>,
): Readonly<Record<string, TSchema>> {
  const entries = Object.entries(properties).map(([name, schema]): readonly [string, TSchema] => {
    const own: readonly string[] = schema.aliases ?? []
    const group = schema.hasAliases === false ? [] : (GROUP_OF.get(name) ?? [])
    const isFirst = group.find((one) => properties[one] !== undefined) === name
    const all = new Set([...(isFirst ? group : []), ...own])
    const aliases = [...all].filter((alias) => properties[alias] === undefined)
    return [name, aliases.length === 0 ? schema : { ...schema, aliases }]
  })
  return Object.fromEntries(entries)
}

/** Parameter names for a slug or event ticker that contain the venue's name, such as `venue_a_slug`. */
export function venueAliases(names: VenueTable, form: HandleForm): string[] {
  const ending = form === 'slug' ? 'slug' : 'event_ticker'
  const venues = names.all.filter(({ handles }) => handles === form)
  return venues.flatMap(({ name }) => [`${name}_${ending}`, `${name}_${ending}s`])
}

type Result =
  | { readonly kind: 'valid'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly refusal: Refusal; readonly input: unknown }

interface Parameter {
  readonly name: string
  /** The canonical name, then its aliases. */
  readonly names: readonly string[]
  readonly isRequired: boolean
  /** The parameter takes exactly one id, even under a plural alias. */
  readonly isSingle: boolean
  readonly fallback: unknown
  /** Parses the values given under one name. A scalar parameter takes the last value. */
  parse(texts: readonly string[]): Result
  /** A canonical text that is equal for equivalent values. Used to compare a parameter with its alias. */
  meaning(value: unknown): string
}

/** Throws for a kind of schema that is not supported, which is a bug. */
function parameterOf(name: string, schema: TSchema, isRequired: boolean): Parameter {
  const aliases: unknown = schema.aliases
  const names = [name, ...(Array.isArray(aliases) ? aliases.map(String) : [])]
  const parseOne = schema.type === 'array' ? null : scalarParser(schema)
  return {
    name,
    names,
    isRequired,
    isSingle: schema.isSingle === true,
    fallback: schema.default,
    meaning: meaningBy(schema),
    parse:
      parseOne === null
        ? (texts) => parseList(texts, schema)
        : (texts) => severalIds(schema, texts) ?? parseOne(texts[texts.length - 1] ?? ''),
  }
}

/** A schema may declare equivalent values (`synonyms`) or case-insensitivity (`isCaseless`). */
function meaningBy(schema: TSchema): (value: unknown) => string {
  const synonyms = new Map(Object.entries(schema.synonyms ?? {}))
  return (value) => {
    const text = JSON.stringify(synonyms.get(String(value)) ?? value)
    return schema.isCaseless === true ? text.toLowerCase() : text
  }
}

function scalarParser(schema: TSchema): (text: string) => Result {
  const choices = choicesOf(schema)
  if (choices !== null) {
    return (text) => checked(text, text, choices.includes(text) ? null : choiceRefusal(choices))
  }
  if (schema.type === 'integer') return (text) => parseInteger(text, schema)
  if (schema.type === 'number') return (text) => parseNumber(text, schema)
  if (schema.type === 'boolean') return parseBoolean
  if (schema.type === 'string') return (text) => checked(text, text, textRefusal(text, schema))
  throw new TypeError(`no parser for a parameter of type ${String(schema.type)}`)
}

const valid = (value: unknown): Result => ({ kind: 'valid', value })

const refused = (input: unknown, refusal: Refusal): Result => {
  return { kind: 'invalid', refusal, input: echo(input) }
}

const invalid = (input: unknown, type: string, msg: string) => refused(input, { type, msg })

const checked = (input: unknown, value: unknown, refusal: Refusal | null): Result =>
  refusal === null ? { kind: 'valid', value } : refused(input, refusal)

const INTEGER = /^[+-]?\d+(?:_\d+)*(?:\.0*)?$/
const DIGITS_MAX = 4_300

function parseInteger(text: string, schema: TSchema): Result {
  const bare = text.trim()
  if (!INTEGER.test(bare)) {
    return invalid(
      text,
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    )
  }
  if (bare.length > DIGITS_MAX) {
    return invalid(
      text,
      'int_parsing_size',
      'Unable to parse input string as an integer, exceeded maximum size',
    )
  }
  const value = Number(bare.replaceAll('_', ''))
  return checked(text, value, boundRefusal(value, schema))
}

const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/
const SPECIAL = /^([+-]?)(?:(inf|infinity)|nan)$/i

function parseNumber(text: string, schema: TSchema): Result {
  const bare = text.trim()
  const special = SPECIAL.exec(bare)
  if (special === null && !FLOAT.test(bare)) {
    return invalid(
      text,
      'float_parsing',
      'Input should be a valid number, unable to parse string as a number',
    )
  }
  const value = special === null ? Number(bare.replaceAll('_', '')) : specialNumber(special)
  // The two bounds together also reject non-finite numbers. With fewer bounds a separate check is needed.
  const isBoundedTwice = schema.minimum !== undefined && schema.maximum !== undefined
  if (!isBoundedTwice && !Number.isFinite(value)) {
    return invalid(text, 'finite_number', 'Input should be a finite number')
  }
  return checked(text, value, boundRefusal(value, schema))
}

function specialNumber(match: RegExpExecArray): number {
  if (match[2] === undefined) return Number.NaN
  return match[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

const TRUE = new Set(['1', 'true', 't', 'yes', 'y', 'on'])
const FALSE = new Set(['0', 'false', 'f', 'no', 'n', 'off'])

function parseBoolean(text: string): Result {
  const lower = text.toLowerCase()
  if (TRUE.has(lower)) return valid(true)
  if (FALSE.has(lower)) return valid(false)
  return invalid(text, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input')
}

/** Rejects several comma-separated ids where one is expected. Null: there is only one id. */
function severalIds(schema: TSchema, texts: readonly string[]): Result | null {
  if (schema.isSingle !== true) return null
  const last = (texts[texts.length - 1] ?? '').split(',').map((item) => item.trim())
  const given = [...new Set(last)].filter((item) => item !== '')
  const refusal = given.length < 2 ? null : countRefusal(given.length, { ...schema, maxItems: 1 })
  return refusal === null ? null : refused(given, refusal)
}

/** Joins repeated names and comma-separated values into one list. Drops empty items. */
function parseList(texts: readonly string[], schema: TSchema): Result {
  const items = texts.flatMap((text) => text.split(',')).map((item) => item.trim())
  const given = items.filter((item) => item !== '')
  const refusal = countRefusal(given.length, schema)
  if (refusal !== null) return refused(given, refusal)
  const parseOne = scalarParser(schema.items)
  const values: unknown[] = []
  for (const item of given) {
    const result = parseOne(item)
    if (result.kind === 'invalid') return result
    values.push(result.value)
  }
  return valid(values)
}

type Parsed<T> =
  | { readonly kind: 'valid'; readonly value: T; readonly unknownNames: readonly string[] }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** All values are valid, but an alias contradicts its canonical name. */
  | { readonly kind: 'conflict'; readonly detail: string }

/**
 * Compiles a query parser for an object schema, once per route. Properties get the aliases of ALIAS_GROUPS and may have
 * more in `aliases: string[]`. The parser lists all failures in property order.
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
    // The parsers and the schema disagree about a bound, which is a bug.
    if (!check(value)) throw new Error('a parsed query does not match its schema')
    const unknownNames = [...raw.keys()].filter((name) => !names.has(name))
    return { kind: 'valid', value, unknownNames }
  }
  // Result for an empty query, since most requests for one record have no query.
  let ofNone: Parsed<Static<TObject<P>>> | null = null
  return (raw) => {
    if (raw.size > 0) return parse(raw)
    ofNone ??= parse(raw)
    return ofNone
  }
}

/** Lists all failures in property order. */
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

/** Reads one parameter into `value`. Returns the message of a conflict between aliases, or null. */
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
    // Empty values count as absent.
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

// Compiling a check blocks the event loop, and these options shorten it. TypeBox makes valid schemas, so the
// meta-schema is not needed.
const ajv = new Ajv({
  strict: true,
  coerceTypes: false,
  meta: false,
  validateSchema: false,
  messages: false,
  code: { optimize: false },
  keywords: ['aliases', 'hasAliases', 'synonyms', 'isCaseless', 'isSingle'],
})
/** Compiled checks by the JSON of their schema, since many routes share schemas. */
const checks = new Map<string, ValidateFunction>()

/** True if a value fits the schema. A check is compiled on first use, since most servers use only few routes. */
export function compiled<T>(schema: TSchema): (value: unknown) => value is T {
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
