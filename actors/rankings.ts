// Ranked lists of markets, cut at one moment and kept while clients page through them, so that a
// client that pages to the end sees every row of that moment once. A ranking is cut at most every
// 5 s a filter and shared by all clients; kept 5 minutes; all together at most 64 MiB, beyond which
// the oldest end. Upholds RANK1, RANK2.

import type { Clock } from '../engine/clock.ts'
import type { MarketNumber } from '../engine/market.ts'

const SHARED_MS = 5_000
const KEPT_MS = 300_000
const BYTES_MAX = 64 * 2 ** 20
const PIN_OVERHEAD_BYTES = 512

interface Ranking {
  readonly pin: number
  readonly key: string
  readonly cutAtMs: number
  readonly markets: Uint32Array
}

/** Rankings by pin; a pin is an integer that is never used twice in a run. */
export class Rankings {
  readonly #clock: Clock
  readonly #pins = new Map<number, Ranking>()
  readonly #newest = new Map<string, Ranking>()
  #bytes = 0
  #lastPin = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The shared ranking of this filter, cut by `cut` when there is none or it is over 5 s old. */
  open(key: string, cut: () => Uint32Array): { pin: number; markets: Uint32Array } {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    const shared = this.#newest.get(key)
    if (shared !== undefined && nowMs - shared.cutAtMs < SHARED_MS) return shared
    this.#lastPin += 1
    const ranking = { pin: this.#lastPin, key, cutAtMs: nowMs, markets: cut() }
    this.#pins.set(ranking.pin, ranking)
    this.#newest.set(key, ranking)
    this.#bytes += bytesOf(ranking)
    this.#expire(nowMs)
    return ranking
  }

  /** A ranking that a cursor names; null when it was cut for another filter or is no longer kept. */
  resume(pin: number, key: string): readonly MarketNumber[] | Uint32Array | null {
    this.#expire(this.#clock.monotonicMs())
    const ranking = this.#pins.get(pin)
    return ranking === undefined || ranking.key !== key ? null : ranking.markets
  }

  #expire(nowMs: number): void {
    for (const ranking of this.#pins.values()) {
      const isOld = nowMs - ranking.cutAtMs >= KEPT_MS
      if (!isOld && (this.#bytes <= BYTES_MAX || this.#pins.size === 1)) return
      this.#pins.delete(ranking.pin)
      this.#bytes -= bytesOf(ranking)
      if (this.#newest.get(ranking.key) === ranking) this.#newest.delete(ranking.key)
    }
  }
}

function bytesOf(ranking: Ranking): number {
  return ranking.markets.byteLength + ranking.key.length * 2 + PIN_OVERHEAD_BYTES
}
