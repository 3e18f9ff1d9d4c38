// Housekeeping of the outbox in slices: drops deliveries that waited too long, deletes old finished ones, and deletes
// the deliveries of removed webhooks, including those of an earlier run.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { finishedRetainedMax, finishedRetentionMs, finishedTotalMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import { DAY_MS, timeMs } from '../../engine/units.ts'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/storage.ts'
import type { Deliveries } from './deliveries.ts'
import type { DeliveryQueue } from './queue.ts'

/** Each webhook is checked once per round, in slices. */
const SLICE_MS = 1_000
const ROUND_MS = 60_000
const SLICE_MS_MAX = 2
/** Delay of the next slice while deliveries are left to delete. */
const MORE_AFTER_MS = 20
const ROWS_MAX = 100
/** Number of deliveries that may finish before the webhook's old ones are deleted. */
const FINISHED_SLACK = 100

export class OutboxHousekeeping {
  readonly #outbox: OutboxTable
  readonly #deliveries: Deliveries
  readonly #clock: Clock
  readonly #log: Log
  /** Removed webhooks whose deliveries are not deleted yet. */
  readonly #leftOver = new Set<WebhookNumber>()
  /** Webhooks with more to delete than one check did. */
  readonly #unfinished = new Set<DeliveryQueue>()
  #round: Iterator<DeliveryQueue> | null = null
  #nextRoundMs = 0
  #nextShareMs = 0
  #isRunning = false
  #stopTimer: StopTimer | null = null
  readonly #prunedAtMs = new WeakMap<DeliveryQueue, number>()

  constructor(parts: { outbox: OutboxTable; deliveries: Deliveries; clock: Clock; log: Log }) {
    this.#outbox = parts.outbox
    this.#deliveries = parts.deliveries
    this.#clock = parts.clock
    this.#log = parts.log
  }

  /** `exists`: whether a webhook with deliveries in the outbox still exists. */
  start(exists: (webhook: WebhookNumber) => boolean): void {
    for (const number of this.#outbox.webhooks()) if (!exists(number)) this.#leftOver.add(number)
    this.#isRunning = true
    this.#run()
  }

  /** Slices are more frequent with more webhooks. */
  #run(): void {
    const isMore = this.#slice()
    const everyMs = ROUND_MS / Math.max(this.#deliveries.queueCount, 1)
    this.#arm(isMore ? MORE_AFTER_MS : Math.max(everyMs, SLICE_MS))
  }

  #arm(delayMs: number): void {
    this.#stopTimer?.()
    this.#stopTimer = this.#clock.after(delayMs, () => this.#run())
  }

  stop(): void {
    this.#isRunning = false
    this.#stopTimer?.()
  }

  /** Deletes the deliveries of a removed webhook next. */
  clear(webhook: WebhookNumber): void {
    this.#leftOver.add(webhook)
    if (this.#isRunning) this.#arm(MORE_AFTER_MS)
  }

  /** Runs one slice; true while deliveries are left to delete. */
  #slice(): boolean {
    try {
      this.#updatePendingMax()
      const endsAtMs = this.#clock.monotonicMs() + SLICE_MS_MAX
      this.#clearSome(endsAtMs)
      this.#pruneSome(endsAtMs)
    } catch (error) {
      this.#log.error({ err: error }, 'housekeeping of the outbox failed')
      return false
    }
    return this.#leftOver.size + this.#unfinished.size > 0
  }

  /** Iterates over all webhooks, so it does not run in every slice. */
  #updatePendingMax(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#nextShareMs) return
    this.#nextShareMs = nowMs + SLICE_MS
    this.#deliveries.updatePendingMax()
  }

  #clearSome(endsAtMs: number): void {
    for (const webhook of this.#leftOver) {
      if (!this.#outbox.clear(webhook, ROWS_MAX)) this.#leftOver.delete(webhook)
      if (this.#clock.monotonicMs() > endsAtMs) return
    }
  }

  #pruneSome(endsAtMs: number): void {
    for (const queue of this.#unfinished) {
      if (!this.#prune(queue)) this.#unfinished.delete(queue)
      if (this.#clock.monotonicMs() > endsAtMs) return
    }
    const count = Math.ceil((this.#deliveries.queueCount * SLICE_MS) / ROUND_MS)
    for (let seen = 0; seen < count; seen += 1) {
      const queue = this.#nextOfRound()
      if (queue === null) return
      if (this.#prune(queue)) this.#unfinished.add(queue)
      if (this.#clock.monotonicMs() > endsAtMs) return
    }
  }

  #nextOfRound(): DeliveryQueue | null {
    if (this.#round === null) {
      const nowMs = this.#clock.monotonicMs()
      if (nowMs < this.#nextRoundMs) return null
      this.#nextRoundMs = nowMs + ROUND_MS
      this.#round = this.#deliveries.queues()
    }
    const { done, value } = this.#round.next()
    if (done !== true) return value
    this.#round = null
    return null
  }

  /** True while the webhook has more to delete. */
  #prune(queue: DeliveryQueue): boolean {
    if (queue.isClosed) return false
    if (this.#deliveries.dropOld(queue, ROWS_MAX)) return true
    const nowMs = this.#clock.nowMs()
    const prunedAtMs = this.#prunedAtMs.get(queue) ?? Number.NEGATIVE_INFINITY
    if (queue.finishedCount < FINISHED_SLACK && nowMs - prunedAtMs < DAY_MS) return false
    const isMore = this.#outbox.prune({
      webhook: queue.webhook.number,
      finishedMax: Math.min(
        finishedRetainedMax,
        Math.floor(finishedTotalMax / this.#deliveries.queueCount),
      ),
      beforeMs: timeMs(nowMs - finishedRetentionMs),
      rowsMax: ROWS_MAX,
    })
    if (isMore) return true
    queue.finishedCount = 0
    this.#prunedAtMs.set(queue, nowMs)
    return false
  }
}
