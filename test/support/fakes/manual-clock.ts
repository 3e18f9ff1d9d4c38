// Time that moves only when a test says so (CLOCK2): timers run in the order in which they are due,
// and at their own moment, so that what they read from the clock is what the machine's would show.
//  A test that awaits does so itself, between two calls of `advance`.

import type { Clock, StopTimer } from '../../../engine/clock.ts'
import { type TimeMs, timeMs } from '../../../engine/units.ts'

interface Timer {
  dueMs: number
  /** Order of making: decides between timers of the same moment. */
  readonly order: number
  readonly periodMs: number | null
  readonly action: () => void
}

/** A clock for tests; starts at noon UTC of 20 November 2026 unless told otherwise. */
export class ManualClock implements Clock {
  #calendarOffsetMs: number
  #elapsedMs = 0
  #orders = 0
  readonly #timers = new Set<Timer>()

  constructor(startMs: number = Date.UTC(2026, 10, 20, 12)) {
    this.#calendarOffsetMs = startMs
  }

  nowMs(): TimeMs {
    return timeMs(this.#calendarOffsetMs + this.#elapsedMs)
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  after(delayMs: number, action: () => void): StopTimer {
    return this.#add(delayMs, null, action)
  }

  every(periodMs: number, action: () => void): StopTimer {
    return this.#add(Math.max(periodMs, 1), Math.max(periodMs, 1), action)
  }

  soon(action: () => void): void {
    this.#add(0, null, action)
  }

  /** How many timers wait; a stopped part should leave none. */
  get timerCount(): number {
    return this.#timers.size
  }

  /** Moves time on by `ms`, running every timer that falls due on the way, also newly made ones. */
  advance(ms: number): void {
    const targetMs = this.#elapsedMs + ms
    for (;;) {
      const timer = this.#next()
      if (timer === null || timer.dueMs > targetMs) break
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs)
      if (timer.periodMs === null) this.#timers.delete(timer)
      else timer.dueMs += timer.periodMs
      timer.action()
    }
    this.#elapsedMs = targetMs
  }

  /**
   * Moves time on by `ms` as a loop sees it that stood still meanwhile: no timer runs at its moment, and
   * every one that fell due runs once in the end, late, a periodic one like any other.
   */
  stall(ms: number): void {
    this.#elapsedMs += ms
    const due = [...this.#timers]
      .filter(({ dueMs }) => dueMs <= this.#elapsedMs)
      .sort((one, other) => one.dueMs - other.dueMs || one.order - other.order)
    for (const timer of due) {
      if (!this.#timers.has(timer)) continue
      if (timer.periodMs === null) this.#timers.delete(timer)
      else timer.dueMs = this.#elapsedMs + timer.periodMs
      timer.action()
    }
  }

  /** Moves the calendar by `ms` (backwards too) without any time passing, as an NTP step does. */
  jumpCalendar(ms: number): void {
    this.#calendarOffsetMs += ms
  }

  #add(delayMs: number, periodMs: number | null, action: () => void): StopTimer {
    const dueMs = this.#elapsedMs + Math.max(delayMs, 0)
    const timer: Timer = { dueMs, order: this.#orders, periodMs, action }
    this.#orders += 1
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  #next(): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers) {
      if (next === null || timer.dueMs < next.dueMs) next = timer
      else if (timer.dueMs === next.dueMs && timer.order < next.order) next = timer
    }
    return next
  }
}
