import type { Static } from '@sinclair/typebox'
import type { CatalogView } from '../../actors/views.ts'
import type { DeliveryDetail, DeliveryView, WebhookView } from '../../actors/webhooks/views.ts'
import { type TimeMs, toNumber, toSeconds } from '../../engine/units.ts'
import { POST_HEADERS } from '../../engine/webhooks/post.ts'
import type { ReceiverAnswer } from '../../engine/webhooks/webhook.ts'
import type { DeliveryDetailSchema, DeliverySchema, WebhookSchema } from './schemas.ts'

type WebhookRecord = Static<typeof WebhookSchema>
type DeliveryRecord = Static<typeof DeliverySchema>
type DeliveryDetailRecord = Static<typeof DeliveryDetailSchema>

export function webhookRecord(webhook: WebhookView, catalog: MarketIds): WebhookRecord {
  const { names } = catalog
  const { filters } = webhook
  const { created, delivered, exhausted, dropped, pending } = webhook.counts
  return {
    id: webhook.id,
    url: webhook.format === 'standard' ? webhook.url : hiddenUrl(webhook.url),
    format: webhook.format,
    event_types: [...webhook.eventTypes],
    filters: {
      // Earlier versions stored ids in lower case.
      market_ids: filters.marketIds?.map((id) => canonicalId(id, catalog)) ?? null,
      platform: filters.venue === null ? null : names.platform(filters.venue),
      wallets: filters.wallets && [...filters.wallets],
      taker_wallets: filters.takerWallets && [...filters.takerWallets],
      min_usd: filters.minUsd === null ? null : toNumber(filters.minUsd),
      min_change: filters.minChange === null ? null : toNumber(filters.minChange),
      min_profit_usd: filters.minProfit === null ? null : toNumber(filters.minProfit),
      min_edge: filters.minEdge === null ? null : toNumber(filters.minEdge),
      min_age_ms: filters.minAgeMs,
      side: filters.side,
      event_slugs: filters.eventSlugs && [...filters.eventSlugs],
      categories: filters.categories && [...filters.categories],
      taker_side: filters.takerSide,
    },
    description: webhook.description,
    active: webhook.isActive,
    disabled_reason: webhook.disabledReason,
    verified: webhook.isVerified,
    created_at: toSeconds(webhook.createdAtMs),
    failing_since: secondsOrNull(webhook.failingSinceMs),
    previous_secret_until: secondsOrNull(webhook.previousSecretUntilMs),
    counts: { created, delivered, exhausted, dropped, pending },
    throttled: webhook.throttledCount,
  }
}

/** A URL without its path and query, which often authorize the caller. */
export const hiddenUrl = (url: string): string => `${new URL(url).origin}/…`

export type MarketIds = Pick<CatalogView, 'find' | 'names'>

/** A market id in the letter case of the API. If the market is unknown, the venue's rule determines the case. */
export function canonicalId(id: string, catalog: MarketIds): string {
  const market = catalog.find(id)
  if (market !== null) return market.ref.id
  const parts = catalog.names.split(id)
  return parts === null ? id : catalog.names.marketId(parts.venue, parts.native)
}

export function deliveryRecord(delivery: DeliveryView): DeliveryRecord {
  const { last } = delivery
  return {
    id: `dlv_${delivery.number}`,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.status,
    created_at: toSeconds(delivery.createdAtMs),
    next_attempt_at: secondsOrNull(delivery.dueAtMs),
    attempts: delivery.attempts,
    last_attempt:
      last === null
        ? null
        : {
            at: toSeconds(last.atMs),
            duration_ms: Math.round(last.durationMs),
            status: last.status,
            error: last.error,
          },
  }
}

/** A single delivery: posted body, headers without the signature, and the response. */
export function deliveryDetail(delivery: DeliveryDetail): DeliveryDetailRecord {
  const { createdAtMs, eventId, format, last, body } = delivery
  const atMs = last?.atMs ?? null
  const sent = atMs === null ? {} : { 'webhook-timestamp': String(toSeconds(atMs)) }
  const identified = format === 'standard' ? { 'webhook-id': eventId, ...sent } : {}
  return {
    ...deliveryRecord(delivery),
    created_at_ms: createdAtMs,
    attempted_at_ms: atMs,
    request: {
      headers: { ...POST_HEADERS, ...identified },
      body: Buffer.from(body).toString('utf8'),
    },
    response: last?.answer === undefined ? null : answerRecord(last.answer),
  }
}

const answerRecord = ({ headers, body, isCut }: ReceiverAnswer) => ({
  headers: Object.fromEntries(headers),
  body: Buffer.from(body).toString('utf8'),
  is_cut: isCut,
})

/** Delivery numbers have 32 bits. */
const NUMBER_MAX = 0xffff_ffff

/** Null if the id is invalid. */
export function deliveryNumber(id: string): number | null {
  return id.startsWith('dlv_') ? deliveryCursor(id.slice('dlv_'.length)) : null
}

/** A list cursor is the number of the previous page's last delivery. Null if it is invalid. */
export function deliveryCursor(cursor: string): number | null {
  const number = /^[1-9]\d{0,9}$/.test(cursor) ? Number(cursor) : NUMBER_MAX + 1
  return number <= NUMBER_MAX ? number : null
}

function secondsOrNull(time: TimeMs | null): number | null {
  return time === null ? null : toSeconds(time)
}
