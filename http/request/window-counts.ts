import type { Clock } from '../../engine/clock.ts'

/** Maximum names counted separately per window; all others share one count. */
const NAMES_MAX = 10_000
const OTHERS = 'others'

/** Counts events by name, such as an account or an address, in consecutive windows. Bounded. */
export class WindowCounts {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #counts = new Map<string, number>()
  #startMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Counts an event and returns the count of its name in this window. */
  add(name: string): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#startMs >= this.#windowMs) {
      this.#startMs = nowMs
      this.#counts.clear()
    }
    const isSeparate = this.#counts.size < NAMES_MAX || this.#counts.has(name)
    const counted = isSeparate ? name : OTHERS
    const count = (this.#counts.get(counted) ?? 0) + 1
    this.#counts.set(counted, count)
    return count
  }
}
