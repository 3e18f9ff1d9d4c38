// Shutdown of the process: every started component is stopped once, last first, however often shutdown is
// requested. Signals are handled from the start, because a start takes seconds and Ctrl-C reaches an npm
// command twice.

import type { Clock } from '../clock.ts'
import { shutdownMsMax } from '../limits.ts'
import type { Log } from './log.ts'

interface ShutdownParts {
  readonly clock: Clock
  readonly log: Log
  readonly exit: (exitCode: number) => void
}

/** Runs every step once, in order. A step that hangs is abandoned after the limit. */
export class Shutdown {
  readonly #parts: ShutdownParts
  readonly #steps: (() => Promise<void>)[] = []
  #hasBegun = false

  constructor(parts: ShutdownParts) {
    this.#parts = parts
  }

  /** Whether shutdown has begun. Nothing more may be started then. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Adds the step that stops a component that has just started. It runs before those added earlier. */
  add(step: () => Promise<void>): void {
    this.#steps.push(step)
  }

  /** Begins shutdown. Later calls change nothing, not even the exit code. */
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
