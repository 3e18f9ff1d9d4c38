// Records the intervals in which a venue's feed was live and all its markets were covered. Within an interval, a
// missing tick means that the price did not change. An interval ends when the last data arrived, not when the loss was
// detected. While only some markets are covered, the current interval is not stored, because the others may lack ticks.

import type { Clock } from '../../engine/clock.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { CoverageTable } from '../../storage/contract/storage.ts'

interface FeedIntervalsParts {
  readonly venue: VenueKey
  readonly coverage: CoverageTable
  readonly clock: Clock
}

/** How often the end of the current interval is written. A crash loses at most this much. */
const WRITE_EVERY_MS = 10_000

export class FeedIntervals {
  readonly #parts: FeedIntervalsParts
  #fromMs: TimeMs | null = null
  #toMs: TimeMs | null = null
  #writtenAtMs = 0
  /** Whether the current interval is stored. */
  #isOfAll = true

  constructor(parts: FeedIntervalsParts) {
    this.#parts = parts
  }

  /** Start of the current interval; null while the feed is not live. */
  get liveSinceMs(): TimeMs | null {
    return this.#fromMs
  }

  /**
   * Starts or extends the interval to the feed's newest data. Must be called about every second while the feed is live.
   * `isOfAll`: whether all markets are covered. A change of it starts a new interval.
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

  /** Ends the interval. Must be called when the feed is not live, even for a moment. */
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
