// The end of the process: what was brought up is ended once, last first, however often
// the end is asked for. Signals are handled from the first moment, because a start takes seconds and a
// terminal's Ctrl-C reaches a command of npm twice.

import type { Clock } from '../clock.ts'
import { shutdownMsMax } from '../limits.ts'
import type { Log } from './log.ts'

interface ShutdownParts {
  readonly clock: Clock
  readonly log: Log
  /** Ends the process. */
  readonly exit: (exitCode: number) => void
}

/** Ends everything once, in order; a step that hangs is left behind after the limit. */
export class Shutdown {
  readonly #parts: ShutdownParts
  readonly #steps: (() => Promise<void>)[] = []
  #hasBegun = false

  constructor(parts: ShutdownParts) {
    this.#parts = parts
  }

  /** Whether the end has begun: nothing more may be brought up. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** What ends a part that has just been brought up; ended before those added earlier. */
  add(step: () => Promise<void>): void {
    this.#steps.push(step)
  }

  /** Begins the end; later calls change nothing, not even the exit code. */
  begin(exitCode: number): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const { clock, log, exit } = this.#parts
    const stopLimit = clock.after(shutdownMsMax, () => {
      log.fatal('not stopped in time')
      exit(1)
    })
    this.#run().then(
      () => {
        stopLimit()
        exit(exitCode)
      },
      (error: unknown) => {
        log.fatal({ err: error }, 'not stopped cleanly')
        exit(1)
      },
    )
  }

  async #run(): Promise<void> {
    for (const step of [...this.#steps].reverse()) await step()
  }
}
