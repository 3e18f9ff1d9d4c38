// Time as a parameter. Other files must not call Date.now, performance.now, setTimeout or setInterval (biome.json
// enforces this). Tests advance a manual clock.

import { onAbort } from './on-abort.ts'
import { type TimeMs, timeMs } from './units.ts'

/** A second call does nothing. */
export type StopTimer = () => void

export interface Clock {
  /** Calendar time in Unix milliseconds. It may jump. */
  nowMs(): TimeMs
  /** Milliseconds since an arbitrary moment, with fractions. Never decreases. Use it for durations. */
  monotonicMs(): number
  /** Runs `action` once after `delayMs`. The timer does not keep the process alive. */
  after(delayMs: number, action: () => void): StopTimer
  /** Runs `action` every `periodMs` until stopped. The timer does not keep the process alive. */
  every(periodMs: number, action: () => void): StopTimer
  /** Runs `action` once, after the events that have already arrived and before any timer. */
  soon(action: () => void): void
}

export const systemClock: Clock = {
  nowMs: () => timeMs(Date.now()),
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
  every(periodMs, action) {
    const timer = setInterval(action, periodMs)
    timer.unref()
    return () => clearInterval(timer)
  },
  soon: (action) => void setImmediate(action),
}

/** Resolves after the events that have already arrived are handled: see {@link Clock.soon}. */
export function nextTick(clock: Pick<Clock, 'soon'>): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve))
}

/** Resolves after `delayMs`, or at once when `signal` is or becomes aborted. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const finish = () => {
      stop()
      ignore()
      resolve()
    }
    const stop = clock.after(delayMs, finish)
    const ignore = signal === undefined ? () => undefined : onAbort(signal, finish)
  })
}
