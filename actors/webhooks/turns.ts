// The order in which webhooks send: round robin over accounts, then over the hosts of an account, then over its webhooks for
// one host. An account or host without a free attempt is passed over until `release`.

import type { AccountId } from '../../engine/ids.ts'
import type { DeliveryQueue } from './queue.ts'

/** Whether one more attempt may begin. */
export interface AttemptRoom {
  hasRoomForAccount(account: AccountId): boolean
  hasRoomForHost(host: string): boolean
}

interface AccountTurns {
  readonly id: AccountId
  /** Hosts with webhooks that wait. */
  readonly hosts: Map<string, HostTurns>
  /** Those of them that do not wait for their host. */
  readonly ready: Set<HostTurns>
  /** Out of the rotation until the account is released. */
  isFull: boolean
}

/** Webhooks of one account for one host. */
interface HostTurns {
  readonly account: AccountTurns
  readonly host: string
  readonly queues: Set<DeliveryQueue>
}

/**
 * One rotation. A full host releases one account at a time, so that a take costs the same however many accounts wait for it.
 * Invariant: while a host has room and accounts wait for it, an account in the rotation has it among its ready hosts.
 */
class RoundRobin {
  readonly #room: AttemptRoom
  readonly #accounts = new Map<AccountId, AccountTurns>()
  readonly #rotation = new Set<AccountTurns>()
  /** By host: whose turn is next once it has room. */
  readonly #waiting = new Map<string, Set<HostTurns>>()

  constructor(room: AttemptRoom) {
    this.#room = room
  }

  add(queue: DeliveryQueue): void {
    const { accountId: id } = queue.webhook
    let account = this.#accounts.get(id)
    if (account === undefined) {
      account = { id, hosts: new Map(), ready: new Set(), isFull: false }
      this.#accounts.set(id, account)
    }
    const known = account.hosts.get(queue.host)
    if (known !== undefined) return void known.queues.add(queue)
    const turns = { account, host: queue.host, queues: new Set([queue]) }
    account.hosts.set(queue.host, turns)
    account.ready.add(turns)
    if (!account.isFull) this.#rotation.add(account)
  }

  /** False when the webhook does not wait. */
  remove(queue: DeliveryQueue): boolean {
    const turns = this.#accounts.get(queue.webhook.accountId)?.hosts.get(queue.host)
    if (turns === undefined || !turns.queues.delete(queue)) return false
    this.#dropEmpty(turns)
    if (this.#room.hasRoomForHost(queue.host)) this.releaseHost(queue.host)
    return true
  }

  /** Takes out the next webhook whose account and host have room; null: there is none. */
  take(): DeliveryQueue | null {
    for (const account of this.#rotation) {
      this.#rotation.delete(account)
      if (!this.#room.hasRoomForAccount(account.id)) {
        this.#passOver(account)
        continue
      }
      const turns = this.#nextHost(account)
      const queue = turns === null ? null : first(turns.queues)
      if (turns === null || queue === null) continue
      turns.queues.delete(queue)
      if (turns.queues.size > 0) account.ready.add(turns)
      else this.#dropEmpty(turns)
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

  /** The host has room for one more attempt. */
  releaseHost(host: string): void {
    for (const turns of this.#waiting.get(host) ?? []) {
      this.#endWait(turns)
      turns.account.ready.add(turns)
      if (turns.account.isFull) continue
      this.#rotation.add(turns.account)
      return
    }
  }

  #passOver(account: AccountTurns): void {
    account.isFull = true
    for (const { host } of account.ready) {
      if (this.#room.hasRoomForHost(host)) this.releaseHost(host)
    }
  }

  #nextHost(account: AccountTurns): HostTurns | null {
    for (const turns of account.ready) {
      account.ready.delete(turns)
      if (this.#room.hasRoomForHost(turns.host)) return turns
      const waiting = this.#waiting.get(turns.host)
      if (waiting === undefined) this.#waiting.set(turns.host, new Set([turns]))
      else waiting.add(turns)
    }
    return null
  }

  #dropEmpty(turns: HostTurns): void {
    const { account, host, queues } = turns
    if (queues.size > 0) return
    account.hosts.delete(host)
    account.ready.delete(turns)
    this.#endWait(turns)
    if (account.ready.size === 0) this.#rotation.delete(account)
    if (account.hosts.size === 0) this.#accounts.delete(account.id)
  }

  #endWait(turns: HostTurns): void {
    const waiting = this.#waiting.get(turns.host)
    waiting?.delete(turns)
    if (waiting?.size === 0) this.#waiting.delete(turns.host)
  }
}

/** The webhooks that have something to send. Those that answer soon and those that fail or are slow alternate. */
export class DeliveryTurns {
  readonly #healthy: RoundRobin
  readonly #suspect: RoundRobin
  #isSuspectNext = false

  constructor(room: AttemptRoom) {
    this.#healthy = new RoundRobin(room)
    this.#suspect = new RoundRobin(room)
  }

  /** Puts a webhook behind those that wait; one that waits already keeps its place. */
  add(queue: DeliveryQueue): void {
    const [own, other] = queue.isSuspect
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    other.remove(queue)
    own.add(queue)
  }

  /** False when the webhook does not wait. */
  remove(queue: DeliveryQueue): boolean {
    return this.#healthy.remove(queue) || this.#suspect.remove(queue)
  }

  /** Takes out the webhook whose turn it is; a suspect one only if `maySuspect`. */
  take(maySuspect: boolean): DeliveryQueue | null {
    const order = this.#isSuspectNext
      ? [this.#suspect, this.#healthy]
      : [this.#healthy, this.#suspect]
    for (const turns of order) {
      const taken = turns === this.#suspect && !maySuspect ? null : turns.take()
      if (taken === null) continue
      this.#isSuspectNext = turns === this.#healthy
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
