// Duplicate detection: the latest sequence number of each market by epoch, and the ids of the latest trades.
// Both are bounded.

import type { Position } from './messages.ts'

/**
 * Markets with a stored sequence number: three times what both venues list. At the limit the oldest entry
 * is evicted, and the market's next message is not checked.
 */
const MARKETS_MAX = 300_000
/** Epochs stored for each market: an interrupted resume may have started several epochs back. */
const RUNS_MAX = 4
/** Ids of one generation; two generations are stored. See {@link IdWindow}. */
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
   * The latest message of a market in an epoch; null if unknown. Up to `completeTo` every message of its
   * epoch has arrived, so a market without an entry had none.
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

  /** Removes the entries of matching markets, so that their next message is accepted with any `seq`. */
  reset(isTouched: (marketId: string) => boolean): void {
    for (const marketId of this.#marks.keys()) {
      if (isTouched(marketId)) this.#marks.delete(marketId)
    }
  }
}

/**
 * Ids of the latest trades. Sequence numbers detect repeats within an epoch.
 * Ids are needed after a server was killed: the next epoch fetches trades from the venue that were sent but
 * not yet committed. These are its first trades and at most 5,000 for each second since the last commit, so
 * tens of thousands of ids suffice.
 */
export class IdWindow {
  #young = new Set<string>()
  #old = new Set<string>()

  /** Returns false if the id is stored. Two generations at most; the older one is evicted. */
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

/** Compares a `seq` with the latest known one. Any message of an unknown market is `next`. */
export function checkSequence(mark: Mark | null, seq: number): SequenceCheck {
  if (mark === null) return NEXT
  if (seq <= mark.seq) return REPEAT
  return seq === mark.seq + 1 ? NEXT : { kind: 'hole', before: mark }
}
