// Queue of markets that need a new snapshot. The interval grows while a market's snapshots are unusable.

import type { Clock, StopTimer } from '../../../clock.ts'
import type { MarketTrack } from './tracks.ts'

/** Requests of this period are combined in one command. */
const GATHER_MS = 20
/** Minimum interval between two snapshot requests of a market. It doubles until a snapshot is usable. */
const APART_FIRST_MS = 1_000
const APART_MAX_MS = 30_000
/** Maximum markets per call of `send`. The next call follows after GATHER_MS. */
const SEND_MAX = 200

export function apartMs(unansweredCount: number): number {
  return Math.min(APART_MAX_MS, APART_FIRST_MS * 2 ** Math.min(unansweredCount, 10))
}

export class ResyncQueue {
  readonly #clock: Clock
  readonly #send: (tracks: readonly MarketTrack[]) => void
  readonly #wanted = new Set<MarketTrack>()
  #stopTimer: StopTimer | null = null

  constructor(clock: Clock, send: (tracks: readonly MarketTrack[]) => void) {
    this.#clock = clock
    this.#send = send
  }

  request(track: MarketTrack): void {
    this.#wanted.add(track)
    if (this.#stopTimer === null) this.#wait(GATHER_MS)
  }

  settle(track: MarketTrack): void {
    this.#wanted.delete(track)
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#wanted.clear()
  }

  #wait(delayMs: number): void {
    this.#stopTimer = this.#clock.after(delayMs, () => this.#flush())
  }

  #flush(): void {
    this.#stopTimer = null
    const nowMs = this.#clock.monotonicMs()
    const due: MarketTrack[] = []
    let nextMs = Number.POSITIVE_INFINITY
    for (const track of this.#wanted) {
      if (due.length === SEND_MAX) {
        nextMs = nowMs
        break
      }
      if (track.resyncAllowedAtMs > nowMs) {
        nextMs = Math.min(nextMs, track.resyncAllowedAtMs)
        continue
      }
      this.#wanted.delete(track)
      due.push(track)
    }
    if (due.length > 0) this.#send(due)
    if (this.#wanted.size > 0) this.#wait(Math.max(GATHER_MS, nextMs - nowMs))
  }
}

/** Records that a snapshot was requested. Its deadline starts when the venue answers on the same connection. */
export function noteRequested(track: MarketTrack, nowMs: number): void {
  track.isSubscribed = true
  track.resyncAllowedAtMs = nowMs + apartMs(track.unansweredCount)
  track.unansweredCount += 1
  track.snapshotDueAtMs = Number.POSITIVE_INFINITY
  track.reset()
}
