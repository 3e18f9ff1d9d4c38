// The outbox of the leading engine. Replicates its entries to standbys, so that the next leader resends unacknowledged
// deliveries with the same `webhook-id`. Last sent prices and finished deliveries are not replicated.

import type { Delivery, WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/webhooks.ts'
import type { Posted, Posting } from '../../storage/records/log-items.ts'

const PENDING_AT_ONCE = 256
const ATTEMPT_KINDS = ['first', 'retry'] as const

interface ReplicatedOutboxParts {
  readonly own: OutboxTable
  readonly idOf: (webhook: WebhookNumber) => string | null
  readonly publish: (item: Posting | Posted) => void
}

export class ReplicatedOutbox implements OutboxTable {
  readonly #own: OutboxTable
  readonly #parts: ReplicatedOutboxParts

  constructor(parts: ReplicatedOutboxParts) {
    this.#own = parts.own
    this.#parts = parts
  }

  create(webhook: WebhookNumber, delivery: Parameters<OutboxTable['create']>[1]) {
    const stored = this.#own.create(webhook, delivery)
    const id = this.#parts.idOf(webhook)
    if (stored !== null && id !== null) {
      this.#parts.publish({ kind: 'posting', webhook: id, ...delivery })
    }
    return stored
  }

  update(webhook: WebhookNumber, delivery: Delivery): boolean {
    const isUpdated = this.#own.update(webhook, delivery)
    const id = this.#parts.idOf(webhook)
    if (isUpdated && id !== null) this.#parts.publish({ kind: 'posted', webhook: id, ...delivery })
    return isUpdated
  }

  /** Writes everything pending to the log, for standbys that began later. Awaits `pause` after every few hundred. */
  async publishPending(
    webhooks: Iterable<WebhookNumber>,
    pause: () => Promise<void>,
  ): Promise<void> {
    for (const webhook of webhooks) {
      const id = this.#parts.idOf(webhook)
      if (id === null) continue
      for (const attemptKind of ATTEMPT_KINDS) {
        let after: Parameters<OutboxTable['due']>[0]['after'] = null
        for (;;) {
          const due = this.#own.due({ webhook, attemptKind, after, limit: PENDING_AT_ONCE })
          for (const { number } of due) this.#publishOne(webhook, id, number)
          after = due.at(-1) ?? null
          if (after === null) break
          await pause()
        }
      }
    }
  }

  #publishOne(webhook: WebhookNumber, id: string, number: number): void {
    const stored = this.#own.get(webhook, number)
    if (stored === null || stored.dueAtMs === null) return
    this.#parts.publish({ kind: 'posting', webhook: id, ...stored, dueAtMs: stored.dueAtMs })
    if (stored.attempts > 0) this.#parts.publish({ kind: 'posted', webhook: id, ...stored })
  }

  get(...of: Parameters<OutboxTable['get']>) {
    return this.#own.get(...of)
  }

  numberOf(...of: Parameters<OutboxTable['numberOf']>) {
    return this.#own.numberOf(...of)
  }

  due(query: Parameters<OutboxTable['due']>[0]) {
    return this.#own.due(query)
  }

  list(query: Parameters<OutboxTable['list']>[0]) {
    return this.#own.list(query)
  }

  oldestPending(webhook: WebhookNumber) {
    return this.#own.oldestPending(webhook)
  }

  state(webhook: WebhookNumber) {
    return this.#own.state(webhook)
  }

  throttle(...given: Parameters<OutboxTable['throttle']>): boolean {
    return this.#own.throttle(...given)
  }

  putFailingSince(...change: Parameters<OutboxTable['putFailingSince']>): void {
    this.#own.putFailingSince(...change)
  }

  lastPrice(...of: Parameters<OutboxTable['lastPrice']>) {
    return this.#own.lastPrice(...of)
  }

  putLastPrice(...change: Parameters<OutboxTable['putLastPrice']>): void {
    this.#own.putLastPrice(...change)
  }

  removeLastPrice(...of: Parameters<OutboxTable['removeLastPrice']>): void {
    this.#own.removeLastPrice(...of)
  }

  prune(query: Parameters<OutboxTable['prune']>[0]): boolean {
    return this.#own.prune(query)
  }

  clear(...of: Parameters<OutboxTable['clear']>): boolean {
    return this.#own.clear(...of)
  }

  webhooks() {
    return this.#own.webhooks()
  }
}
