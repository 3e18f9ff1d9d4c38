// Records the intervals in which a venue's feed was live: within one interval, the absence of a tick means that a price
// did not change. An interval ends with the last data received, never later.

import type { Clock } from '../../engine/clock.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { CoverageTable } from '../../storage/contract/storage.ts'

interface CoverageParts {
  readonly venue: VenueKey
  readonly coverage: CoverageTable
  readonly clock: Clock
}

/** Interval of writing the current end; a crash loses no more. */
const WRITE_EVERY_MS = 10_000

export class VenueCoverage {
  readonly #parts: CoverageParts
  #fromMs: TimeMs | null = null
  #toMs: TimeMs | null = null
  #writtenAtMs = 0

  constructor(parts: CoverageParts) {
    this.#parts = parts
  }

  /** Start of the current interval; null while the feed is not live. */
  get liveSinceMs(): TimeMs | null {
    return this.#fromMs
  }

  /**
   * Extends the interval: the feed is live and its newest data arrived at this time. Call it about every second while
   * it is.
   */
  extend(lastDataAtMs: TimeMs | null): void {
    const { clock } = this.#parts
    const nowMs = clock.nowMs()
    // After the clock was set back, the interval would end before it begins.
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

  /** Ends the interval: the feed is not live, or lost a connection for any time. */
  end(): void {
    if (this.#fromMs === null) return
    this.#write()
    this.#fromMs = null
    this.#toMs = null
  }

  #write(): void {
    if (this.#fromMs === null || this.#toMs === null) return
    const { venue, coverage, clock } = this.#parts
    coverage.put(venue, this.#fromMs, this.#toMs)
    this.#writtenAtMs = clock.monotonicMs()
  }
}
