// Finds the subjects of one venue that share the rarest keys with a subject of another venue. The work for one lookup
// is bounded.

import { type BlockingKeys, isDated } from './blocking-keys.ts'
import { Postings } from './postings.ts'

/** A key with more subjects than this does not add candidates. It is still used to rank candidates. */
const POSTING_MAX = 512
/** Maximum entries read per lookup. The rarest keys are read first. */
const VISITED_MAX = 6_000
/** Maximum candidates that are ranked by all their keys. */
const RANKED_MAX = 96
const BUCKETS = 256
/** Minimum weight of a candidate's shared keys, as a fraction of that of the best candidate. */
const SHARE_OF_BEST_MIN = 0.5
export const CANDIDATES_MAX = 16
/** Weight of a key that all subjects have. Rarer keys have a larger weight. */
const WORTH_MIN = 0.1
/** The index is compacted when it contains this many removed subjects and they are a quarter of all. */
const DEAD_MIN = 1_024
const DEAD_SHARE = 0.25

/** Index of one venue's subjects by key. The caller assigns ids. */
export class Candidates {
  #postings = new Postings()
  readonly #docIds = new Map<number, number>()
  /** Indexed by document id: the subject's id, or -1 if removed. */
  #ids: number[] = []
  /** Scratch arrays of a lookup, indexed by document id: the weight of all shared keys, and of those without a day. */
  #sums = new Float64Array(1_024)
  #undated = new Float64Array(1_024)
  readonly #found: number[] = []

  get count(): number {
    return this.#docIds.size
  }

  /** Indexes a subject, replacing an earlier one with the same id. */
  put(id: number, keys: BlockingKeys): void {
    this.remove(id)
    const docId = this.#postings.add(keys.filed)
    this.#docIds.set(id, docId)
    this.#ids.push(id)
    if (docId < this.#sums.length) return
    this.#sums = new Float64Array(this.#sums.length * 2)
    this.#undated = new Float64Array(this.#sums.length)
  }

  remove(id: number): void {
    const docId = this.#docIds.get(id)
    if (docId === undefined) return
    this.#docIds.delete(id)
    this.#ids[docId] = -1
    const deadCount = this.#ids.length - this.#docIds.size
    if (deadCount >= DEAD_MIN && deadCount > this.#ids.length * DEAD_SHARE) this.#compact()
  }

  /** Likely partners of a subject of another venue, best first, at most `limit`. */
  find(keys: BlockingKeys, limit = CANDIDATES_MAX): readonly number[] {
    const common = this.#gather(keys.queried)
    const [all, undated] = [this.#sums, this.#undated]
    const best = new Set(nearest(this.#found, all, RANKED_MAX))
    // Also adds the best by keys without a day, because venues may date the same question differently.
    for (const docId of nearest(this.#found, undated, RANKED_MAX / 4)) best.add(docId)
    const ranked = this.#rank([...best], common)
    for (const docId of this.#found) {
      all[docId] = 0
      undated[docId] = 0
    }
    this.#found.length = 0
    return chosen(ranked, limit)
  }

  /** Sums the weights of rare keys. Returns the keys that are too common for this. */
  #gather(queryKeys: Uint32Array): readonly number[] {
    const lookups: { readonly key: number; readonly length: number }[] = []
    for (const key of queryKeys) {
      const length = this.#postings.length(key)
      if (length > 0) lookups.push({ key, length })
    }
    lookups.sort((one, other) => one.length - other.length)
    const common: number[] = []
    let visited = 0
    for (const { key, length } of lookups) {
      if (length > POSTING_MAX || visited + length > VISITED_MAX) {
        common.push(key)
        continue
      }
      visited += length
      this.#add(key, this.#worthOf(length))
    }
    return common
  }

  #add(key: number, worth: number): void {
    const [sums, undated, ids, found] = [this.#sums, this.#undated, this.#ids, this.#found]
    const isUndated = !isDated(key)
    this.#postings.each(key, (docId) => {
      const sum = sums[docId] ?? 0
      if (sum === 0) {
        if ((ids[docId] ?? -1) < 0) return
        found.push(docId)
      }
      sums[docId] = sum + worth
      if (isUndated) undated[docId] = (undated[docId] ?? 0) + worth
    })
  }

  #worthOf(length: number): number {
    return WORTH_MIN + Math.log1p(this.#docIds.size / length)
  }

  /**
   * Ranks documents by all queried keys, relative to their number of keys, because long texts share more keys by
   * chance.
   */
  #rank(docIds: readonly number[], common: readonly number[]): readonly Rated[] {
    const commonKeys = Uint32Array.from(common).sort()
    const worths = Array.from(commonKeys, (key) => this.#worthOf(this.#postings.length(key)))
    return docIds.map((docId) => {
      let all = this.#sums[docId] ?? 0
      let undated = this.#undated[docId] ?? 0
      const keys = this.#postings.keysOf(docId)
      // Both lists are sorted.
      let at = 0
      for (const [index, key] of commonKeys.entries()) {
        while ((keys[at] ?? Number.POSITIVE_INFINITY) < key) at += 1
        if (keys[at] !== key) continue
        const worth = worths[index] ?? 0
        all += worth
        if (!isDated(key)) undated += worth
      }
      const length = Math.sqrt(keys.length + 20)
      return { id: this.#ids[docId] ?? -1, all: all / length, undated: undated / length }
    })
  }

  /** Rebuilds the index without removed subjects. Takes some 10 ms for ten thousand subjects. */
  #compact(): void {
    const [postings, ids] = [this.#postings, this.#ids]
    this.#postings = new Postings()
    this.#ids = []
    for (const [docId, id] of ids.entries()) {
      if (id < 0) continue
      this.#docIds.set(id, this.#postings.add(postings.keysOf(docId)))
      this.#ids.push(id)
    }
  }
}

interface Rated {
  readonly id: number
  readonly all: number
  readonly undated: number
}

/**
 * The documents with the largest sums, at most `limit`. Of equal sums those with the lowest ids. Counts sums by bucket,
 * because sorting thousands of them takes 10 to 18 times as long.
 */
function nearest(found: readonly number[], sums: Float64Array, limit: number): readonly number[] {
  if (found.length <= limit) return found
  let most = 0
  for (const docId of found) most = Math.max(most, sums[docId] ?? 0)
  if (most === 0) return []
  const scale = (BUCKETS - 1) / most
  const counts = new Uint32Array(BUCKETS)
  for (const docId of found) {
    const bucket = Math.floor((sums[docId] ?? 0) * scale)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  let least = BUCKETS
  let above = 0
  while (least > 0 && above + (counts[least - 1] ?? 0) <= limit) {
    least -= 1
    above += counts[least] ?? 0
  }
  const nearest: number[] = []
  const even: number[] = []
  for (const docId of found) {
    const bucket = Math.floor((sums[docId] ?? 0) * scale)
    if (bucket >= least) nearest.push(docId)
    else if (bucket === least - 1) even.push(docId)
  }
  even.sort((one, other) => (sums[other] ?? 0) - (sums[one] ?? 0) || one - other)
  return [...nearest, ...even.slice(0, limit - nearest.length)]
}

/**
 * Chooses three quarters of the documents by all shared keys, the rest by shared keys without a day. Omits documents
 * far below the best.
 */
function chosen(rated: readonly Rated[], limit: number): readonly number[] {
  const found = bestBy(rated, 'all', Math.ceil(limit * 0.75))
  const taken = new Set(found)
  for (const id of bestBy(rated, 'undated', limit)) {
    if (found.length >= limit) break
    if (!taken.has(id)) found.push(id)
  }
  return found
}

function bestBy(rated: readonly Rated[], by: 'all' | 'undated', limit: number): number[] {
  const sorted = [...rated].sort((one, other) => other[by] - one[by] || one.id - other.id)
  const least = (sorted[0]?.[by] ?? 0) * SHARE_OF_BEST_MIN
  return sorted
    .slice(0, limit)
    .filter((one) => one[by] >= least)
    .map(({ id }) => id)
}
