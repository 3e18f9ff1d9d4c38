// The event type `webhook.test`: the account requested a test delivery.

import { Type } from '@sinclair/typebox'
import { type EventDescriptor, PLAIN_TYPE } from './event-type.ts'

const WebhookTestSchema = Type.Object({ webhook_id: Type.String(), message: Type.String() })

const MESSAGE = 'This is a test: the webhook works.'

export const webhookTest: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'webhook.test',
  shortNames: ['test', 'webhook_test'],
  summary: 'A test was asked for',
  filters: [],
  updateKinds: [],
  isManual: true,
  happenings: () => [],
  shapes: { WebhookTestSchema },
  data: () => WebhookTestSchema,
  example: () => ({ webhook_id: 'wh_1b2c', message: MESSAGE }),
  write(cause) {
    if (cause.kind !== 'test') return null
    const { webhook, timeMs } = cause
    return { timeMs, data: JSON.stringify({ webhook_id: webhook, message: MESSAGE }) }
  },
}
