import { type Clock, pause } from '../clock.ts'
import { SuspectAnswerError } from './answer-checks.ts'
import type { VenueCounters } from './venue-counters.ts'

interface PollerOptions {
  readonly clock: Clock
  readonly counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers'>
  /** Counter of failures other than suspect responses (VenueCounters.trouble). */
  readonly trouble: string
  readonly everyMs: () => number
  readonly afterFailureMs?: number
  readonly onFailure?: (reason: string) => void
}

/** Repeats a request between `start` and `stop`, with a pause after each response. */
export class Poller {
  readonly #options: PollerOptions
  readonly #poll: (signal: AbortSignal) => Promise<void>
  readonly #stopping = new AbortController()
  #task: Promise<void> | null = null

  constructor(options: PollerOptions, poll: (signal: AbortSignal) => Promise<void>) {
    this.#options = options
    this.#poll = poll
  }

  start(): void {
    this.#task ??= this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#task
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, counters, trouble, everyMs, afterFailureMs, onFailure } = this.#options
    while (!signal.aborted) {
      let delayMs: number | undefined
      try {
        await this.#poll(signal)
      } catch (error) {
        if (signal.aborted) return
        delayMs = afterFailureMs
        if (error instanceof SuspectAnswerError) counters.suspectAnswers.note(error)
        else counters.trouble(trouble, { err: error })
        onFailure?.(error instanceof Error ? error.message : 'unknown')
      }
      await pause(clock, delayMs ?? everyMs(), signal)
    }
  }
}
