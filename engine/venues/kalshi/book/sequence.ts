// Kalshi counts every message of a subscription, replies included, from 1 and without holes.
// This says what a number means; what is done about a hole is subscriptions.ts.
//
// Nothing is buffered or put back in order. After a hole the book of every market of the sid is
// suspect; a fresh snapshot is asked for and comes in order on the same sid, so it replaces
// everything that was applied before it, wrong or right. Changes between hole and snapshot are passed
// on all the same: the owner of the book marks it stale and may show or hide it, and holding them
// back would only make its other markets late. A late message (a lower number) is dropped: applying
// a difference twice corrupts, and the snapshot that is under way contains it.

export type SequenceResult = 'inOrder' | 'gap' | 'late'

/** So many late messages in a row are no late messages: the venue began to count anew. */
const CONSECUTIVE_LATE_MAX = 20

interface Position {
  next: number
  consecutiveLate: number
}

/** The positions of one connection's subscriptions. */
export class SequenceCheck {
  readonly #positions = new Map<number, Position>()

  /** Judges the next message of a sid and moves on. A sid never seen must begin with 1. */
  note(sid: number, seq: number): SequenceResult {
    let position = this.#positions.get(sid)
    if (position === undefined) {
      position = { next: 1, consecutiveLate: 0 }
      this.#positions.set(sid, position)
    }
    if (seq === position.next) {
      position.next = seq + 1
      position.consecutiveLate = 0
      return 'inOrder'
    }
    if (seq < position.next) {
      position.consecutiveLate += 1
      if (position.consecutiveLate < CONSECUTIVE_LATE_MAX) return 'late'
    }
    position.next = seq + 1
    position.consecutiveLate = 0
    return 'gap'
  }

  /** Forgets a sid that was given up. */
  remove(sid: number): void {
    this.#positions.delete(sid)
  }

  /** Forgets everything: a new connection numbers its sids anew. */
  clear(): void {
    this.#positions.clear()
  }
}
