// Replicates the leading engine's outbox to the standbys, so that the next leader sends unfinished deliveries with the
// same `webhook-id`. Price bases and finished deliveries are not replicated.

import type { Delivery, WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/storage.ts'
import type { NewDelivery, OutboxWatcher } from '../../storage/contract/webhooks.ts'
import type { Posted, Posting } from '../../storage/records/log-items.ts'

const PENDING_AT_ONCE = 256
const ATTEMPT_KINDS = ['first', 'retry'] as const

interface ReplicationParts {
  readonly own: OutboxTable
  readonly idOf: (webhook: WebhookNumber) => string | null
  readonly publish: (item: Posting | Posted) => void
}

export class OutboxReplication implements OutboxWatcher {
  readonly #own: OutboxTable
  readonly #parts: ReplicationParts

  constructor(parts: ReplicationParts) {
    this.#own = parts.own
    this.#parts = parts
    parts.own.watch(this)
  }

  onCreated(webhook: WebhookNumber, delivery: NewDelivery): void {
    const id = this.#parts.idOf(webhook)
    if (id !== null) this.#parts.publish({ kind: 'posting', webhook: id, ...delivery })
  }

  onUpdated(webhook: WebhookNumber, delivery: Delivery): void {
    const id = this.#parts.idOf(webhook)
    if (id !== null) this.#parts.publish({ kind: 'posted', webhook: id, ...delivery })
  }

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
}
