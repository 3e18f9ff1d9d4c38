// The last assigned number has its own row, written in the same event-loop tick as the webhook. Numbers are therefore
// never reused after a removal or a crash.

import { type Webhook, webhookNumber } from '../engine/webhooks/webhook.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY } from './lmdb/table.ts'
import { Marks } from './marks.ts'
import { numberKey } from './records/keys.ts'
import { webhookCodec } from './records/webhook.ts'
import { TABLES } from './tables.ts'

const LAST_NUMBER_MARK = 'last_webhook_number'

/** Changes resolve when they are durable. They reject if writing fails or takes more than 5 s. */
export class Webhooks {
  readonly #environment: Environment
  readonly #webhooks: RecordTable<Webhook>
  readonly #marks: Marks
  #last: number

  /**
   * `usedUpTo`: the highest webhook number in other tables. After a restore of an older backup, a new webhook must not
   * inherit the deliveries of an unknown webhook.
   */
  constructor(environment: Environment, usedUpTo: number) {
    this.#environment = environment
    this.#webhooks = new RecordTable(environment.table(TABLES.webhooks), webhookCodec)
    this.#marks = new Marks(environment.table(TABLES.accountMarks))
    const newest = this.#webhooks.rows.first({ ...EVERY_KEY, isReverse: true })
    const given = this.#marks.get(LAST_NUMBER_MARK)
    this.#last = Math.max(newest?.key.readUInt32BE(0) ?? 0, given ?? 0, usedUpTo)
  }

  /** In order of creation. */
  all(): Iterable<Webhook> {
    return this.#webhooks.all()
  }

  async create(webhook: Omit<Webhook, 'number'>): Promise<Webhook> {
    this.#last += 1
    const stored = { ...webhook, number: webhookNumber(this.#last) }
    this.#marks.put(LAST_NUMBER_MARK, this.#last)
    this.#webhooks.put(numberKey(stored.number), stored)
    await this.#environment.durable()
    return stored
  }

  /** Does nothing if the webhook was removed, so that a late change does not restore it. */
  put(webhook: Webhook): Promise<void> {
    const key = numberKey(webhook.number)
    if (this.#webhooks.rows.has(key)) this.#webhooks.put(key, webhook)
    return this.#environment.durable()
  }

  remove(webhook: Webhook): Promise<void> {
    this.#webhooks.rows.remove(numberKey(webhook.number))
    return this.#environment.durable()
  }
}
