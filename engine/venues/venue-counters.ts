// Counts messages and failures. Reasons are from fixed sets in the code and never from the venue.

import type { VenueKey } from '../ids.ts'
import { type Log, LogSampler } from '../process/log.ts'
import type { Count, Metrics } from '../process/metrics.ts'
import { SuspectAnswers } from './answer-checks.ts'
import type { DriftRecorder } from './drift/drift.ts'
import { ROW } from './drift/row-checks.ts'

const SAMPLE_CHARACTERS_MAX = 300

export class VenueCounters {
  readonly suspectAnswers: SuspectAnswers
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

  mapped(kind: string): void {
    this.#count('venue_messages_total', 'Messages that became events', 'kind', kind).inc()
    this.drift.shares.read(kind)
  }

  rowRead(): void {
    this.drift.shares.read(ROW)
  }

  /** Counts an unreadable catalogue row. Its market is absent from the catalogue. `sample` identifies the row. */
  rowRefused(reason: string, sample: string): void {
    this.rejected(reason, sample, ROW)
  }

  /** Counts a message that is not used: a duplicate, an unwatched market or an unused topic. */
  ignored(reason: string): void {
    this.#count('venue_ignored_total', 'Messages that are not used', 'reason', reason).inc()
  }

  /** Counts an invalid message. The first samples of each reason are logged. `kind` is the expected kind, if known. */
  rejected(reason: string, sample: string, kind: string | null = null): void {
    this.drift.shares.refused(reason, sample, kind)
    this.#count('venue_rejected_total', 'Invalid messages', 'reason', reason).inc()
    const { isWritten, count } = this.#sampler.admit(reason)
    if (!isWritten) return
    this.#log.warn({ reason, count, sample: sample.slice(0, SAMPLE_CHARACTERS_MAX) }, 'rejected')
  }

  refused(refusal: { kind: 'ignored' | 'rejected'; reason: string }, sample: string): void {
    if (refusal.kind === 'ignored') this.ignored(refusal.reason)
    else this.rejected(refusal.reason, sample)
  }

  /** Counts a handled failure that is not an invalid message, such as a gap or a failed poll or command. */
  trouble(reason: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#count('venue_troubles_total', 'Failures that were handled', 'reason', reason).inc()
    const { isWritten, count } = this.#sampler.admit(reason)
    if (isWritten) this.#log.warn({ reason, count, ...details }, 'venue trouble')
  }

  #count(name: string, help: string, label: 'kind' | 'reason', value: string): Count {
    const series = this.#counts.get(name) ?? new Map<string, Count>()
    const existing = series.get(value)
    if (existing !== undefined) return existing
    const count = this.#metrics.count(name, help, { venue: this.#venue, [label]: value })
    this.#counts.set(name, series.set(value, count))
    return count
  }
}
