// Caches long answers as bytes by request. A cached answer is valid while the facts that it was written from are
// unchanged, such as the records of its rows or the trades of its market. It then needs neither encoding nor hashing.

import type { Answer } from '../request/reply.ts'
import { BoundedCache } from './bounded-cache.ts'

const BOUNDS = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }
/** Approximate size of an answer without its body and request key. */
const OVERHEAD_BYTES = 1_024

/**
 * A value that decides the content of an answer. Null means unknown and equals null. Primitive values only, so that the
 * cache retains no other objects.
 */
export type Fact = string | number | null

interface CachedAnswer {
  readonly facts: readonly Fact[]
  readonly answer: Answer
  readonly bytes: number
}

/** Caches answers by request. */
export class AnswerCache {
  readonly #cache: BoundedCache<string, CachedAnswer>

  constructor(bounds = BOUNDS) {
    this.#cache = new BoundedCache(bounds)
  }

  /**
   * Returns the cached answer to `asked` if its facts are equal, else writes one. `facts` returns everything that
   * decides the content and is not in `asked`. It is called again after writing, since writing loads rows whose facts
   * are then known.
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
    // The answer took several event-loop ticks: its facts may have changed meanwhile.
    return answer.then((late) => {
      return areSame(before, facts()) ? this.#store(key, before, late) : late
    })
  }

  #store(key: string, facts: readonly Fact[], answer: Answer): Answer {
    const { whenTaken: _, ...rest } = answer
    if (rest.status !== 200 || rest.body === null || facts.includes(null)) return answer
    // A copy outside Node's buffer pool: a short slice of the pool would retain 8 KiB.
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
