// When a venue's feed was live, written down while it is: within one interval the absence of a tick means that a price
// did not change. An interval ends with the last data that came, never later.

import type { Clock } from '../../engine/clock.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { CoverageTable } from '../../storage/contract/storage.ts'

interface CoverageParts {
  readonly venue: VenueKey
  readonly coverage: CoverageTable
  readonly clock: Clock
}

/** The running interval's end is written this often; a crash forgets no more. */
const WRITE_EVERY_MS = 10_000

export class VenueCoverage {
  readonly #parts: CoverageParts
  #fromMs: TimeMs | null = null
  #toMs: TimeMs | null = null
  #writtenAtMs = 0

  constructor(parts: CoverageParts) {
    this.#parts = parts
  }

  /** Where the running interval begins; null while the feed is not live. */
  get liveSinceMs(): TimeMs | null {
    return this.#fromMs
  }

  /** The feed is live now, and its newest data came at this time. Call it about every second while it is. */
  extend(lastDataAtMs: TimeMs | null): void {
    const { clock } = this.#parts
    const nowMs = clock.nowMs()
    // After a calendar that was put back the interval would end before it begins.
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

  /** The feed is not live any more, or lost a connection for however short: ends the interval. */
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
