// Webhooks in order of their numbers. A promise resolves when its change is durable. The last assigned number has its
// own row, written in the same event-loop tick, so that neither a removal nor a crash causes its reuse.

import { type Webhook, webhookNumber } from '../engine/webhooks/webhook.ts'
import type { WebhookTable } from './contract/webhooks.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { KEY_END, KEY_START, numberKey, textKey } from './records/keys.ts'
import { WEBHOOK_SCHEMA, webhookFields, webhookSchemas } from './records/webhook.ts'
import { TABLES } from './tables.ts'

/** A write that takes longer rejects. */
const TIMEOUT_MS = 5_000
const LAST_NUMBER = textKey('last_webhook_number')
const MARK_SCHEMA = 1

export class Webhooks implements WebhookTable {
  readonly #environment: Environment
  readonly #webhooks: Table
  readonly #marks: Table
  #last: number

  /**
   * `usedUpTo`: the highest webhook number in other tables. After a restore of older accounts the outbox may hold
   * deliveries of unknown webhooks; a new webhook must not inherit them.
   */
  constructor(environment: Environment, usedUpTo: number) {
    this.#environment = environment
    this.#webhooks = environment.table(TABLES.webhooks)
    this.#marks = environment.table(TABLES.accountMarks)
    const newest = this.#webhooks.first({ from: KEY_START, to: KEY_END, isReverse: true })
    const given = this.#marks.getRecord(LAST_NUMBER, { 1: (fields) => fields.number() })
    this.#last = Math.max(newest?.key.readUInt32BE(0) ?? 0, given ?? 0, usedUpTo)
  }

  /** In order of creation. */
  *all(): Iterable<Webhook> {
    for (const row of chunkedRows(this.#webhooks)) {
      const webhook = this.#webhooks.decode(row, webhookSchemas(row.key))
      if (webhook !== null) yield webhook
    }
  }

  async create(webhook: Omit<Webhook, 'number'>): Promise<Webhook> {
    this.#last += 1
    const stored = { ...webhook, number: webhookNumber(this.#last) }
    this.#marks.put(LAST_NUMBER, this.#marks.encode(LAST_NUMBER, MARK_SCHEMA, [this.#last]))
    this.#write(stored)
    await this.#environment.committedWithin(TIMEOUT_MS)
    return stored
  }

  /** Does nothing if the webhook was removed: a late change does not restore it. */
  put(webhook: Webhook): Promise<void> {
    if (this.#webhooks.has(numberKey(webhook.number))) this.#write(webhook)
    return this.#environment.committedWithin(TIMEOUT_MS)
  }

  remove(webhook: Webhook): Promise<void> {
    this.#webhooks.remove(numberKey(webhook.number))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }

  #write(webhook: Webhook): void {
    const key = numberKey(webhook.number)
    this.#webhooks.put(key, this.#webhooks.encode(key, WEBHOOK_SCHEMA, webhookFields(webhook)))
  }
}
