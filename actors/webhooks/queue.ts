// The deliveries of one webhook: which is sent next, how many attempts may run, and which wait for their commit. New
// events and due retries alternate, new events first, so that neither starves the other. A delivery that the webhook's
// owner requested precedes both, even if the webhook is inactive. The end of the file has the queue's window on the
// outbox.

import {
  attemptsPerFailingMax,
  attemptsPerWebhookMax,
  attemptsPerWebhookQuietMax,
  webhookEventAgeMsMax,
} from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import type {
  Delivery,
  StoredDelivery,
  Webhook,
  WebhookEventType,
} from '../../engine/webhooks/webhook.ts'
import { TokenLevel } from '../../engine/webhooks/webhook-share.ts'
import type { OutboxTable } from '../../storage/contract/storage.ts'
import type { AttemptKind } from '../../storage/contract/webhooks.ts'

/** Maximum manually requested deliveries that precede others; further ones wait with the rest. */
const prioritizedMax = 1_000
/** Maximum waiting deliveries whose event time is stored, for a metric only. */
const originsMax = 64

/** The next step: send a delivery, drop an expired one, or try again because an entry was outdated. */
type NextStep =
  | { readonly kind: 'send'; readonly record: StoredDelivery }
  | { readonly kind: 'expired'; readonly record: StoredDelivery }
  | { readonly kind: 'again' }

export class DeliveryQueue {
  /** The webhook's current record. */
  webhook: Webhook
  /** Running attempts by delivery number, with their abort controllers. */
  readonly underWay = new Map<number, AbortController>()
  /** Since when every attempt has failed; null while attempts succeed. */
  failingSinceMs: TimeMs | null
  /** The last attempt took `slowAttemptMs` or longer. */
  isSlow = false
  /** Host of its URL without the port: attempts are bounded per host. */
  host: string
  /** Its part of the account's events per second. */
  readonly events = new TokenLevel()
  /** Events rejected because the account used up its share, which the outbox has not counted yet. */
  throttledCount = 0
  /** Removed: nothing is sent or written any more. */
  isClosed = false
  /** Deliveries that ended since the outbox was last pruned. */
  finishedCount = 0
  readonly #outbox: OutboxTable
  /** Event types that expire some time after their cause. */
  readonly #expiring: ReadonlySet<WebhookEventType>
  readonly #windows: Readonly<Record<AttemptKind, DeliveryWindow>>
  readonly #prioritized = new Set<number>()
  readonly #origins = new Map<number, TimeMs>()
  readonly #renewed = new Map<number, TimeMs>()
  /** The kind that goes first if both have a due delivery. */
  #nextKind: AttemptKind = 'first'
  #createdTo = 0
  #uncommittedFrom = Number.POSITIVE_INFINITY

  /** Reads the webhook's state; `next` reads its deliveries. */
  constructor(webhook: Webhook, outbox: OutboxTable, expiring: ReadonlySet<WebhookEventType>) {
    this.webhook = webhook
    this.host = hostOf(webhook)
    this.#outbox = outbox
    this.#expiring = expiring
    this.failingSinceMs = outbox.state(webhook.number).failingSinceMs
    const window = (attemptKind: AttemptKind) =>
      new DeliveryWindow((limit) =>
        outbox.due({ webhook: webhook.number, attemptKind, after: null, limit }),
      )
    this.#windows = { first: window('first'), retry: window('retry') }
  }

  /** Only the outbox counts: it may reject a change and drop a damaged delivery. */
  get pendingCount(): number {
    return this.#outbox.state(this.webhook.number).counts.pending
  }

  /** Total body size of the pending deliveries, in bytes. */
  get pendingBytes(): number {
    return this.#outbox.state(this.webhook.number).pendingBytes
  }

  get isFailing(): boolean {
    return this.failingSinceMs !== null
  }

  /** Fails or is slow, and so may occupy an attempt slot for long. */
  get isSuspect(): boolean {
    return this.isFailing || this.isSlow
  }

  /** Whether one more attempt may run. `isQuiet`: there is enough capacity for all webhooks. */
  hasCapacity(isQuiet: boolean): boolean {
    if (this.isFailing) return this.underWay.size < attemptsPerFailingMax
    return this.underWay.size < (isQuiet ? attemptsPerWebhookQuietMax : attemptsPerWebhookMax)
  }

  /** Number of the newest delivery created in this run; 0: none. */
  get createdTo(): number {
    return this.#createdTo
  }

  /** Records a delivery created in this tick; it may be sent after its commit. */
  noteCreated(record: DueEntry, originMs: TimeMs): void {
    this.#createdTo = record.number
    this.#uncommittedFrom = Math.min(this.#uncommittedFrom, record.number)
    if (this.#origins.size < originsMax) this.#origins.set(record.number, originMs)
    this.#windows.first.add(record)
  }

  /** All deliveries up to a number are committed. */
  noteCommitted(upTo: number): void {
    this.#uncommittedFrom = this.#createdTo > upTo ? upTo + 1 : Number.POSITIVE_INFINITY
  }

  /** Records a committed delivery of the outbox under its due time. */
  noteDue(attemptKind: AttemptKind, entry: DueEntry): void {
    this.#windows[attemptKind].add(entry)
  }

  /** Sends a waiting delivery before all others. */
  prioritize(number: number): void {
    if (this.#prioritized.size < prioritizedMax) this.#prioritized.add(number)
  }

  /** The webhook's owner retried a delivery: its age counts from then on. */
  noteRenewed(number: number, nowMs: TimeMs): void {
    if (this.#renewed.size < prioritizedMax) this.#renewed.set(number, nowMs)
  }

  /** Records that a delivery ended. */
  noteEnded(number: number): void {
    this.finishedCount += 1
    this.#origins.delete(number)
    this.#renewed.delete(number)
  }

  /** Time that a pending delivery has waited since it was created, or retried manually. */
  ageMs({ number, attempts, createdAtMs, dueAtMs }: Delivery, nowMs: TimeMs): number {
    // Manual retries are not stored; before the first attempt the due time still equals the retry time.
    const madeAtMs = attempts === 0 && dueAtMs !== null ? dueAtMs : createdAtMs
    return nowMs - (this.#renewed.get(number) ?? madeAtMs)
  }

  /** Returns and removes the event time of a delivery, if it is stored. */
  takeOrigin(number: number): TimeMs | null {
    const originMs = this.#origins.get(number) ?? null
    this.#origins.delete(number)
    return originMs
  }

  /** The next step at `nowMs`; null: no delivery may be sent now. Reads at most one delivery. */
  next(nowMs: TimeMs): NextStep | null {
    for (const number of this.#prioritized) {
      if (number >= this.#uncommittedFrom) continue
      this.#prioritized.delete(number)
      const record = this.underWay.has(number) ? null : this.#pending(number)
      return record === null ? { kind: 'again' } : { kind: 'send', record }
    }
    if (!this.webhook.isActive) return null
    const other = this.#nextKind === 'first' ? 'retry' : 'first'
    return this.#take(this.#nextKind, nowMs) ?? this.#take(other, nowMs)
  }

  /** Due time of the next delivery that may be sent; null: none. */
  nextDueMs(): TimeMs | null {
    if (!this.webhook.isActive) return null
    const first = this.#head('first')
    const retry = this.#head('retry')
    if (first === null || retry === null) return (first ?? retry)?.dueAtMs ?? null
    return first.dueAtMs < retry.dueAtMs ? first.dueAtMs : retry.dueAtMs
  }

  #head(attemptKind: AttemptKind) {
    const head = this.#windows[attemptKind].head(this.underWay)
    return head === null || head.number >= this.#uncommittedFrom ? null : head
  }

  #take(attemptKind: AttemptKind, nowMs: TimeMs): NextStep | null {
    const head = this.#head(attemptKind)
    if (head === null || head.dueAtMs > nowMs) return null
    this.#windows[attemptKind].shift()
    const record = this.#pending(head.number)
    // If the due time differs, the delivery has another, correct entry as well.
    if (record === null || record.dueAtMs !== head.dueAtMs) return { kind: 'again' }
    if (this.#expiring.has(record.eventType) && this.ageMs(record, nowMs) >= webhookEventAgeMsMax) {
      return { kind: 'expired', record }
    }
    this.#nextKind = attemptKind === 'first' ? 'retry' : 'first'
    return { kind: 'send', record }
  }

  #pending(number: number): StoredDelivery | null {
    const record = this.#outbox.get(this.webhook.number, number)
    return record?.status === 'pending' ? record : null
  }
}

export const hostOf = ({ url }: Pick<Webhook, 'url'>): string => new URL(url).hostname

/** A pending delivery by due time and number. */
interface DueEntry {
  readonly dueAtMs: TimeMs
  readonly number: number
}

/** Entries read from the outbox at a time. */
const windowCount = 64

/**
 * The next due deliveries of one kind of one webhook: a short in-memory window on the outbox. An entry may be outdated
 * (dropped, or retried manually), so read the row of each entry that is taken.
 *
 *   in the table:   due, number  ├─────────────────────────────────────┤
 *   in the window:               ├───────┤ the rest is read when the window is empty, unless it `isComplete`
 */
export class DeliveryWindow {
  #entries: DueEntry[] = []
  /** The outbox has no entry after the window's last one. */
  #isComplete = false
  readonly #read: (limit: number) => readonly DueEntry[]

  /** `read` returns the first entries of this kind from the outbox. */
  constructor(read: (limit: number) => readonly DueEntry[]) {
    this.#read = read
  }

  /** The next entry; null: there are no entries except those with running attempts (`taken`). */
  head(taken: ReadonlyMap<number, unknown>): DueEntry | null {
    for (;;) {
      const first = this.#entries[0]
      if (first === undefined) {
        if (this.#isComplete) return null
        const limit = windowCount + taken.size
        const rows = this.#read(limit)
        this.#isComplete = rows.length < limit
        this.#entries = rows.filter(({ number }) => !taken.has(number))
        if (this.#entries.length === 0) return null
      } else if (taken.has(first.number)) {
        this.#entries.shift()
      } else {
        return first
      }
    }
  }

  /** Removes the head: it was taken or is outdated. */
  shift(): void {
    this.#entries.shift()
  }

  /** Adds an entry of the outbox. */
  add(entry: DueEntry): void {
    const last = this.#entries.at(-1)
    if (!this.#isComplete && (last === undefined || isBefore(last, entry))) return
    const index = this.#entries.findLastIndex((other) => isBefore(other, entry)) + 1
    this.#entries.splice(index, 0, entry)
    if (this.#entries.length <= 2 * windowCount) return
    this.#entries.pop()
    this.#isComplete = false
  }
}

function isBefore(one: DueEntry, other: DueEntry): boolean {
  return one.dueAtMs === other.dueAtMs ? one.number < other.number : one.dueAtMs < other.dueAtMs
}
