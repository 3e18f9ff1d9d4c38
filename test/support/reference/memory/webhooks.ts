// Reference implementation of storage/webhooks.ts, in memory.

import {
  type Webhook,
  type WebhookNumber,
  webhookNumber,
} from '../../../../engine/webhooks/webhook.ts'
import type { WebhookTable } from '../../../../storage/contract/webhooks.ts'

export class MemoryWebhooks implements WebhookTable {
  /** In order of number, since numbers ascend and are never reused. */
  readonly #webhooks = new Map<WebhookNumber, Webhook>()
  #last = 0

  all(): Iterable<Webhook> {
    return [...this.#webhooks.values()]
  }

  async create(webhook: Omit<Webhook, 'number'>): Promise<Webhook> {
    this.#last += 1
    const stored = { ...webhook, number: webhookNumber(this.#last) }
    this.#webhooks.set(stored.number, stored)
    return stored
  }

  async put(webhook: Webhook): Promise<void> {
    if (this.#webhooks.has(webhook.number)) this.#webhooks.set(webhook.number, webhook)
  }

  async remove(webhook: Webhook): Promise<void> {
    this.#webhooks.delete(webhook.number)
  }
}
