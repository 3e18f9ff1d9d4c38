// Problems of requests in the style of pydantic 2, for query text (parameter.ts) and body values (body-problems.ts).

import type { TSchema } from '@sinclair/typebox'

/** A problem without its location and input. */
export interface Refusal {
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** An item of the `detail` of a 422. */
export interface Problem {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly input: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

export const MISSING: Refusal = { type: 'missing', msg: 'Field required' }

/** `input`: the part of the value that may be repeated. */
export function problemOf({ type, msg, ctx }: Refusal, loc: Problem['loc'], input: unknown) {
  const problem: Problem = { type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) }
  return problem
}

/** The texts of an enumeration schema; null for any other. */
export function choicesOf(schema: TSchema): readonly string[] | null {
  if (schema.const !== undefined) return [String(schema.const)]
  const options: unknown = schema.anyOf
  if (!Array.isArray(options)) return null
  return options.map((option: TSchema) => String(option.const))
}

/** The message for a value that is none of the choices. */
export function choiceRefusal(choices: readonly string[]): Refusal {
  const quoted = choices.map((choice) => `'${choice}'`)
  const last = quoted[quoted.length - 1] ?? ''
  const expected = quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} or ${last}`
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } }
}

/**
 * The message for a number outside its schema's bounds; null inside. Pydantic compares with the upper bound first, and
 * NaN fails the first comparison.
 */
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

/** The message for a text that is too short or too long. */
export function lengthRefusal(isShort: boolean, limit: number): Refusal {
  const unit = limit === 1 ? 'character' : 'characters'
  const msg = `String should have at ${isShort ? 'least' : 'most'} ${limit} ${unit}`
  return isShort
    ? { type: 'string_too_short', msg, ctx: { min_length: limit } }
    : { type: 'string_too_long', msg, ctx: { max_length: limit } }
}

/** The message for a text whose length or pattern is invalid; null if valid. */
export function textRefusal(text: string, schema: TSchema): Refusal | null {
  const least: unknown = schema.minLength
  const most: unknown = schema.maxLength
  const hasBound = least !== undefined || most !== undefined
  // Lengths count code points: an emoji is one character.
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

/** The message for a list with an invalid number of items; null if valid. */
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
