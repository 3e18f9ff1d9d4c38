// Reads the venues' lists of teams, at the start and once a day, for whoever groups games.
// Not for: what a team's names mean (engine/sports/team-table.ts). Upholds TEAMS4.

import { type Clock, pause } from '../engine/clock.ts'
import type { Log } from '../engine/log.ts'
import type { TeamListing, Venue } from '../engine/venues/venue.ts'

const READ_EVERY_MS = 86_400_000
const RETRY_MS = 60_000

export class TeamReader {
  readonly #clock: Clock
  readonly #log: Log
  readonly #learn: (listings: readonly TeamListing[]) => Promise<void>
  readonly #abort = new AbortController()
  readonly #tasks: Promise<void>[] = []

  constructor(parts: {
    clock: Clock
    log: Log
    learn: (listings: readonly TeamListing[]) => Promise<void>
  }) {
    this.#clock = parts.clock
    this.#log = parts.log
    this.#learn = parts.learn
  }

  /** Reads this venue's teams from now on. */
  start(venue: Pick<Venue, 'key' | 'teams'>): void {
    this.#tasks.push(this.#run(venue))
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#tasks)
  }

  async #run({ key, teams }: Pick<Venue, 'key' | 'teams'>): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      let waitMs = READ_EVERY_MS
      try {
        const listings = await teams(signal)
        if (!signal.aborted) await this.#learn(listings)
      } catch (error) {
        if (signal.aborted) return
        waitMs = RETRY_MS
        this.#log.warn({ err: error, venue: key }, 'teams not read, trying again')
      }
      await pause(this.#clock, waitMs, signal)
    }
  }
}
