// Kalshi numbers all messages of a subscription, replies included, from 1 without gaps. After a gap, a requested
// snapshot arrives in order on the same sid and replaces the book, so nothing is buffered or reordered. A late message
// is dropped: the snapshot includes its change, and a delta that is applied twice corrupts the book.

export type SequenceResult = 'inOrder' | 'gap' | 'late'

/** After this many consecutive late messages, the venue is assumed to have restarted its numbering. */
const CONSECUTIVE_LATE_MAX = 20

interface Position {
  next: number
  consecutiveLate: number
}

export class SequenceCheck {
  readonly #positions = new Map<number, Position>()

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

  remove(sid: number): void {
    this.#positions.delete(sid)
  }

  clear(): void {
    this.#positions.clear()
  }
}
