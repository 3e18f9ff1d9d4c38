// Webhooks of an account. The webhook actor enforces ownership and limits. Another account's webhook is answered like
// an unknown webhook.

import { type Static, Type } from '@sinclair/typebox'
import type { Caller } from '../../actors/views.ts'
import type { WebhooksView, WebhookView } from '../../actors/webhooks/views.ts'
import { EngineError } from '../../engine/errors.ts'
import type { AccountId } from '../../engine/ids.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { CHAT_FORMATS } from '../../engine/webhooks/chat-message.ts'
import type { CallPolicy } from '../../engine/webhooks/post.ts'
import { DELIVERY_STATUSES } from '../../engine/webhooks/webhook.ts'
import { type Answer, json, nothing } from '../request/reply.ts'
import { accountOf, bodyRoute, type Route, route } from '../request/route.ts'
import { choice, parameters } from '../schemas.ts'
import {
  deliveryCursor,
  deliveryDetail,
  deliveryNumber,
  deliveryRecord,
  hiddenUrl,
  type MarketIds,
  webhookRecord,
} from '../webhooks/records.ts'
import { changeOf, requestOf, webhookBodies } from '../webhooks/requests.ts'
import { webhookShapes } from '../webhooks/schemas.ts'
import type { EventDescriptor } from '../webhooks/types/event-type.ts'

const FILTERS = `An event is sent when it passes every filter that is given. A filter that is left out, or null, lets
every event pass. \`min_usd\` and \`side\` are facts of trades and whales, \`wallets\` and \`taker_wallets\` too, \`min_change\` concerns
\`price.changed\` alone, \`min_profit_usd\`, \`min_edge\` and \`min_age_ms\` are what an opportunity has come to
since it opened: an event without the fact does not pass.`

const CREATE = `${FILTERS} The answer shows the secret, this once; with it every post is signed by Standard
Webhooks 1.0.0. \`price.changed\` compares with the price last sent to this webhook; the first one seen is
only remembered. At most 25 webhooks an account. With the tier \`free\`, \`trade.created\` needs at least one of \`market_ids\`,
\`event_slugs\`, \`wallets\`, \`taker_wallets\` and \`min_usd\` above 0. The webhooks of an account together have 5 deliveries
a second with the tier \`free\`, 50 with \`pro\`: more wait for up to a minute, further ones are dropped and counted as \`throttled\`.

A webhook with \`format\` slack, discord or telegram posts chat messages to that service: at most one a second (Slack, a Telegram chat),
30 a minute (Discord) or 20 a minute (a Telegram group). Events that wait for the next message form one message. These posts are not
signed. The \`url\` is a secret and is never shown again.`

const TO_READERS =
  'Path and query of its `url` are shown as `…` to a key without the scope `webhooks`, and to everybody if the webhook has a chat format.'

const NEEDS_FILTER = 'the tier has `trade.created` with a filter alone'
const UNKNOWN = 'the account has no such webhook'
const UNKNOWN_DELIVERY = 'the account has no such webhook, or the webhook no such delivery'

interface WebhookParts {
  readonly webhooks: WebhooksView
  readonly catalog: MarketIds
  readonly policy: CallPolicy
  readonly types: readonly EventDescriptor[]
}

const DeliveriesQuery = Type.Object({
  status: Type.Optional(choice(DELIVERY_STATUSES)),
  limit: parameters.limit(200, 50),
  cursor: parameters.cursor(),
})

const PreviewQuery = Type.Object({
  format: choice(CHAT_FORMATS, { description: 'The chat service.' }),
  event_type: Type.Optional(
    Type.String({
      maxLength: 64,
      default: 'whale.alert',
      description: 'The type of the example event.',
    }),
  ),
})

const READ = {
  group: 'Webhooks',
  path: Type.Object({ webhook_id: Type.String({ pattern: '^wh_[0-9A-Za-z]{1,64}$' }) }),
  budget: 'management',
  isPrivate: true,
} as const
const WRITE = { ...READ, scope: 'webhooks' } as const
const EXAMPLE_TIME = '2026-11-21T04:00:00.000Z'
const ONE = '/v1/webhooks/{webhook_id}'
const ONE_DELIVERY = `${ONE}/deliveries/{delivery_id}`

export function webhookRoutes(parts: WebhookParts): readonly Route[] {
  return [...collectionRoutes(parts), ...changingRoutes(parts), ...deliveryRoutes(parts)]
}

function collectionRoutes(parts: WebhookParts): readonly Route[] {
  const { webhooks, catalog, types } = parts
  const shapes = webhookShapes(types.map(({ name }) => name))
  return [
    bodyRoute(
      'POST /v1/webhooks',
      {
        ...WRITE,
        summary: 'Make a webhook; its secret is shown this once',
        description: CREATE,
        body: webhookBodies(parts).create,
        answer: shapes.WebhookWithSecretSchema,
        status: 201,
        refusals: {
          400: `the account has as many webhooks as it may, ${NEEDS_FILTER}, or the \`url\` has no Telegram chat`,
        },
        bodyExamples: createExamples(catalog.names),
      },
      async ({ caller }, body) => {
        const made = await webhooks.create(accountOf(caller), requestOf(body, parts))
        return json({ ...webhookRecord(made.webhook, catalog), secret: made.secret }, 201)
      },
    ),
    route(
      'GET /v1/webhooks',
      {
        ...READ,
        summary: "The account's webhooks, oldest first",
        description: TO_READERS,
        answer: shapes.WebhooksSchema,
      },
      ({ caller }) => {
        const rows = webhooks.list(accountOf(caller)).map((row) => shownTo(caller, row, catalog))
        return json({ webhooks: rows, total: rows.length })
      },
    ),
    route(
      'GET /v1/webhooks/preview',
      {
        group: 'Webhooks',
        budget: 'management',
        isPrivate: true,
        summary: 'The message that a webhook of a chat format posts for an example event',
        description:
          'A message for several events has at most ten of them, those with the largest amounts first.',
        query: PreviewQuery,
        answer: shapes.WebhookPreviewSchema,
      },
      (_, { format, event_type: name = 'whale.alert' }) => {
        const type = types.find((one) => one.name === name || one.shortNames.includes(name))
        if (type === undefined) {
          const names = types.map((one) => one.name).join(', ')
          throw new EngineError('BAD_REQUEST', `event_type is one of ${names}`)
        }
        const data = type.example(catalog.names)
        const event = { type: type.name, timestamp: EXAMPLE_TIME, data }
        const message = webhooks.chatMessage(format, Buffer.from(JSON.stringify(event)))
        const body: unknown = JSON.parse(Buffer.from(message).toString('utf8'))
        return json({ format, event_type: type.name, body })
      },
    ),
    route(
      `GET ${ONE}`,
      {
        ...READ,
        summary: 'A webhook, with the counts of its deliveries',
        description: TO_READERS,
        answer: shapes.WebhookSchema,
        refusals: { 404: UNKNOWN },
      },
      ({ caller, path }) => {
        const webhook = found(webhooks.get(accountOf(caller), path('webhook_id')))
        return json(shownTo(caller, webhook, catalog))
      },
    ),
  ]
}

function changingRoutes(parts: WebhookParts): readonly Route[] {
  const { webhooks, catalog, types } = parts
  const bodies = webhookBodies(parts)
  const shapes = webhookShapes(types.map(({ name }) => name))
  return [
    bodyRoute(
      `PATCH ${ONE}`,
      {
        ...WRITE,
        summary: 'Change a webhook',
        description: `What is left out stays; \`filters\` are replaced as a whole. \`active\` false pauses: nothing new is made for the webhook, and what waits is kept for 72 hours and posted once it is true again. True also ends a disabling, after which \`disabled_reason\` is null.`,
        body: bodies.change,
        answer: shapes.WebhookSchema,
        refusals: { 400: `${NEEDS_FILTER}, or the \`url\` has no Telegram chat`, 404: UNKNOWN },
        bodyExamples: {
          pause: { active: false },
          narrow: { event_types: ['trade.created'], filters: { min_usd: 1000, side: 'buy' } },
        },
      },
      async ({ caller, path }, body) => {
        const [account, id] = [accountOf(caller), path('webhook_id')]
        const webhook = await webhooks.change(account, id, changeOf(body, parts))
        return json(webhookRecord(found(webhook), catalog))
      },
    ),
    route(
      `DELETE ${ONE}`,
      {
        ...WRITE,
        summary: 'Delete a webhook; nothing is posted any more',
        answer: null,
        status: 204,
        refusals: { 404: UNKNOWN },
      },
      async ({ caller, path }) => {
        if (await webhooks.remove(accountOf(caller), path('webhook_id'))) return nothing()
        throw unknownWebhook()
      },
    ),
    bodyRoute(
      `POST ${ONE}/rotate-secret`,
      {
        ...WRITE,
        summary: 'Replace the secret; the old one signs as well for 24 hours',
        description:
          'Posts carry a signature of each secret in that time, of the newest nine when it is rotated more often. A body is not needed.',
        body: bodies.rotate,
        answer: shapes.WebhookWithSecretSchema,
        refusals: { 404: UNKNOWN },
        bodyExamples: { made: {} },
      },
      async ({ caller, path }, body) => {
        const [account, id] = [accountOf(caller), path('webhook_id')]
        const rotated = await webhooks.rotateSecret(account, id, body.secret ?? null)
        const { webhook, secret } = found(rotated)
        return json({ ...webhookRecord(webhook, catalog), secret })
      },
    ),
  ]
}

function deliveryRoutes({ webhooks, types }: WebhookParts): readonly Route[] {
  const shapes = webhookShapes(types.map(({ name }) => name))
  return [
    route(
      `POST ${ONE}/test`,
      {
        ...WRITE,
        summary: 'Post a `webhook.test` event, whatever types the webhook has',
        description:
          'It goes the way of every event, and is posted while the webhook is inactive too; its delivery says what came of it.',
        answer: shapes.DeliverySchema,
        status: 202,
        refusals: { 404: UNKNOWN },
      },
      async ({ caller, path }) => {
        const delivery = await webhooks.test(accountOf(caller), path('webhook_id'))
        return json(deliveryRecord(found(delivery)), 202)
      },
    ),
    route(
      `GET ${ONE}/deliveries`,
      {
        ...READ,
        summary: "A webhook's deliveries, newest first",
        description:
          'An event that fails is posted again after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, then it is `exhausted`. `dropped` ones were given up earlier: too old, too many, or the webhook was inactive for 72 hours. Finished ones are kept for a week, the newest 1,000 of a webhook.',
        query: DeliveriesQuery,
        answer: shapes.DeliveriesSchema,
        refusals: { 400: 'a foreign cursor', 404: UNKNOWN },
      },
      ({ caller, path }, query) =>
        deliveriesPage(webhooks, accountOf(caller), path('webhook_id'), query),
    ),
    route(
      `GET ${ONE_DELIVERY}`,
      {
        // Requires the write scope, since the receiver's answer is confidential.
        ...WRITE,
        summary: 'A delivery with what was posted and what the receiver answered',
        description:
          'The request as it is posted, but for its signature; of the last answer the first 2,048 bytes and headers that hold no secret.',
        answer: shapes.DeliveryDetailSchema,
        refusals: { 404: UNKNOWN_DELIVERY },
      },
      ({ caller, path }) => {
        const number = deliveryNumber(path('delivery_id'))
        const account = accountOf(caller)
        const delivery =
          number === null ? null : webhooks.delivery(account, path('webhook_id'), number)
        if (delivery === null) throw unknownDelivery()
        return json(deliveryDetail(delivery))
      },
    ),
    route(
      `POST ${ONE_DELIVERY}/retry`,
      {
        ...WRITE,
        summary: 'Post a delivery again now, finished or not',
        description:
          'The same event with the same id and bytes, also while the webhook is inactive; when it fails, the schedule begins anew.',
        answer: shapes.DeliverySchema,
        status: 202,
        refusals: { 404: UNKNOWN_DELIVERY },
      },
      async ({ caller, path }) => {
        const number = deliveryNumber(path('delivery_id'))
        const account = accountOf(caller)
        const delivery =
          number === null ? null : await webhooks.retry(account, path('webhook_id'), number)
        if (delivery === null) throw unknownDelivery()
        return json(deliveryRecord(delivery), 202)
      },
    ),
  ]
}

function deliveriesPage(
  webhooks: WebhooksView,
  account: AccountId,
  id: string,
  { status, limit, cursor }: Static<typeof DeliveriesQuery>,
): Answer {
  const before = cursor === undefined ? null : deliveryCursor(cursor)
  if (cursor !== undefined && before === null) {
    throw new EngineError('BAD_REQUEST', 'the cursor is none of this list')
  }
  // One more delivery reveals whether there is another page.
  const wanted = { status: status ?? null, before, limit: limit + 1 }
  const rows = found(webhooks.deliveries(account, id, wanted))
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return json({
    deliveries: shown.map(deliveryRecord),
    cursor: last === undefined ? null : String(last.number),
    has_more: last !== undefined,
  })
}

/** Hides path and query of the URL from read-only keys, since they often authorize the caller. */
function shownTo(caller: Caller | null, webhook: WebhookView, catalog: MarketIds) {
  const record = webhookRecord(webhook, catalog)
  if (caller?.scopes.includes('webhooks') === true) return record
  return { ...record, url: hiddenUrl(webhook.url) }
}

function found<T>(value: T | null): T {
  if (value === null) throw unknownWebhook()
  return value
}

function unknownWebhook(): EngineError {
  return new EngineError('NOT_FOUND', 'no such webhook')
}

function unknownDelivery(): EngineError {
  return new EngineError('NOT_FOUND', 'no such webhook or delivery')
}

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
    telegram: {
      url: 'https://api.telegram.org/bot1234567:token/sendMessage?chat_id=-1001234567890',
      format: 'telegram',
      event_types: ['whale.alert', 'arbitrage.opened'],
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
