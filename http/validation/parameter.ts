// A query parameter: its names, and a parser made from its TypeBox schema. It accepts and rejects what pydantic 2 does,
// with the same messages. Text is checked by patterns instead of JavaScript's Number, which accepts `0x10`, `1e2` and
// blanks as integers.

import type { TSchema } from '@sinclair/typebox'
import { echo } from './echo.ts'
import {
  boundRefusal,
  choiceRefusal,
  choicesOf,
  countRefusal,
  type Refusal,
  textRefusal,
} from './refusals.ts'

type Result =
  | { readonly kind: 'valid'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly refusal: Refusal; readonly input: unknown }

export interface Parameter {
  readonly name: string
  /** The canonical name first, then its aliases. */
  readonly names: readonly string[]
  readonly isRequired: boolean
  /** Exactly one id: several are rejected, also under an alias, which may be a plural. */
  readonly isSingle: boolean
  readonly fallback: unknown
  /** Parses all values given under one name; a scalar takes the last. */
  parse(texts: readonly string[]): Result
  /** A canonical text, equal for equivalent values. It serves to compare a name with its alias. */
  meaning(value: unknown): string
}

/** Reads a property's schema. Throws for unsupported kinds of schema, which is a bug. */
export function parameterOf(name: string, schema: TSchema, isRequired: boolean): Parameter {
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

/** A schema may declare equivalent values (`synonyms`, value to value) or case-insensitivity (`isCaseless`). */
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

/** The value, unless there is a refusal. */
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
  // Both bounds together reject non-finite numbers; otherwise a separate check is needed.
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

/** Rejects several comma-separated ids where one is expected; null: there is one. */
function severalIds(schema: TSchema, texts: readonly string[]): Result | null {
  if (schema.isSingle !== true) return null
  const last = (texts[texts.length - 1] ?? '').split(',').map((item) => item.trim())
  const given = [...new Set(last)].filter((item) => item !== '')
  const refusal = given.length < 2 ? null : countRefusal(given.length, { ...schema, maxItems: 1 })
  return refusal === null ? null : refused(given, refusal)
}

/** Repeated names and comma-separated values form one list. Empty items are dropped. */
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
