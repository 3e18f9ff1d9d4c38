// Housekeeping of the outbox in time slices. Drops deliveries that waited too long, and deletes old finished deliveries
// and those of removed webhooks.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { finishedRetainedMax, finishedRetentionMs, finishedTotalMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import { DAY_MS, timeMs } from '../../engine/units.ts'
import type { WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../storage/contract/storage.ts'
import type { Deliveries } from './deliveries.ts'
import type { DeliveryQueue } from './queue.ts'

const ROUND_MS = 60_000
const TICK_MS = 1_000
/** Maximum duration of a time slice, and the delay of the next slice while work is left. */
const SLICE_MS_MAX = 2
const MORE_AFTER_MS = 20
const ROWS_MAX = 100
/** A webhook's old deliveries are deleted when this many deliveries have finished, at the latest after a day. */
const FINISHED_SLACK = 100

export class OutboxHousekeeping {
  readonly #outbox: OutboxTable
  readonly #deliveries: Deliveries
  readonly #clock: Clock
  readonly #log: Log
  /** Removed webhooks whose deliveries must be deleted. Some may have been removed before a restart. */
  readonly #leftOver = new Set<WebhookNumber>()
  #round: Iterator<void> | null = null
  #nextRoundMs = 0
  #nextTickMs = 0
  #isRunning = false
  #stopTimer: StopTimer | null = null
  readonly #prunedAtMs = new WeakMap<DeliveryQueue, number>()

  constructor(parts: { outbox: OutboxTable; deliveries: Deliveries; clock: Clock; log: Log }) {
    this.#outbox = parts.outbox
    this.#deliveries = parts.deliveries
    this.#clock = parts.clock
    this.#log = parts.log
  }

  start(exists: (webhook: WebhookNumber) => boolean): void {
    for (const number of this.#outbox.webhooks()) if (!exists(number)) this.#leftOver.add(number)
    this.#isRunning = true
    this.#run()
  }

  stop(): void {
    this.#isRunning = false
    this.#stopTimer?.()
  }

  clear(webhook: WebhookNumber): void {
    this.#leftOver.add(webhook)
    if (this.#isRunning) this.#runAfter(MORE_AFTER_MS)
  }

  #runAfter(delayMs: number): void {
    this.#stopTimer?.()
    this.#stopTimer = this.#clock.after(delayMs, () => this.#run())
  }

  #run(): void {
    let isMore = false
    try {
      isMore = this.#slice(this.#clock.monotonicMs())
    } catch (error) {
      this.#round = null
      this.#log.error({ err: error }, 'housekeeping of the outbox failed')
    }
    this.#runAfter(isMore ? MORE_AFTER_MS : TICK_MS)
  }

  #slice(nowMs: number): boolean {
    // This step reads all webhooks, so it does not run in every slice.
    if (nowMs >= this.#nextTickMs) {
      this.#nextTickMs = nowMs + TICK_MS
      this.#deliveries.updatePendingMax()
    }
    if (this.#round === null && (nowMs >= this.#nextRoundMs || this.#leftOver.size > 0)) {
      this.#round = this.#steps(nowMs >= this.#nextRoundMs)
      if (nowMs >= this.#nextRoundMs) this.#nextRoundMs = nowMs + ROUND_MS
    }
    while (this.#round !== null) {
      if (this.#round.next().done === true) this.#round = null
      else if (this.#clock.monotonicMs() > nowMs + SLICE_MS_MAX) return true
    }
    return this.#leftOver.size > 0
  }

  *#steps(isRound: boolean): Generator<void> {
    for (const webhook of this.#leftOver) {
      while (this.#outbox.clear(webhook, ROWS_MAX)) yield
      this.#leftOver.delete(webhook)
      yield
    }
    for (const queue of isRound ? this.#deliveries.queues() : []) {
      while (this.#prune(queue)) yield
      yield
    }
  }

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
