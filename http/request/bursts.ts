// How many requests of one address are answered in one turn of the loop. All that came pipelined in a
// segment, up to 512 KiB of it, is handled by the library in one turn, while all other connections wait;
// and it does not say which connection a request came on. Clients that wait for their answers send one
// request a connection and turn.
// The turn's end is only looked for after some hundreds of requests: looking costs a turn that does not
// sleep.

import { addressRequestsPerTurnMax } from '../../engine/limits.ts'

/** Requests since the last look that need none: fewer than a turn may have of one address. */
const UNWATCHED_COUNT = addressRequestsPerTurnMax / 2

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
    return count <= addressRequestsPerTurnMax - UNWATCHED_COUNT
  }
}
