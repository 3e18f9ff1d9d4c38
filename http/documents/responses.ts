// Documents the responses of a route by status, including the responses of handle.ts and of validation in route.ts.

import type { TSchema } from '@sinclair/typebox'
import { bodyBytesMax } from '../../engine/limits.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { Route } from '../request/route.ts'
import { DetailSchema, ProblemsSchema } from '../schemas.ts'
import { type Examples, refusalExample } from './examples.ts'
import { shapeName } from './names.ts'
import { type Components, type JsonObject, sentence } from './schemas-of.ts'

export interface DocumentParts {
  readonly components: Components
  readonly examples: Examples
  readonly names: VenueTable
}

interface DocumentedAnswer {
  readonly status: number
  /** Describes when the route returns the status. */
  readonly condition: string
}

/** In ascending order of status. */
export function documentedAnswers(route: Route): readonly DocumentedAnswer[] {
  const { document, access, isCounted, scope, hasBody } = route
  const { refusals = {} } = document
  const conditions = new Map<number, string[]>()
  const add = (status: number, condition: string | undefined) => {
    if (condition === undefined) return
    conditions.set(status, [...(conditions.get(status) ?? []), condition])
  }
  const success = document.status ?? 200
  add(success, success === 204 ? 'done' : document.summary)
  if (document.isNamed === true)
    add(304, '`If-None-Match` matches the `ETag`: the client has the current answer')
  add(400, refusals[400])
  add(400, badRequest(route))
  add(401, unauthorized(access))
  add(401, refusals[401])
  if (scope !== 'read') add(403, `an API key without the scope \`${scope}\``)
  add(403, refusals[403])
  add(404, refusals[404])
  add(409, refusals[409])
  add(405, 'the path does not accept the method; `Allow` lists the accepted ones')
  if (hasBody) add(413, `a body of more than ${bodyBytesMax} bytes`)
  if (canBeInvalid(route)) add(422, 'parameters or fields that fail validation, all of them listed')
  if (isCounted) add(429, 'a quota is exhausted; `Retry-After` gives the delay')
  add(429, refusals[429])
  add(500, 'internal error')
  add(426, refusals[426])
  add(503, refusals[503])
  add(
    503,
    'too many requests wait, or the answer was not ready in time; `Retry-After` gives the delay',
  )
  return [...conditions]
    .sort(([one], [two]) => one - two)
    .map(([status, texts]) => ({ status, condition: texts.join('; ') }))
}

function badRequest({ querySchema, hasBody }: Route): string {
  const causes = ['malformed percent-encoding']
  if (hasBody) causes.push('a body that is not UTF-8 or does not arrive')
  const properties = Object.values(querySchema.properties)
  if (properties.some(({ aliases }) => Array.isArray(aliases) && aliases.length > 0)) {
    causes.push('an alias that contradicts its parameter')
  }
  return causes.join(', or ')
}

function unauthorized(access: Route['access']): string | undefined {
  if (access === 'public') return undefined
  return access === 'token'
    ? 'no login token, or not a valid one'
    : 'no API key, or not a valid one'
}

/** Validation cannot fail if all parameters are text without bounds. */
function canBeInvalid({ querySchema, pathSchema, hasBody }: Route): boolean {
  const parameters = [
    ...Object.values(querySchema.properties),
    ...Object.values(pathSchema.properties),
  ]
  return hasBody || parameters.some(isBounded)
}

function isBounded(schema: TSchema): boolean {
  if (schema.type !== 'string') return true
  return ['minLength', 'maxLength', 'pattern'].some((bound) => schema[bound] !== undefined)
}

const ANY_OTHER = { description: 'The stream itself, as `/asyncapi.json` describes it.' }

const ON_EVERY_ANSWER = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Cache-Control',
] as const

export function responses(route: Route, operation: string, parts: DocumentParts): JsonObject {
  const documented = documentedAnswers(route).map(({ status, condition }) => {
    const content = contentOf(route, status, operation, parts)
    const headers = headersOf(route, status)
    const response = { description: sentence(condition), headers }
    return [String(status), content === null ? response : { ...response, content }] as const
  })
  // Linters require a success response and do not accept status 101.
  const rest = route.document.status === 101 ? [['default', ANY_OTHER] as const] : []
  return Object.fromEntries([...documented, ...rest])
}

function contentOf(
  { document }: Route,
  status: number,
  operation: string,
  { components, examples }: DocumentParts,
): JsonObject | null {
  if (status === 304) return null
  if (status >= 400) {
    const schema = status === 422 ? ProblemsSchema : DetailSchema
    const content = { schema: components.schema(schema), examples: refusalExample(status) }
    return { 'application/json': content }
  }
  if (document.answer !== null) {
    const shape = shapeName(operation, 'Answer')
    const schema = components.named(document.answer, shape, document.summary)
    const example = examples.body(shape, schema)
    const content = { schema, ...(example === undefined ? {} : { example }) }
    return { [document.contentTypes?.[0] ?? 'application/json']: content }
  }
  const { contentTypes } = document
  if (contentTypes === undefined) return null
  const contents = contentTypes.map((contentType) => {
    const example = examples.text(operation, contentType)
    const content = { schema: { type: 'string' }, ...(example === undefined ? {} : { example }) }
    return [contentType, content] as const
  })
  return Object.fromEntries(contents)
}

function headersOf({ document, hasBody, isPrivate }: Route, status: number): JsonObject {
  const names: string[] = [...ON_EVERY_ANSWER]
  if (status === 429 || status === 503) names.push('Retry-After')
  if (status === 405) names.push('Allow')
  if (status === 426) names.push('Upgrade')
  // An upgraded connection has no documented headers.
  if (status === 101) return {}
  const isSuccess = status < 400
  if (isSuccess && document.isNamed === true) names.push('ETag')
  const hasContent = document.answer !== null || document.contentTypes !== undefined
  // Private responses are not compressed, because the compressed length would reveal content.
  if (status === 200 && hasContent && !isPrivate) names.push('Content-Encoding', 'Vary')
  // X-Unknown-Parameters is sent only by routes that parse their query.
  if ((isSuccess && !hasBody) || status === 426) names.push('X-Unknown-Parameters')
  const shared = names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const)
  const own = Object.entries(isSuccess ? (document.headers ?? {}) : {}).map(([name, meaning]) => {
    return [name, { description: sentence(meaning), schema: { type: 'string' } }] as const
  })
  return Object.fromEntries([...shared, ...own])
}
