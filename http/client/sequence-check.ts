// What of a channel has been handed on already: the newest seq of each market by epoch, and the ids
// of the newest trades. Both bounded.

import type { Position } from './messages.ts'

/** Markets whose newest seq is remembered; above it the one first seen is forgotten, and its next
 *  message is taken without a check of its seq. Three times what both venues list. */
const MARKETS_MAX = 300_000
/** Runs of the engine remembered a market: a resume may begin some runs back, and be cut off. */
const RUNS_MAX = 4
/** Ids of one generation; two are kept. See {@link IdWindow}. */
const GENERATION_IDS = 32_768

/** The newest message of a market in one run of the engine. */
interface Mark extends Position {
  readonly seq: number
}

/** How a message stands to those before it. */
export type SequenceCheck =
  | { readonly kind: 'next' }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'hole'; readonly before: Mark }

const NEXT: SequenceCheck = { kind: 'next' }
const REPEAT: SequenceCheck = { kind: 'repeat' }

/** The newest seq of each market, by epoch. */
export class Marks {
  readonly #marks = new Map<string, Mark[]>()

  /** The newest message of a market in a run; null when nothing is known of it. `whole`: a run whose
   *  every message has come up to there, so that a market without a mark had none. */
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
        for (const oldest of this.#marks.keys()) {
          this.#marks.delete(oldest)
          break
        }
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

  /** Takes the next message of these markets whatever its seq; of all, when none is named. */
  reset(isTouched: (marketId: string) => boolean): void {
    for (const marketId of this.#marks.keys()) {
      if (isTouched(marketId)) this.#marks.delete(marketId)
    }
  }
}

/**
 * The newest ids. Within a run the marks recognise a repeat; ids are needed for a trade that a killed
 * server had sent but not yet written, fetched again from the venue by the next run. Those are the
 * trades of the moment before the kill (a commit takes far less than a second, 5,000 trades a second
 * at most), and the next run begins with them, so that tens of thousands of ids are ample.
 */
export class IdWindow {
  #young = new Set<string>()
  #old = new Set<string>()

  /** False: the id is among those remembered. At most two generations; the older is forgotten. */
  add(id: string): boolean {
    if (this.#young.has(id) || this.#old.has(id)) return false
    if (this.#young.size >= GENERATION_IDS) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(id)
    return true
  }

  has(id: string): boolean {
    return this.#young.has(id) || this.#old.has(id)
  }
}

/** How a seq stands to the newest known; of an unknown market every message is the next. */
export function checkSequence(mark: Mark | null, seq: number): SequenceCheck {
  if (mark === null) return NEXT
  if (seq <= mark.seq) return REPEAT
  return seq === mark.seq + 1 ? NEXT : { kind: 'hole', before: mark }
}
