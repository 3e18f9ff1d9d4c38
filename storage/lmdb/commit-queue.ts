// When waiting writes are handed over: together, one transaction at a time, never in the middle of
// an event turn; and what happens when that fails. A full disk is tried again, anything else ends
// writing for good, since after a failed flush it is unknown what the disk holds.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { outstandingWritesMax } from '../../engine/limits.ts'

/** A full disk is tried again after this long, whether or not a row waits: health is well within 5 s of the disk. */
const RETRY_MS = 2_000

/**
 * 'diskFull': reads go on, writes are refused or wait. 'failed': nothing more is written until a restart.
 */
export type CommitState = 'ok' | 'diskFull' | 'failed'

export interface CommitQueueOptions {
  readonly clock: Clock
  /** Writes gather at most this long before they are handed over; 0: only to the turn's end. */
  readonly pauseMs: number
  /**
   * 'keep': rows of a failed commit stay readable and are tried again (market: they were published
   * already). 'drop': they are forgotten, since their callers were refused (accounts).
   */
  readonly failedRows: 'keep' | 'drop'
  /** What waits is from now on the commit; rows of a failed one that were kept stay in it. */
  readonly beginCommit: () => void
  /** Hands the commit to the disk; resolves on the platter. */
  readonly write: () => Promise<unknown>
  /** The rows of the commit need not be kept any longer. */
  readonly endCommit: () => void
  /** What a failure means; asked at once. */
  readonly explain: (error: unknown) => Promise<CommitFailure>
  /** `isNews`: the state was another one before. */
  readonly onFailure: (failure: { state: CommitState; isNewState: boolean; cause: string }) => void
}

interface CommitFailure {
  readonly cause: string
  /** There was no room for it; nothing is wrong with the disk otherwise. */
  readonly isDiskFull: boolean
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: EngineError) => void
}

export class CommitQueue {
  readonly #options: CommitQueueOptions
  #state: CommitState = 'ok'
  #openCount = 0
  #inFlightCount = 0
  #openWaiters: Waiter[] = []
  #inFlightWaiters: Waiter[] = []
  #isInFlight = false
  #isClosed = false
  #isHeld = false
  #stopTimer: StopTimer | null = null
  #immediate: NodeJS.Immediate | null = null

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  get state(): CommitState {
    return this.#state
  }

  /** Rows put and not yet on the platter. */
  get outstandingCount(): number {
    return this.#openCount + this.#inFlightCount
  }

  /**
   * Whether so many rows may be put. While commits fail no more than outstandingWritesMax may wait;
   * further ones are refused. As long as all is well ingestion is slowed instead.
   */
  isAccepting(rowCount = 1): boolean {
    if (this.#state === 'ok') return true
    const isLost = this.#state === 'failed' && this.#options.failedRows === 'drop'
    return !isLost && this.outstandingCount + rowCount <= outstandingWritesMax
  }

  /** A row waits that did not wait before. */
  add(): void {
    this.#openCount += 1
    this.#schedule(this.#options.pauseMs)
  }

  /** Resolves when everything put so far is on the platter; rejects when its commit failed. */
  committed(): Promise<void> {
    if (this.#state === 'failed') return Promise.reject(this.#failure())
    if (this.outstandingCount === 0 && !this.#isInFlight) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const isAllInFlight = this.#isInFlight && this.#openCount === 0
      const waiters = isAllInFlight ? this.#inFlightWaiters : this.#openWaiters
      waiters.push({ resolve, reject })
      this.#schedule(0)
    })
  }

  /** Resolves when no commit is under way. The next one begins after the returned function was called. */
  async hold(): Promise<() => void> {
    this.#isHeld = true
    while (this.#isInFlight) {
      await new Promise<void>((resolve) => {
        this.#inFlightWaiters.push({ resolve, reject: () => resolve() })
      })
    }
    return () => {
      this.#isHeld = false
      if (this.#openCount > 0 || this.#openWaiters.length > 0) this.#schedule(0)
    }
  }

  /** Hands over nothing more. */
  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    if (this.#immediate !== null) clearImmediate(this.#immediate)
  }

  /**
   * Arranges the next hand-over: at the end of this turn when the pause is 0, else after it. A timer
   * that runs already, for an earlier row or for the next try on a full disk, is left to run.
   */
  #schedule(pauseMs: number): void {
    if (this.#isInFlight || this.#isClosed || this.#isHeld || this.#immediate !== null) return
    if (this.#state === 'failed') return
    if (pauseMs > 0) {
      this.#stopTimer ??= this.#options.clock.after(pauseMs, () => this.#handOver())
      return
    }
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#immediate = setImmediate(() => this.#handOver())
  }

  #handOver(): void {
    this.#immediate = null
    this.#stopTimer = null
    if (this.#isInFlight || this.#isClosed || this.#isHeld) return
    this.#isInFlight = true
    this.#options.beginCommit()
    this.#inFlightCount += this.#openCount
    this.#openCount = 0
    this.#inFlightWaiters = this.#openWaiters
    this.#openWaiters = []
    void this.#commit()
  }

  async #commit(): Promise<void> {
    try {
      await this.#options.write()
    } catch (error) {
      this.#onFailed(await this.#options.explain(error))
      return
    }
    this.#options.endCommit()
    this.#state = 'ok'
    this.#isInFlight = false
    this.#inFlightCount = 0
    for (const waiter of this.#inFlightWaiters.splice(0)) waiter.resolve()
    if (this.#openCount > 0) this.#schedule(this.#nextPauseMs(this.#options.pauseMs))
  }

  #onFailed({ cause, isDiskFull }: CommitFailure): void {
    const state = isDiskFull ? 'diskFull' : 'failed'
    const isNewState = state !== this.#state
    this.#state = state
    this.#isInFlight = false
    if (this.#options.failedRows === 'drop') {
      this.#options.endCommit()
      this.#inFlightCount = 0
    }
    this.#options.onFailure({ state, isNewState, cause })
    for (const waiter of this.#inFlightWaiters.splice(0)) waiter.reject(this.#failure())
    if (state === 'failed') {
      for (const waiter of this.#openWaiters.splice(0)) waiter.reject(this.#failure())
    } else this.#schedule(this.#nextPauseMs(RETRY_MS))
  }

  /** A caller that waits does not wait for more writes to gather. */
  #nextPauseMs(pauseMs: number): number {
    return this.#openWaiters.length > 0 ? 0 : pauseMs
  }

  #failure(): EngineError {
    if (this.#state === 'failed') return new EngineError('INTERNAL', 'writing to the disk failed')
    const detail = 'the disk is full: nothing was changed; try again later'
    return new EngineError('UNAVAILABLE', detail, { retryAfterSeconds: 30 })
  }
}
