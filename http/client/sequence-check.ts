// Detects duplicates by the latest `seq` of each market and epoch, and by the ids of recent trades.

import type { Position } from './messages.ts'

/**
 * Three times the number of markets of both venues. At the limit, the oldest entry is evicted and the next message of
 * its market is not checked.
 */
const MARKETS_MAX = 300_000
/** Epochs stored for each market. The last complete resume may have been several epochs ago. */
const RUNS_MAX = 4
/** {@link IdWindow} stores two generations. */
const GENERATION_IDS = 32_768

interface Mark extends Position {
  readonly seq: number
}

export type SequenceCheck =
  | { readonly kind: 'next' }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'hole'; readonly before: Mark }

const NEXT: SequenceCheck = { kind: 'next' }
const REPEAT: SequenceCheck = { kind: 'repeat' }

export class Marks {
  readonly #marks = new Map<string, Mark[]>()

  /**
   * Null if unknown. All messages of the epoch up to `completeTo` have arrived, so a market without an entry had no
   * message in the epoch.
   */
  newest(marketId: string, epoch: string, completeTo: Position | null): Mark | null {
    const marks = this.#marks.get(marketId)
    const mark = marks?.[0]
    if (mark?.epoch === epoch) return mark
    const older = marks?.find((candidate) => candidate.epoch === epoch)
    if (older !== undefined) return older
    return completeTo?.epoch === epoch ? { ...completeTo, seq: 0 } : null
  }

  note(marketId: string, mark: Mark): void {
    const marks = this.#marks.get(marketId)
    if (marks === undefined) {
      if (this.#marks.size >= MARKETS_MAX) {
        const [oldest] = this.#marks.keys()
        if (oldest !== undefined) this.#marks.delete(oldest)
      }
      this.#marks.set(marketId, [mark])
      return
    }
    const index = marks.findIndex((candidate) => candidate.epoch === mark.epoch)
    if (index >= 0) marks[index] = mark
    else {
      marks.unshift(mark)
      if (marks.length > RUNS_MAX) marks.pop()
    }
  }

  /** Deletes the entries of matching markets. Their next message may then have any `seq`. */
  reset(isTouched: (marketId: string) => boolean): void {
    for (const marketId of this.#marks.keys()) {
      if (isTouched(marketId)) this.#marks.delete(marketId)
    }
  }
}

/**
 * Ids of recent trades. `seq` detects repeats only within an epoch. After a crash, the next epoch fetches uncommitted
 * trades again and repeats them.
 */
export class IdWindow {
  #young = new Set<string>()
  #old = new Set<string>()

  /** Adds an id. Returns false if it was stored already. Evicts the older of two full generations. */
  add(id: string): boolean {
    if (this.#young.has(id) || this.#old.has(id)) return false
    if (this.#young.size >= GENERATION_IDS) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(id)
    return true
  }
}

/** The result is `next` for an unknown market. */
export function checkSequence(mark: Mark | null, seq: number): SequenceCheck {
  if (mark === null) return NEXT
  if (seq <= mark.seq) return REPEAT
  return seq === mark.seq + 1 ? NEXT : { kind: 'hole', before: mark }
}
