// Schedules commits. Only one transaction runs at a time, and none starts in the middle of an event-loop tick. A commit
// that fails because the disk is full is retried. Any other failure stops all writing, because the state of the disk is
// unknown after a failed flush.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { outstandingWritesMax } from '../../engine/limits.ts'

/** Retries also run when no rows wait, so that health is correct within 5 s after space is free. */
const RETRY_MS = 2_000

/** 'diskFull': reads continue, writes wait or are rejected. 'failed': no writes until a restart. */
export type CommitState = 'ok' | 'diskFull' | 'failed'

export interface CommitQueueOptions {
  readonly clock: Clock
  /** Maximum time for which writes are batched. 0: until the end of the event-loop tick. */
  readonly pauseMs: number
  /**
   * 'keep': rows of a failed commit stay readable and are retried, because they are already published. 'drop': rows of
   * a failed commit are discarded, because callers receive an error.
   */
  readonly failedRows: 'keep' | 'drop'
  /** Moves the waiting rows into the next commit, which also contains retained rows of a failed commit. */
  readonly beginCommit: () => void
  /** Resolves when the commit is durable. */
  readonly write: () => Promise<unknown>
  readonly endCommit: () => void
  /** Finds the cause of a failed commit. Must be called in the event-loop tick of the failure. */
  readonly explain: (error: unknown) => Promise<CommitFailure>
  /** `isNewState`: whether the failure changed the state. */
  readonly onFailure: (failure: { state: CommitState; isNewState: boolean; cause: string }) => void
}

interface CommitFailure {
  readonly cause: string
  /** True if a full disk is the only cause. */
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

  get outstandingCount(): number {
    return this.#openCount + this.#inFlightCount
  }

  /**
   * Whether `rowCount` more rows are accepted. While commits fail, at most outstandingWritesMax rows may wait.
   * Otherwise all rows are accepted, and actors slow ingestion down.
   */
  isAccepting(rowCount = 1): boolean {
    if (this.#state === 'ok') return true
    const isLost = this.#state === 'failed' && this.#options.failedRows === 'drop'
    return !isLost && this.outstandingCount + rowCount <= outstandingWritesMax
  }

  /** Counts a new waiting row. Must not be called for a change of a row that already waits. */
  add(): void {
    this.#openCount += 1
    this.#schedule(this.#options.pauseMs)
  }

  /** Resolves when all rows so far are durable. Rejects if their commit fails or if the queue is closed first. */
  committed(): Promise<void> {
    if (this.#state === 'failed') return Promise.reject(this.#failure())
    if (this.outstandingCount === 0 && !this.#isInFlight) return Promise.resolve()
    if (this.#isClosed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const isAllInFlight = this.#isInFlight && this.#openCount === 0
      const waiters = isAllInFlight ? this.#inFlightWaiters : this.#openWaiters
      waiters.push({ resolve, reject })
      this.#schedule(0)
    })
  }

  /**
   * Resolves when no commit is in progress. No commit starts until the returned function is called. Rejects if the
   * queue is closed.
   */
  async hold(): Promise<() => void> {
    this.#isHeld = true
    while (this.#isInFlight) {
      if (this.#isClosed) throw closedError()
      await new Promise<void>((resolve) => {
        this.#inFlightWaiters.push({ resolve, reject: () => resolve() })
      })
    }
    return () => {
      this.#isHeld = false
      if (this.#openCount > 0 || this.#openWaiters.length > 0) this.#schedule(0)
    }
  }

  /** Starts no more commits and rejects all waiters. A running commit may still succeed. */
  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    if (this.#immediate !== null) clearImmediate(this.#immediate)
    for (const { reject } of [...this.#inFlightWaiters.splice(0), ...this.#openWaiters.splice(0)]) {
      reject(closedError())
    }
  }

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

  /** Skips the pause if a caller waits for a commit. */
  #nextPauseMs(pauseMs: number): number {
    return this.#openWaiters.length > 0 ? 0 : pauseMs
  }

  #failure(): EngineError {
    if (this.#state === 'failed') return new EngineError('INTERNAL', 'writing to the disk failed')
    const detail = 'the disk is full: nothing was changed; try again later'
    return new EngineError('UNAVAILABLE', detail, { retryAfterSeconds: 30 })
  }
}

const closedError = (): EngineError =>
  new EngineError('UNAVAILABLE', 'the database was closed before it confirmed the write')
