import type { Clock } from '../../../clock.ts'

const SNAPSHOTS_PER_SECOND = 2_000
const BURST = 2_000

/** Limits the snapshots that all connections request together, so that the changes of other books are read in time. */
export class SnapshotPace {
  readonly #clock: Clock
  #balance = BURST
  #filledAtMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#filledAtMs = clock.monotonicMs()
  }

  /**
   * Returns whether `count` snapshots may be requested now, and counts them. The balance may become negative, so that
   * one command can request all books of a subscription. Urgent requests may exceed it by the burst.
   */
  take(count: number, isUrgent = false): boolean {
    const nowMs = this.#clock.monotonicMs()
    const gained = ((nowMs - this.#filledAtMs) / 1_000) * SNAPSHOTS_PER_SECOND
    this.#balance = Math.min(BURST, this.#balance + gained)
    this.#filledAtMs = nowMs
    if (this.#balance <= (isUrgent ? -BURST : 0)) return false
    this.#balance -= count
    return true
  }
}
