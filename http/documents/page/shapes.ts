// Renders schemas: types as text, and fields of records as tables. Fields of an unnamed nested record show their path
// (`legs[].outcome`).

import { isObject, type Json, type JsonObject } from '../schemas-of.ts'
import { line, type Markup, markup, type Part } from './markup.ts'

/** Schemas of a document. `isOnPage`: true if the page has an entry for a schema. */
export interface Shapes {
  readonly all: JsonObject
  readonly isOnPage: (name: string) => boolean
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

export const recordId = (name: string): string => `record-${name}`

export function kind(schema: JsonObject, shapes: Shapes): Markup {
  return markup`${kindOf(schema, shapes)}${boundsOf(schema)}`
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'list',
  object: 'record',
}

function kindOf(schema: JsonObject, shapes: Shapes): Part {
  const { $ref, anyOf, allOf, enum: choices, items } = schema
  if (typeof $ref === 'string') {
    const name = nameOf($ref)
    if (shapes.isOnPage(name)) return markup`<a href="#${recordId(name)}">${name}</a>`
    const shape = shapes.all[name]
    return isObject(shape) ? kindOf(shape, shapes) : name
  }
  if (schema.const !== undefined) return markup`<code>${text(schema.const)}</code>`
  if (Array.isArray(choices)) {
    return joined(
      choices.map((value) => markup`<code>${text(value)}</code>`),
      ', ',
    )
  }
  if (Array.isArray(anyOf)) {
    return joined(
      anyOf.filter(isObject).map((option) => kindOf(option, shapes)),
      ' or ',
    )
  }
  if (Array.isArray(allOf)) {
    return joined(
      allOf.filter(isObject).map((part) => kindOf(part, shapes)),
      ' with ',
    )
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'anything']
  const names = types.map((type): Part => {
    if (type === 'array' && isObject(items)) return markup`list of ${kindOf(items, shapes)}`
    return TYPE_NAMES[text(type)] ?? text(type)
  })
  return joined(names, ' or ')
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, ...rest }: JsonObject): Part {
  const limits: string[] = []
  if (minimum !== undefined && maximum !== undefined)
    limits.push(`${text(minimum)} to ${text(maximum)}`)
  else if (minimum !== undefined) limits.push(`at least ${text(minimum)}`)
  else if (maximum !== undefined) limits.push(`at most ${text(maximum)}`)
  if (minLength !== undefined) limits.push(`at least ${text(minLength)} characters`)
  if (maxLength !== undefined) limits.push(`at most ${text(maxLength)} characters`)
  if (maxItems !== undefined) limits.push(`at most ${text(maxItems)}`)
  const bounds = limits.length === 0 ? null : `, ${limits.join(', ')}`
  const preset =
    rest.default === undefined ? null : markup`; <code>${text(rest.default)}</code> unless given`
  return [bounds, preset]
}

function joined(parts: readonly Part[], between: string): Part {
  return parts.map((part, index) => (index === 0 ? part : [between, part]))
}

/** Returns a string unchanged and any other value as JSON. */
export const text = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

interface Row {
  readonly name: string
  readonly isOptional: boolean
  readonly schema: JsonObject
}

/** Maximum nesting of records that have no entry. */
const DEPTH_MAX = 5

/** Null if the record has no fields. Screen readers announce `title`. */
export function fieldTable(schema: JsonObject, title: string, shapes: Shapes): Markup | null {
  const rows = [...rowsOf(schema, '', shapes, 0)]
  if (rows.length === 0) return null
  return markup`<div class="scroll-x" role="group" tabindex="0" aria-label="Fields of ${title}"><table class="list">
<thead><tr><th scope="col">Field</th><th scope="col">Value</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.map(
    ({
      name,
      isOptional,
      schema: field,
    }) => markup`<tr><th scope="row"><code>${name}</code></th><td>${kind(
      field,
      shapes,
    )}${isOptional ? ', may be absent' : null}</td><td>${
      typeof field.description === 'string' ? line(field.description) : null
    }</td></tr>
`,
  )}</tbody></table></div>`
}

function* rowsOf(
  schema: JsonObject,
  before: string,
  shapes: Shapes,
  depth: number,
): Generator<Row> {
  if (depth > DEPTH_MAX) return
  const shape = typeof schema.$ref === 'string' ? shapes.all[nameOf(schema.$ref)] : schema
  if (!isObject(shape)) return
  for (const keyword of ['allOf', 'anyOf']) {
    const parts = shape[keyword]
    if (!Array.isArray(parts)) continue
    for (const part of parts.filter(isObject)) yield* rowsOf(part, before, shapes, depth + 1)
  }
  const { properties, required } = shape
  if (!isObject(properties)) return
  for (const [field, value] of Object.entries(properties)) {
    if (!isObject(value)) continue
    const name = `${before}${field}`
    const isOptional = !Array.isArray(required) || !required.includes(field)
    yield { name, isOptional, schema: value }
    yield* innerRows(value, name, shapes, depth)
  }
}

/** Rows for the fields of a nested record. Yields no rows if the page has an entry for the record. */
function* innerRows(
  value: JsonObject,
  name: string,
  shapes: Shapes,
  depth: number,
): Generator<Row> {
  const held = isObject(value.items) ? value.items : value
  const inside = isObject(held.additionalProperties) ? held.additionalProperties : held
  const last = isObject(inside.items) ? inside.items : inside
  if (typeof last.$ref === 'string' && shapes.isOnPage(nameOf(last.$ref))) return
  const lists =
    (held === value ? '' : '[]') + (inside === held ? '' : '.…') + (last === inside ? '' : '[]')
  yield* rowsOf(last, `${name}${lists}.`, shapes, depth + 1)
}
