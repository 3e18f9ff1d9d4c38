// Sends the deliveries of the outbox, with a bounded number of running attempts. Accounts, hosts and webhooks are
// served in rotation (delivery-rotation.ts). A delivery is sent after its commit, and its outcome is written after the
// attempt. A crash may therefore repeat a delivery but never loses one.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { AccountId } from '../../engine/ids.ts'
import {
  failingMsMax,
  finishedRetainedMax,
  pendingAgeMsMax,
  pendingPerWebhookMax,
  pendingTotalMax,
  slowAttemptMs,
  testAgeMsMax,
} from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Random } from '../../engine/random.ts'
import { MINUTE_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import { DIGEST_EVENTS_MAX } from '../../engine/webhooks/chat-message.ts'
import type { WebhookBodies } from '../../engine/webhooks/event-type.ts'
import type { Caller } from '../../engine/webhooks/post.ts'
import type { SecretBox } from '../../engine/webhooks/secret-box.ts'
import type {
  Delivery,
  DisabledReason,
  StoredDelivery,
  Webhook,
  WebhookEventType,
  WebhookNumber,
} from '../../engine/webhooks/webhook.ts'
import type { WebhookShare } from '../../engine/webhooks/webhook-share.ts'
import type { OutboxTable, Storage } from '../../storage/contract/storage.ts'
import { AccountShares } from './account-shares.ts'
import { Attempts, applyOutcome, errorOf, type Finished, isGone } from './attempts.ts'
import { DeliveryRotation } from './delivery-rotation.ts'
import { DeliveryQueue, hostOf } from './queue.ts'

/** Statuses of services that do not accept the content of a message. */
const CONTENT_STATUSES: ReadonlySet<number> = new Set([400, 413, 422])
/** Maximum size of the bodies that one chat message summarizes. */
const DIGEST_BYTES_MAX = 65_536
const PUMP_MS_MAX = 2
const PUMP_COUNT_MAX = 64
/** Due times are calendar times, and the system clock may jump, so no timer is longer. */
const SLEEP_MS_MAX = MINUTE_MS
/** Maximum deliveries dropped for each new event of a webhook that has too many. */
const DROPPED_PER_EVENT_MAX = 4
/**
 * A webhook at its limit drops a delivery with each event. After this many drops, its oldest finished deliveries are
 * deleted at once, because housekeeping is slower.
 */
const DROPPED_PER_PRUNE = 16
/** Maximum delay of storing throttle counts, and number of webhooks stored at a time. */
const THROTTLED_SAVED_MS = 1_000
const THROTTLED_SAVED_MAX = 256
const COMMIT_RETRY_MS = 5_000

interface DeliveryParts {
  readonly outbox: OutboxTable
  readonly storage: Pick<Storage, 'committed'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly caller: Pick<Caller, 'post'>
  readonly box: SecretBox
  readonly bodies: Pick<WebhookBodies, 'types' | 'chat'>
  readonly disable: (webhook: Webhook, reason: DisabledReason) => void
  /** Called when a host answered a test with a 2xx. The record `webhook` may be outdated. */
  readonly verify: (webhook: Webhook) => void
  readonly shareOf: (account: AccountId) => WebhookShare
  /** For tests. Defaults: `pendingPerWebhookMax` and `pendingTotalMax`. */
  readonly pendingMax?: number
  readonly pendingTotalMax?: number
}

export class Deliveries {
  readonly #parts: DeliveryParts
  readonly #expiring: ReadonlySet<WebhookEventType>
  readonly #onDemand: ReadonlySet<WebhookEventType>
  #accountPendingMax = Number.POSITIVE_INFINITY
  readonly #queues = new Map<WebhookNumber, DeliveryQueue>()
  readonly #sleeping = new Map<DeliveryQueue, StopTimer>()
  readonly #uncommitted = new Set<DeliveryQueue>()
  readonly #throttled = new Set<DeliveryQueue>()
  readonly #throttledTotal: Count
  readonly #shares: AccountShares
  readonly #attempts: Attempts
  readonly #rotation: DeliveryRotation
  #isCommitRequested = false
  #isRunning = false
  #stopContinuation: StopTimer | null = null
  #stopCommitRetry: StopTimer | null = null
  #stopSaving: StopTimer | null = null

  constructor(parts: DeliveryParts) {
    this.#parts = parts
    const expiring = parts.bodies.types.filter(({ expires }) => expires === 'unposted')
    this.#expiring = new Set(expiring.map(({ name }) => name))
    const onDemand = parts.bodies.types.filter(({ isManual }) => isManual)
    this.#onDemand = new Set(onDemand.map(({ name }) => name))
    const { metrics, clock, shareOf } = parts
    const onCapacity = (account: AccountId) => {
      this.#rotation.releaseAccount(account)
      this.#pump()
    }
    this.#shares = new AccountShares({ clock, shareOf, onCapacity })
    this.#attempts = new Attempts({ ...parts, shares: this.#shares }, (queue, finished) =>
      this.#finish(queue, finished),
    )
    this.#rotation = new DeliveryRotation(this.#attempts)
    this.#throttledTotal = metrics.count(
      'webhook_events_throttled_total',
      'Events rejected because their account used up its share of deliveries.',
    )
    metrics.gauge('webhook_deliveries_pending', 'Deliveries that wait or are being sent.', () => {
      return this.#pendingTotal()
    })
  }

  #pendingTotal(): number {
    let pending = 0
    for (const { pendingCount } of this.#queues.values()) pending += pendingCount
    return pending
  }

  start(): void {
    this.#isRunning = true
    for (const queue of this.#queues.values()) if (queue.pendingCount > 0) this.#rotation.add(queue)
    this.#pump()
  }

  /** Aborts running attempts. Their deliveries stay pending. */
  stop(): void {
    this.#isRunning = false
    this.#stopContinuation?.()
    this.#stopCommitRetry?.()
    this.#stopSaving?.()
    this.#saveThrottled(Number.POSITIVE_INFINITY)
    this.#shares.stop()
    for (const stopTimer of this.#sleeping.values()) stopTimer()
    this.#sleeping.clear()
    for (const { underWay } of this.#queues.values()) {
      for (const controller of underWay.values()) controller.abort()
    }
  }

  /** Adds or replaces a webhook. Resets its failures if it became active. */
  put(webhook: Webhook): void {
    const queue = this.#queues.get(webhook.number)
    if (queue === undefined) {
      const opened = new DeliveryQueue(webhook, this.#parts.outbox, this.#expiring)
      this.#queues.set(webhook.number, opened)
      this.#shares.open(opened)
      return
    }
    const isActivated = webhook.isActive && !queue.webhook.isActive
    // The rotation stores the queue by host, so the queue is removed before its host changes.
    const isWaiting = this.#rotation.remove(queue)
    if (webhook.url !== queue.webhook.url) queue.pausedUntilMs = timeMs(0)
    queue.webhook = webhook
    queue.host = hostOf(webhook)
    if (isWaiting) this.#wake(queue)
    if (!isActivated) return
    this.#setFailing(queue, null)
    this.#wake(queue)
  }

  /** Aborts a webhook's attempts and begins no more. Housekeeping deletes its deliveries (outbox-housekeeping.ts). */
  close(number: WebhookNumber): void {
    const queue = this.#queues.get(number)
    if (queue === undefined) return
    queue.isClosed = true
    this.#queues.delete(number)
    this.#rotation.remove(queue)
    this.#uncommitted.delete(queue)
    this.#throttled.delete(queue)
    this.#shares.close(queue)
    this.#sleep(queue, null)
    for (const controller of queue.underWay.values()) controller.abort()
  }

  /** Webhooks may be added and removed during the iteration. */
  queues(): IterableIterator<DeliveryQueue> {
    return this.#queues.values()
  }

  get queueCount(): number {
    return this.#queues.size
  }

  /**
   * Returns whether one more event may be created for a webhook. If not, counts the event as throttled. Called before
   * the body is written, so that a rejected event costs little.
   */
  admits(number: WebhookNumber): boolean {
    const queue = this.#queues.get(number)
    if (queue === undefined) return false
    if (this.#shares.admits(queue)) return true
    queue.throttledCount += 1
    this.#throttledTotal.inc()
    this.#throttled.add(queue)
    if (!this.#isRunning) this.#saveThrottled(1)
    else this.#saveThrottledLater()
    return false
  }

  saveThrottled(number: WebhookNumber): void {
    const queue = this.#queues.get(number)
    if (queue !== undefined) this.#saveThrottledOf(queue)
  }

  #saveThrottledLater(): void {
    this.#stopSaving ??= this.#parts.clock.after(THROTTLED_SAVED_MS, () => {
      this.#stopSaving = null
      this.#saveThrottled(THROTTLED_SAVED_MAX)
      if (this.#throttled.size > 0) this.#saveThrottledLater()
    })
  }

  #saveThrottled(queuesMax: number): void {
    let count = 0
    for (const queue of this.#throttled) {
      if (count >= queuesMax) return
      this.#saveThrottledOf(queue)
      count += 1
    }
  }

  #saveThrottledOf(queue: DeliveryQueue): void {
    // If the disk is full, the next save tries again.
    if (!this.#parts.outbox.throttle(queue.webhook.number, queue.throttledCount)) return
    queue.throttledCount = 0
    this.#throttled.delete(queue)
  }

  /**
   * Stores a pending delivery, which is sent after its commit. Drops the webhook's oldest deliveries beyond the limit.
   * Returns null if the webhook already has that event or the disk is full. `originMs`: receive time of the event.
   */
  create(
    number: WebhookNumber,
    event: Pick<StoredDelivery, 'eventId' | 'eventType' | 'body'>,
    originMs: TimeMs,
  ): StoredDelivery | null {
    const queue = this.#queues.get(number)
    if (queue === undefined) return null
    const nowMs = this.#parts.clock.nowMs()
    const record = this.#parts.outbox.create(number, {
      ...event,
      createdAtMs: nowMs,
      dueAtMs: nowMs,
    })
    if (record === null) return null
    queue.noteCreated({ dueAtMs: nowMs, number: record.number }, originMs)
    this.#shares.noteEvent(queue, event.body.byteLength)
    this.#count(record, 'created')
    this.#dropExcess(queue)
    this.#uncommitted.add(queue)
    this.#requestCommit()
    return record
  }

  #dropExcess(queue: DeliveryQueue): void {
    const { outbox } = this.#parts
    const { number } = queue.webhook
    const { pendingMax = pendingPerWebhookMax } = this.#parts
    const share = Math.floor(this.#accountPendingMax / this.#shares.queueCountOf(queue))
    const most = Math.min(pendingMax, share)
    for (let dropped = 0; dropped < DROPPED_PER_EVENT_MAX; dropped += 1) {
      if (queue.pendingCount <= most) return
      const oldest = outbox.oldestPending(number)
      if (oldest === null) return
      if (!this.#drop(queue, oldest)) return
      if (queue.finishedCount % DROPPED_PER_PRUNE > 0) continue
      const rowsMax = 2 * DROPPED_PER_PRUNE
      outbox.prune({
        webhook: number,
        finishedMax: finishedRetainedMax,
        beforeMs: timeMs(0),
        rowsMax,
      })
    }
  }

  /**
   * Called periodically. If all webhooks together have too many pending deliveries for the disk, limits each account to
   * an equal share.
   */
  updatePendingMax(): void {
    const { pendingMax = pendingPerWebhookMax, pendingTotalMax: most = pendingTotalMax } =
      this.#parts
    this.#shares.removeUnused()
    // A small number of webhooks cannot exceed the limit, so nothing is counted.
    const isOver = this.#queues.size * pendingMax > most && this.#pendingTotal() > most
    this.#accountPendingMax = isOver ? most / this.#shares.accountCount : Number.POSITIVE_INFINITY
  }

  /** Sends a delivery created in this tick before all others of its webhook, even if the webhook is inactive. */
  prioritize(number: WebhookNumber, deliveryNumber: number): void {
    this.#queues.get(number)?.prioritize(deliveryNumber)
  }

  /**
   * Makes a delivery due now, with all its attempts again. Returns null if the number is unknown. Throws EngineError
   * INTERNAL if the disk is full.
   */
  retry(number: WebhookNumber, deliveryNumber: number): Delivery | null {
    const { outbox, clock } = this.#parts
    const queue = this.#queues.get(number)
    const record = outbox.get(number, deliveryNumber)
    if (queue === undefined || record === null) return null
    const { body: _, ...delivery } = record
    // The delivery is being sent, so no second attempt is started.
    if (queue.underWay.has(deliveryNumber)) return delivery
    const dueAtMs = clock.nowMs()
    const renewed: Delivery = { ...delivery, status: 'pending', dueAtMs, attempts: 0 }
    if (!outbox.update(number, renewed)) throw new EngineError('INTERNAL', 'the disk takes no more')
    if (record.status !== 'pending') this.#count(record, 'retried')
    queue.noteDue('first', { number: deliveryNumber, dueAtMs })
    queue.noteRenewed(deliveryNumber, dueAtMs)
    queue.prioritize(deliveryNumber)
    this.#wake(queue)
    return renewed
  }

  /** Drops at most `rowsMax` pending deliveries that waited too long. Returns whether there may be more. */
  dropOld(queue: DeliveryQueue, rowsMax: number): boolean {
    const nowMs = this.#parts.clock.nowMs()
    for (let dropped = 0; dropped < rowsMax; dropped += 1) {
      if (queue.pendingCount === 0) return false
      const oldest = this.#parts.outbox.oldestPending(queue.webhook.number)
      if (oldest === null || queue.ageMs(oldest, nowMs) < pendingAgeMsMax) return false
      if (!this.#drop(queue, oldest)) return false
    }
    return true
  }

  #requestCommit(): void {
    if (this.#isCommitRequested) return
    this.#isCommitRequested = true
    queueMicrotask(() => {
      this.#isCommitRequested = false
      const batch = [...this.#uncommitted].map((queue) => ({ queue, upTo: queue.createdTo }))
      this.#uncommitted.clear()
      this.#parts.storage.committed().then(
        () => this.#onCommitted(batch),
        (error: unknown) => this.#onNotCommitted(batch, error),
      )
    })
  }

  /** Retries a failed commit later, even if no other event arrives. A full disk may have space by then. */
  #onNotCommitted(batch: readonly { queue: DeliveryQueue }[], error: unknown): void {
    for (const { queue } of batch) if (!queue.isClosed) this.#uncommitted.add(queue)
    if (!this.#isRunning || this.#stopCommitRetry !== null) return
    this.#parts.log.error({ err: error }, 'deliveries not committed')
    this.#stopCommitRetry = this.#parts.clock.after(COMMIT_RETRY_MS, () => {
      this.#stopCommitRetry = null
      this.#requestCommit()
    })
  }

  #onCommitted(batch: readonly { queue: DeliveryQueue; upTo: number }[]): void {
    for (const { queue, upTo } of batch) {
      queue.noteCommitted(upTo)
      this.#ready(queue)
    }
    this.#pump()
  }

  #wake(queue: DeliveryQueue): void {
    this.#ready(queue)
    this.#pump()
  }

  #ready(queue: DeliveryQueue): void {
    if (!queue.isClosed && queue.hasCapacity(this.#attempts.isQuiet)) this.#rotation.add(queue)
  }

  #pump(): void {
    const { clock } = this.#parts
    const endsAtMs = clock.monotonicMs() + PUMP_MS_MAX
    for (let stepCount = 0; this.#isRunning && this.#attempts.hasCapacity; stepCount += 1) {
      if (stepCount >= PUMP_COUNT_MAX || clock.monotonicMs() > endsAtMs) {
        this.#stopContinuation ??= clock.after(0, () => {
          this.#stopContinuation = null
          this.#pump()
        })
        return
      }
      const queue = this.#rotation.take(this.#attempts.hasCapacityForSuspect)
      if (queue === null) return
      const { host } = queue
      this.#step(queue, clock.nowMs())
      if (this.#attempts.hasCapacityForHost(host)) this.#rotation.releaseHost(host)
    }
  }

  #step(queue: DeliveryQueue, nowMs: TimeMs): void {
    const controller = new AbortController()
    // A webhook that began to fail while it waited is added again when one of its attempts ends.
    if (!queue.hasCapacity(this.#attempts.isQuiet)) return
    if (queue.pausedUntilMs > nowMs) return this.#sleep(queue, queue.pausedUntilMs)
    const records: StoredDelivery[] = []
    let byteCount = 0
    const isDigest = queue.isChat && queue.singlesLeft === 0
    for (let steps = isDigest ? DIGEST_EVENTS_MAX : 1; steps > 0; steps -= 1) {
      const next = byteCount < DIGEST_BYTES_MAX ? queue.next(nowMs) : null
      if (next === null) {
        if (records.length > 0) break
        return this.#sleep(queue, queue.nextDueMs())
      }
      if (next.kind === 'expired') {
        const { body: _, ...record } = next.record
        this.#drop(queue, record)
      } else if (next.kind === 'send') {
        records.push(next.record)
        byteCount += next.record.body.byteLength
        queue.underWay.set(next.record.number, controller)
      }
    }
    if (records.length > 0) this.#attempts.begin(queue, records, { controller, atMs: nowMs })
    this.#ready(queue)
  }

  #sleep(queue: DeliveryQueue, untilMs: TimeMs | null): void {
    this.#sleeping.get(queue)?.()
    this.#sleeping.delete(queue)
    if (untilMs === null) return
    const { clock } = this.#parts
    const delayMs = Math.min(Math.max(untilMs - clock.nowMs(), 1), SLEEP_MS_MAX)
    const stopTimer = clock.after(delayMs, () => {
      this.#sleeping.delete(queue)
      this.#wake(queue)
    })
    this.#sleeping.set(queue, stopTimer)
  }

  #finish(queue: DeliveryQueue, finished: Finished): void {
    const { records, outcome, times, host, isAborted } = finished
    this.#rotation.releaseAccount(queue.webhook.accountId)
    this.#rotation.releaseHost(host)
    if (isAborted) return this.#pump()
    const { outbox, random } = this.#parts
    const { number } = queue.webhook
    // The events of a failed message have one due time, so that they form one message again.
    const draw = random.next()
    for (const record of records) {
      const { delivery } = applyOutcome(record, outcome, times, { next: () => draw })
      if (outbox.get(number, record.number)?.status !== 'pending') continue
      if (delivery.status !== 'pending') this.#end(queue, delivery)
      else outbox.update(number, delivery)
      const { dueAtMs } = delivery
      if (dueAtMs !== null) queue.noteDue('retry', { number: record.number, dueAtMs })
    }
    this.#noteSuspect(queue, () => {
      queue.isSlow = times.durationMs >= slowAttemptMs
    })
    const isSuccess = errorOf(outcome) === null
    // After a message that the service does not accept, its events are sent alone, because one may be the cause.
    const isContent = outcome.kind === 'answered' && CONTENT_STATUSES.has(outcome.status)
    if (isContent && records.length > 1) queue.singlesLeft = records.length
    else if (queue.singlesLeft > 0) queue.singlesLeft -= 1
    this.#noteResult(queue, { isSuccess, isGone: isGone(outcome) }, times.nowMs)
    const isTest = records.some(
      ({ eventType, createdAtMs }) =>
        this.#onDemand.has(eventType) && times.nowMs - createdAtMs < testAgeMsMax,
    )
    if (isSuccess && isTest && host === queue.host) this.#parts.verify(queue.webhook)
    this.#wake(queue)
  }

  #noteResult(
    queue: DeliveryQueue,
    { isSuccess, isGone }: { isSuccess: boolean; isGone: boolean },
    nowMs: TimeMs,
  ): void {
    const { webhook, failingSinceMs } = queue
    if (isSuccess) this.#setFailing(queue, null)
    else if (failingSinceMs === null) this.#setFailing(queue, nowMs)
    if (!webhook.isActive || isSuccess) return
    if (isGone) this.#parts.disable(webhook, 'gone')
    else if (failingSinceMs !== null && nowMs - failingSinceMs >= failingMsMax) {
      this.#parts.disable(webhook, 'failing')
    }
  }

  #setFailing(queue: DeliveryQueue, sinceMs: TimeMs | null): void {
    if (queue.failingSinceMs === sinceMs) return
    this.#noteSuspect(queue, () => {
      queue.failingSinceMs = sinceMs
    })
    this.#parts.outbox.putFailingSince(queue.webhook.number, sinceMs)
  }

  /** Applies a change to a webhook. If its `isSuspect` changes, the webhook moves to the end of the other rotation. */
  #noteSuspect(queue: DeliveryQueue, change: () => void): void {
    const wasSuspect = queue.isSuspect
    change()
    if (wasSuspect === queue.isSuspect) return
    this.#attempts.noteSuspect(queue)
    if (this.#rotation.remove(queue)) this.#rotation.add(queue)
  }

  #drop(queue: DeliveryQueue, delivery: Delivery): boolean {
    return this.#end(queue, { ...delivery, status: 'dropped', dueAtMs: null })
  }

  /** Ends a pending delivery. Returns false if the outbox could not store the change, so that it is still pending. */
  #end(queue: DeliveryQueue, delivery: Delivery): boolean {
    if (!this.#parts.outbox.update(queue.webhook.number, delivery)) return false
    queue.noteEnded(delivery.number)
    this.#count(delivery, delivery.status)
    return true
  }

  #count({ eventType: type }: Pick<Delivery, 'eventType'>, outcome: string): void {
    const help = 'Deliveries created, retried manually, and ended, by outcome.'
    this.#parts.metrics.count('webhook_deliveries_total', help, { type, outcome }).inc()
  }
}
