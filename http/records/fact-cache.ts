import { LRUCache } from 'lru-cache'
import { type Answer, utf8 } from '../request/reply.ts'

export interface CacheBounds {
  readonly countMax: number
  readonly bytesMax: number
}
const BOUNDS: CacheBounds = { countMax: 8_192, bytesMax: 64 * 2 ** 20 }
/** Largest fraction of the cache's bytes for one entry. */
const SHARE_MAX = 1 / 64
/** Estimated size of an entry without its value and key, in bytes. */
const OVERHEAD_BYTES = 1_024

/** An input of a cached value, compared with `===`. Null is an unknown fact and prevents caching. */
export type Fact = string | number | boolean | object | null

interface Entry<Value> {
  readonly facts: readonly Fact[]
  readonly value: Value
}

/** A cached value is valid while its facts (inputs) are unchanged. */
export class FactCache<Value> {
  readonly #entries: LRUCache<string | number, Entry<Value>>

  constructor(bytesOf: (value: Value) => number, { countMax, bytesMax } = BOUNDS) {
    this.#entries = new LRUCache({
      max: countMax,
      maxSize: bytesMax,
      maxEntrySize: Math.ceil(bytesMax * SHARE_MAX),
      sizeCalculation: ({ facts, value }, key) =>
        OVERHEAD_BYTES + 2 * String(key).length + 8 * facts.length + bytesOf(value),
    })
  }

  /** The cached value if its facts are unchanged, else a new value. */
  get(key: string | number, facts: readonly Fact[], make: () => Value): Value {
    return this.find(key, facts) ?? this.store(key, facts, make())
  }

  protected find(key: string | number, facts: readonly Fact[]): Value | null {
    const entry = this.#entries.get(key)
    return entry !== undefined && areSame(entry.facts, facts) ? entry.value : null
  }

  protected store(key: string | number, facts: readonly Fact[], value: Value): Value {
    if (!facts.includes(null)) this.#entries.set(key, { facts, value })
    return value
  }
}

export class AnswerCache extends FactCache<Answer> {
  constructor(bounds = BOUNDS) {
    super(({ body }) => body?.length ?? 0, bounds)
  }

  /**
   * Like `get`, for answers that take several ticks. Such an answer is cached only if its facts are unchanged
   * afterwards.
   */
  getLate(
    key: string,
    facts: () => readonly Fact[],
    make: () => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const before = facts()
    const found = this.find(key, before)
    if (found !== null) return found
    const made = make()
    if (!(made instanceof Promise)) return this.store(key, before, encoded(made))
    return made.then((late) =>
      areSame(before, facts()) ? this.store(key, before, encoded(late)) : late,
    )
  }
}

function encoded(answer: Answer): Answer {
  return typeof answer.body === 'string' ? { ...answer, body: utf8(answer.body) } : answer
}

function areSame(facts: readonly Fact[], others: readonly Fact[]): boolean {
  for (let index = 0; index < facts.length; index += 1) {
    const fact = facts[index]
    if (fact === null || fact !== others[index]) return false
  }
  return facts.length === others.length
}
