// The handle that `subscribe` returns. Tracks its keys while the server confirms or rejects them.

import type { Rejected } from './messages.ts'
import { type Key, type KeyHolder, nameOf } from './subscription-keys.ts'

/** The server's reply, once all accepted markets are live. */
export interface Subscribed {
  /** Canonical market ids, `*`, or a venue name. */
  readonly accepted: readonly string[]
  /** Rejected markets, each with an error code of the protocol. The code is `CLOSED` if the client was closed first. */
  readonly rejected: readonly Rejected[]
}

export interface Subscription {
  /** Resolves when every market is live or rejected. Never rejects. */
  readonly ready: Promise<Subscribed>
  /** Unsubscribes. Markets of other handles stay subscribed. Further calls have no effect. */
  unsubscribe(): void
}

export class SubscriptionHandle implements Subscription, KeyHolder {
  readonly ready: Promise<Subscribed>
  readonly keys = new Set<Key>()
  readonly #waiting = new Set<Key>()
  readonly #rejected: Rejected[] = []
  readonly #onUnsubscribe: (handle: SubscriptionHandle) => void
  #resolve: ((answer: Subscribed) => void) | null = null
  #isUnsubscribed = false

  constructor(onUnsubscribe: (handle: SubscriptionHandle) => void) {
    this.#onUnsubscribe = onUnsubscribe
    this.ready = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  hold(key: Key): void {
    key.holders.add(this)
    this.keys.add(key)
    if (key.phase !== 'live') this.#waiting.add(key)
  }

  refuse(name: string, code: string): void {
    this.#rejected.push({ market_id: name, code })
  }

  check(): void {
    if (this.#waiting.size > 0 || this.#resolve === null) return
    const accepted = [...this.keys].map((key) => nameOf(key.target))
    this.#resolve({ accepted, rejected: this.#rejected })
    this.#resolve = null
  }

  onLive(key: Key): void {
    if (this.#waiting.delete(key)) this.check()
  }

  onRejected(key: Key, code: string): void {
    this.keys.delete(key)
    this.#waiting.delete(key)
    this.refuse(nameOf(key.target), code)
    this.check()
  }

  onReplaced(key: Key, by: readonly Key[]): void {
    this.keys.delete(key)
    key.holders.delete(this)
    this.#waiting.delete(key)
    for (const other of by) this.hold(other)
    this.check()
  }

  unsubscribe(): void {
    if (this.#isUnsubscribed) return
    this.#isUnsubscribed = true
    this.#onUnsubscribe(this)
    this.end()
  }

  end(): void {
    for (const key of this.#waiting) {
      this.keys.delete(key)
      this.refuse(nameOf(key.target), 'CLOSED')
    }
    this.#waiting.clear()
    this.check()
  }
}
