import type { Clock } from '../../../clock.ts'

const SNAPSHOTS_PER_SECOND = 2_000
const BURST = 2_000

export class SnapshotPace {
  readonly #clock: Clock
  #balance = BURST
  #filledAtMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#filledAtMs = clock.monotonicMs()
  }

  /**
   * Whether `count` snapshots may be requested now. If true, the snapshots are counted. The balance may become
   * negative, so that one command can request all books of a subscription. Urgent requests may exceed it by the burst.
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
