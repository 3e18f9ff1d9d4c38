// The deliveries of one webhook: which goes next, how many may be under way, and which wait for their commit. New
// events and due retries take turns, new events first, so that neither starves the other; a delivery that the webhook's
// owner asked for goes before both, and also while the webhook is inactive. At the end of the file: the window on the
// outbox from which a queue takes.

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
import type { AttemptKind, OutboxTable } from '../../storage/contract/webhooks.ts'

/** Deliveries asked for by hand that go before others; further ones wait in their lane. */
const prioritizedMax = 1_000
/** So many waiting deliveries have the time of their event remembered, for a measurement alone. */
const originsMax = 64

/** What to do next: send a delivery, drop it as too old, or look again since an entry was out of date. */
type NextStep =
  | { readonly kind: 'send'; readonly record: StoredDelivery }
  | { readonly kind: 'expired'; readonly record: StoredDelivery }
  | { readonly kind: 'again' }

export class DeliveryQueue {
  /** The webhook's present record. */
  webhook: Webhook
  /** Deliveries under way by number, and how to abort them. */
  readonly underWay = new Map<number, AbortController>()
  /** Since when every attempt failed; null while attempts succeed. */
  failingSinceMs: TimeMs | null
  /** The last attempt took `slowAttemptMs` or longer. */
  isSlow = false
  /** The host of its URL, without the port: attempts are bounded for each. */
  host: string
  /** Its part of the events that its account may take a second. */
  readonly events = new TokenLevel()
  /** Events refused since its account used up its share, which the outbox has not counted yet. */
  throttledCount = 0
  /** Removed: nothing is sent or written any more. */
  isClosed = false
  /** Deliveries that ended since the outbox was last pruned. */
  finishedCount = 0
  readonly #outbox: OutboxTable
  /** Event types that are given up once they happened long ago. */
  readonly #expiring: ReadonlySet<WebhookEventType>
  readonly #windows: Readonly<Record<AttemptKind, DeliveryWindow>>
  readonly #prioritized = new Set<number>()
  readonly #origins = new Map<number, TimeMs>()
  readonly #renewed = new Map<number, TimeMs>()
  /** The lane that goes first when both have a due delivery. */
  #nextKind: AttemptKind = 'first'
  #createdTo = 0
  #uncommittedFrom = Number.POSITIVE_INFINITY

  /** Reads the webhook's state; its deliveries are first read by `next`. */
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

  /** Counted by the outbox alone: it may refuse a change, and drop a damaged delivery. */
  get pendingCount(): number {
    return this.#outbox.state(this.webhook.number).counts.pending
  }

  /** The bodies of pending deliveries, bytes. */
  get pendingBytes(): number {
    return this.#outbox.state(this.webhook.number).pendingBytes
  }

  get isFailing(): boolean {
    return this.failingSinceMs !== null
  }

  /** Fails or is slow, and so may hold an attempt for long. */
  get isSuspect(): boolean {
    return this.isFailing || this.isSlow
  }

  /** Whether one more attempt may be under way; `isQuiet`: there is room enough for all webhooks. */
  hasCapacity(isQuiet: boolean): boolean {
    if (this.isFailing) return this.underWay.size < attemptsPerFailingMax
    return this.underWay.size < (isQuiet ? attemptsPerWebhookQuietMax : attemptsPerWebhookMax)
  }

  /** The number of the newest delivery made in this run; 0: none was made. */
  get createdTo(): number {
    return this.#createdTo
  }

  /** A delivery was made in this turn; it may be sent once it is committed. */
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

  /** The outbox has a committed delivery at this place of a lane now. */
  noteDue(attemptKind: AttemptKind, entry: DueEntry): void {
    this.#windows[attemptKind].add(entry)
  }

  /** Has a delivery of the lanes sent before all others. */
  prioritize(number: number): void {
    if (this.#prioritized.size < prioritizedMax) this.#prioritized.add(number)
  }

  /** The webhook's owner retried a delivery: its age counts from then on. */
  noteRenewed(number: number, nowMs: TimeMs): void {
    if (this.#renewed.size < prioritizedMax) this.#renewed.set(number, nowMs)
  }

  /** A delivery ended. */
  noteEnded(number: number): void {
    this.finishedCount += 1
    this.#origins.delete(number)
    this.#renewed.delete(number)
  }

  /** How long a pending delivery has waited since it was made, or retried by hand. */
  ageMs({ number, attempts, createdAtMs, dueAtMs }: Delivery, nowMs: TimeMs): number {
    // A restart forgets retries by hand; before the first attempt the due time still shows when that was.
    const madeAtMs = attempts === 0 && dueAtMs !== null ? dueAtMs : createdAtMs
    return nowMs - (this.#renewed.get(number) ?? madeAtMs)
  }

  /** When the event of a delivery happened, where that is remembered; forgets it. */
  takeOrigin(number: number): TimeMs | null {
    const originMs = this.#origins.get(number) ?? null
    this.#origins.delete(number)
    return originMs
  }

  /** What to do at `nowMs`; null: no delivery is due that may be sent. Reads at most one delivery. */
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

  /** When the next delivery is due that may be sent; null: there is none. */
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
    // With another due time the delivery has another, correct entry as well.
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

/** A pending delivery, by due time and number. */
interface DueEntry {
  readonly dueAtMs: TimeMs
  readonly number: number
}

/** Entries read from the outbox at a time. */
const windowCount = 64

/**
 * The next due deliveries of one lane of one webhook, in memory: a short window on the outbox, however long the lane is.
 * An entry may be out of date (dropped, or retried by hand): read the row of each entry that is taken.
 *
 *   in the table:   due, number  ├─────────────────────────────────────┤
 *   in the window:               ├───────┤ the rest is read when the window is empty, unless it `isWhole`
 */
export class DeliveryWindow {
  #entries: DueEntry[] = []
  /** The lane has nothing behind the window's last entry. */
  #isComplete = false
  readonly #read: (limit: number) => readonly DueEntry[]

  /** `read` returns the lane's first entries from the outbox. */
  constructor(read: (limit: number) => readonly DueEntry[]) {
    this.#read = read
  }

  /** The next entry; null: the lane is empty but for the deliveries under way (`taken`). */
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

  /** Removes the head: it was taken, or is out of date. */
  shift(): void {
    this.#entries.shift()
  }

  /** The outbox has one more entry. */
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
