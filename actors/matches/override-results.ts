// Results of operator overrides. A command waits at most ANSWER_MS until the matching thread has checked both markets.

import type { Clock } from '../../engine/clock.ts'
import type { PairScore } from '../../engine/matching/compare/pair-scorer.ts'
import type { PairOverride } from '../../engine/matching/match-task.ts'

/** Shorter than the time limit of admin commands. A full rematch takes longer. */
const ANSWER_MS = 3_000
const WAITING_MAX = 100

/** The current score of the pair. Null: not a pair. `later`: the thread has not checked the pair yet. */
export type OverrideResult = PairScore | null | 'later'

interface Waiting {
  readonly override: PairOverride
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
    currentScore: (override: PairOverride) => PairScore | null,
  ) {
    this.#clock = clock
    this.#currentScore = currentScore
  }

  /** Resolves to `later` after ANSWER_MS. Never rejects. */
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

  /** Must be called when all overrides so far were sent to the thread. */
  onSent(): void {
    for (const waiting of this.#waiting) waiting.isSent = true
  }

  /** Must be called when the search results for these markets are applied. */
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
