// What we post to webhooks, as the `webhooks` of OpenAPI 3.1: one operation for each event type, with
// the headers of Standard Webhooks and what a receiver's answer means. Not for: the routes that manage
// webhooks (routes/webhooks.ts). Upholds HOOKBODY5.

import type { VenueNames } from '../../engine/ids.ts'
import { EVENT_TYPES, type WebhookEventType } from '../../engine/webhooks/webhook.ts'
import { eventSchemas } from '../webhooks/schemas.ts'
import type { Components, JsonObject } from './schemas-of.ts'

const SUMMARIES: Readonly<Record<WebhookEventType, string>> = {
  'trade.created': 'A trade happened',
  'whale.alert': 'A large trade happened, summed up over its fills',
  'price.changed': 'A price moved away from the one last sent',
  'market.resolved': 'A market was resolved',
  'match.created': 'A market was found to ask the same as one on the other venue',
  'webhook.test': 'Somebody asked for a test',
}

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

/** By event type. */
export function webhookOperations(components: Components, names: VenueNames): JsonObject {
  const schemas = eventSchemas(names)
  return Object.fromEntries(
    EVENT_TYPES.map((type) => {
      const schema = components.named(schemas[type], shapeName(type))
      return [type, { post: operationOf(type, schema) }]
    }),
  )
}

function operationOf(type: WebhookEventType, schema: JsonObject): JsonObject {
  return {
    operationId: `on${pascal(type)}`,
    tags: ['Webhooks'],
    summary: SUMMARIES[type],
    description: DESCRIPTION,
    security: [],
    parameters: Object.entries(HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: Object.fromEntries(
      Object.entries(ANSWERS).map(([status, description]) => [status, { description }]),
    ),
  }
}

function shapeName(type: WebhookEventType): string {
  return `${pascal(type)}Event`
}

function pascal(type: string): string {
  return type.replace(/(?:^|\.)([a-z])/g, (_, first: string) => first.toUpperCase())
}
