// What became of a person's word on a pair: the command that said it waits until the thread has looked at both markets,
// and is answered how the pair is judged then. Bounded by WAITING_MAX and ANSWER_MS.

import type { Clock } from '../../engine/clock.ts'
import type { PairScore } from '../../engine/matching/compare/pair-scorer.ts'
import type { PairOverride } from '../../engine/matching/match-task.ts'

/** Less than a command of the admin socket may take. A thread that learns from all markets takes longer. */
const ANSWER_MS = 3_000
/** Words that wait; a further one is answered `later` at once. */
const WAITING_MAX = 100

/** How the pair is judged now; null: the two are no pair; `later`: the thread has not looked yet. */
export type OverrideResult = PairScore | null | 'later'

interface Waiting {
  readonly override: PairOverride
  /** Markets that the thread has not looked at yet. */
  readonly left: Set<number>
  isSent: boolean
  readonly answer: (answer: OverrideResult) => void
}

export class OverrideResults {
  readonly #clock: Pick<Clock, 'after'>
  readonly #currentScore: (override: PairOverride) => PairScore | null
  readonly #waiting = new Set<Waiting>()

  constructor(
    clock: Pick<Clock, 'after'>,
    /** The present judgement of the pair; null: the two are no pair. */
    currentScore: (override: PairOverride) => PairScore | null,
  ) {
    this.#clock = clock
    this.#currentScore = currentScore
  }

  /** Never rejects; answers `later` after ANSWER_MS. */
  of(override: PairOverride): Promise<OverrideResult> {
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve('later')
    return new Promise((done) => {
      const stop = this.#clock.after(ANSWER_MS, () => waiting.answer('later'))
      const answer = (found: OverrideResult): void => {
        stop()
        this.#waiting.delete(waiting)
        done(found)
      }
      const left = new Set<number>([override.a, override.b])
      const waiting: Waiting = { override, left, isSent: false, answer }
      this.#waiting.add(waiting)
    })
  }

  /** All words so far were given to the thread. */
  onSent(): void {
    for (const waiting of this.#waiting) waiting.isSent = true
  }

  /** The thread has looked for the partners of these markets, and its findings are applied. */
  onFound(numbers: readonly number[]): void {
    for (const waiting of this.#waiting) {
      if (!waiting.isSent) continue
      for (const number of numbers) waiting.left.delete(number)
      if (waiting.left.size === 0) waiting.answer(this.#currentScore(waiting.override))
    }
  }

  close(): void {
    for (const waiting of this.#waiting) waiting.answer('later')
  }
}
