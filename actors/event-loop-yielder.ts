import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../engine/clock.ts'

const TIME_SLICE_MS = 1.5

/** The work must await `yieldIfDue()` between its parts, or check `isDue` first. */
export class EventLoopYielder {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #endsAtMs: number

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
    this.#endsAtMs = clock.monotonicMs() + TIME_SLICE_MS
  }

  get isDue(): boolean {
    return this.#clock.monotonicMs() >= this.#endsAtMs
  }

  /** Continues at once while the time slice lasts, else in the next event-loop tick. */
  async yieldIfDue(): Promise<void> {
    if (!this.isDue) return
    await nextTurn()
    this.restart()
  }

  /** Must be called after each `await` other than `yieldIfDue()`. */
  restart(): void {
    this.#endsAtMs = this.#clock.monotonicMs() + TIME_SLICE_MS
  }
}
