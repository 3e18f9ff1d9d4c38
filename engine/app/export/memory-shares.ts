// Divides the memory of the export thread between its exports.

/** Levels and records of all exports together, about 250 bytes each. */
const TOTAL = 1_000_000
const SHARE_MAX = 500_000
/** Also given when the total is used up. A smaller share reads an hour more often. */
const SHARE_MIN = 62_500

/**
 * An export gets half of the remaining memory until it ends, so a client that reads slowly does not block others. Eight
 * exports together have at most 1,187,500 levels and records.
 */
export class MemoryShares {
  readonly #shares = new Map<number, number>()

  /** Returns the number of levels and records that the export may hold in memory. */
  take(id: number): number {
    let left = TOTAL
    for (const share of this.#shares.values()) left -= share
    const share = Math.max(SHARE_MIN, Math.min(SHARE_MAX, Math.floor(left / 2)))
    this.#shares.set(id, share)
    return share
  }

  release(id: number): void {
    this.#shares.delete(id)
  }
}
