// The deliveries of one webhook: which is sent next, and how many attempts may run. First attempts and due retries
// alternate, so that neither starves the other. A delivery that the webhook's owner requested precedes both, even if
// the webhook is inactive.

import {
  attemptsPerFailingMax,
  attemptsPerWebhookMax,
  attemptsPerWebhookQuietMax,
  webhookEventAgeMsMax,
} from '../../engine/limits.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type {
  Delivery,
  StoredDelivery,
  Webhook,
  WebhookEventType,
} from '../../engine/webhooks/webhook.ts'
import { TokenLevel } from '../../engine/webhooks/webhook-share.ts'
import type { OutboxTable } from '../../storage/contract/storage.ts'
import type { AttemptKind } from '../../storage/contract/webhooks.ts'

/** Maximum manually requested deliveries that precede others. Further ones wait like other deliveries. */
const prioritizedMax = 1_000
/** Maximum deliveries whose event time is in memory. Only a metric uses the time. */
const originsMax = 64

/** Send a delivery, drop an expired one, or call `next` again because the entry was outdated. */
type NextStep =
  | { readonly kind: 'send'; readonly record: StoredDelivery }
  | { readonly kind: 'expired'; readonly record: StoredDelivery }
  | { readonly kind: 'again' }

export class DeliveryQueue {
  webhook: Webhook
  /** Deliveries by number. The deliveries of one chat message have the same controller. */
  readonly underWay = new Map<number, AbortController>()
  /** Time of the first failure since the last success. Null: the last attempt succeeded. */
  failingSinceMs: TimeMs | null
  isSlow = false
  /** Host of the webhook's URL without the port. Attempts are limited per host. */
  host: string
  readonly events = new TokenLevel()
  /** Events beyond the account's share that the outbox has not counted yet. */
  throttledCount = 0
  isClosed = false
  /** Chat services limit messages. No attempt begins before this time. */
  pausedUntilMs = timeMs(0)
  /** Number of next chat messages that contain a single event. */
  singlesLeft = 0
  finishedCount = 0
  readonly #outbox: OutboxTable
  /** Event types whose events are not sent after 15 minutes. */
  readonly #expiring: ReadonlySet<WebhookEventType>
  readonly #windows: Readonly<Record<AttemptKind, DeliveryWindow>>
  readonly #prioritized = new Set<number>()
  readonly #origins = new Map<number, TimeMs>()
  readonly #renewed = new Map<number, TimeMs>()
  #nextKind: AttemptKind = 'first'
  #createdTo = 0
  #uncommittedFrom = Number.POSITIVE_INFINITY

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

  /** Read from the outbox, because the outbox may reject a change or drop a damaged delivery. */
  get pendingCount(): number {
    return this.#outbox.state(this.webhook.number).counts.pending
  }

  get pendingBytes(): number {
    return this.#outbox.state(this.webhook.number).pendingBytes
  }

  get isFailing(): boolean {
    return this.failingSinceMs !== null
  }

  /** Whether the webhook fails or is slow, so that its attempts may occupy slots for long. */
  get isSuspect(): boolean {
    return this.isFailing || this.isSlow
  }

  /** Whether one attempt sends all due events as one message. */
  get isChat(): boolean {
    return this.webhook.format !== 'standard'
  }

  get attemptCount(): number {
    return this.isChat ? Math.min(1, this.underWay.size) : this.underWay.size
  }

  /** Whether one more attempt may run. `isQuiet`: most attempt slots are free. */
  hasCapacity(isQuiet: boolean): boolean {
    if (this.isChat) return this.underWay.size === 0
    if (this.isFailing) return this.underWay.size < attemptsPerFailingMax
    return this.underWay.size < (isQuiet ? attemptsPerWebhookQuietMax : attemptsPerWebhookMax)
  }

  get createdTo(): number {
    return this.#createdTo
  }

  /** Adds a delivery created in this tick. It is sent after its commit. */
  noteCreated(record: DueEntry, originMs: TimeMs): void {
    this.#createdTo = record.number
    this.#uncommittedFrom = Math.min(this.#uncommittedFrom, record.number)
    if (this.#origins.size < originsMax) this.#origins.set(record.number, originMs)
    this.#windows.first.add(record)
  }

  noteCommitted(upTo: number): void {
    this.#uncommittedFrom = this.#createdTo > upTo ? upTo + 1 : Number.POSITIVE_INFINITY
  }

  noteDue(attemptKind: AttemptKind, entry: DueEntry): void {
    this.#windows[attemptKind].add(entry)
  }

  prioritize(number: number): void {
    if (this.#prioritized.size < prioritizedMax) this.#prioritized.add(number)
  }

  /** Records a manual retry, from which the age of the delivery counts. */
  noteRenewed(number: number, nowMs: TimeMs): void {
    if (this.#renewed.size < prioritizedMax) this.#renewed.set(number, nowMs)
  }

  noteEnded(number: number): void {
    this.finishedCount += 1
    this.#origins.delete(number)
    this.#renewed.delete(number)
  }

  /** Time since a pending delivery was created or manually retried, in ms. */
  ageMs({ number, attempts, createdAtMs, dueAtMs }: Delivery, nowMs: TimeMs): number {
    // `#renewed` is empty after a restart. The due time of a delivery without attempts is the time of its creation or
    // last retry.
    const madeAtMs = attempts === 0 && dueAtMs !== null ? dueAtMs : createdAtMs
    return nowMs - (this.#renewed.get(number) ?? madeAtMs)
  }

  /** Returns and removes the receive time of a delivery's event. Null if it is not in memory. */
  takeOrigin(number: number): TimeMs | null {
    const originMs = this.#origins.get(number) ?? null
    this.#origins.delete(number)
    return originMs
  }

  /** Returns the next step at `nowMs`. Null: no delivery may be sent now. Reads at most one delivery. */
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

  /** Due time of the next delivery. Null: none may be sent. */
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
    // If the due time differs, the delivery was rescheduled and has another entry.
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

interface DueEntry {
  readonly dueAtMs: TimeMs
  readonly number: number
}

const windowCount = 64

/**
 * The first due deliveries of one kind. An entry may be outdated, because its delivery was dropped or retried manually.
 * The row of an entry must therefore be read before it is sent.
 */
export class DeliveryWindow {
  #entries: DueEntry[] = []
  #isComplete = false
  readonly #read: (limit: number) => readonly DueEntry[]

  constructor(read: (limit: number) => readonly DueEntry[]) {
    this.#read = read
  }

  /** Returns the first entry without a running attempt (`taken`), or null. */
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

  shift(): void {
    this.#entries.shift()
  }

  /** Ignores an entry after the window's last one if the outbox may have entries in between. */
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
