// Counts what comes in from the venue and what ends early, one counter per way, and logs a sample.
// Reasons come from the fixed sets of parse.ts, map.ts, trades.ts and listing.ts, never from the
// venue's text. Upholds POLYPARSE2.

import { type Log, LogSampler } from '../../process/log.ts'
import type { Count, Metrics } from '../../process/metrics.ts'
import { Doubts } from '../answers.ts'

const SAMPLE_CHARACTERS_MAX = 300

/** The venue's counters; the series are kept, so that counting costs a Map read. */
export class Intake {
  /** Answers over REST that are not believed. */
  readonly doubts: Doubts
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #sampler = new LogSampler()
  readonly #counts = new Map<string, Map<string, Count>>()

  constructor(parts: { log: Log; metrics: Metrics }) {
    this.#log = parts.log
    this.#metrics = parts.metrics
    this.doubts = new Doubts({ ...parts, venue: 'a' })
  }

  /** A message that became an event. */
  message(kind: string): void {
    this.#count('venue_messages_total', 'Messages that became events', 'kind', kind).inc()
  }

  /** A message of no use to us: a mirror of another, an unwatched market, another topic. */
  ignore(reason: string): void {
    this.#count('venue_ignored_total', 'Messages of no use to us', 'reason', reason).inc()
  }

  /** A refusal; `sample` is cut, and logged for the first few of each reason. */
  reject(reason: string, sample: string): void {
    this.#count('venue_rejected_total', 'Messages that cannot be trusted', 'reason', reason).inc()
    const { isWritten, count: times } = this.#sampler.admit(reason)
    if (!isWritten) return
    this.#log.warn({ reason, times, sample: sample.slice(0, SAMPLE_CHARACTERS_MAX) }, 'rejected')
  }

  /** A failure that was handled: a gap told, a check that failed, rows beyond the venue's limit. */
  trouble(reason: string, detail: string): void {
    this.#count('venue_troubles_total', 'Failures that were handled', 'reason', reason).inc()
    const { isWritten, count: times } = this.#sampler.admit(reason)
    if (isWritten) this.#log.warn({ reason, times, detail }, 'handled')
  }

  #count(name: string, help: string, label: 'kind' | 'reason', value: string): Count {
    let series = this.#counts.get(name)
    if (series === undefined) {
      series = new Map<string, Count>()
      this.#counts.set(name, series)
    }
    let count = series.get(value)
    if (count === undefined) {
      count = this.#metrics.count(name, help, { venue: 'a', [label]: value })
      series.set(value, count)
    }
    return count
  }
}
