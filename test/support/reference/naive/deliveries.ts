// Reference implementation of webhook deliveries. It sends nothing. It checks whether a post was allowed and what the
// rows must be.

import assert from 'node:assert/strict'
import type { PostOutcome } from '../../../../engine/webhooks/post.ts'
import type { Delivery, DeliveryStatus } from '../../../../engine/webhooks/webhook.ts'

const WAITS_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000]
const DAY = 86_400_000

interface NaiveState {
  status: DeliveryStatus
  attempts: number
  /** Due within this interval, because of jitter; null when finished. */
  due: readonly [number, number] | null
}

interface NaiveDelivery extends NaiveState {
  readonly createdAtMs: number
  wasPosted: boolean
  /** Time of the creation, or of the last restart by the owner. */
  begunAtMs: number
  /** All states so far, because a crash may lose the last states. */
  readonly history: NaiveState[]
}

export class NaiveWebhook {
  readonly deliveries = new Map<number, NaiveDelivery>()
  /** Finished a week ago, so their rows may have been deleted. */
  readonly gone = new Map<number, NaiveDelivery>()
  readonly underWay = new Set<number>()
  readonly asked = new Set<number>()
  isActive = true
  reason: 'gone' | 'failing' | null = null
  failingSinceMs: number | null = null
  isRemoved = false
  readonly #pendingMax: number

  constructor(pendingMax: number) {
    this.#pendingMax = pendingMax
  }

  create(nowMs: number): number {
    const number = Math.max(0, ...this.deliveries.keys(), ...this.gone.keys()) + 1
    const state: NaiveState = { status: 'pending', attempts: 0, due: [nowMs, nowMs] }
    const fresh = {
      createdAtMs: nowMs,
      begunAtMs: nowMs,
      wasPosted: false,
      history: [{ ...state }],
    }
    this.deliveries.set(number, { ...state, ...fresh })
    const pending = [...this.deliveries]
      .filter(([, { status }]) => status === 'pending')
      .sort(([one], [other]) => one - other)
    const tooMany = Math.max(0, pending.length - this.#pendingMax)
    for (const [, oldest] of pending.slice(0, Math.min(tooMany, 4))) {
      this.#become(oldest, { status: 'dropped', attempts: oldest.attempts, due: null })
    }
    return number
  }

  ask(number: number, nowMs: number): void {
    const delivery = this.#known(number)
    if (this.underWay.has(number)) return
    this.#become(delivery, { status: 'pending', attempts: 0, due: [nowMs, nowMs] })
    delivery.begunAtMs = nowMs
    this.asked.add(number)
  }

  begin(number: number, nowMs: number): void {
    const delivery = this.#known(number)
    assert.ok(!this.isRemoved, 'a removed webhook is sent nothing')
    assert.equal(delivery.status, 'pending')
    assert.ok(!this.underWay.has(number), 'it is not sent twice at once')
    assert.ok(this.underWay.size < (this.failingSinceMs === null ? 16 : 1), 'not too many at once')
    if (!this.asked.delete(number)) {
      assert.ok(this.isActive, 'an inactive webhook waits')
      assert.ok((delivery.due?.[0] ?? Number.POSITIVE_INFINITY) <= nowMs, 'it is due')
    }
    this.underWay.add(number)
    delivery.wasPosted = true
  }

  end(number: number, outcome: PostOutcome, nowMs: number): void {
    this.underWay.delete(number)
    const isAborted = outcome.kind === 'failed' && outcome.reason === 'aborted'
    if (this.isRemoved || isAborted) return
    const status = outcome.kind === 'answered' ? outcome.status : 0
    const isSuccess = status >= 200 && status < 300
    const delivery = this.#known(number)
    if (delivery.status === 'pending') {
      const attempts = delivery.attempts + 1
      const isOver = isSuccess || status === 410 || attempts === 8
      const waitMs = WAITS_MS[attempts - 1] ?? 0
      const askedMs = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0
      const from = Math.floor(nowMs + Math.max(waitMs * 0.8, askedMs))
      const to = Math.ceil(nowMs + Math.max(waitMs * 1.2, askedMs))
      const ended = isSuccess ? 'delivered' : 'exhausted'
      const due = isOver ? null : ([from, to] as const)
      this.#become(delivery, { status: isOver ? ended : 'pending', attempts, due })
    }
    this.#noteResult(isSuccess, status === 410, nowMs)
  }

  #noteResult(isSuccess: boolean, isMissing: boolean, nowMs: number): void {
    const sinceMs = this.failingSinceMs
    if (isSuccess) this.failingSinceMs = null
    else this.failingSinceMs ??= nowMs
    if (isSuccess || !this.isActive) return
    if (isMissing) this.reason = 'gone'
    else if (sinceMs !== null && nowMs - sinceMs >= 5 * DAY) this.reason = 'failing'
    if (this.reason !== null) this.isActive = false
  }

  setActive(isActive: boolean): void {
    if (isActive && !this.isActive) this.failingSinceMs = null
    this.isActive = isActive
    this.reason = null
  }

  counts() {
    const counts = { created: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0 }
    for (const { status } of [...this.deliveries.values(), ...this.gone.values()]) {
      counts.created += 1
      counts[status] += 1
    }
    return counts
  }

  /** Also copies values that only the table has: the jitter, and which old rows were dropped. */
  compare(rows: readonly Delivery[], nowMs: number): void {
    const numbers = new Set(rows.map(({ number }) => number))
    for (const [number, delivery] of this.deliveries) {
      if (numbers.has(number)) continue
      const isOld = nowMs - delivery.createdAtMs >= 7 * DAY
      // The row was dropped and deleted because of its age before this check.
      if (delivery.status === 'pending' && nowMs - delivery.begunAtMs >= 3 * DAY) {
        this.#become(delivery, { status: 'dropped', attempts: delivery.attempts, due: null })
      }
      assert.ok(isOld && delivery.status !== 'pending', `${number} is gone: ${show(delivery)}`)
      this.deliveries.delete(number)
      this.gone.set(number, delivery)
    }
    assert.equal(this.deliveries.size, rows.length)
    for (const row of rows) {
      const delivery = this.#known(row.number)
      if (row.status === 'dropped' && delivery.status !== 'dropped') {
        assert.ok(nowMs - delivery.begunAtMs >= 3 * DAY, 'only what is old is dropped')
        // The attempt may have been running then, so its outcome is not counted.
        const { attempts } = row
        const wasPending = delivery.history.some(
          (one) => one.status === 'pending' && one.attempts === attempts,
        )
        assert.ok(wasPending, show(row, delivery))
        this.#become(delivery, { status: 'dropped', attempts, due: null })
      }
      assert.ok(isState(row, delivery), show(row, delivery))
      if (row.dueAtMs !== null) delivery.due = [row.dueAtMs, row.dueAtMs]
    }
  }

  /** After a crash every row must equal one of its earlier states, and posted deliveries must exist. */
  comeBack(rows: readonly Delivery[], failingSinceMs: number | null): void {
    const byNumber = new Map(rows.map((row) => [row.number, row]))
    for (const [number, delivery] of this.gone) {
      if (!byNumber.has(number)) continue
      this.gone.delete(number)
      this.deliveries.set(number, delivery)
    }
    for (const [number, delivery] of this.deliveries) {
      const row = byNumber.get(number)
      if (row === undefined) {
        assert.ok(!delivery.wasPosted, 'what was posted was committed')
        this.deliveries.delete(number)
        continue
      }
      const found = delivery.history.find((state) => isState(row, state))
      assert.ok(found !== undefined, 'a row is as it was once')
      Object.assign(delivery, found)
      delivery.begunAtMs = delivery.createdAtMs
    }
    assert.equal(this.deliveries.size, rows.length)
    this.underWay.clear()
    this.asked.clear()
    this.failingSinceMs = failingSinceMs
  }

  #become(delivery: NaiveDelivery, state: NaiveState): void {
    Object.assign(delivery, state)
    delivery.history.push({ ...state })
  }

  #known(number: number): NaiveDelivery {
    const delivery = this.deliveries.get(number)
    assert.ok(delivery !== undefined, `delivery ${number} was made`)
    return delivery
  }
}

const show = (...parts: readonly unknown[]) => JSON.stringify(parts)

function isState({ status, attempts, dueAtMs }: Delivery, state: NaiveState): boolean {
  if (status !== state.status || attempts !== state.attempts) return false
  if (dueAtMs === null || state.due === null) return dueAtMs === state.due
  return dueAtMs >= state.due[0] && dueAtMs <= state.due[1]
}
