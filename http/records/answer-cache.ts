// Answers of many rows, kept as bytes by what was asked and given again while all that they were written from is the
// same: a page of markets while its rows' records are, a page of trades or candles while its market's trades are. So an
// answer in which nothing has changed costs neither encoding nor naming.

import type { Answer } from '../request/reply.ts'
import { BoundedCache } from './bounded-cache.ts'

const BOUNDS = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }
/** Of an answer without its body and question, about. */
const OVERHEAD_BYTES = 1_024

/** Null: not known, and so the same as nothing. Values, so that what is kept keeps nothing else alive. */
export type Fact = string | number | null

interface CachedAnswer {
  readonly facts: readonly Fact[]
  readonly answer: Answer
  readonly bytes: number
}

/** Answers by what was asked. */
export class AnswerCache {
  readonly #cache: BoundedCache<string, CachedAnswer>

  constructor(bounds = BOUNDS) {
    this.#cache = new BoundedCache(bounds)
  }

  /**
   * The answer to `asked`, written unless one is kept of the same facts. `facts`: all that decides what is written and
   * does not stand in `asked`; looked at again after writing, since rows that are read then are known from then on.
   */
  answer(
    key: string,
    facts: () => readonly Fact[],
    write: () => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const before = facts()
    const cached = this.#cache.get(key)
    if (cached !== undefined && areSame(cached.facts, before)) return cached.answer
    const answer = write()
    if (!(answer instanceof Promise)) return this.#store(key, facts(), answer)
    // It took several turns: of what it was written from something may have changed in between.
    return answer.then((late) => {
      return areSame(before, facts()) ? this.#store(key, before, late) : late
    })
  }

  #store(key: string, facts: readonly Fact[], answer: Answer): Answer {
    const { whenTaken: _, ...rest } = answer
    if (rest.status !== 200 || rest.body === null || facts.includes(null)) return answer
    // In memory of its own: a short piece of Node's pool would keep 8 KiB.
    const body = new Uint8Array(typeof rest.body === 'string' ? Buffer.from(rest.body) : rest.body)
    const bytes = body.length + 2 * key.length + 8 * facts.length + OVERHEAD_BYTES
    this.#cache.put(key, { facts, answer: { ...rest, body }, bytes })
    return answer
  }
}

function areSame(facts: readonly Fact[], others: readonly Fact[]): boolean {
  return (
    facts.length === others.length &&
    facts.every((fact, index) => fact !== null && fact === others[index])
  )
}
