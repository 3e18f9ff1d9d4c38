// Determines which webhook sends next, in rotation over accounts, then over the hosts of an account, then over its
// webhooks on a host. `take` skips accounts and hosts without a free attempt until they are released, so that it does
// not check all of them.

import type { AccountId } from '../../engine/ids.ts'
import type { DeliveryQueue } from './queue.ts'

export interface AttemptCapacity {
  hasCapacityForAccount(account: AccountId): boolean
  hasCapacityForHost(host: string): boolean
}

interface AccountRotation {
  readonly id: AccountId
  readonly hosts: Map<string, HostQueue>
  /** Hosts that `take` checks. The remaining hosts wait for capacity. */
  readonly ready: Set<HostQueue>
  /** True from the time when no capacity was found until the account is released. */
  isFull: boolean
}

interface HostQueue {
  readonly account: AccountRotation
  readonly host: string
  readonly queues: Set<DeliveryQueue>
}

/**
 * A free attempt of a host releases one waiting account, so that the cost of `take` does not grow with the number of
 * waiting accounts. Invariant: if a host has capacity and accounts wait for it, an account in the rotation has the host
 * in its `ready` set.
 */
class RoundRobin {
  readonly #capacity: AttemptCapacity
  readonly #accounts = new Map<AccountId, AccountRotation>()
  readonly #rotation = new Set<AccountRotation>()
  /** Accounts that wait for capacity of each host, next one first. */
  readonly #waiting = new Map<string, Set<HostQueue>>()

  constructor(capacity: AttemptCapacity) {
    this.#capacity = capacity
  }

  add(queue: DeliveryQueue): void {
    const { accountId: id } = queue.webhook
    let account = this.#accounts.get(id)
    if (account === undefined) {
      account = { id, hosts: new Map(), ready: new Set(), isFull: false }
      this.#accounts.set(id, account)
    }
    const existing = account.hosts.get(queue.host)
    if (existing !== undefined) return void existing.queues.add(queue)
    const hostQueue = { account, host: queue.host, queues: new Set([queue]) }
    account.hosts.set(queue.host, hostQueue)
    account.ready.add(hostQueue)
    if (!account.isFull) this.#rotation.add(account)
  }

  remove(queue: DeliveryQueue): boolean {
    const hostQueue = this.#accounts.get(queue.webhook.accountId)?.hosts.get(queue.host)
    if (hostQueue === undefined || !hostQueue.queues.delete(queue)) return false
    this.#dropEmpty(hostQueue)
    if (this.#capacity.hasCapacityForHost(queue.host)) this.releaseHost(queue.host)
    return true
  }

  /** Removes and returns the next webhook whose account and host have capacity, or null. */
  take(): DeliveryQueue | null {
    for (const account of this.#rotation) {
      this.#rotation.delete(account)
      if (!this.#capacity.hasCapacityForAccount(account.id)) {
        this.#passOver(account)
        continue
      }
      const hostQueue = this.#nextHost(account)
      const queue = hostQueue === null ? null : first(hostQueue.queues)
      if (hostQueue === null || queue === null) continue
      hostQueue.queues.delete(queue)
      if (hostQueue.queues.size > 0) account.ready.add(hostQueue)
      else this.#dropEmpty(hostQueue)
      if (account.ready.size > 0) this.#rotation.add(account)
      return queue
    }
    return null
  }

  releaseAccount(id: AccountId): void {
    const account = this.#accounts.get(id)
    if (account?.isFull !== true) return
    account.isFull = false
    if (account.ready.size > 0) this.#rotation.add(account)
  }

  /** Releases the next account that waits for the host. Called when the host has capacity. */
  releaseHost(host: string): void {
    for (const hostQueue of this.#waiting.get(host) ?? []) {
      this.#endWait(hostQueue)
      hostQueue.account.ready.add(hostQueue)
      if (hostQueue.account.isFull) continue
      this.#rotation.add(hostQueue.account)
      return
    }
  }

  #passOver(account: AccountRotation): void {
    account.isFull = true
    for (const { host } of account.ready) {
      if (this.#capacity.hasCapacityForHost(host)) this.releaseHost(host)
    }
  }

  #nextHost(account: AccountRotation): HostQueue | null {
    for (const hostQueue of account.ready) {
      account.ready.delete(hostQueue)
      if (this.#capacity.hasCapacityForHost(hostQueue.host)) return hostQueue
      const waiting = this.#waiting.get(hostQueue.host)
      if (waiting === undefined) this.#waiting.set(hostQueue.host, new Set([hostQueue]))
      else waiting.add(hostQueue)
    }
    return null
  }

  #dropEmpty(hostQueue: HostQueue): void {
    const { account, host, queues } = hostQueue
    if (queues.size > 0) return
    account.hosts.delete(host)
    account.ready.delete(hostQueue)
    this.#endWait(hostQueue)
    if (account.ready.size === 0) this.#rotation.delete(account)
    if (account.hosts.size === 0) this.#accounts.delete(account.id)
  }

  #endWait(hostQueue: HostQueue): void {
    const waiting = this.#waiting.get(hostQueue.host)
    waiting?.delete(hostQueue)
    if (waiting?.size === 0) this.#waiting.delete(hostQueue.host)
  }
}

/** The webhooks that may have a delivery to send. Healthy and suspect (failing or slow) webhooks alternate. */
export class DeliveryRotation {
  readonly #healthy: RoundRobin
  readonly #suspect: RoundRobin
  #isSuspectNext = false

  constructor(capacity: AttemptCapacity) {
    this.#healthy = new RoundRobin(capacity)
    this.#suspect = new RoundRobin(capacity)
  }

  /** A webhook that already waits keeps its position. */
  add(queue: DeliveryQueue): void {
    const [own, other] = queue.isSuspect
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    other.remove(queue)
    own.add(queue)
  }

  remove(queue: DeliveryQueue): boolean {
    return this.#healthy.remove(queue) || this.#suspect.remove(queue)
  }

  /** Removes and returns the next webhook. Returns a suspect webhook only if `maySuspect`. */
  take(maySuspect: boolean): DeliveryQueue | null {
    const order = this.#isSuspectNext
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    for (const rotation of order) {
      const taken = rotation === this.#suspect && !maySuspect ? null : rotation.take()
      if (taken === null) continue
      this.#isSuspectNext = rotation === this.#healthy
      return taken
    }
    return null
  }

  releaseAccount(account: AccountId): void {
    this.#healthy.releaseAccount(account)
    this.#suspect.releaseAccount(account)
  }

  releaseHost(host: string): void {
    this.#healthy.releaseHost(host)
    this.#suspect.releaseHost(host)
  }
}

function first<Item>(items: ReadonlySet<Item>): Item | null {
  for (const item of items) return item
  return null
}
