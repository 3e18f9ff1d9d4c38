// Each started component is stopped once, in reverse order, however often shutdown is requested. An npm command
// receives Ctrl-C twice.

import type { Clock } from '../clock.ts'
import { shutdownMsMax } from '../limits.ts'
import type { Log } from './log.ts'

interface ShutdownParts {
  readonly clock: Clock
  readonly log: Log
  readonly exit: (exitCode: number) => void
}

/** Runs all steps once, in order. Abandons a step that exceeds the time limit. */
export class Shutdown {
  readonly #parts: ShutdownParts
  readonly #steps: (() => Promise<void>)[] = []
  #hasBegun = false

  constructor(parts: ShutdownParts) {
    this.#parts = parts
  }

  /** Nothing may be started after shutdown has begun. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Adds a step that stops a component. It runs before the steps that were added earlier. */
  add(step: () => Promise<void>): void {
    this.#steps.push(step)
  }

  /** Later calls have no effect and do not change the exit code. */
  begin(exitCode: number): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const { clock, log, exit } = this.#parts
    const stopLimit = clock.after(shutdownMsMax, () => {
      log.fatal('shutdown exceeded its time limit')
      exit(1)
    })
    this.#run().then(
      () => {
        stopLimit()
        exit(exitCode)
      },
      (error: unknown) => {
        log.fatal({ err: error }, 'shutdown failed')
        exit(1)
      },
    )
  }

  async #run(): Promise<void> {
    for (const step of [...this.#steps].reverse()) await step()
  }
}
