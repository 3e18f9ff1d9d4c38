// Counts each account's use of its webhook share: running attempts, attempts and events per second, and pending
// deliveries. Events beyond the share are rejected before anything is written for them.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { AccountId } from '../../engine/ids.ts'
import { attemptsPerAccountMax } from '../../engine/limits.ts'
import { TokenLevel, type WebhookShare } from '../../engine/webhooks/webhook-share.ts'
import type { DeliveryQueue } from './queue.ts'

/**
 * Size of the event burst, in seconds of the account's rate. An accepted event waits at most this long for its first
 * attempt.
 */
const EVENT_BURST_S = 60
/** Size of the attempt burst, in seconds of the account's rate. */
const ATTEMPT_BURST_S = 5
/** Interval of counting an account's pending deliveries. Between two counts, created deliveries are added. */
const RECOUNT_MS = 1_000

class AccountUse {
  readonly queues = new Set<DeliveryQueue>()
  readonly events = new TokenLevel()
  readonly attempts = new TokenLevel()
  underWay = 0
  pending = 0
  pendingBytes = 0
  countedAtMs = Number.NEGATIVE_INFINITY
  /** Timer that ends when the account may begin an attempt again. Null: it may now. */
  stopTimer: StopTimer | null = null
}

export class AccountShares {
  readonly #clock: Clock
  readonly #shareOf: (account: AccountId) => WebhookShare
  readonly #onCapacity: (account: AccountId) => void
  /** Contains accounts for about a minute after the removal of their last webhook. */
  readonly #uses = new Map<AccountId, AccountUse>()

  constructor(parts: {
    clock: Clock
    shareOf: (account: AccountId) => WebhookShare
    onCapacity: (account: AccountId) => void
  }) {
    this.#clock = parts.clock
    this.#shareOf = parts.shareOf
    this.#onCapacity = parts.onCapacity
  }

  open(queue: DeliveryQueue): void {
    this.#useOf(queue).queues.add(queue)
  }

  close(queue: DeliveryQueue): void {
    this.#useOf(queue).queues.delete(queue)
  }

  /** At least 1, because it is a divisor. */
  get accountCount(): number {
    let count = 0
    for (const { queues } of this.#uses.values()) if (queues.size > 0) count += 1
    return Math.max(count, 1)
  }

  /** At least 1, because it is a divisor. */
  queueCountOf(queue: DeliveryQueue): number {
    return Math.max(this.#useOf(queue).queues.size, 1)
  }

  /**
   * Removes accounts without webhooks when their used tokens are refilled. An earlier removal would give new webhooks
   * of the account a full burst again.
   */
  removeUnused(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [account, { queues, events, underWay, stopTimer }] of this.#uses) {
      if (queues.size + underWay > 0 || stopTimer !== null) continue
      const { deliveriesPerSecond: rate } = this.#shareOf(account)
      const capacity = rate * EVENT_BURST_S
      if (events.at(nowMs, rate, capacity) >= capacity) this.#uses.delete(account)
    }
  }

  /**
   * Returns whether the account's share has room for one more event of a webhook. Any webhook may use the upper half of
   * the account's tokens. The lower half is divided between the webhooks, so that a busy webhook leaves tokens to the
   * others.
   */
  admits(queue: DeliveryQueue): boolean {
    const nowMs = this.#clock.monotonicMs()
    const use = this.#useOf(queue)
    const share = this.#shareOf(queue.webhook.accountId)
    if (!this.#hasTokens(use, queue, share.deliveriesPerSecond, nowMs)) return false
    if (nowMs - use.countedAtMs >= RECOUNT_MS) this.#recount(use, nowMs)
    if (use.pending < share.pendingMax && use.pendingBytes < share.pendingBytesMax) return true
    const { pendingCount, pendingBytes } = queue
    const count = Math.max(use.queues.size, 1)
    return pendingCount < share.pendingMax / count && pendingBytes < share.pendingBytesMax / count
  }

  noteEvent(queue: DeliveryQueue, byteCount: number): void {
    const use = this.#useOf(queue)
    const { deliveriesPerSecond: rate } = this.#shareOf(queue.webhook.accountId)
    const capacity = rate * EVENT_BURST_S
    const left = use.events.at(this.#clock.monotonicMs(), rate, capacity)
    use.events.take()
    if (left <= capacity / 2) queue.events.take()
    use.pending += 1
    use.pendingBytes += byteCount
  }

  #hasTokens(use: AccountUse, queue: DeliveryQueue, rate: number, nowMs: number): boolean {
    const capacity = rate * EVENT_BURST_S
    const left = use.events.at(nowMs, rate, capacity)
    const count = Math.max(use.queues.size, 1)
    const own = queue.events.at(nowMs, rate / count, Math.max(1, capacity / 2 / count))
    return left >= 1 && (left > capacity / 2 || own >= 1)
  }

  #recount(use: AccountUse, nowMs: number): void {
    use.pending = 0
    use.pendingBytes = 0
    for (const { pendingCount, pendingBytes } of use.queues) {
      use.pending += pendingCount
      use.pendingBytes += pendingBytes
    }
    use.countedAtMs = nowMs
  }

  hasAttempt(account: AccountId): boolean {
    const use = this.#uses.get(account)
    return use === undefined || (use.underWay < attemptsPerAccountMax && use.stopTimer === null)
  }

  begin(queue: DeliveryQueue): void {
    const use = this.#useOf(queue)
    const { accountId: account } = queue.webhook
    use.underWay += 1
    this.#attemptsLeft(account, use)
    use.attempts.take()
    this.#waitIfEmpty(account, use)
  }

  end({ webhook }: DeliveryQueue): void {
    const use = this.#uses.get(webhook.accountId)
    if (use !== undefined) use.underWay -= 1
  }

  stop(): void {
    for (const use of this.#uses.values()) {
      use.stopTimer?.()
      use.stopTimer = null
    }
  }

  #attemptsLeft(account: AccountId, { attempts }: AccountUse): number {
    const { deliveriesPerSecond: rate } = this.#shareOf(account)
    return attempts.at(this.#clock.monotonicMs(), rate, Math.max(1, rate * ATTEMPT_BURST_S))
  }

  #waitIfEmpty(account: AccountId, use: AccountUse): void {
    if (this.#attemptsLeft(account, use) >= 1) return
    const { deliveriesPerSecond: rate } = this.#shareOf(account)
    const waitMs = Math.max(1, use.attempts.waitMs(rate, Math.max(1, rate * ATTEMPT_BURST_S)))
    use.stopTimer = this.#clock.after(waitMs, () => {
      use.stopTimer = null
      this.#waitIfEmpty(account, use)
      if (use.stopTimer === null) this.#onCapacity(account)
    })
  }

  #useOf({ webhook: { accountId } }: DeliveryQueue): AccountUse {
    let use = this.#uses.get(accountId)
    if (use === undefined) {
      use = new AccountUse()
      this.#uses.set(accountId, use)
    }
    return use
  }
}
