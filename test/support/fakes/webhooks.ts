// Webhooks send nothing. Tests and the method `test` create deliveries, which do not change.

import type {
  DeliveryDetail,
  DeliveryView,
  WebhookChange,
  WebhookRequest,
  WebhooksView,
  WebhookView,
} from '../../../actors/webhooks/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import { EngineError } from '../../../engine/errors.ts'
import { type AccountId, webhookId } from '../../../engine/ids.ts'
import { DAY_MS, type TimeMs, timeMs } from '../../../engine/units.ts'
import type { ChatFormat } from '../../../engine/webhooks/chat-message.ts'
import type { Delivery, DeliveryStatus } from '../../../engine/webhooks/webhook.ts'

export const BODY = '{"type":"trade.created","data":{}}'

interface FakeWebhook {
  webhook: Omit<WebhookView, 'counts'>
  secret: string
  /** In order of creation. The delivery with number n is at index n - 1. */
  readonly deliveries: Delivery[]
}

export class FakeWebhooks implements WebhooksView {
  /** Webhooks by id, in order of creation. */
  readonly rows = new Map<string, FakeWebhook>()
  readonly #clock: Clock
  countMax = 25
  #made = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  list(account: AccountId): readonly WebhookView[] {
    const rows = [...this.rows.values()].filter(({ webhook }) => webhook.accountId === account)
    return rows.map(viewOf)
  }

  get(account: AccountId, id: string): WebhookView | null {
    const row = this.#find(account, id)
    return row === null ? null : viewOf(row)
  }

  async create(account: AccountId, request: WebhookRequest) {
    if (this.list(account).length >= this.countMax) {
      throw new EngineError('BAD_REQUEST', `an account may have ${this.countMax} webhooks`)
    }
    this.#made += 1
    const { url, format, eventTypes, filters, description } = request
    const secret = request.secret ?? this.#secret()
    const webhook = {
      id: webhookId(`wh_${this.#made}`),
      accountId: account,
      ...{ url, format, eventTypes, filters, description },
      isActive: true,
      disabledReason: null,
      createdAtMs: this.#now(),
      throttledCount: 0,
      isVerified: true,
      failingSinceMs: null,
      previousSecretUntilMs: null,
    }
    const row = { webhook, secret, deliveries: [] }
    this.rows.set(webhook.id, row)
    return { webhook: viewOf(row), secret }
  }

  async change(account: AccountId, id: string, change: WebhookChange): Promise<WebhookView | null> {
    const row = this.#find(account, id)
    if (row === null) return null
    const isRevived = change.isActive === true
    const ended = isRevived ? { disabledReason: null, failingSinceMs: null } : {}
    row.webhook = { ...row.webhook, ...change, ...ended }
    return viewOf(row)
  }

  chatMessage(format: ChatFormat, body: Uint8Array): Uint8Array {
    return Buffer.from(JSON.stringify({ format, text: Buffer.from(body).toString() }))
  }

  async remove(account: AccountId, id: string): Promise<boolean> {
    return this.#find(account, id) !== null && this.rows.delete(id)
  }

  async rotateSecret(account: AccountId, id: string, secret: string | null) {
    const row = this.#find(account, id)
    if (row === null) return null
    row.secret = secret ?? this.#secret()
    row.webhook = { ...row.webhook, previousSecretUntilMs: timeMs(this.#now() + DAY_MS) }
    return { webhook: viewOf(row), secret: row.secret }
  }

  async test(account: AccountId, id: string): Promise<DeliveryView | null> {
    return this.#find(account, id) === null ? null : this.deliver(id, { eventType: 'webhook.test' })
  }

  deliveries(
    account: AccountId,
    id: string,
    query: { status: DeliveryStatus | null; before: number | null; limit: number },
  ): readonly DeliveryView[] | null {
    const row = this.#find(account, id)
    if (row === null) return null
    const { status, before, limit } = query
    return row.deliveries
      .filter(({ number }) => before === null || number < before)
      .filter((delivery) => status === null || delivery.status === status)
      .reverse()
      .slice(0, limit)
  }

  delivery(account: AccountId, id: string, number: number): DeliveryDetail | null {
    const row = this.#find(account, id)
    const delivery = row?.deliveries[number - 1]
    if (row === null || delivery === undefined) return null
    return { ...delivery, format: row.webhook.format, body: Buffer.from(BODY) }
  }

  async retry(account: AccountId, id: string, number: number): Promise<DeliveryView | null> {
    const row = this.#find(account, id)
    const delivery = row?.deliveries[number - 1]
    if (row === null || delivery === undefined) return null
    const due: Delivery = { ...delivery, status: 'pending', dueAtMs: this.#now(), attempts: 0 }
    row.deliveries[number - 1] = due
    return due
  }

  /** By default the delivery is pending and has no attempts. */
  deliver(id: string, set: Partial<Delivery> = {}): Delivery {
    const row = this.rows.get(id)
    if (row === undefined) throw new Error('no such webhook')
    const number = row.deliveries.length + 1
    const delivery: Delivery = {
      number,
      eventId: `evt_${number}`,
      eventType: 'trade.created',
      createdAtMs: this.#now(),
      status: 'pending',
      dueAtMs: this.#now(),
      attempts: 0,
      last: null,
      ...set,
    }
    row.deliveries.push(delivery)
    return delivery
  }

  #find(account: AccountId, id: string): FakeWebhook | null {
    const row = this.rows.get(id)
    return row?.webhook.accountId === account ? row : null
  }

  /** Each secret is different and valid. */
  #secret(): string {
    this.#made += 1
    return `whsec_${Buffer.alloc(32, this.#made).toString('base64')}`
  }

  #now(): TimeMs {
    return this.#clock.nowMs()
  }
}

function viewOf({ webhook, deliveries }: FakeWebhook): WebhookView {
  const count = (status: DeliveryStatus) =>
    deliveries.filter((delivery) => delivery.status === status).length
  const counts = {
    created: deliveries.length,
    delivered: count('delivered'),
    exhausted: count('exhausted'),
    dropped: count('dropped'),
    pending: count('pending'),
  }
  return { ...webhook, counts }
}
