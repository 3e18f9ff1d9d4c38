// How many requests of one address are answered in one turn of the loop. All that came pipelined in a
// segment, up to 512 KiB of it, is handled by the library in one turn, while all other connections wait;
// and it does not say which connection a request came on. Clients that wait for their answers send one
// request a connection and turn.
// The turn's end is only looked for after some hundreds of requests: looking costs a turn that does not
// sleep.

import type { Clock } from '../../engine/clock.ts'
import { addressRequestsPerTickMax, refusedRequestsPerSecondMax } from '../../engine/limits.ts'

/** Requests since the last look that need none: fewer than a turn may have of one address. */
const UNWATCHED_COUNT = addressRequestsPerTickMax / 2

export class Bursts {
  /** Of this turn while it is watched; before that, of all turns since the last that was. */
  #count = 0
  readonly #ofAddress = new Map<string, number>()

  /** Whether the next request may be answered; `readAddress` is only called in a busy turn. */
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

/** Accounts and addresses whose refusals of this second are counted; more are not. */
const REFUSED_MAX = 10_000

/** Requests beyond the quotas of accounts and addresses. So many a second are answered; a flood of them ends its connections. */
export class Refusals {
  readonly #clock: Clock
  #secondStartMs = Number.NEGATIVE_INFINITY
  readonly #counts = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether one more request of this account or address may be answered with its refusal. */
  admits(name: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#secondStartMs >= 1_000) {
      this.#secondStartMs = nowMs
      this.#counts.clear()
    }
    const count = (this.#counts.get(name) ?? 0) + 1
    if (count === 1 && this.#counts.size >= REFUSED_MAX) return true
    this.#counts.set(name, count)
    return count <= refusedRequestsPerSecondMax
  }
}
