// Long work in turns: some milliseconds of it, then the loop is given back to sockets and timers.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../engine/clock.ts'

/** Of the loop at a time, for work in the background. */
const TIME_SLICE_MS = 1.5

/** Await `turns.next()` between the pieces of the work, or only when `isOver`. */
export class EventLoopYielder {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #endsAtMs: number

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
    this.#endsAtMs = clock.monotonicMs() + TIME_SLICE_MS
  }

  /** The turn has lasted its time. */
  get isDue(): boolean {
    return this.#clock.monotonicMs() >= this.#endsAtMs
  }

  /** Goes on at once while the turn lasts, else in the next one. */
  async yieldIfDue(): Promise<void> {
    if (!this.isDue) return
    await nextTurn()
    this.restart()
  }

  /** A turn begins now: after a wait for something else. */
  restart(): void {
    this.#endsAtMs = this.#clock.monotonicMs() + TIME_SLICE_MS
  }
}
