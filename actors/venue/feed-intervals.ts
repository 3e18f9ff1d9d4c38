// Records the intervals in which a venue's feed was live and all its markets were covered. Within an interval, a
// missing tick means an unchanged price. An interval ends at the last received data, not at the detection of the loss.
// An interval with partial coverage is not stored, because uncovered markets may lack ticks.

import type { Clock } from '../../engine/clock.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { CoverageTable } from '../../storage/contract/storage.ts'

interface FeedIntervalsParts {
  readonly venue: VenueKey
  readonly coverage: CoverageTable
  readonly clock: Clock
}

/** Interval of writing the end of the current interval to disk. A crash loses at most this time. */
const WRITE_EVERY_MS = 10_000

export class FeedIntervals {
  readonly #parts: FeedIntervalsParts
  #fromMs: TimeMs | null = null
  #toMs: TimeMs | null = null
  #writtenAtMs = 0
  #isOfAll = true

  constructor(parts: FeedIntervalsParts) {
    this.#parts = parts
  }

  /** Null while the feed is not live. */
  get liveSinceMs(): TimeMs | null {
    return this.#fromMs
  }

  /**
   * Extends the interval to the feed's newest data, or starts one. Must be called about every second while the feed is
   * live. `isOfAll`: whether all markets are covered. A change of `isOfAll` starts a new interval.
   */
  extend(lastDataAtMs: TimeMs | null, isOfAll = true): void {
    const { clock } = this.#parts
    const nowMs = clock.nowMs()
    if (isOfAll !== this.#isOfAll) this.end()
    this.#isOfAll = isOfAll
    // If the clock was set back, a new interval begins.
    if (this.#toMs !== null && nowMs < this.#toMs) this.end()
    if (this.#fromMs === null || this.#toMs === null) {
      this.#fromMs = nowMs
      this.#toMs = nowMs
      this.#write()
      return
    }
    if (lastDataAtMs !== null && lastDataAtMs > this.#toMs) {
      this.#toMs = lastDataAtMs < nowMs ? lastDataAtMs : nowMs
    }
    if (clock.monotonicMs() - this.#writtenAtMs >= WRITE_EVERY_MS) this.#write()
  }

  /** Must be called when the feed is not live, even for a moment. */
  end(): void {
    if (this.#fromMs === null) return
    this.#write()
    this.#fromMs = null
    this.#toMs = null
  }

  #write(): void {
    if (this.#fromMs === null || this.#toMs === null || !this.#isOfAll) return
    const { venue, coverage, clock } = this.#parts
    coverage.put(venue, this.#fromMs, this.#toMs)
    this.#writtenAtMs = clock.monotonicMs()
  }
}
