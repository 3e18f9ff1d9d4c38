// Schedules conflated variants: at the end of their windows, in slices of a few milliseconds, yielding to the event
// loop in between, so that live messages are not delayed.

import type { Clock, StopTimer } from '../../../engine/clock.ts'
import { conflationFlushMs, streamSliceMs } from '../../../engine/limits.ts'
import type { Conflation } from './conflation.ts'

type ScheduledConflation = Pick<
  Conflation<unknown>,
  'dueAtMs' | 'hasReady' | 'beginTick' | 'hasSentThisTick' | 'flush'
>

export class ConflationScheduler {
  readonly #clock: Clock
  /** At most one per variant: windows of a variant end in the order in which they began. */
  readonly #timers = new Map<ScheduledConflation, StopTimer>()
  /** Distinct variants with due messages. */
  readonly #due = new Set<ScheduledConflation>()
  readonly #used = new Set<ScheduledConflation>()
  #isTickPlanned = false
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Schedules a variant in which a change was noted. */
  plan(conflation: ScheduledConflation): void {
    if (this.#isStopped) return
    if (conflation.hasSentThisTick) this.#used.add(conflation)
    if (conflation.hasReady) this.#due.add(conflation)
    if (this.#used.size + this.#due.size > 0) this.#planTick()
    if (!this.#due.has(conflation) && !this.#timers.has(conflation)) this.#arm(conflation)
  }

  #arm(conflation: ScheduledConflation): void {
    const dueAtMs = conflation.dueAtMs
    if (dueAtMs === null) return
    const delayMs = Math.max(dueAtMs - this.#clock.monotonicMs(), conflationFlushMs)
    const stop = this.#clock.after(delayMs, () => {
      this.#timers.delete(conflation)
      this.#due.add(conflation)
      this.#runSlice()
    })
    this.#timers.set(conflation, stop)
  }

  #planTick(): void {
    if (this.#isTickPlanned) return
    this.#isTickPlanned = true
    setImmediate(() => {
      this.#isTickPlanned = false
      for (const conflation of this.#used) conflation.beginTick()
      this.#used.clear()
      this.#runSlice()
    })
  }

  #runSlice(): void {
    if (this.#isStopped) return
    const endsAtMs = this.#clock.monotonicMs() + streamSliceMs
    const isEnough = (): boolean => this.#clock.monotonicMs() > endsAtMs
    for (const conflation of this.#due) {
      this.#due.delete(conflation)
      const isDone = conflation.flush(this.#clock.monotonicMs(), isEnough)
      // Requeued behind the other variants.
      if (!isDone) this.#due.add(conflation)
      else if (!this.#timers.has(conflation)) this.#arm(conflation)
      if (isEnough()) break
    }
    if (this.#due.size > 0) this.#planTick()
  }

  stop(): void {
    this.#isStopped = true
    for (const stopTimer of this.#timers.values()) stopTimer()
    this.#timers.clear()
  }
}
