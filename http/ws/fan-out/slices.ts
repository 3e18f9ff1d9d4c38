// When conflated lanes get their turn: at the end of their windows, and in slices of a few
// milliseconds with a turn of the loop between them, so that live messages pass in between.

import type { Clock, StopTimer } from '../../../engine/clock.ts'
import { conflationFlushMs, streamSliceMs } from '../../../engine/limits.ts'
import type { Conflation } from './conflation.ts'

type Sliced = Pick<
  Conflation<unknown>,
  'dueAtMs' | 'hasReady' | 'beginTurn' | 'isTurnUsed' | 'flush'
>

export class Slices {
  readonly #clock: Clock
  /** One a lane at most: windows of a lane end in the order in which they began. */
  readonly #timers = new Map<Sliced, StopTimer>()
  /** Lanes with something due, each once. */
  readonly #due = new Set<Sliced>()
  readonly #used = new Set<Sliced>()
  #isTurnPlanned = false
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Something was noted in a lane: sees to it that it comes out. */
  plan(lane: Sliced): void {
    if (this.#isStopped) return
    if (lane.isTurnUsed) this.#used.add(lane)
    if (lane.hasReady) this.#due.add(lane)
    if (this.#used.size + this.#due.size > 0) this.#planTurn()
    if (!this.#due.has(lane) && !this.#timers.has(lane)) this.#arm(lane)
  }

  #arm(lane: Sliced): void {
    const dueAtMs = lane.dueAtMs
    if (dueAtMs === null) return
    const delayMs = Math.max(dueAtMs - this.#clock.monotonicMs(), conflationFlushMs)
    const stop = this.#clock.after(delayMs, () => {
      this.#timers.delete(lane)
      this.#due.add(lane)
      this.#runSlice()
    })
    this.#timers.set(lane, stop)
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    setImmediate(() => {
      this.#isTurnPlanned = false
      for (const lane of this.#used) lane.beginTurn()
      this.#used.clear()
      this.#runSlice()
    })
  }

  #runSlice(): void {
    if (this.#isStopped) return
    const endsAtMs = this.#clock.monotonicMs() + streamSliceMs
    const isEnough = (): boolean => this.#clock.monotonicMs() > endsAtMs
    for (const lane of this.#due) {
      this.#due.delete(lane)
      const isDone = lane.flush(this.#clock.monotonicMs(), isEnough)
      // What is left stands behind the other lanes.
      if (!isDone) this.#due.add(lane)
      else if (!this.#timers.has(lane)) this.#arm(lane)
      if (isEnough()) break
    }
    if (this.#due.size > 0) this.#planTurn()
  }

  stop(): void {
    this.#isStopped = true
    for (const stopTimer of this.#timers.values()) stopTimer()
    this.#timers.clear()
  }
}
