// Publish times of the tape: microseconds of the calendar, each above the one before.

import type { Clock } from '../../engine/clock.ts'
import { US_PER_MS } from '../../engine/tape/layout.ts'

/** Differences from the calendar up to this size are not corrected, because the calendar has milliseconds only. */
const DRIFT_US_MAX = 2_000

export class TapeClock {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Calendar time at the monotonic time 0. */
  #originUs: number
  #nowUs = 0
  #lastUs = 0

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock
    this.#originUs = this.#measure()
  }

  /** Reads the clock. Returns the time that `next` will return. */
  read(): number {
    const us = Math.floor(this.#originUs + this.#clock.monotonicMs() * US_PER_MS)
    this.#nowUs = Math.max(us, this.#lastUs + 1)
    return this.#nowUs
  }

  /** A new time above all earlier ones: that of the last `read`, or one microsecond after the previous one. */
  next(): number {
    this.#lastUs = Math.max(this.#nowUs, this.#lastUs + 1)
    return this.#lastUs
  }

  /** All later times are at least `us`. */
  advanceTo(us: number): void {
    this.#lastUs = Math.max(this.#lastUs, us - 1)
  }

  /** Follows changes of the calendar. While it is behind the last time, times advance by one microsecond each. */
  adjust(): void {
    const originUs = this.#measure()
    if (Math.abs(originUs - this.#originUs) > DRIFT_US_MAX) this.#originUs = originUs
  }

  #measure(): number {
    return (this.#clock.nowMs() - this.#clock.monotonicMs()) * US_PER_MS
  }
}
