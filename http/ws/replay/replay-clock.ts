import type { Clock } from '../../../engine/clock.ts'

/** The time of a replay, in microseconds. It stands until `start`. */
export class ReplayClock {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** 0: no message waits. */
  readonly speed: number
  #us: number
  #startedAtMs: number | null = null

  constructor(clock: Pick<Clock, 'monotonicMs'>, parts: { fromUs: number; speed: number }) {
    this.#clock = clock
    this.#us = parts.fromUs
    this.speed = parts.speed
  }

  /** The time at which the clock was started or stopped last. */
  get us(): number {
    return this.#us
  }

  start(): void {
    this.#startedAtMs ??= this.#clock.monotonicMs()
  }

  /** The present time, limited to [minUs, maxUs]. */
  nowUs(minUs: number, maxUs: number): number {
    if (this.#startedAtMs === null) return this.#us
    const passedMs = this.#clock.monotonicMs() - this.#startedAtMs
    const nowUs = this.speed === 0 ? maxUs : this.#us + passedMs * 1_000 * this.speed
    return Math.max(minUs, Math.min(Math.floor(nowUs), maxUs))
  }

  /** Stops the clock at a time. */
  set(us: number): void {
    this.#us = us
    this.#startedAtMs = null
  }

  /** Milliseconds until a time. 0 or less: it is reached. */
  msUntil(us: number): number {
    if (this.speed === 0 || this.#startedAtMs === null) return 0
    const dueMs = this.#startedAtMs + (us - this.#us) / 1_000 / this.speed
    return dueMs - this.#clock.monotonicMs()
  }
}
