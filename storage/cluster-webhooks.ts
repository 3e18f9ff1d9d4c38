// Webhooks of a cluster, stored in this process's table and in a log bucket that standbys mirror. Each engine assigns
// its own numbers, so the cluster identifies webhooks by id. A change resolves once the table and the
// bucket have stored it.

import type { Bucket, BucketEntry } from '../engine/cluster/cluster-log.ts'
import { type Webhook, type WebhookNumber, webhookNumber } from '../engine/webhooks/webhook.ts'
import type { Following } from './cluster-accounts.ts'
import type { WebhookTable } from './contract/webhooks.ts'
import { numberKey } from './records/keys.ts'
import { decodeRecord, encodeRecord } from './records/records.ts'
import { WEBHOOK_SCHEMA, webhookFields, webhookSchemas } from './records/webhook.ts'
import { TABLES } from './tables.ts'

const NAME = 'webhook.'
/** Placeholder: each engine assigns its own number. */
const NO_NUMBER = webhookNumber(0)
const KEY = numberKey(NO_NUMBER)

function bytesOf(webhook: Webhook): Buffer {
  return encodeRecord(TABLES.webhooks, {
    ...{ key: KEY, schema: WEBHOOK_SCHEMA },
    fields: webhookFields(webhook),
  })
}

function read(value: Uint8Array): Webhook | null {
  const row = { key: KEY, value: Buffer.from(value) }
  return decodeRecord(TABLES.webhooks, row, webhookSchemas(KEY))
}

/** Writes to the table and the bucket. Reads from the table, which `follow` fills first. */
export class ClusterWebhooks implements WebhookTable {
  readonly #own: WebhookTable
  readonly #bucket: Bucket
  /** Bounded by the number of webhooks. */
  readonly #byId = new Map<string, Webhook>()
  readonly #ids = new Map<WebhookNumber, string>()
  #last: Promise<void> = Promise.resolve()

  constructor(own: WebhookTable, bucket: Bucket) {
    this.#own = own
    this.#bucket = bucket
    for (const webhook of own.all()) this.#note(webhook)
  }

  /** The id of a webhook in the local table, or null. */
  idOf(number: WebhookNumber): string | null {
    return this.#ids.get(number) ?? null
  }

  /**
   * The local number of a webhook. Imports the webhook from the bucket if needed; null if it was removed. Rejects with
   * LogError.
   */
  async numberOf(id: string): Promise<WebhookNumber | null> {
    const existing = this.#byId.get(id)
    if (existing !== undefined) return existing.number
    const entry = await this.#bucket.get(NAME + id)
    if (entry !== null && entry.value !== null) await this.#enqueue(entry)
    return this.#byId.get(id)?.number ?? null
  }

  /**
   * Applies the bucket's records and then each change until stopped. Resolves when the local table has every record.
   */
  async follow(
    onFailed: (error: unknown) => void,
    onRefused: (key: string) => void = () => undefined,
  ): Promise<Following> {
    let isFollowing = true
    const names = new Set<string>()
    const take = (entry: BucketEntry) => {
      if (!isFollowing) return
      names.add(entry.key)
      this.#enqueue(entry).catch(onFailed)
    }
    let resolveComplete: () => void = () => undefined
    const complete = new Promise<void>((resolve) => {
      resolveComplete = resolve
    })
    const watch = await this.#bucket.watch({
      onEntry: take,
      onSnapshotEnd: resolveComplete,
      onRefused,
    })
    await complete
    await this.#last
    return {
      names,
      lead: async () => {
        isFollowing = false
        await this.#last
      },
      stop: async () => {
        await watch.stop()
        await this.#last
      },
    }
  }

  /** Writes webhooks that only the local table has into the bucket, except those in `existing`; returns their count. */
  async share(existing: ReadonlySet<string> = new Set()): Promise<number> {
    let count = 0
    for (const webhook of [...this.#own.all()]) {
      if (existing.has(NAME + webhook.id)) continue
      const entry = await this.#bucket.get(NAME + webhook.id)
      if (entry !== null && entry.value !== null) continue
      await this.#bucket.put(NAME + webhook.id, bytesOf(webhook))
      count += 1
    }
    return count
  }

  /** Overwrites a record from outside the cluster with the local record, or removes it if there is none. */
  async restore(name: string): Promise<void> {
    const own = this.#byId.get(name.slice(NAME.length))
    if (own === undefined) return this.#bucket.remove(name)
    await this.#bucket.put(name, bytesOf({ ...own, number: NO_NUMBER }))
  }

  all(): Iterable<Webhook> {
    return this.#own.all()
  }

  async create(webhook: Omit<Webhook, 'number'>): Promise<Webhook> {
    const shared = this.#bucket.put(NAME + webhook.id, bytesOf({ ...webhook, number: NO_NUMBER }))
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

  /** Applied in sequence, so that the newest version of a repeated record wins. */
  #enqueue(entry: BucketEntry): Promise<void> {
    const applied = this.#last.then(() => this.#apply(entry))
    this.#last = applied.catch(() => undefined)
    return applied
  }

  async #apply({ key, value }: BucketEntry): Promise<void> {
    const existing = this.#byId.get(key.slice(NAME.length))
    if (value === null) {
      if (existing !== undefined) await this.#own.remove(existing)
      if (existing !== undefined) this.#unindex(existing)
      return
    }
    const webhook = read(value)
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

/** Starts both writes in the same event-loop tick; rejects with the first failure once both have ended. */
async function both<Own>(own: Promise<Own>, shared: Promise<unknown>): Promise<Own> {
  const [ownResult, sharedResult] = await Promise.allSettled([own, shared])
  if (ownResult.status === 'rejected') throw ownResult.reason
  if (sharedResult.status === 'rejected') throw sharedResult.reason
  return ownResult.value
}
