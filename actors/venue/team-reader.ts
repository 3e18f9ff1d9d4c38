// Reads the venues' lists of teams at startup and once a day. The teams are used to assign markets to games.

import { type Clock, pause } from '../../engine/clock.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import {
  SuspectAnswerError,
  SuspectAnswers,
  suspectListReason,
} from '../../engine/venues/answer-checks.ts'
import type { TeamListing, Venue } from '../../engine/venues/venue.ts'

const READ_EVERY_MS = 86_400_000
/** First delay after a failure or a suspect list. Each further delay is twice as long. */
const RETRY_MS = 60_000

export type Learn = (listings: readonly TeamListing[]) => Promise<void>

interface TeamReaderParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly learn: Learn
}

export class TeamReader {
  readonly #parts: TeamReaderParts
  readonly #abort = new AbortController()
  readonly #tasks: Promise<void>[] = []

  constructor(parts: TeamReaderParts) {
    this.#parts = parts
  }

  start(venue: Pick<Venue, 'key' | 'teams'>): void {
    this.#tasks.push(this.#run(venue))
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#tasks)
  }

  async #run({ key, teams }: Pick<Venue, 'key' | 'teams'>): Promise<void> {
    const { signal } = this.#abort
    const { clock, log, metrics, learn } = this.#parts
    const suspectAnswers = new SuspectAnswers({ metrics, log, venue: key })
    let largestCount = 0
    let retryMs = RETRY_MS
    while (!signal.aborted) {
      let waitMs = READ_EVERY_MS
      try {
        const listings = await teams(signal)
        if (signal.aborted) return
        await learn(listings)
        const received = listings.length
        const missing = Math.max(0, largestCount - received)
        const reason = suspectListReason({ received, missing, expected: largestCount })
        if (reason !== null)
          throw new SuspectAnswerError('teams', reason, `${received}, before ${largestCount}`)
        largestCount = Math.max(largestCount, received)
        retryMs = RETRY_MS
      } catch (error) {
        if (signal.aborted) return
        waitMs = retryMs
        retryMs = Math.min(retryMs * 2, READ_EVERY_MS)
        if (error instanceof SuspectAnswerError) suspectAnswers.note(error)
        else log.warn({ err: error, venue: key }, 'teams not read, trying again')
      }
      await pause(clock, waitMs, signal)
    }
  }
}
