// Stored webhooks and deliveries with defaults, and a reference outbox.

import { accountId, webhookId } from '../../../engine/ids.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type {
  Delivery,
  DeliveryStatus,
  StoredDelivery,
  Webhook,
  WebhookFilters,
} from '../../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../../storage/contract/storage.ts'
import type { AttemptKind } from '../../../storage/contract/webhooks.ts'
import { NOON_MS } from './stored.ts'

export const NO_FILTERS: WebhookFilters = {
  marketIds: null,
  venue: null,
  wallets: null,
  takerWallets: null,
  minUsd: null,
  minChange: null,
  minProfit: null,
  minEdge: null,
  minAgeMs: null,
  side: null,
  takerSide: null,
  eventSlugs: null,
  categories: null,
}

export const ALL_FILTERS: WebhookFilters = {
  marketIds: ['venue_a_one', 'venue_b_two'],
  venue: 'b',
  wallets: ['0xaa'],
  takerWallets: ['0xbb'],
  minUsd: usdMicros(9_007_199_254_740_991),
  minChange: priceMicros(50_000),
  minProfit: usdMicros(5_000_000),
  minEdge: priceMicros(12_345),
  minAgeMs: 3_600_000,
  side: 'sell',
  takerSide: 'buy',
  eventSlugs: [],
  categories: ['politics', 'é'],
}

export function webhook(id: string, changes: Partial<Webhook> = {}): Omit<Webhook, 'number'> {
  return {
    id: webhookId(`wh_${id}`),
    accountId: accountId('acc_one'),
    url: `https://example.com/${id}`,
    format: 'standard',
    eventTypes: ['trade.created', 'webhook.test'],
    filters: NO_FILTERS,
    description: null,
    isActive: true,
    disabledReason: null,
    isVerified: true,
    createdAtMs: timeMs(NOON_MS),
    secret: 'c2VhbGVk',
    previousSecrets: [],
    ...changes,
  }
}

type NewDelivery = Parameters<OutboxTable['create']>[1]

export function newDelivery(eventId: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return {
    eventId,
    eventType: 'trade.created',
    createdAtMs: timeMs(NOON_MS),
    dueAtMs: timeMs(NOON_MS),
    body: Buffer.from(`{"type":"trade.created","id":"${eventId}"}`),
    ...changes,
  }
}

/** Returns only texts and numbers, so that deliveries can be compared. */
export function plain(delivery: Delivery | StoredDelivery | null): unknown {
  if (delivery === null) return null
  const { number, eventId, eventType, createdAtMs, status, dueAtMs, attempts, last } = delivery
  const body = 'body' in delivery ? { body: Buffer.from(delivery.body).toString('hex') } : {}
  return { number, eventId, eventType, createdAtMs, status, dueAtMs, attempts, last, ...body }
}

/** Reference implementation of one webhook's outbox. A removed delivery stays in the array with a mark. */
export class NaiveBox {
  readonly rows: { delivery: StoredDelivery; isGone: boolean }[] = []

  create({ eventId, eventType, createdAtMs, dueAtMs, body }: NewDelivery): StoredDelivery | null {
    if (this.stored().some((one) => one.eventId === eventId)) return null
    const number = this.rows.length + 1
    const rest = { status: 'pending', attempts: 0, last: null } as const
    const delivery = { number, eventId, eventType, createdAtMs, dueAtMs, body, ...rest }
    this.rows.push({ delivery, isGone: false })
    return delivery
  }

  update(change: Delivery): void {
    const row = this.rows[change.number - 1]
    if (row === undefined || row.isGone) return
    const { status, dueAtMs, attempts, last } = change
    row.delivery = { ...row.delivery, status, dueAtMs, attempts, last }
  }

  stored(): readonly StoredDelivery[] {
    return this.rows.filter(({ isGone: isRemoved }) => !isRemoved).map(({ delivery }) => delivery)
  }

  due(variant: AttemptKind): readonly { dueAtMs: number; number: number }[] {
    return this.stored()
      .filter(
        ({ status, attempts }) => status === 'pending' && attempts > 0 === (variant === 'retry'),
      )
      .flatMap(({ dueAtMs, number }) => (dueAtMs === null ? [] : [{ dueAtMs, number }]))
      .sort((one, other) => one.dueAtMs - other.dueAtMs || one.number - other.number)
  }

  list(status: DeliveryStatus | null): readonly StoredDelivery[] {
    return this.stored()
      .filter((one) => status === null || one.status === status)
      .reverse()
  }

  counts() {
    const counts = { created: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0 }
    for (const { delivery } of this.rows) {
      counts.created += 1
      counts[delivery.status] += 1
    }
    return counts
  }

  /** Returns true if more than `rowsMax` rows had to be removed. */
  prune(limits: { finishedMax: number; beforeMs: number; rowsMax: number }): boolean {
    let removed = 0
    for (;;) {
      const finished = this.rows.filter((row) => !row.isGone && row.delivery.status !== 'pending')
      const [oldest] = finished
      if (oldest === undefined) return false
      const isOld = oldest.delivery.createdAtMs < limits.beforeMs
      if (!isOld && finished.length <= limits.finishedMax) return false
      if (removed === limits.rowsMax) return true
      oldest.isGone = true
      removed += 1
    }
  }
}
