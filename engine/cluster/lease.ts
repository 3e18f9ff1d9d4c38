// Leader election: one record in a bucket, taken and renewed by compare-and-set, with a term that increases
// with each leader. While the log is unreachable nobody can take it, and its holder continues. A holder
// that finds it taken is deposed.

import { type Clock, pause, type StopTimer } from '../clock.ts'
import { count, message, record, text } from '../codec.ts'
import type { Log } from '../process/log.ts'
import { type Bucket, type BucketEntry, LogError } from './cluster-log.ts'

/** How often it is renewed. */
export const leaseRenewMs = 1_000
/** How long it must be observed unchanged before another engine may take it. */
export const leaseLostMs = 5_000
const POLL_MS_MIN = 25
/** After the holder's process paused for this long, another engine may have the lease. */
const ASLEEP_MS = leaseLostMs - leaseRenewMs
/**
 * Upper bound of the time counted between two polls. After a longer gap the holder may have been paused
 * too. Restarting the observation instead would never end on a busy machine.
 */
const POLL_GAP_MS_MAX = 1_500
const KEY = 'leader'
const OVER = Promise.resolve(false)

export interface LeaseHolder {
  /** Name of the engine's process. */
  readonly holder: string
  readonly term: number
}

const leaseMessage = message<LeaseHolder>(record<LeaseHolder>({ holder: text, term: count }))

/** Null for an unreadable record, which means that nobody holds the lease. */
export function readLease(entry: BucketEntry | null): LeaseHolder | null {
  return entry === null || entry.value === null ? null : leaseMessage.decode(entry.value)
}

interface LeaseParts {
  readonly bucket: Bucket
  /** A unique name. */
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  /** The log has lost the record, and perhaps everything else. Called each time. */
  readonly onRecordLost?: () => void
}

/**
 * The term that follows `term`: at least the Unix time in seconds. A log that lost its data reports no
 * earlier term, and a reused term would make followers discard the batches of the new leader.
 */
function nextTerm(term: number, clock: Clock): number {
  return Math.max(term + 1, Math.floor(clock.nowMs() / 1_000))
}

/**
 * Waits until the lease is free, or its holder has not renewed it for `leaseLostMs`. Resolves with null
 * when aborted.
 */
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
      // While the log was unreachable, the holder could not renew it either.
      const wasUnreachable = hasFailed && gapMs > POLL_GAP_MS_MAX
      watchedMs =
        seen !== revision || wasUnreachable ? 0 : watchedMs + Math.min(gapMs, POLL_GAP_MS_MAX)
      if (seen !== revision) term = held?.term ?? term
      wasHeld ||= held !== null && held.holder !== ''
      ;[seen, polledMs, hasFailed] = [revision, nowMs, false]
      // If the log lost the record, the leader writes it again, unless that leader is gone too.
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
    // Polls no later than the moment at which the lease may be taken.
    const lostInMs = polledMs + leaseLostMs - watchedMs - clock.monotonicMs()
    await pause(clock, Math.max(POLL_MS_MIN, Math.min(leaseRenewMs / 2, lostInMs)), signal)
  }
  return null
}

/** A lease that was taken. Call `startRenewing` at once. */
export class Lease {
  readonly term: number
  readonly #parts: LeaseParts
  #revision: number
  #stopTimer: StopTimer = () => undefined
  #isBusy = false
  #isOver = false
  /** When this process last ran, monotonic. */
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

  /** Renews it every second. Calls `onDeposed` once when another engine has it. */
  startRenewing(onDeposed: () => void): void {
    this.#stopTimer = this.#parts.clock.every(leaseRenewMs, () => {
      this.confirm()
      this.#awakeAtMs = this.#parts.clock.monotonicMs()
      void this.#renew(onDeposed)
    })
  }

  /**
   * Null while this process runs without pauses. After a pause in which another engine may have taken the
   * lease: resolves with whether it is still held, and with true while the log is unreachable. After it was
   * lost or released: resolves with false.
   */
  confirm(): Promise<boolean> | null {
    if (this.#isOver) return OVER
    const pausedMs = this.#parts.clock.monotonicMs() - this.#awakeAtMs
    if (pausedMs > ASLEEP_MS) {
      this.#awakeAtMs += pausedMs
      this.#confirming = this.isHeld()
        .catch(() => true)
        .finally(() => {
          this.#confirming = null
        })
    }
    return this.#confirming
  }

  /** Whether it is held now, according to the bucket. Rejects with LogError `down`. */
  async isHeld(): Promise<boolean> {
    let entry = await this.#parts.bucket.get(KEY)
    if ((entry === null || entry.value === null) && !this.#isOver) {
      await this.#restore(entry?.revision ?? 0)
      entry = await this.#parts.bucket.get(KEY)
    }
    if (this.#isOver) return false
    // Refused as older than a renewal by this engine that completed before this read did.
    if (entry?.value === null && entry.revision < this.#revision) return true
    const held = readLease(entry)
    return held?.holder === this.#parts.holder && held.term === this.term
  }

  /**
   * Writes the record that the log has lost (revision 0), or that no engine wrote, unless another engine
   * was first.
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

  /** Releases it, so that the next leader need not wait. */
  async release(): Promise<void> {
    this.#isOver = true
    this.#stopTimer()
    try {
      if (!(await this.#isOurs())) return
      // Retains the term, which must keep increasing, without a holder that renews it.
      const { bucket } = this.#parts
      await bucket.replace(
        KEY,
        leaseMessage.encode({ holder: '', term: this.term }),
        this.#revision,
      )
    } catch {
      // It becomes free after some seconds without a renewal.
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

  /** A renewal whose response was lost changed the record, or another engine did. */
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
