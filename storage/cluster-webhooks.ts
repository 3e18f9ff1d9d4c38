// The webhooks of a cluster: kept in this process's own table and in a bucket of the log, which standbys take over. Each engine
// numbers them for itself, so that in the cluster they go by their ids. A change resolves once both have it safe.

import type { Bucket, BucketEntry } from '../engine/cluster/cluster-log.ts'
import { type Webhook, type WebhookNumber, webhookNumber } from '../engine/webhooks/webhook.ts'
import type { Following } from './cluster-accounts.ts'
import type { WebhookTable } from './contract/webhooks.ts'
import { numberKey } from './records/keys.ts'
import { decodeRecord, encodeRecord } from './records/records.ts'
import { WEBHOOK_SCHEMA, webhookFields, webhookSchemas } from './records/webhook.ts'
import { TABLES } from './tables.ts'

const NAME = 'webhook.'
/** In place of a number, which each engine gives itself. */
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

/** Writes to both; reads from the own table, which `follow` fills before. */
export class ClusterWebhooks implements WebhookTable {
  readonly #own: WebhookTable
  readonly #bucket: Bucket
  /** Bounded by the webhooks. */
  readonly #byId = new Map<string, Webhook>()
  readonly #ids = new Map<WebhookNumber, string>()
  #last: Promise<void> = Promise.resolve()

  constructor(own: WebhookTable, bucket: Bucket) {
    this.#own = own
    this.#bucket = bucket
    for (const webhook of own.all()) this.#note(webhook)
  }

  /** The id of a webhook of the own table; null: there is none. */
  idOf(number: WebhookNumber): string | null {
    return this.#ids.get(number) ?? null
  }

  /** The own number of a webhook, which is taken over if it was not yet; null: it was removed. Rejects with LogError. */
  async numberOf(id: string): Promise<WebhookNumber | null> {
    const existing = this.#byId.get(id)
    if (existing !== undefined) return existing.number
    const entry = await this.#bucket.get(NAME + id)
    if (entry !== null && entry.value !== null) await this.#enqueue(entry)
    return this.#byId.get(id)?.number ?? null
  }

  /** Takes over what is in the bucket, and then every change, until stopped. Resolves when the own table has all of it. */
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

  /** Puts into the bucket what only the own table has, leaving out `known`; returns how many webhooks. */
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

  /** Puts this process's own record in place of one that nobody of the cluster wrote, or removes that. */
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

  /** One after the other, so that a record that comes twice ends as its newest. */
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

/** Both are begun in the turn of the change; the first failure is told once both have ended. */
async function both<Own>(own: Promise<Own>, shared: Promise<unknown>): Promise<Own> {
  const [ownResult, sharedResult] = await Promise.allSettled([own, shared])
  if (ownResult.status === 'rejected') throw ownResult.reason
  if (sharedResult.status === 'rejected') throw sharedResult.reason
  return ownResult.value
}
