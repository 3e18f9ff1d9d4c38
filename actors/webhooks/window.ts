// The next due deliveries of one lane of one webhook, in memory: a short window on the outbox, however
// long the lane is. What it holds may be out of date (dropped, retried by hand): whoever takes an entry
// reads the row. Not for: which lane goes first (actors/webhooks/queue.ts). Upholds DELIVER9.
//
//   in the table:   due, number  ├─────────────────────────────────────┤
//   in the window:               ├───────┤ behind it: read when it is empty, unless it `isWhole`

import type { TimeMs } from '../../engine/units.ts'

/** A pending delivery, by due time and number. */
export interface DueEntry {
  readonly dueAtMs: TimeMs
  readonly number: number
}

/** Entries read from the outbox at a time. */
export const windowCount = 64

export class DeliveryWindow {
  #entries: DueEntry[] = []
  /** Nothing of the lane is behind the window's last entry. */
  #isWhole = false
  readonly #read: (limit: number) => readonly DueEntry[]

  /** `read` gives the lane's first entries from the outbox. */
  constructor(read: (limit: number) => readonly DueEntry[]) {
    this.#read = read
  }

  /** The next entry; null: the lane is empty but for those in `taken`, which are under way. */
  head(taken: ReadonlyMap<number, unknown>): DueEntry | null {
    for (;;) {
      const first = this.#entries[0]
      if (first === undefined) {
        if (this.#isWhole) return null
        const limit = windowCount + taken.size
        const rows = this.#read(limit)
        this.#isWhole = rows.length < limit
        this.#entries = rows.filter(({ number }) => !taken.has(number))
        if (this.#entries.length === 0) return null
      } else if (taken.has(first.number)) {
        this.#entries.shift()
      } else {
        return first
      }
    }
  }

  /** Leaves out the head: it was taken, or is not what the outbox says any more. */
  shift(): void {
    this.#entries.shift()
  }

  /** The outbox has an entry more. */
  add(entry: DueEntry): void {
    const last = this.#entries.at(-1)
    if (!this.#isWhole && (last === undefined || isBefore(last, entry))) return
    const place = this.#entries.findLastIndex((other) => isBefore(other, entry)) + 1
    this.#entries.splice(place, 0, entry)
    if (this.#entries.length <= 2 * windowCount) return
    this.#entries.pop()
    this.#isWhole = false
  }
}

function isBefore(one: DueEntry, other: DueEntry): boolean {
  return one.dueAtMs === other.dueAtMs ? one.number < other.number : one.dueAtMs < other.dueAtMs
}
