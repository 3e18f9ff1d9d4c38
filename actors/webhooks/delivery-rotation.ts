// The order in which webhooks send: in turn over accounts, then over the hosts of an account, then over its webhooks
// for one host. Skips accounts and hosts that have no free attempt.

import type { AccountId } from '../../engine/ids.ts'
import type { DeliveryQueue } from './queue.ts'

/** Whether one more attempt may begin. */
export interface AttemptCapacity {
  hasCapacityForAccount(account: AccountId): boolean
  hasCapacityForHost(host: string): boolean
}

/** Webhooks by account and host. Each map and set is in the order of the next turns. */
class RoundRobin {
  readonly #accounts = new Map<AccountId, Map<string, Set<DeliveryQueue>>>()

  add(queue: DeliveryQueue): void {
    const { accountId } = queue.webhook
    const hosts = this.#accounts.get(accountId) ?? new Map<string, Set<DeliveryQueue>>()
    const queues = hosts.get(queue.host) ?? new Set()
    this.#accounts.set(accountId, hosts.set(queue.host, queues.add(queue)))
  }

  /** False if the webhook is not waiting. */
  remove(queue: DeliveryQueue): boolean {
    const { accountId } = queue.webhook
    const hosts = this.#accounts.get(accountId)
    const queues = hosts?.get(queue.host)
    if (hosts === undefined || queues?.delete(queue) !== true) return false
    if (queues.size === 0) hosts.delete(queue.host)
    if (hosts.size === 0) this.#accounts.delete(accountId)
    return true
  }

  /** Removes and returns the next webhook whose account and host have capacity; null: none. */
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

/** The webhooks with something to send. Healthy ones and suspect ones (failing or slow) alternate. */
export class DeliveryRotation {
  readonly #capacity: AttemptCapacity
  readonly #healthy = new RoundRobin()
  readonly #suspect = new RoundRobin()
  #isSuspectNext = false

  constructor(capacity: AttemptCapacity) {
    this.#capacity = capacity
  }

  /** Appends a webhook; one that is already waiting keeps its position. */
  add(queue: DeliveryQueue): void {
    const [own, other] = queue.isSuspect
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    other.remove(queue)
    own.add(queue)
  }

  /** False if the webhook is not waiting. */
  remove(queue: DeliveryQueue): boolean {
    return this.#healthy.remove(queue) || this.#suspect.remove(queue)
  }

  /** Removes and returns the next webhook; a suspect one only if `maySuspect`. */
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
