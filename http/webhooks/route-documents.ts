// Specification texts and example bodies of the webhook routes, with the configured venue names.

import type { VenueTable } from '../../engine/venue-table.ts'
import type { RouteDocument } from '../request/route.ts'
import { webhookShapes } from './schemas.ts'
import type { EventDescriptor } from './types/event-type.ts'

const FILTERS = `An event is sent when it passes every filter that is given. A filter that is left out, or null, lets
every event pass. \`min_usd\` and \`side\` are facts of trades and whales, \`wallets\` and \`taker_wallets\` too, \`min_change\` concerns
\`price.changed\` alone, \`min_profit_usd\`, \`min_edge\` and \`min_age_ms\` are what an opportunity has come to
since it opened: an event without the fact does not pass.`

const CREATE = `${FILTERS} The answer shows the secret, this once; with it every post is signed by Standard
Webhooks 1.0.0. \`price.changed\` compares with the price last sent to this webhook; the first one seen is
only remembered. At most 25 webhooks an account. With the tier \`free\`, \`trade.created\` needs at least one of \`market_ids\`,
\`event_slugs\`, \`wallets\`, \`taker_wallets\` and \`min_usd\` above 0. The webhooks of an account together have 5 deliveries
a second with the tier \`free\`, 50 with \`pro\`: more wait for up to a minute, further ones are dropped and counted as \`throttled\`.`

const TO_READERS =
  'To a key without the scope `webhooks` the path and query of its `url` are shown as `…`.'

const NEEDS_FILTER = 'the tier has `trade.created` with a filter alone'
const UNKNOWN = 'the account has no such webhook'
const UNKNOWN_DELIVERY = 'the account has no such webhook, or the webhook no such delivery'

/** Keyed by what a route does. */
export function webhookDocuments(names: VenueTable, types: readonly EventDescriptor[]) {
  const shapes = webhookShapes(types.map(({ name }) => name))
  return {
    create: {
      group: 'Webhooks',
      summary: 'Make a webhook; its secret is shown this once',
      description: CREATE,
      answer: shapes.WebhookWithSecretSchema,
      status: 201,
      refusals: { 400: `the account has as many webhooks as it may, or ${NEEDS_FILTER}` },
      bodyExamples: createExamples(names),
    },
    list: {
      group: 'Webhooks',
      summary: "The account's webhooks, oldest first",
      description: TO_READERS,
      answer: shapes.WebhooksSchema,
    },
    read: {
      group: 'Webhooks',
      summary: 'A webhook, with the counts of its deliveries',
      description: TO_READERS,
      answer: shapes.WebhookSchema,
      refusals: { 404: UNKNOWN },
    },
    change: {
      group: 'Webhooks',
      summary: 'Change a webhook',
      description: `What is left out stays; \`filters\` are replaced as a whole. \`active\` false pauses: nothing new is made for the webhook, and what waits is kept for 72 hours and posted once it is true again. True also ends a disabling, after which \`disabled_reason\` is null.`,
      answer: shapes.WebhookSchema,
      refusals: { 400: NEEDS_FILTER, 404: UNKNOWN },
      bodyExamples: {
        pause: { active: false },
        narrow: { event_types: ['trade.created'], filters: { min_usd: 1000, side: 'buy' } },
      },
    },
    remove: {
      group: 'Webhooks',
      summary: 'Delete a webhook; nothing is posted any more',
      answer: null,
      status: 204,
      refusals: { 404: UNKNOWN },
    },
    rotate: {
      group: 'Webhooks',
      summary: 'Replace the secret; the old one signs as well for 24 hours',
      description:
        'Posts carry a signature of each secret in that time, of the newest nine when it is rotated more often. A body is not needed.',
      answer: shapes.WebhookWithSecretSchema,
      refusals: { 404: UNKNOWN },
      bodyExamples: { made: {} },
    },
    ...deliveryDocuments(shapes),
  } satisfies Record<string, RouteDocument>
}

const deliveryDocuments = (shapes: ReturnType<typeof webhookShapes>) =>
  ({
    test: {
      group: 'Webhooks',
      summary: 'Post a `webhook.test` event, whatever types the webhook has',
      description:
        'It goes the way of every event, and is posted while the webhook is inactive too; its delivery says what came of it.',
      answer: shapes.DeliverySchema,
      status: 202,
      refusals: { 404: UNKNOWN },
    },
    deliveries: {
      group: 'Webhooks',
      summary: "A webhook's deliveries, newest first",
      description:
        'An event that fails is posted again after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, then it is `exhausted`. `dropped` ones were given up earlier: too old, too many, or the webhook was inactive for 72 hours. Finished ones are kept for a week, the newest 1,000 of a webhook.',
      answer: shapes.DeliveriesSchema,
      refusals: { 400: 'a foreign cursor', 404: UNKNOWN },
    },
    delivery: {
      group: 'Webhooks',
      summary: 'A delivery with what was posted and what the receiver answered',
      description:
        'The request as it is posted, but for its signature; of the last answer the first 2,048 bytes and headers that hold no secret.',
      answer: shapes.DeliveryDetailSchema,
      refusals: { 404: UNKNOWN_DELIVERY },
    },
    retry: {
      group: 'Webhooks',
      summary: 'Post a delivery again now, finished or not',
      description:
        'The same event with the same id and bytes, also while the webhook is inactive; when it fails, the schedule begins anew.',
      answer: shapes.DeliverySchema,
      status: 202,
      refusals: { 404: UNKNOWN_DELIVERY },
    },
  }) satisfies Record<string, RouteDocument>

function createExamples(names: VenueTable) {
  const url = 'https://example.com/hooks/markets'
  return {
    whales: {
      url,
      event_types: ['whale.alert'],
      filters: { min_usd: 25_000, categories: ['Politics'] },
      description: 'large trades in politics',
    },
    prices: {
      url,
      event_types: ['price.changed', 'market.resolved'],
      filters: {
        market_ids: [names.exampleId],
        min_change: 0.02,
      },
    },
    wallet: {
      url,
      event_types: ['trade.created'],
      filters: {
        platform: (names.walletVenue ?? names.first).name,
        wallets: [`0x${'a1'.repeat(20)}`],
      },
    },
  }
}
