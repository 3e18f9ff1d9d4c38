import type { Clock } from '../../../engine/clock.ts'
import {
  commandErrorsPerMinuteMax,
  commandsPerSecondMax,
  listCommands,
  pingsPerSecondMax,
  refusalsPerMinuteMax,
  refusalsPerSecondMax,
  snapshotMarketsPerCommand,
} from '../../../engine/limits.ts'
import type { Command } from '../command.ts'

export const RATE_MESSAGE = `at most ${commandsPerSecondMax} commands a second; list counts as ${listCommands}, snapshot as one for each ${snapshotMarketsPerCommand} markets`

/** In the rate limit, a command counts as this many commands. */
export function weightOf(command: Command): number {
  if (command.kind === 'list') return listCommands
  if (command.kind !== 'snapshot') return 1
  return Math.ceil(command.marketIds.length / snapshotMarketsPerCommand)
}

/** Counts the commands and refusals of one connection. */
export class CommandLimits {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #errorTimesMs: number[] = []
  /** Counts of the current second. `refusals` counts errors with code RATE_LIMITED. */
  #second = { startMs: Number.NEGATIVE_INFINITY, commands: 0, pings: 0, refusals: 0 }
  #minute = { startMs: Number.NEGATIVE_INFINITY, refusals: 0 }

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Counts commands in the current second. Returns whether they are within the limit. */
  take(count: number): boolean {
    this.#rollSecond()
    this.#second.commands += count
    return this.#second.commands <= commandsPerSecondMax
  }

  /** Counts a ping frame. Returns false if it counts as a command beyond the limit. */
  takePing(): boolean {
    this.#rollSecond()
    this.#second.pings += 1
    return this.#second.pings <= pingsPerSecondMax || this.take(1)
  }

  #rollSecond(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#second.startMs < 1_000) return
    this.#second = { startMs: nowMs, commands: 0, pings: 0, refusals: 0 }
  }

  /**
   * Counts a command beyond the limits. It is answered only a few times a second. `close`: there were too many within a
   * minute.
   */
  refuse(): 'answer' | 'ignore' | 'close' {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#minute.startMs >= 60_000) this.#minute = { startMs: nowMs, refusals: 0 }
    this.#minute.refusals += 1
    this.#second.refusals += 1
    if (this.#minute.refusals > refusalsPerMinuteMax) return 'close'
    return this.#second.refusals > refusalsPerSecondMax ? 'ignore' : 'answer'
  }

  /** Counts an `error`. Returns false at the tenth within a minute. */
  countError(): boolean {
    const nowMs = this.#clock.monotonicMs()
    this.#errorTimesMs = this.#errorTimesMs.filter((timeMs) => nowMs - timeMs < 60_000)
    this.#errorTimesMs.push(nowMs)
    return this.#errorTimesMs.length < commandErrorsPerMinuteMax
  }
}
