// Webhooks of an account: create, list, read, change, delete, test, rotate the secret, and read deliveries. The webhook
// actor (actors/webhooks) enforces ownership and limits. Another account's webhook is answered as unknown. A read-only
// key sees everything except path and query of the URL.

import { Type } from '@sinclair/typebox'
import type { Caller } from '../../actors/views.ts'
import type { WebhooksView, WebhookView } from '../../actors/webhooks/views.ts'
import { EngineError } from '../../engine/errors.ts'
import type { AccountId } from '../../engine/ids.ts'
import type { CallPolicy } from '../../engine/webhooks/post.ts'
import { DELIVERY_STATUSES } from '../../engine/webhooks/webhook.ts'
import { type Answer, json, nothing } from '../request/reply.ts'
import { bodyRoute, type Method, type Route, type RouteDocument, route } from '../request/route.ts'
import { choice, parameters } from '../schemas.ts'
import {
  deliveryCursor,
  deliveryDetail,
  deliveryNumber,
  deliveryRecord,
  type MarketIds,
  webhookRecord,
} from '../webhooks/records.ts'
import { changeOf, requestOf, webhookBodies } from '../webhooks/requests.ts'
import { webhookDocuments } from '../webhooks/route-documents.ts'
import type { EventDescriptor } from '../webhooks/types/event-type.ts'

const NoQuery = Type.Object({})

const DeliveriesQuery = Type.Object({
  status: Type.Optional(choice(DELIVERY_STATUSES)),
  limit: parameters.limit(200, 50),
  cursor: parameters.cursor(),
})

interface WebhookParts {
  readonly webhooks: WebhooksView
  readonly catalog: MarketIds
  readonly policy: CallPolicy
  readonly types: readonly EventDescriptor[]
}

/** The routes under /v1/webhooks. */
export function webhookRoutes(parts: WebhookParts): readonly Route[] {
  const documents = webhookDocuments(parts.catalog.names, parts.types)
  return [...collectionRoutes(parts, documents), ...deliveryRoutes(parts, documents)]
}

type Documents = ReturnType<typeof webhookDocuments>

const WebhookPath = Type.Object({ webhook_id: Type.String({ pattern: '^wh_[0-9A-Za-z]{1,64}$' }) })

/** Reading requires only the scope `read`. */
function basics(method: Method, pattern: string, document: RouteDocument) {
  const scope = method === 'GET' ? 'read' : 'webhooks'
  const rules = { scope, budget: 'management', isPrivate: true } as const
  return { method, pattern, document, path: WebhookPath, ...rules }
}

const COLLECTION = '/v1/webhooks'
const ONE = `${COLLECTION}/{webhook_id}`
const ONE_DELIVERY = `${ONE}/deliveries/{delivery_id}`

function collectionRoutes(parts: WebhookParts, documents: Documents): readonly Route[] {
  const { webhooks, catalog } = parts
  const bodies = webhookBodies(parts)
  return [
    bodyRoute(
      basics('POST', COLLECTION, documents.create),
      bodies.create,
      async ({ caller, body }) => {
        const made = await webhooks.create(accountOf(caller), requestOf(body, parts))
        return json({ ...webhookRecord(made.webhook, catalog), secret: made.secret }, 201)
      },
    ),
    route(basics('GET', COLLECTION, documents.list), NoQuery, ({ caller }) => {
      const rows = webhooks.list(accountOf(caller)).map((row) => shownTo(caller, row, catalog))
      return json({ webhooks: rows, total: rows.length })
    }),
    route(basics('GET', ONE, documents.read), NoQuery, ({ caller, path }) => {
      const webhook = found(webhooks.get(accountOf(caller), path('webhook_id')))
      return json(shownTo(caller, webhook, catalog))
    }),
    bodyRoute(
      basics('PATCH', ONE, documents.change),
      bodies.change,
      async ({ caller, path, body }) => {
        const [account, id] = [accountOf(caller), path('webhook_id')]
        const webhook = await webhooks.change(account, id, changeOf(body, parts))
        return json(webhookRecord(found(webhook), catalog))
      },
    ),
    route(basics('DELETE', ONE, documents.remove), NoQuery, async ({ caller, path }) => {
      if (await webhooks.remove(accountOf(caller), path('webhook_id'))) return nothing()
      throw unknownWebhook()
    }),
    bodyRoute(
      basics('POST', `${ONE}/rotate-secret`, documents.rotate),
      bodies.rotate,
      async ({ caller, path, body }) => {
        const [account, id] = [accountOf(caller), path('webhook_id')]
        const rotated = await webhooks.rotateSecret(account, id, body.secret ?? null)
        const { webhook, secret } = found(rotated)
        return json({ ...webhookRecord(webhook, catalog), secret })
      },
    ),
  ]
}

function deliveryRoutes({ webhooks }: WebhookParts, documents: Documents): readonly Route[] {
  return [
    route(basics('POST', `${ONE}/test`, documents.test), NoQuery, async ({ caller, path }) => {
      const delivery = await webhooks.test(accountOf(caller), path('webhook_id'))
      return json(deliveryRecord(found(delivery)), 202)
    }),
    route(
      basics('GET', `${ONE}/deliveries`, documents.deliveries),
      DeliveriesQuery,
      ({ caller, path, query }) => {
        return deliveriesPage(webhooks, accountOf(caller), path('webhook_id'), query)
      },
    ),
    route(
      // A receiver's answer is confidential: a read-only key does not see it.
      { ...basics('GET', ONE_DELIVERY, documents.delivery), scope: 'webhooks' },
      NoQuery,
      ({ caller, path }) => {
        const number = deliveryNumber(path('delivery_id'))
        const delivery =
          number === null ? null : webhooks.delivery(accountOf(caller), path('webhook_id'), number)
        if (delivery === null) throw unknownDelivery()
        return json(deliveryDetail(delivery))
      },
    ),
    route(
      basics('POST', `${ONE_DELIVERY}/retry`, documents.retry),
      NoQuery,
      async ({ caller, path }) => {
        const account = accountOf(caller)
        const number = deliveryNumber(path('delivery_id'))
        const delivery =
          number === null ? null : await webhooks.retry(account, path('webhook_id'), number)
        if (delivery === null) throw unknownDelivery()
        return json(deliveryRecord(delivery), 202)
      },
    ),
  ]
}

interface PageQuery {
  readonly status?: (typeof DELIVERY_STATUSES)[number]
  readonly limit: number
  readonly cursor?: string
}

function deliveriesPage(
  webhooks: WebhooksView,
  account: AccountId,
  id: string,
  { status, limit, cursor }: PageQuery,
): Answer {
  const before = cursor === undefined ? null : deliveryCursor(cursor)
  if (cursor !== undefined && before === null) {
    throw new EngineError('BAD_REQUEST', 'the cursor is none of this list')
  }
  // One extra delivery shows whether there are more.
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

/** Path and query of a URL often authorize the caller, so read-only keys do not see them. */
function shownTo(caller: Caller | null, webhook: WebhookView, catalog: MarketIds) {
  const record = webhookRecord(webhook, catalog)
  if (caller?.scopes.includes('webhooks') === true) return record
  return { ...record, url: `${new URL(record.url).origin}/…` }
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

function accountOf(caller: Caller | null): AccountId {
  if (caller === null) throw new Error('the wrapper admits no request without a caller')
  return caller.accountId
}
