// Builds the OpenAPI 3.1 document from the route definitions that also validate and handle requests.

import { KindGuard, type TSchema } from '@sinclair/typebox'
import type { VenueTable } from '../../engine/venue-table.ts'
import { type Access, type Parameters, ROUTE_GROUPS, type Route } from '../request/route.ts'
import type { EventDescriptor } from '../webhooks/types/event-type.ts'
import { EVENTS } from '../webhooks/types/event-types.ts'
import { constants } from './constants.ts'
import { Examples, refusalExamples } from './examples.ts'
import { fieldMeanings, PARAMETER_MEANINGS } from './field-meanings.ts'
import { groupMeaning, groupName, INTERFACE_VERSION, operationId, shapeName } from './names.ts'
import { type DocumentParts, responses } from './responses.ts'
import { Components, isObject, type JsonObject, sentence } from './schemas-of.ts'
import { webhookOperations } from './webhook-posts.ts'

export interface SpecificationFacts {
  /** Version of the software. The interface has its own version. */
  readonly version: string
  readonly names: VenueTable
  /** Default: all event types. */
  readonly eventTypes?: readonly EventDescriptor[]
}

/** Equal input gives an equal document. Throws if two routes have the same operation id. */
export function openapi(routes: readonly Route[], facts: SpecificationFacts): JsonObject {
  const components = new Components(undefined, { meaningOf: fieldMeanings(facts.names) })
  const examples = new Examples(facts.names, components)
  const paths: Record<string, JsonObject> = {}
  const operations = new Set<string>()
  for (const route of routes.filter(isListed)) {
    const operation = operationId(route, facts.names)
    if (operations.has(operation)) throw new Error(`two operations are named ${operation}`)
    operations.add(operation)
    const method = route.method.toLowerCase()
    const written = operationOf(route, operation, { components, examples, names: facts.names })
    paths[route.pattern] = { ...paths[route.pattern], [method]: written }
  }
  const webhooks = webhookOperations(components, facts.names, facts.eventTypes ?? EVENTS)
  const groups = new Set(routes.map(({ document }) => document.group))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Twinbook',
      version: INTERFACE_VERSION,
      'x-service-version': facts.version,
      description: constants.rest.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    tags: ROUTE_GROUPS.filter((group) => groups.has(group)).map((group) => {
      const { names } = facts
      return { name: groupName(group, names), description: groupMeaning(group, names) }
    }),
    paths,
    webhooks,
    components: {
      schemas: components.all,
      headers: constants.rest.headers,
      examples: refusalExamples(),
      securitySchemes: constants.rest.securitySchemes,
    },
  }
}

export const isListed = ({ document }: Route): boolean => document.isListed !== false

export function openapiText(routes: readonly Route[], facts: SpecificationFacts): string {
  return JSON.stringify(openapi(routes, facts))
}

const SECURITY: Readonly<Record<Access, readonly JsonObject[]>> = {
  public: [],
  caller: [{ ApiKey: [] }, { Bearer: [] }],
  token: [{ Bearer: [] }],
  upgrade: [{ ApiKey: [] }, { Bearer: [] }],
}

function operationOf(route: Route, operation: string, parts: DocumentParts): JsonObject {
  const { document, bodySchema } = route
  const { description, summary, group } = document
  const parameters = [
    ...parametersOf('path', route.pathSchema, operation, parts),
    ...parametersOf('query', route.querySchema, operation, parts),
    ...(route.document.isNamed === true ? [constants.rest.ifNoneMatch] : []),
  ]
  return {
    operationId: operation,
    tags: [groupName(group, parts.names)],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[route.access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(bodySchema === null ? {} : { requestBody: bodyOf(route, bodySchema, operation, parts) }),
    responses: responses(route, operation, parts),
  }
}

function bodyOf(
  { isBodyOptional, document }: Route,
  schema: TSchema,
  operation: string,
  { components, examples: made }: DocumentParts,
): JsonObject {
  const shape = components.named(schema, shapeName(operation, 'Body'), document.summary)
  const body = made.body(shapeName(operation, 'Body'), shape)
  const named = Object.entries(document.bodyExamples ?? (isObject(body) ? { example: body } : {}))
  const examples = Object.fromEntries(named.map(([name, value]) => [name, { value }]))
  return {
    required: !isBodyOptional,
    content: { 'application/json': { schema: shape, examples } },
  }
}

function parametersOf(
  location: 'path' | 'query',
  { properties }: Parameters,
  operation: string,
  { components, examples }: DocumentParts,
): readonly JsonObject[] {
  return Object.entries(properties).map(([name, property]) => {
    const { description: own, ...schema } = components.schema(property)
    const isOptional = KindGuard.IsOptional(property) || property.default !== undefined
    const example = examples.parameter(operation, name, schema)
    return {
      name,
      in: location,
      required: location === 'path' || !isOptional,
      description: described(name, typeof own === 'string' ? own : undefined, property),
      schema,
      ...(example === undefined ? {} : { example }),
    }
  })
}

/** Adds separators and aliases, which the schema cannot express. */
function described(name: string, own: string | undefined, schema: TSchema): string {
  const meaning = own ?? PARAMETER_MEANINGS[name] ?? name.replaceAll('_', ' ')
  const parts = [sentence(meaning)]
  if (schema.type === 'array') parts.push('Separated by commas, or repeated.')
  const aliases: unknown = schema.aliases
  if (Array.isArray(aliases) && aliases.length > 0) {
    const quoted = aliases.map((alias) => `\`${String(alias)}\``).join(', ')
    parts.push(`${aliases.length === 1 ? 'Alias' : 'Aliases'}: ${quoted}.`)
  }
  return parts.join(' ')
}
