// Builds the `webhooks` section of the OpenAPI 3.1 document. Each event type is an operation with the headers of
// Standard Webhooks.

import type { VenueTable } from '../../engine/venue-table.ts'
import { eventSchema } from '../webhooks/schemas.ts'
import type { EventDescriptor } from '../webhooks/types/event-type.ts'
import { constants } from './constants.ts'
import type { Components, Json, JsonObject } from './schemas-of.ts'

export function webhookOperations(
  components: Components,
  names: VenueTable,
  types: readonly EventDescriptor[],
): JsonObject {
  const operations = types.map((type) => {
    const schema = components.named(
      eventSchema(type, names),
      `${pascal(type.name)}Event`,
      type.summary,
    )
    return [type.name, { post: operationOf(type, schema, names) }] as const
  })
  return Object.fromEntries(operations)
}

function operationOf(
  { name, summary, filters, example }: EventDescriptor,
  schema: JsonObject,
  names: VenueTable,
): JsonObject {
  const named = filters.map((filter) => `\`${filter}\``).join(', ')
  const filterText = filters.length === 0 ? 'No filter concerns it.' : `Its filters: ${named}.`
  const value = jsonOf({ type: name, timestamp: '2025-11-21T04:40:00.000Z', data: example(names) })
  return {
    operationId: `on${pascal(name)}`,
    tags: ['Webhooks'],
    summary,
    description: `${constants.webhooks.description} ${filterText}`,
    security: [],
    parameters: Object.entries(constants.webhooks.headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, examples: { event: { value } } } },
    },
    responses: Object.fromEntries(
      Object.entries(constants.webhooks.answers).map(([status, description]) => [
        status,
        { description },
      ]),
    ),
  }
}

function jsonOf(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}

function pascal(type: string): string {
  return type.replace(/(?:^|\.)([a-z])/g, (_, first: string) => first.toUpperCase())
}
