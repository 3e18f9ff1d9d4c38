// The newest trades of this run, by offset, for connections that lagged or resume. A ring of
// references: when it is full the oldest is overwritten, and who needed it is told by `gap`.
//
//   offset:   …  n-2   n-1    n  │ n-max+1 …
//   slot:     …  offset % tradeHistoryCount
//
// Upholds RESUME1.

import type { TradeUpdate } from '../../engine/events.ts'
import { tradeHistoryCount } from '../../engine/limits.ts'

/** A bounded memory of trade updates. */
export class TradeHistory {
  readonly #ring: TradeUpdate[] = []
  readonly #capacity: number
  #newest: number
  #oldest: number

  /** `offset`: how many trades this run has published already. */
  constructor(offset: number, capacity = tradeHistoryCount) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = capacity
  }

  /** The offset of the newest trade. */
  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest trade kept; newest + 1 when none is. */
  get oldest(): number {
    return this.#oldest
  }

  push(update: TradeUpdate): void {
    // A hole would mean that an update passed us by; what lies before it cannot be replayed whole.
    if (update.offset !== this.#newest + 1) this.#oldest = update.offset
    this.#newest = update.offset
    this.#oldest = Math.max(this.#oldest, update.offset - this.#capacity + 1)
    this.#ring[update.offset % this.#capacity] = update
  }

  /** Null when it is not kept. */
  get(offset: number): TradeUpdate | null {
    if (offset < this.#oldest || offset > this.#newest) return null
    return this.#ring[offset % this.#capacity] ?? null
  }
}
