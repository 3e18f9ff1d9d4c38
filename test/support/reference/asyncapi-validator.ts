// Validates messages with ajv (JSON Schema 2020-12, strict). Rejects properties that the document does not name.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../../http/documents/schemas-of.ts'

const BASE = 'asyncapi://schemas/'

export class AsyncapiValidator {
  /** By the message's name in the document: `updateMessage`, `subscribeCommand`. */
  readonly #validators = new Map<string, ValidateFunction>()
  readonly names: readonly string[]

  constructor(document: JsonObject) {
    const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true })
    const components = objectOf(document.components)
    for (const [name, schema] of Object.entries(objectOf(components.schemas))) {
      ajv.addSchema(objectOf(closed(schema)), `${BASE}${name}`)
    }
    for (const [name, message] of Object.entries(objectOf(components.messages))) {
      const payload = objectOf(closed(objectOf(message).payload ?? {}))
      this.#validators.set(name, ajv.compile(payload))
    }
    this.names = [...this.#validators.keys()]
  }

  /** Returns the problem of a message with this name as a sentence, or null. */
  problem(name: string, message: unknown): string | null {
    const validate = this.#validators.get(name)
    if (validate === undefined) return `${name} is not in the document`
    if (validate(message)) return null
    const wrong = (validate.errors ?? []).map(({ instancePath, message: why, params }) => {
      return `${instancePath} ${why} ${JSON.stringify(params)}`
    })
    return `${name}: ${wrong.join('; ')} in ${JSON.stringify(message).slice(0, 300)}`
  }
}

function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((part: Json) => closed(part))
  if (!isObject(schema)) return schema
  const out: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$ref') out.$ref = String(value).replace(/^.*\//, BASE)
    else out[keyword] = closed(value)
  }
  const isClosable = out.properties !== undefined && out.additionalProperties === undefined
  return isClosable && out.type === 'object' ? { ...out, additionalProperties: false } : out
}

export function objectOf(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new Error(`${JSON.stringify(value)} is no object`)
  return value
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
