// Timers run in the order of their due times. While a timer runs, the clock shows its due time.

import type { Clock, StopTimer } from '../../../engine/clock.ts'
import { type TimeMs, timeMs } from '../../../engine/units.ts'

interface Timer {
  dueMs: number
  /** Order of creation. Timers with equal due times run in this order. */
  readonly order: number
  readonly periodMs: number | null
  readonly action: () => void
}

/** By default it starts at noon UTC of 20 November 2026. */
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

  get timerCount(): number {
    return this.#timers.size
  }

  /** Runs every timer that becomes due, including timers that are created meanwhile. */
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
   * Advances time like a blocked event loop: no timer runs meanwhile. Afterwards each due timer runs once, including
   * periodic timers.
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

  /** Like an NTP step: the wall clock changes by `ms`, which may be negative, and no time elapses. */
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
