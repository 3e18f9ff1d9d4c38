// Limits the requests of one address per event-loop tick. The library handles a pipelined segment of up to 512 KiB in
// one tick, during which all other connections wait, and it does not report the connection of a request. Clients that
// wait for each answer send one request per connection and tick. The end of a tick is detected by `setImmediate`, which
// keeps the loop from sleeping for a tick, so it is used only after some hundreds of requests.

import type { Clock } from '../../engine/clock.ts'
import { addressRequestsPerTickMax, refusedRequestsPerSecondMax } from '../../engine/limits.ts'
import { WindowCounts } from './window-counts.ts'

/** Requests before a tick is watched: fewer than the limit per address and tick. */
const UNWATCHED_COUNT = addressRequestsPerTickMax / 2

export class Bursts {
  /** Requests of this tick while it is watched; otherwise of all ticks since the last watched one. */
  #count = 0
  readonly #ofAddress = new Map<string, number>()

  /** Whether the next request may be answered. `readAddress` is called only in a busy tick. */
  admits(readAddress: () => string): boolean {
    this.#count += 1
    if (this.#count <= UNWATCHED_COUNT) return true
    if (this.#ofAddress.size === 0) {
      setImmediate(() => {
        this.#count = 0
        this.#ofAddress.clear()
      })
    }
    const address = readAddress()
    const count = (this.#ofAddress.get(address) ?? 0) + 1
    this.#ofAddress.set(address, count)
    return count <= addressRequestsPerTickMax - UNWATCHED_COUNT
  }
}

/**
 * Counts requests beyond the quotas of accounts and addresses. A limited number per second is answered; further ones
 * end their connections.
 */
export class Refusals {
  readonly #counts: WindowCounts

  constructor(clock: Clock) {
    this.#counts = new WindowCounts(clock, 1_000)
  }

  /** Whether one more request of this account or address may be answered with a refusal. */
  admits(name: string): boolean {
    return this.#counts.add(name) <= refusedRequestsPerSecondMax
  }
}
