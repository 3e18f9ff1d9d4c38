// The deliveries of one webhook: which goes next, how many may be under way, and what must wait for
// its commit. New events go before due retries, but in turns, so that neither starves the other; what
// the owner asked for goes before both, and also while the webhook is inactive.
// Not for: sending, or the webhooks' turns (deliveries.ts). Upholds DELIVER5, DELIVER7 to DELIVER10.

import {
  attemptsPerFailingMax,
  attemptsPerWebhookMax,
  attemptsPerWebhookQuietMax,
  webhookNewsAgeMsMax,
} from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { Delivery, StoredDelivery, Webhook } from '../../engine/webhooks/webhook.ts'
import type { DeliveryLane, OutboxTable } from '../../storage/contract/webhooks.ts'
import { DeliveryWindow, type DueEntry } from './window.ts'

/** Deliveries asked for by hand that wait for their turn; further ones wait in their lane. */
const askedMax = 1_000
/** When an event happened is remembered for so many deliveries that wait: for a measurement alone. */
const originsMax = 64

/** What to do next: send, give up, or look again since an entry was out of date. */
export type NextStep =
  | { readonly kind: 'send'; readonly row: StoredDelivery }
  | { readonly kind: 'expired'; readonly row: StoredDelivery }
  | { readonly kind: 'again' }

export class DeliveryQueue {
  /** As it is now. */
  webhook: Webhook
  /** Those being sent, and how to abort them. */
  readonly underWay = new Map<number, AbortController>()
  /** Since when every attempt failed. */
  failingSinceMs: TimeMs | null
  /** Removed: nothing is sent or written any more. */
  isClosed = false
  /** Deliveries that came to an end since the outbox was last pruned. */
  finishedCount = 0
  readonly #outbox: OutboxTable
  readonly #lanes: Readonly<Record<DeliveryLane, DeliveryWindow>>
  readonly #asked = new Set<number>()
  readonly #origins = new Map<number, TimeMs>()
  readonly #renewed = new Map<number, TimeMs>()
  /** The lane that has precedence when both have something due. */
  #turn: DeliveryLane = 'first'
  #createdTo = 0
  #uncommittedFrom = Number.POSITIVE_INFINITY

  /** Reads the webhook's state; of its deliveries nothing until `next`. */
  constructor(webhook: Webhook, outbox: OutboxTable) {
    this.webhook = webhook
    this.#outbox = outbox
    this.failingSinceMs = outbox.state(webhook.number).failingSinceMs
    const window = (lane: DeliveryLane) =>
      new DeliveryWindow((limit) =>
        outbox.due({ webhook: webhook.number, lane, after: null, limit }),
      )
    this.#lanes = { first: window('first'), retry: window('retry') }
  }

  /** The outbox alone counts them: it may refuse a change, and give a damaged one up. */
  get pendingCount(): number {
    return this.#outbox.state(this.webhook.number).counts.pending
  }

  get isFailing(): boolean {
    return this.failingSinceMs !== null
  }

  /** Whether one more may be sent at once; `isQuiet`: there are places enough for all. */
  hasRoom(isQuiet: boolean): boolean {
    if (this.isFailing) return this.underWay.size < attemptsPerFailingMax
    return this.underWay.size < (isQuiet ? attemptsPerWebhookQuietMax : attemptsPerWebhookMax)
  }

  /** The newest delivery made in this run; 0 when none was. */
  get createdTo(): number {
    return this.#createdTo
  }

  /** A delivery was made in this turn: it may be sent once it is committed. */
  noteCreated(row: DueEntry, originMs: TimeMs): void {
    this.#createdTo = row.number
    this.#uncommittedFrom = Math.min(this.#uncommittedFrom, row.number)
    if (this.#origins.size < originsMax) this.#origins.set(row.number, originMs)
    this.#lanes.first.add(row)
  }

  /** Everything made up to a number is committed. */
  noteCommitted(upTo: number): void {
    this.#uncommittedFrom = this.#createdTo > upTo ? upTo + 1 : Number.POSITIVE_INFINITY
  }

  /** The outbox has a delivery that was committed before at this place of a lane. */
  noteDue(lane: DeliveryLane, entry: DueEntry): void {
    this.#lanes[lane].add(entry)
  }

  /** The owner wants a delivery that stands in its lane sent before all others. */
  ask(number: number): void {
    if (this.#asked.size < askedMax) this.#asked.add(number)
  }

  /** Its owner began a delivery anew: it is as old as that. */
  noteRenewed(number: number, nowMs: TimeMs): void {
    if (this.#renewed.size < askedMax) this.#renewed.set(number, nowMs)
  }

  /** A delivery came to its end. */
  noteEnded(number: number): void {
    this.finishedCount += 1
    this.#origins.delete(number)
    this.#renewed.delete(number)
  }

  /** How long a pending delivery has waited since it was made, or begun anew by its owner. */
  ageMs({ number, attempts, createdAtMs, dueAtMs }: Delivery, nowMs: TimeMs): number {
    // A crash forgets who began anew; of what was not attempted since, the due time still says it.
    const madeAtMs = attempts === 0 && dueAtMs !== null ? dueAtMs : createdAtMs
    return nowMs - (this.#renewed.get(number) ?? madeAtMs)
  }

  /** When the event of a delivery happened, where that is still known; asked once. */
  takeOrigin(number: number): TimeMs | null {
    const originMs = this.#origins.get(number) ?? null
    this.#origins.delete(number)
    return originMs
  }

  /** What to do at `nowMs`; null: nothing is due that may be sent. One row is read at most. */
  next(nowMs: TimeMs): NextStep | null {
    for (const number of this.#asked) {
      if (number >= this.#uncommittedFrom) continue
      this.#asked.delete(number)
      const row = this.underWay.has(number) ? null : this.#pending(number)
      return row === null ? { kind: 'again' } : { kind: 'send', row }
    }
    if (!this.webhook.isActive) return null
    const other = this.#turn === 'first' ? 'retry' : 'first'
    return this.#take(this.#turn, nowMs) ?? this.#take(other, nowMs)
  }

  /** When something is due next; null: nothing is, or nothing that may be sent. */
  nextDueMs(): TimeMs | null {
    if (!this.webhook.isActive) return null
    const first = this.#head('first')
    const retry = this.#head('retry')
    if (first === null || retry === null) return (first ?? retry)?.dueAtMs ?? null
    return first.dueAtMs < retry.dueAtMs ? first.dueAtMs : retry.dueAtMs
  }

  #head(lane: DeliveryLane) {
    const head = this.#lanes[lane].head(this.underWay)
    return head === null || head.number >= this.#uncommittedFrom ? null : head
  }

  #take(lane: DeliveryLane, nowMs: TimeMs): NextStep | null {
    const head = this.#head(lane)
    if (head === null || head.dueAtMs > nowMs) return null
    this.#lanes[lane].shift()
    const row = this.#pending(head.number)
    // Another due time: it stands at its right place too.
    if (row === null || row.dueAtMs !== head.dueAtMs) return { kind: 'again' }
    if (row.eventType === 'price.changed' && this.ageMs(row, nowMs) >= webhookNewsAgeMsMax) {
      return { kind: 'expired', row }
    }
    this.#turn = lane === 'first' ? 'retry' : 'first'
    return { kind: 'send', row }
  }

  #pending(number: number): StoredDelivery | null {
    const row = this.#outbox.get(this.webhook.number, number)
    return row?.status === 'pending' ? row : null
  }
}
