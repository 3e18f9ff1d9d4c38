// Problems of requests in the style of pydantic 2. An error repeats at most 256 characters of a rejected input, without
// secrets. Otherwise the error for a missing e-mail would repeat the password.

import type { TSchema } from '@sinclair/typebox'

export interface Refusal {
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** An item of `detail` in a 422 answer. */
export interface Problem {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly input: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

export const MISSING: Refusal = { type: 'missing', msg: 'Field required' }

/** `input`: the part of the value that may be repeated in the answer. */
export function problemOf({ type, msg, ctx }: Refusal, loc: Problem['loc'], input: unknown) {
  const problem: Problem = { type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) }
  return problem
}

/** The texts of an enumeration schema, or null for another schema. */
export function choicesOf(schema: TSchema): readonly string[] | null {
  if (schema.const !== undefined) return [String(schema.const)]
  const options: unknown = schema.anyOf
  if (!Array.isArray(options)) return null
  return options.map((option: TSchema) => String(option.const))
}

export function choiceRefusal(choices: readonly string[]): Refusal {
  const quoted = choices.map((choice) => `'${choice}'`)
  const last = quoted[quoted.length - 1] ?? ''
  const expected = quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} or ${last}`
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } }
}

/** Null if the number is valid. The upper bound is checked first, as in pydantic. NaN fails the first check. */
export function boundRefusal(value: number, { maximum, minimum }: TSchema): Refusal | null {
  const most: unknown = maximum
  if (typeof most === 'number' && !(value <= most)) {
    const msg = `Input should be less than or equal to ${most}`
    return { type: 'less_than_equal', msg, ctx: { le: most } }
  }
  const least: unknown = minimum
  if (typeof least === 'number' && !(value >= least)) {
    const msg = `Input should be greater than or equal to ${least}`
    return { type: 'greater_than_equal', msg, ctx: { ge: least } }
  }
  return null
}

export function lengthRefusal(isShort: boolean, limit: number): Refusal {
  const unit = limit === 1 ? 'character' : 'characters'
  const msg = `String should have at ${isShort ? 'least' : 'most'} ${limit} ${unit}`
  return isShort
    ? { type: 'string_too_short', msg, ctx: { min_length: limit } }
    : { type: 'string_too_long', msg, ctx: { max_length: limit } }
}

export function textRefusal(text: string, schema: TSchema): Refusal | null {
  const least: unknown = schema.minLength
  const most: unknown = schema.maxLength
  const hasBound = least !== undefined || most !== undefined
  // The length is counted in code points, so that an emoji is one character.
  const length = hasBound && text.length > 1 ? Array.from(text).length : text.length
  if (typeof least === 'number' && length < least) return lengthRefusal(true, least)
  if (typeof most === 'number' && length > most) return lengthRefusal(false, most)
  const pattern: unknown = schema.pattern
  if (typeof pattern === 'string' && !new RegExp(pattern).test(text)) {
    const msg = `String should match pattern '${pattern}'`
    return { type: 'string_pattern_mismatch', msg, ctx: { pattern } }
  }
  return null
}

export function countRefusal(count: number, { maxItems, minItems }: TSchema): Refusal | null {
  const most: unknown = maxItems
  if (typeof most === 'number' && count > most) {
    const msg = `List should have at most ${most} items after validation, not ${count}`
    const ctx = { field_type: 'List', max_length: most, actual_length: count }
    return { type: 'too_long', msg, ctx }
  }
  const least: unknown = minItems
  if (typeof least === 'number' && count < least) {
    const items = least === 1 ? 'item' : 'items'
    const msg = `List should have at least ${least} ${items} after validation, not ${count}`
    const ctx = { field_type: 'List', min_length: least, actual_length: count }
    return { type: 'too_short', msg, ctx }
  }
  return null
}

/** Maximum characters that are repeated of one input. JSON punctuation does not count. */
const CHARACTERS_MAX = 256
const ITEMS_MAX = 128
const DEPTH_MAX = 3
/** A text of at most this length cannot be a secret. */
const HARMLESS_CHARACTERS = 4
const SECRET = /pass|pas?w|psw|pwd|secret|token|key|auth|credential/i
/** Matches a text that contains a field with a secret name, as in nested JSON or in form data. */
const SECRET_INSIDE =
  /(?:pass|pas?w|psw|pwd|secret|token|key|auth|credential)\w*(?:\\*["'])?\s*[:=]|bearer\s/i
/** Matches the beginning of an API key, a webhook secret or a JWT. */
const SECRET_VALUE = /pmk_\w|whsec_\w|eyJ[\w-]{5}|\/bot\d|\/api\/webhooks\/|hooks\.slack/i
const REDACTED = '[redacted]'

export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

interface Budget {
  characters: number
}

interface Place {
  /** Name of the field that holds the value, or ''. */
  readonly name: string
  readonly depth: number
}

/**
 * The value as an error may repeat it. `name` is the name of its field, or '' for a body or an unknown field. `known`:
 * field names of a body with secrets. An error repeats the values of known fields; all other texts must be too short
 * for a secret. Null: the body has no secrets.
 */
export function echo(value: unknown, name = '', known: readonly string[] | null = null): unknown {
  const depth = known === null || name === '' ? 0 : 1
  return repeat(value, { name, depth }, known, { characters: CHARACTERS_MAX })
}

function repeat(
  value: unknown,
  { name, depth }: Place,
  known: readonly string[] | null,
  budget: Budget,
): unknown {
  if (isSecretName(name) && value !== null && value !== undefined) {
    return repeatText(REDACTED, budget)
  }
  if (typeof value === 'string') {
    const isHidden = known !== null && name === '' && value.length > HARMLESS_CHARACTERS
    return repeatText(isHidden ? REDACTED : value, budget)
  }
  if (typeof value !== 'object' || value === null) return repeatPlain(value, budget)
  if (depth >= DEPTH_MAX) return repeatText('…', budget)
  const inside = (item: unknown, field = '') =>
    repeat(item, { name: field, depth: depth + 1 }, known, budget)
  if (Array.isArray(value)) return repeatList(value, budget, inside)
  const copy: Record<string, unknown> = {}
  const entries = Object.entries(value).filter(([key]) => known?.includes(key) !== false)
  for (const [key, item] of entries.slice(0, ITEMS_MAX)) {
    if (budget.characters <= 0) break
    copy[repeatText(key, budget)] = inside(item, key)
  }
  return copy
}

function repeatList(
  items: readonly unknown[],
  budget: Budget,
  repeatItem: (item: unknown) => unknown,
): unknown[] {
  const copy: unknown[] = []
  for (const item of items) {
    if (budget.characters <= 0 || copy.length === ITEMS_MAX) break
    copy.push(repeatItem(item))
  }
  // An empty list or object also counts as one character, so that nesting cannot exceed the limit.
  if (copy.length === 0) budget.characters -= 1
  return copy
}

function repeatPlain(value: unknown, budget: Budget): unknown {
  const length = String(value).length
  // A truncated number would be a different number.
  if (length > budget.characters) return repeatText('…', budget)
  budget.characters -= length
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Scans only the repeated part, so that a long text costs no more than a short text. */
function repeatText(text: string, budget: Budget): string {
  const shown = cut(text, Math.max(budget.characters, 0))
  const isSecret = SECRET_INSIDE.test(shown) || SECRET_VALUE.test(shown)
  const repeated = isSecret ? REDACTED : shown
  budget.characters -= Math.max(1, repeated.length)
  return repeated
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  return Array.from(text.slice(0, characters * 2))
    .slice(0, characters)
    .join('')
}
