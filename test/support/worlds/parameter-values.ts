// Valid and invalid values of a parameter, generated from its schema: bounds and their neighbours, every choice, and
// wrong types.

import type { TSchema } from '@sinclair/typebox'

/** Values as text before percent-encoding. */
export interface ParameterValues {
  /** Contains at least one value. The first is the sample, if there is one. */
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

/** Throws if the schema has a pattern and `sample` is missing. */
export function valuesOf(name: string, schema: TSchema, sample?: string): ParameterValues {
  const made = valuesOfType(name, schema, sample)
  const valid = sample === undefined ? made.valid : [sample, ...made.valid]
  if (valid.length === 0) throw new Error(`no valid value is known for ${name}: give a sample`)
  // An empty text would mean that the parameter is omitted.
  const isGiven = (text: string) => text !== ''
  return { valid: [...new Set(valid)].filter(isGiven), invalid: made.invalid.filter(isGiven) }
}

function valuesOfType(name: string, schema: TSchema, sample: string | undefined): ParameterValues {
  const options: unknown = schema.anyOf
  if (Array.isArray(options)) return choices(options.map((option: TSchema) => String(option.const)))
  if (schema.const !== undefined) return choices([String(schema.const)])
  if (schema.type === 'integer') return integers(schema)
  if (schema.type === 'number') return numbers(schema)
  if (schema.type === 'boolean') return BOOLEANS
  if (schema.type === 'array') return lists(name, schema, sample)
  if (schema.type === 'string') return texts(schema, sample)
  throw new TypeError(`no values are known for ${name} of type ${String(schema.type)}`)
}

const NOT_NUMBERS = ['abc', '', 'true', '0x10', '1,5', '1__0', '_1', '٣', 'null', '[1]', '1 2']
const BOOLEANS: ParameterValues = {
  valid: ['true', 'false', '1', '0', 'yes', 'no', 'TRUE', 'off'],
  invalid: ['', '2', 'maybe', 'null', ' true'],
}

function choices(names: readonly string[]): ParameterValues {
  const [first = ''] = names
  const shouted = first.toUpperCase() === first ? first.toLowerCase() : first.toUpperCase()
  const wrong = ['', 'none-of-them', ` ${first}`, `${first},${first}`, shouted]
  return { valid: names, invalid: wrong.filter((text) => !names.includes(text)) }
}

function integers({ minimum, maximum }: TSchema): ParameterValues {
  const valid = new Set<string>()
  const invalid = [...NOT_NUMBERS, '1.5', '1e2', 'Infinity', 'NaN', '1e400']
  if (typeof minimum === 'number') {
    valid
      .add(String(minimum))
      .add(String(minimum + 1))
      .add(`${minimum}.0`)
    invalid.push(String(minimum - 1), '-999999999999999999999')
  } else valid.add('-1').add('0')
  if (typeof maximum === 'number') {
    valid
      .add(String(maximum))
      .add(String(maximum - 1))
      .add(` ${maximum} `)
    invalid.push(String(maximum + 1), '999999999999999999999')
  } else valid.add('12345')
  return { valid: [...valid], invalid }
}

function numbers({ minimum, maximum }: TSchema): ParameterValues {
  const tiny = ['1.5', '1e-400']
  const isAllowed = (text: string) => !(Number(text) < minimum) && !(Number(text) > maximum)
  const valid = new Set<string>(tiny.filter(isAllowed))
  const invalid = [...NOT_NUMBERS, 'Infinity', '-inf', 'NaN', '1e400']
  if (typeof minimum === 'number') {
    valid.add(String(minimum)).add(String(minimum + 0.5))
    invalid.push(String(minimum - 0.000001), String(minimum - 1))
  }
  if (typeof maximum === 'number') {
    valid.add(String(maximum)).add(String(maximum - 0.5))
    invalid.push(String(maximum + 0.01), String(maximum + 1))
  } else valid.add('1e300')
  return { valid: [...valid], invalid }
}

function texts(schema: TSchema, sample: string | undefined): ParameterValues {
  const { minLength, maxLength, pattern } = schema
  if (typeof pattern === 'string') {
    const accepted = new RegExp(pattern)
    const wrong = ['', '!', ' ', '😀', `${sample ?? ''}!`, 'x'.repeat(5_000)]
    return { valid: [], invalid: wrong.filter((text) => !accepted.test(text)) }
  }
  const valid: string[] = []
  const invalid: string[] = []
  if (typeof minLength === 'number') {
    valid.push('a'.repeat(minLength), 'é'.repeat(minLength))
    if (minLength > 0) invalid.push('a'.repeat(minLength - 1), '😀'.repeat(minLength - 1))
  } else valid.push('a', '')
  if (typeof maxLength === 'number') {
    valid.push('a'.repeat(maxLength), '😀'.repeat(maxLength))
    invalid.push('a'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1))
  }
  return { valid, invalid }
}

/** Uses only the first item of `sample`. */
function lists(name: string, schema: TSchema, sample: string | undefined): ParameterValues {
  const item = sample?.split(',')[0]
  const items: TSchema = schema.items
  const { valid: good, invalid: bad } = valuesOf(`an item of ${name}`, items, item)
  // The server trims items and splits them at commas. Other texts would not be tested as items.
  const isItem = (text: string) => text.trim() === text && text !== '' && !text.includes(',')
  const valid = good.filter(isItem)
  const invalid = bad.filter(isItem)
  const [first = ''] = valid
  const many = (count: number) => Array.from({ length: count }, () => first).join(',')
  const { minItems, maxItems } = schema
  const lengths = {
    valid: typeof maxItems === 'number' ? [many(maxItems), `,${first},,`] : [`,${first},,`],
    invalid: typeof maxItems === 'number' ? [many(maxItems + 1)] : [],
  }
  if (typeof minItems === 'number' && minItems > 0) {
    lengths.valid.push(many(minItems))
    lengths.invalid.push(many(minItems - 1), ',,')
  }
  return { valid: [...valid, ...lengths.valid], invalid: [...invalid, ...lengths.invalid] }
}
