// Counts what comes in from a venue and what ends early, one counter per way, and logs a sample.
// Reasons come from the fixed sets of the venue's own readers, never from the venue's text.

import type { VenueKey } from '../ids.ts'
import { type Log, LogSampler } from '../process/log.ts'
import type { Count, Metrics } from '../process/metrics.ts'
import { SuspectAnswers } from './answer-checks.ts'
import type { DriftRecorder } from './drift/drift.ts'
import { ROW } from './drift/row-checks.ts'

const SAMPLE_CHARACTERS_MAX = 300

/** A venue's counters; the series are kept, so that counting costs a Map read. */
export class VenueCounters {
  /** Answers over REST that are not believed. */
  readonly suspectAnswers: SuspectAnswers
  /** What the code does not know. */
  readonly drift: DriftRecorder
  readonly #venue: VenueKey
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #sampler = new LogSampler()
  readonly #counts = new Map<string, Map<string, Count>>()

  constructor(parts: { venue: VenueKey; log: Log; metrics: Metrics; drift: DriftRecorder }) {
    this.#venue = parts.venue
    this.#log = parts.log
    this.#metrics = parts.metrics
    this.drift = parts.drift
    this.suspectAnswers = new SuspectAnswers(parts)
  }

  /** A message of this kind became an event. */
  mapped(kind: string): void {
    this.#count('venue_messages_total', 'Messages that became events', 'kind', kind).inc()
    this.drift.shares.read(kind)
  }

  /** A row of the catalogue was read. */
  rowRead(): void {
    this.drift.shares.read(ROW)
  }

  /** A row of the catalogue cannot be read, so that its market is missing; `sample` names it. */
  rowRefused(reason: string, sample: string): void {
    this.rejected(reason, sample, ROW)
  }

  /** A message of no use to us: a mirror of another, an unwatched market, another topic. */
  ignored(reason: string): void {
    this.#count('venue_ignored_total', 'Messages of no use to us', 'reason', reason).inc()
  }

  /**
   * A message or row that we cannot trust; `sample` is cut, and logged for the first few of each reason. `kind` is what
   * it would have been mapped as, where that much is known.
   */
  rejected(reason: string, sample: string, kind: string | null = null): void {
    this.drift.shares.refused(reason, sample, kind)
    this.#count('venue_rejected_total', 'Messages that cannot be trusted', 'reason', reason).inc()
    const { isWritten, count } = this.#sampler.admit(reason)
    if (!isWritten) return
    this.#log.warn({ reason, count, sample: sample.slice(0, SAMPLE_CHARACTERS_MAX) }, 'rejected')
  }

  /** A refusal of a mapper: ignored or rejected. */
  refused(refusal: { kind: 'ignored' | 'rejected'; reason: string }, sample: string): void {
    if (refusal.kind === 'ignored') this.ignored(refusal.reason)
    else this.rejected(refusal.reason, sample)
  }

  /** A failure that was handled and is no message: a gap, a poll, a page, a command, a check. */
  trouble(reason: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#count('venue_troubles_total', 'Failures that were handled', 'reason', reason).inc()
    const { isWritten, count } = this.#sampler.admit(reason)
    if (isWritten) this.#log.warn({ reason, count, ...details }, 'venue trouble')
  }

  #count(name: string, help: string, label: 'kind' | 'reason', value: string): Count {
    let series = this.#counts.get(name)
    if (series === undefined) {
      series = new Map<string, Count>()
      this.#counts.set(name, series)
    }
    let count = series.get(value)
    if (count === undefined) {
      count = this.#metrics.count(name, help, { venue: this.#venue, [label]: value })
      series.set(value, count)
    }
    return count
  }
}
