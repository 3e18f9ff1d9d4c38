// Leader election. The lease is a record of a bucket. Engines take and renew it by compare-and-set. Its term increases
// with each leader. While the log is unreachable no engine can take the lease, and its holder continues to lead.

import { type Clock, pause, type StopTimer } from '../clock.ts'
import { count, message, record, text } from '../codec.ts'
import type { Log } from '../process/log.ts'
import { type Bucket, type BucketEntry, LogError } from './cluster-log.ts'

export const leaseRenewMs = 1_000
/** Another engine may take the lease after it was unchanged for this time. */
export const leaseLostMs = 5_000
const POLL_MS_MIN = 25
/** If the holder's process paused for this time, another engine may have taken the lease. */
const ASLEEP_MS = leaseLostMs - leaseRenewMs
const READ_AGAIN_MS = 100
/**
 * Maximum time counted between two polls. During a longer gap the holder may have been paused too. The count is not
 * restarted: otherwise a busy machine might never take over.
 */
const POLL_GAP_MS_MAX = 1_500
const KEY = 'leader'
const OVER = Promise.resolve(false)

export interface LeaseHolder {
  /** Unique name of the engine's process. Empty after a release. */
  readonly holder: string
  readonly term: number
}

const leaseMessage = message<LeaseHolder>(record<LeaseHolder>({ holder: text, term: count }))

/** Null for an unreadable record, which counts as a free lease. */
export function readLease(entry: BucketEntry | null): LeaseHolder | null {
  return entry === null || entry.value === null ? null : leaseMessage.decode(entry.value)
}

interface LeaseParts {
  readonly bucket: Bucket
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  readonly onRecordLost?: () => void
}

/**
 * The term after `term`, at least the Unix time in seconds. After a loss of data the log has no earlier term. Readers
 * would discard the batches of a leader with a repeated term.
 */
function nextTerm(term: number, clock: Clock): number {
  return Math.max(term + 1, Math.floor(clock.nowMs() / 1_000))
}

/** Waits until the lease is free or was not renewed for `leaseLostMs`, then takes it. Resolves to null if aborted. */
export async function takeLease(parts: LeaseParts, signal: AbortSignal): Promise<Lease | null> {
  const { bucket, holder, clock, log } = parts
  let [seen, watchedMs, polledMs, term, hasFailed, wasHeld] = [-1, 0, 0, 0, false, false]
  while (!signal.aborted) {
    try {
      const entry = await bucket.get(KEY)
      const held = readLease(entry)
      const revision = entry?.revision ?? 0
      const nowMs = clock.monotonicMs()
      const gapMs = nowMs - polledMs
      // While the log was unreachable, the holder could not renew the lease either.
      const wasUnreachable = hasFailed && gapMs > POLL_GAP_MS_MAX
      watchedMs =
        seen !== revision || wasUnreachable ? 0 : watchedMs + Math.min(gapMs, POLL_GAP_MS_MAX)
      if (seen !== revision) term = held?.term ?? term
      wasHeld ||= held !== null && held.holder !== ''
      ;[seen, polledMs, hasFailed] = [revision, nowMs, false]
      // A running leader rewrites a lost record. A record that stays absent therefore means that no leader runs.
      const isFree = (entry === null && !wasHeld) || held?.holder === ''
      if (isFree || watchedMs >= leaseLostMs) {
        const next = nextTerm(term, clock)
        const taken = await bucket.replace(
          KEY,
          leaseMessage.encode({ holder, term: next }),
          revision,
        )
        log.info({ term: next }, 'this engine leads')
        return new Lease(parts, { term: next, revision: taken })
      }
    } catch (error) {
      if (!(error instanceof LogError)) throw error
      hasFailed = true
    }
    const lostInMs = polledMs + leaseLostMs - watchedMs - clock.monotonicMs()
    await pause(clock, Math.max(POLL_MS_MIN, Math.min(leaseRenewMs / 2, lostInMs)), signal)
  }
  return null
}

/** The caller must call `startRenewing` at once. */
export class Lease {
  readonly term: number
  readonly #parts: LeaseParts
  #revision: number
  #stopTimer: StopTimer = () => undefined
  #isBusy = false
  #isOver = false
  #awakeAtMs: number
  #confirming: Promise<boolean> | null = null

  constructor(parts: LeaseParts, taken: { readonly term: number; readonly revision: number }) {
    this.#parts = parts
    this.term = taken.term
    this.#revision = taken.revision
    this.#awakeAtMs = parts.clock.monotonicMs()
  }

  get holder(): string {
    return this.#parts.holder
  }

  /** Renews the lease every second. Calls `onDeposed` once if another engine has taken the lease. */
  startRenewing(onDeposed: () => void): void {
    this.#stopTimer = this.#parts.clock.every(leaseRenewMs, () => {
      this.confirm()
      this.#awakeAtMs = this.#parts.clock.monotonicMs()
      void this.#renew(onDeposed)
    })
  }

  /**
   * Null while this process has run without a pause above `ASLEEP_MS`. After a longer pause, a promise that resolves to
   * whether the lease is still held. It resolves to true if the log stays unreachable for `leaseLostMs`, and to false
   * after a loss or release.
   */
  confirm(): Promise<boolean> | null {
    if (this.#isOver) return OVER
    const pausedMs = this.#parts.clock.monotonicMs() - this.#awakeAtMs
    if (pausedMs > ASLEEP_MS) {
      this.#awakeAtMs += pausedMs
      this.#confirming = this.#isHeldAfterPause().finally(() => {
        this.#confirming = null
      })
    }
    return this.#confirming
  }

  /** Repeats a failed read, because the pause may also have cut the connection to the log. */
  async #isHeldAfterPause(): Promise<boolean> {
    const { clock } = this.#parts
    const untilMs = clock.monotonicMs() + leaseLostMs
    for (;;) {
      try {
        return await this.isHeld()
      } catch {
        if (this.#isOver) return false
        if (clock.monotonicMs() >= untilMs) return true
        await pause(clock, READ_AGAIN_MS)
      }
    }
  }

  /** Rejects with LogError `down`. */
  async isHeld(): Promise<boolean> {
    let entry = await this.#parts.bucket.get(KEY)
    if ((entry === null || entry.value === null) && !this.#isOver) {
      await this.#restore(entry?.revision ?? 0)
      entry = await this.#parts.bucket.get(KEY)
    }
    if (this.#isOver) return false
    // This engine's newer renewal completed before this read, so this engine holds the lease.
    if (entry?.value === null && entry.revision < this.#revision) return true
    const held = readLease(entry)
    return held?.holder === this.#parts.holder && held.term === this.term
  }

  /**
   * Rewrites a record that the log has lost (revision 0) or that was not written by an engine. Does nothing if another
   * engine has written the record first.
   */
  async #restore(revision: number): Promise<void> {
    const { bucket, holder } = this.#parts
    try {
      const value = leaseMessage.encode({ holder, term: this.term })
      this.#revision = await bucket.replace(KEY, value, revision)
      if (revision === 0) this.#parts.onRecordLost?.()
    } catch (error) {
      if (!(error instanceof LogError) || error.reason !== 'changed') throw error
    }
  }

  /** Releases the lease, so that the next leader can take it at once. */
  async release(): Promise<void> {
    this.#isOver = true
    this.#stopTimer()
    try {
      if (!(await this.#isOurs())) return
      // Removes the holder. Retains the term, which must keep increasing.
      const { bucket } = this.#parts
      await bucket.replace(
        KEY,
        leaseMessage.encode({ holder: '', term: this.term }),
        this.#revision,
      )
    } catch {
      // Without renewals the lease expires.
    }
  }

  async #renew(onDeposed: () => void): Promise<void> {
    if (this.#isBusy || this.#isOver) return
    this.#isBusy = true
    const { bucket, holder } = this.#parts
    try {
      const value = leaseMessage.encode({ holder, term: this.term })
      this.#revision = await bucket.replace(KEY, value, this.#revision)
    } catch (error) {
      if (error instanceof LogError && error.reason === 'changed')
        await this.#checkChanged(onDeposed)
    } finally {
      this.#isBusy = false
    }
  }

  /** The record was written by another engine, or by an earlier renewal of this engine whose response was lost. */
  async #checkChanged(onDeposed: () => void): Promise<void> {
    try {
      if ((await this.#isOurs()) || this.#isOver) return
    } catch {
      return
    }
    this.#isOver = true
    this.#stopTimer()
    onDeposed()
  }

  async #isOurs(): Promise<boolean> {
    const entry = await this.#parts.bucket.get(KEY)
    if (entry === null || entry.value === null) return this.isHeld()
    const held = readLease(entry)
    if (held?.holder !== this.#parts.holder || held.term !== this.term) return false
    this.#revision = entry.revision
    return true
  }
}
