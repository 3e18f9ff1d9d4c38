// Determines which webhook sends next. Accounts take turns, then the hosts of an account, then its webhooks on a host.
// Accounts and hosts without a free attempt are skipped.

import type { AccountId } from '../../engine/ids.ts'
import type { DeliveryQueue } from './queue.ts'

export interface AttemptCapacity {
  hasCapacityForAccount(account: AccountId): boolean
  hasCapacityForHost(host: string): boolean
}

/** Waiting webhooks by account and host. Each map and set is ordered by the next turn. */
class RoundRobin {
  readonly #accounts = new Map<AccountId, Map<string, Set<DeliveryQueue>>>()

  add(queue: DeliveryQueue): void {
    const { accountId } = queue.webhook
    const hosts = this.#accounts.get(accountId) ?? new Map<string, Set<DeliveryQueue>>()
    const queues = hosts.get(queue.host) ?? new Set()
    this.#accounts.set(accountId, hosts.set(queue.host, queues.add(queue)))
  }

  /** Returns false if the webhook was not waiting. */
  remove(queue: DeliveryQueue): boolean {
    const { accountId } = queue.webhook
    const hosts = this.#accounts.get(accountId)
    const queues = hosts?.get(queue.host)
    if (hosts === undefined || queues?.delete(queue) !== true) return false
    if (queues.size === 0) hosts.delete(queue.host)
    if (hosts.size === 0) this.#accounts.delete(accountId)
    return true
  }

  /** Removes and returns the next webhook whose account and host have capacity. Null: there is none. */
  take(capacity: AttemptCapacity): DeliveryQueue | null {
    for (const [accountId, hosts] of this.#accounts) {
      if (!capacity.hasCapacityForAccount(accountId)) continue
      for (const [host, queues] of hosts) {
        const [queue] = capacity.hasCapacityForHost(host) ? queues : []
        if (queue === undefined) continue
        this.remove(queue)
        if (hosts.delete(host)) hosts.set(host, queues)
        if (this.#accounts.delete(accountId)) this.#accounts.set(accountId, hosts)
        return queue
      }
    }
    return null
  }
}

/** The webhooks that may have a delivery to send. Healthy ones and suspect ones (failing or slow) alternate. */
export class DeliveryRotation {
  readonly #capacity: AttemptCapacity
  readonly #healthy = new RoundRobin()
  readonly #suspect = new RoundRobin()
  #isSuspectNext = false

  constructor(capacity: AttemptCapacity) {
    this.#capacity = capacity
  }

  /** Appends a webhook. A webhook that already waits keeps its position. */
  add(queue: DeliveryQueue): void {
    const [own, other] = queue.isSuspect
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    other.remove(queue)
    own.add(queue)
  }

  /** Returns false if the webhook was not waiting. */
  remove(queue: DeliveryQueue): boolean {
    return this.#healthy.remove(queue) || this.#suspect.remove(queue)
  }

  /** Removes and returns the next webhook. Returns a suspect one only if `maySuspect`. */
  take(maySuspect: boolean): DeliveryQueue | null {
    const order = this.#isSuspectNext
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    for (const rotation of order) {
      const taken = rotation === this.#suspect && !maySuspect ? null : rotation.take(this.#capacity)
      if (taken === null) continue
      this.#isSuspectNext = rotation === this.#healthy
      return taken
    }
    return null
  }
}
