// The `webhooks` section of the OpenAPI 3.1 document: one operation per event type, with the headers of
// Standard Webhooks.

import type { VenueTable } from '../../engine/venue-table.ts'
import { eventSchema } from '../webhooks/schemas.ts'
import type { EventDescriptor } from '../webhooks/types/event-type.ts'
import type { Components, Json, JsonObject } from './schemas-of.ts'

const DESCRIPTION = `Posted at least once, in no promised order, with the same bytes and the same \`webhook-id\` at every
attempt. Verify the signature over \`id.timestamp.body\` with a library of Standard Webhooks 1.0.0, then
answer within 15 s and do the work later.`

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Of the event: the same at every attempt, by which a repeat is known.',
  'webhook-timestamp': 'Unix seconds of the attempt.',
  'webhook-signature':
    'A `v1,` signature; in the day after a rotation one of each secret, with spaces between them.',
}

const ANSWERS: Readonly<Record<string, string>> = {
  '2XX': 'Received.',
  '3XX': 'A failure: redirects are not followed.',
  '410': 'The webhook is disabled at once.',
  default: 'A failure: it is posted again later, after `Retry-After` if that is given.',
}

/** Operations by event type. */
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
    description: `${DESCRIPTION} ${filterText}`,
    security: [],
    parameters: Object.entries(HEADERS).map(([name, description]) => ({
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
      Object.entries(ANSWERS).map(([status, description]) => [status, { description }]),
    ),
  }
}

function jsonOf(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}

function pascal(type: string): string {
  return type.replace(/(?:^|\.)([a-z])/g, (_, first: string) => first.toUpperCase())
}
