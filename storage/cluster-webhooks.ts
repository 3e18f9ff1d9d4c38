// Webhooks of a cluster, stored in a local table and in a bucket of the cluster's log. The bucket identifies webhooks
// by id, because each engine assigns its own webhook numbers.

import type { Bucket, BucketEntry } from '../engine/cluster/cluster-log.ts'
import { type Webhook, type WebhookNumber, webhookNumber } from '../engine/webhooks/webhook.ts'
import { both, type Following, followBucket, shareRecords } from './cluster-bucket.ts'
import type { WebhookTable } from './contract/storage.ts'
import { numberKey } from './records/keys.ts'
import { decodeRecord, encodeRecord } from './records/records.ts'
import { webhookCodec } from './records/webhook.ts'
import { TABLES } from './tables.ts'

const NAME = 'webhook.'
/** Stored in bucket records in place of the number, because each engine assigns its own numbers. */
const NO_NUMBER = webhookNumber(0)
const KEY = numberKey(NO_NUMBER)

const bytesOf = (webhook: Omit<Webhook, 'number'>): Buffer =>
  encodeRecord(TABLES.webhooks, KEY, webhookCodec, { ...webhook, number: NO_NUMBER })

/** Writes to the local table and to the bucket. Reads only the local table, which `follow` updates. */
export class ClusterWebhooks implements WebhookTable {
  readonly #own: WebhookTable
  readonly #bucket: Bucket
  readonly #byId = new Map<string, Webhook>()
  readonly #ids = new Map<WebhookNumber, string>()
  #last: Promise<void> = Promise.resolve()

  constructor(own: WebhookTable, bucket: Bucket) {
    this.#own = own
    this.#bucket = bucket
    for (const webhook of own.all()) this.#note(webhook)
  }

  /** Null if the local table has no webhook with this number. */
  idOf(number: WebhookNumber): string | null {
    return this.#ids.get(number) ?? null
  }

  /**
   * The local number of a webhook. If the local table lacks the webhook, it is imported from the bucket. Null if the
   * webhook was removed. Rejects with LogError.
   */
  async numberOf(id: string): Promise<WebhookNumber | null> {
    const existing = this.#byId.get(id)
    if (existing !== undefined) return existing.number
    const entry = await this.#bucket.get(NAME + id)
    if (entry !== null && entry.value !== null) await this.#enqueue(entry)
    return this.#byId.get(id)?.number ?? null
  }

  follow(
    onFailed: (error: unknown) => void,
    onRefused?: (key: string) => void,
  ): Promise<Following> {
    return followBucket(this.#bucket, (entry) => this.#enqueue(entry).catch(onFailed), onRefused)
  }

  share(existing: ReadonlySet<string> = new Set()): Promise<number> {
    const own = [...this.#own.all()]
    const records = own.map((webhook) => [NAME + webhook.id, () => bytesOf(webhook)] as const)
    return shareRecords(this.#bucket, records, existing)
  }

  /**
   * Overwrites the record of a client outside the cluster with the local record. Deletes the record if no local record
   * exists.
   */
  async restore(name: string): Promise<void> {
    const own = this.#byId.get(name.slice(NAME.length))
    if (own === undefined) return this.#bucket.remove(name)
    await this.#bucket.put(name, bytesOf(own))
  }

  all(): Iterable<Webhook> {
    return this.#own.all()
  }

  async create(webhook: Omit<Webhook, 'number'>): Promise<Webhook> {
    const shared = this.#bucket.put(NAME + webhook.id, bytesOf(webhook))
    const stored = await both(this.#own.create(webhook), shared)
    this.#note(stored)
    return stored
  }

  async put(webhook: Webhook): Promise<void> {
    this.#note(webhook)
    await both(this.#own.put(webhook), this.#bucket.put(NAME + webhook.id, bytesOf(webhook)))
  }

  async remove(webhook: Webhook): Promise<void> {
    await both(this.#own.remove(webhook), this.#bucket.remove(NAME + webhook.id))
    this.#unindex(webhook)
  }

  /** Applies entries in sequence, so that the newest version of a record wins. */
  #enqueue(entry: BucketEntry): Promise<void> {
    const applied = this.#last.then(() => this.#apply(entry))
    this.#last = applied.catch(() => undefined)
    return applied
  }

  async #apply({ key, value }: BucketEntry): Promise<void> {
    const existing = this.#byId.get(key.slice(NAME.length))
    if (value === null) {
      if (existing === undefined) return
      await this.#own.remove(existing)
      return this.#unindex(existing)
    }
    const row = { key: KEY, value: Buffer.from(value) }
    const webhook = decodeRecord(TABLES.webhooks, row, webhookCodec)
    if (webhook === null) throw new Error(`the record ${key} of the bucket cannot be read`)
    if (existing === undefined) return this.#note(await this.#own.create(webhook))
    const changed = { ...webhook, number: existing.number }
    await this.#own.put(changed)
    this.#note(changed)
  }

  #note(webhook: Webhook): void {
    this.#byId.set(webhook.id, webhook)
    this.#ids.set(webhook.number, webhook.id)
  }

  #unindex({ id, number }: Webhook): void {
    this.#byId.delete(id)
    this.#ids.delete(number)
  }
}
