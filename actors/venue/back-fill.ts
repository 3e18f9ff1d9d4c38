// Fetches trades over REST that a venue's stream did not deliver: after a lost connection, after a restart, and for the
// last minutes once a minute. Markets deduplicate trades by native id, so a range may be fetched twice. A long range is
// fetched in parts, oldest first, so that a process that is killed repeatedly still makes progress. An answer is
// suspect if it does not reach back to the start of its part, or if it ends long before a stored trade. A suspect
// answer is requested again, unless the venue lacks an earlier part of the range or lists none of the known markets.
// Trades that cannot be fetched are announced as a gap.

import { type Clock, pause, type StopTimer } from '../../engine/clock.ts'
import { VENUE_KEYS, type VenueKey } from '../../engine/ids.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import { SuspectAnswerError, type SuspectAnswers } from '../../engine/venues/answer-checks.ts'
import type { VenueFeed } from '../../engine/venues/venue.ts'

/** Extends each range at both ends, because the clocks differ and some venues state times in whole seconds. */
const OVERLAP_MS = 5_000
/** Delay of the second read of a range. A venue's REST API may show a trade later than its stream. */
const SECOND_CHECK_MS = 15_000
/** Ranges that are reported within this time share one second read, which limits the number of timers. */
const GATHER_MS = 1_000
const RECONCILE_EVERY_MS = 60_000
/**
 * Delay between the polls of two venues, in alphabetical order. Simultaneous polls would hold the trades of both in
 * memory.
 */
const RECONCILE_APART_MS = 25_000
/** Length of the polled range. REST shows every trade within this time after the trade. */
const RECONCILE_SPAN_MS = 150_000
/** Maximum delay until REST shows a trade. An answer that lacks an older stored trade is an outdated copy. */
const SHOWN_LATE_MS = 60_000
const PART_MS = 120_000
const SETTLE_MS_MAX = 10_000
const SETTLE_CHECK_MS = 50
const RETRY_FIRST_MS = 1_000
const RETRY_MAX_MS = 30_000
const GIVE_UP_MS = 600_000

interface Range {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** Start of the range in which trades are known to be missing. Null for a poll. */
  readonly missingFromMs: TimeMs | null
}

interface PendingCheck {
  range: Range
  readonly atMs: number
}

interface BackFillParts {
  readonly feed: VenueFeed
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly venue: VenueKey
  readonly suspectAnswers: SuspectAnswers
  readonly oldestStoredMs: () => TimeMs | null
  readonly newestStoredMs: (untilMs: TimeMs) => TimeMs | null
  readonly onLost: (fromMs: TimeMs, toMs: TimeMs) => void
  readonly isHandled: () => boolean
  /** Resolves when all writes so far are committed. Rejects if a commit failed. */
  readonly committed: () => Promise<void>
}

export class TradeBackFill {
  readonly #parts: BackFillParts
  readonly #clock: Clock
  readonly #abort = new AbortController()
  readonly #ranges: Count
  readonly #timers = new Set<StopTimer>()
  #newestCheck: PendingCheck | null = null
  readonly #checks = new Set<PendingCheck>()
  #running: Promise<void> = Promise.resolve()
  #waiting: Range | null = null
  #inProgress: Range | null = null
  #readToMs: TimeMs | null = null
  /** Suspect answers for ranges before this time are not requested again. */
  #abandonedToMs = Number.NEGATIVE_INFINITY
  #isRunning = false

  constructor(parts: BackFillParts) {
    this.#parts = parts
    this.#clock = parts.clock
    const { metrics, venue } = parts
    this.#ranges = metrics.count('trade_recoveries_total', 'Ranges read again over REST.', {
      venue,
    })
  }

  start(): void {
    const check = () => {
      const nowMs = this.#clock.nowMs()
      const fromMs = timeMs(nowMs - RECONCILE_SPAN_MS)
      this.#read({ fromMs, toMs: nowMs, missingFromMs: null })
    }
    const apartMs = VENUE_KEYS.indexOf(this.#parts.venue) * RECONCILE_APART_MS
    this.#after(RECONCILE_EVERY_MS + (apartMs % RECONCILE_EVERY_MS), () => {
      check()
      this.#timers.add(this.#clock.every(RECONCILE_EVERY_MS, check))
    })
  }

  #after(delayMs: number, act: () => void): void {
    const stop = this.#clock.after(delayMs, () => {
      this.#timers.delete(stop)
      act()
    })
    this.#timers.add(stop)
  }

  /**
   * Fetches [fromMs, now] at once. Fetches its last minutes again after SECOND_CHECK_MS, because REST may show trades
   * late.
   */
  fillFrom(fromMs: TimeMs): void {
    const beganMs = timeMs(fromMs - OVERLAP_MS)
    const range = { fromMs: beganMs, toMs: this.#clock.nowMs(), missingFromMs: beganMs }
    this.#read(range)
    const atMs = this.#clock.monotonicMs()
    const lateFromMs = Math.max(range.fromMs, range.toMs - RECONCILE_SPAN_MS)
    const late = { fromMs: timeMs(lateFromMs), toMs: range.toMs, missingFromMs: timeMs(lateFromMs) }
    if (this.#newestCheck !== null && atMs - this.#newestCheck.atMs < GATHER_MS) {
      this.#newestCheck.range = join(this.#newestCheck.range, late)
      return
    }
    const check: PendingCheck = { range: late, atMs }
    this.#newestCheck = check
    this.#checks.add(check)
    this.#after(SECOND_CHECK_MS, () => {
      this.#checks.delete(check)
      this.#read(check.range)
    })
  }

  /**
   * Announces missing trades up to `toMs` as a gap at the next suspect answer. Called when the venue serves data of
   * another environment.
   */
  abandon(toMs: TimeMs): void {
    this.#abandonedToMs = Math.max(this.#abandonedToMs, toMs)
  }

  /** If the process is killed, the next run must fetch from this time on. Null: everything is fetched. */
  get unreadSinceMs(): TimeMs | null {
    return earliest(this.#unread().map(({ fromMs }) => fromMs))
  }

  /** Start of the earliest outage whose trades are not all fetched. Null if all are fetched, up to `readToMs`. */
  get missingSinceMs(): TimeMs | null {
    return earliest(this.#unread().flatMap(({ missingFromMs }) => missingFromMs ?? []))
  }

  #unread(): Range[] {
    const pending = [...this.#checks].map(({ range }) => range)
    return [...pending, this.#waiting, this.#inProgress].filter((range) => range !== null)
  }

  /** End of the newest outage whose trades were fetched, or null. */
  get readToMs(): TimeMs | null {
    return this.#readToMs
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    for (const stopTimer of this.#timers) stopTimer()
    this.#timers.clear()
    await this.#running
  }

  #read(range: Range): void {
    if (this.#abort.signal.aborted) return
    this.#waiting = this.#waiting === null ? range : join(this.#waiting, range)
    if (!this.#isRunning) this.#running = this.#drain()
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting !== null && !this.#abort.signal.aborted) {
      const range = this.#waiting
      this.#waiting = null
      this.#inProgress = range
      this.#ranges.inc()
      await this.#readParts(range)
      if (this.#abort.signal.aborted) continue
      this.#inProgress = null
      if (range.missingFromMs !== null) this.#readToMs = range.toMs
    }
    this.#isRunning = false
  }

  /** Fetches a range in parts. `unreadSinceMs` excludes a part when its trades are on disk. */
  async #readParts({ fromMs, toMs, missingFromMs }: Range): Promise<void> {
    for (let partMs = fromMs; partMs <= toMs && !this.#abort.signal.aborted; ) {
      const endMs = timeMs(Math.min(partMs + PART_MS, toMs))
      const isMissing = !(await this.#readNow({ fromMs: partMs, toMs: endMs, missingFromMs }))
      if (isMissing) this.abandon(toMs)
      const isLast = endMs === toMs
      const isSettled = await this.#settled(isLast ? Number.POSITIVE_INFINITY : SETTLE_MS_MAX)
      if (isLast || this.#abort.signal.aborted) return
      partMs = endMs
      if (!isSettled) continue
      const stillMs = missingFromMs === null ? null : timeMs(Math.max(missingFromMs, partMs))
      this.#inProgress = { fromMs: partMs, toMs, missingFromMs: stillMs }
    }
  }

  /**
   * Waits until the trades of a part are on disk. Returns false after `msMax`. If the process were killed, trades in
   * mailboxes would be lost.
   */
  async #settled(msMax: number): Promise<boolean> {
    const { signal } = this.#abort
    const endsAtMs = this.#clock.monotonicMs() + msMax
    while (!signal.aborted && this.#clock.monotonicMs() < endsAtMs) {
      const isHandled = this.#parts.isHandled()
      const isCommitted = isHandled && (await this.#parts.committed().then(yes, no))
      if (isCommitted) return true
      await pause(this.#clock, SETTLE_CHECK_MS, signal)
    }
    return false
  }

  /** Returns false if the venue answers but lacks the range. */
  async #readNow(range: Range): Promise<boolean> {
    const startedAtMs = this.#clock.monotonicMs()
    let delayMs = RETRY_FIRST_MS
    for (let failures = 0; !this.#abort.signal.aborted; failures += 1) {
      try {
        const { fromMs, toMs } = range
        const untilMs = timeMs(toMs + OVERLAP_MS)
        const {
          completeFromMs,
          suspectReason: suspicion,
          newestMs,
        } = await this.#parts.feed.fetchTrades({
          market: null,
          // The changed start time gives each retry another URL, because a cache may hold the wrong answer.
          fromMs: timeMs(fromMs - failures * 1_000),
          toMs: untilMs,
          source: 'backfill',
        })
        const oldestMs = suspicion === null ? null : this.#parts.oldestStoredMs()
        if (suspicion !== null && oldestMs !== null && oldestMs < fromMs) {
          throw new SuspectAnswerError('trades', suspicion, `it has nothing from before ${fromMs}`)
        }
        const newestStoredMs = this.#parts.newestStoredMs(untilMs) ?? Number.NEGATIVE_INFINITY
        if (newestMs !== null && newestMs < newestStoredMs - SHOWN_LATE_MS) {
          throw new SuspectAnswerError('trades', 'older', `it has nothing after ${newestMs}`)
        }
        if (completeFromMs > fromMs) this.#parts.onLost(fromMs, completeFromMs)
        return true
      } catch (error) {
        if (this.#abort.signal.aborted) return true
        const isSuspect = error instanceof SuspectAnswerError
        if (isSuspect) this.#parts.suspectAnswers.note(error)
        const isAbandoned = isSuspect && range.toMs <= this.#abandonedToMs
        if (isAbandoned || this.#clock.monotonicMs() - startedAtMs > GIVE_UP_MS) {
          this.#parts.log.error({ err: error, ...range }, 'missing trades could not be read')
          this.#parts.onLost(range.fromMs, range.toMs)
          return !isSuspect
        }
        if (!isSuspect) {
          this.#parts.log.warn({ err: error, ...range }, 'trades not read yet, trying again')
        }
        await pause(this.#clock, delayMs, this.#abort.signal)
        delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)
      }
    }
    return true
  }
}

function join(one: Range, other: Range): Range {
  return {
    fromMs: timeMs(Math.min(one.fromMs, other.fromMs)),
    toMs: timeMs(Math.max(one.toMs, other.toMs)),
    missingFromMs: earliest([one, other].flatMap(({ missingFromMs }) => missingFromMs ?? [])),
  }
}

function earliest(times: readonly TimeMs[]): TimeMs | null {
  return times.length === 0 ? null : timeMs(Math.min(...times))
}

const yes = () => true
const no = () => false
