// Validates responses with ajv (JSON Schema 2020-12, strict). Status, body and headers must be documented, without
// further properties.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../../http/documents/schemas-of.ts'

interface ValidatedResponse {
  readonly method: string
  /** As in the document's `paths`. */
  readonly pattern: string
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly isHead?: boolean
}

interface DocumentedResponse {
  readonly headers: readonly string[]
  readonly mediaTypes: readonly string[]
  readonly validate: ValidateFunction | null
}

/** By operation (`GET /v1/markets`) and status. */
type DocumentedResponses = ReadonlyMap<string, ReadonlyMap<number, DocumentedResponse>>

/** Test files in one process share a document. */
const cached = new Map<string, DocumentedResponses>()
const BASE = 'document://schemas/'
const RATE = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Throws if the document's schemas are invalid. */
export class OpenapiValidator {
  readonly #responses: DocumentedResponses

  constructor(document: JsonObject) {
    const text = JSON.stringify(document)
    this.#responses = cached.get(text) ?? responsesOf(document)
    cached.set(text, this.#responses)
  }

  /** Throws if the operation is not documented. */
  statuses(method: string, pattern: string): readonly number[] {
    return [...this.#of(method, pattern).keys()]
  }

  /** Returns the problem as a sentence, or null. */
  problem(checked: ValidatedResponse): string | null {
    const { method, pattern, status } = checked
    const response = this.#of(method, pattern).get(status)
    if (response === undefined) return `status ${status} is not documented`
    return headerProblem(checked, response) ?? bodyProblem(checked, response)
  }

  #of(method: string, pattern: string): ReadonlyMap<number, DocumentedResponse> {
    const responses = this.#responses.get(`${method} ${pattern}`)
    if (responses === undefined) throw new Error(`${method} ${pattern} is not in the document`)
    return responses
  }
}

function responsesOf(document: JsonObject): DocumentedResponses {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true })
  const schemas = objectOf(objectOf(document.components).schemas)
  for (const [name, schema] of Object.entries(schemas)) {
    ajv.addSchema(objectOf(open(schema)), `${BASE}open/${name}`)
    ajv.addSchema(objectOf(closed(schema)), `${BASE}closed/${name}`)
  }
  const operations = new Map<string, Map<number, DocumentedResponse>>()
  for (const [pattern, path] of Object.entries(objectOf(document.paths))) {
    for (const [method, operation] of Object.entries(objectOf(path))) {
      const responses = new Map<number, DocumentedResponse>()
      for (const [status, response] of Object.entries(objectOf(objectOf(operation).responses))) {
        if (status !== 'default') responses.set(Number(status), documented(objectOf(response), ajv))
      }
      operations.set(`${method.toUpperCase()} ${pattern}`, responses)
    }
  }
  return operations
}

function documented(response: JsonObject, ajv: Ajv2020): DocumentedResponse {
  const headers = Object.keys(objectOf(response.headers)).map((name) => name.toLowerCase())
  // All media types of a response have the same schema.
  const content = objectOf(response.content)
  const [first] = Object.values(content)
  if (first === undefined) return { headers, mediaTypes: [], validate: null }
  const schema = objectOf(closed(objectOf(first).schema ?? {}))
  return { headers, mediaTypes: Object.keys(content), validate: ajv.compile(schema) }
}

/** Checks the rate headers, the status's required headers, and that custom headers are documented. */
function headerProblem(
  { status, headers }: ValidatedResponse,
  response: DocumentedResponse,
): string | null {
  if (status === 101) return null
  for (const name of RATE) {
    if (!/^\d+$/.test(headers.get(name) ?? '')) return `${name} is ${headers.get(name)}`
  }
  if (status === 429 || status === 503) {
    const wait = headers.get('retry-after') ?? ''
    if (!/^[1-9]\d*$/.test(wait)) return `retry-after is ${wait}`
  }
  if (status === 405 && !/^[A-Z]+(, [A-Z]+)*$/.test(headers.get('allow') ?? '')) return 'no Allow'
  if (headers.get('x-content-type-options') !== 'nosniff') return 'the type may be sniffed'
  for (const name of headers.keys()) {
    const isOurs = name.startsWith('x-') && name !== 'x-content-type-options'
    if (isOurs && !response.headers.includes(name)) return `the header ${name} is not documented`
  }
  return null
}

function bodyProblem(
  checked: ValidatedResponse,
  { mediaTypes, validate }: DocumentedResponse,
): string | null {
  const { headers, body, isHead = false } = checked
  if (validate === null) return body === '' ? null : 'a body where none belongs'
  const type = headers.get('content-type') ?? ''
  const isOfType = mediaTypes.some((mediaType) =>
    new RegExp(`^${mediaType.replace('*', '[a-z]+')}(?:;|$)`).test(type),
  )
  if (!isOfType) return `the type is ${type}, not ${mediaTypes.join(' or ')}`
  if (isHead) return body === '' ? null : 'HEAD with a body'
  const value: unknown = mediaTypes.includes('application/json') ? JSON.parse(body) : body
  if (validate(value)) return null
  const [error] = validate.errors ?? []
  const extra = JSON.stringify(error?.params)
  return `${error?.instancePath} ${error?.message} ${extra}: ${body.slice(0, 300)}`
}

/** For parts of a composition, which must accept the properties of the other parts. */
function open(schema: Json): Json {
  return rewritten(schema, 'open')
}

/** Rejects properties that the schema does not name. */
function closed(schema: Json): Json {
  return rewritten(schema, 'closed')
}

function rewritten(schema: Json, variant: 'open' | 'closed'): Json {
  if (Array.isArray(schema)) return schema.map((part: Json) => rewritten(part, variant))
  if (!isObject(schema)) return schema
  const out: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$ref') out.$ref = String(value).replace(/^.*\//, `${BASE}${variant}/`)
    else out[keyword] = rewritten(value, keyword === 'allOf' ? 'open' : variant)
  }
  if (variant === 'open') return out
  if (schema.allOf !== undefined) out.unevaluatedProperties = false
  else if (isObject(schema.properties) && schema.type === 'object') {
    out.additionalProperties ??= false
  }
  return out
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
