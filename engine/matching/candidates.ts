// Which subjects of one venue are worth comparing with one of the other: those that share its rarest keys. The
// true partner is found among a hundred thousand without a look at all of them, and the work for one question
// is bounded whatever the texts. Not for: how alike two are (score.ts). Upholds CANDIDATE1 to CANDIDATE5.

import type { BlockingKeys } from './blocking-keys.ts'
import { Postings } from './postings.ts'

/** Lists longer than this find nobody; they still rank those who were found otherwise. */
const POSTING_MAX = 512
/** Entries looked at for one question; the rarest keys come first. */
const VISITED_MAX = 6_000
/** Found ones that are ranked by all their keys. */
const RANKED_MAX = 160
/** Candidates of one question. */
export const CANDIDATES_MAX = 24
/** A word in common is worth the more the fewer have it; one that all have is worth this. */
const WORTH_MIN = 0.1
/** Removed subjects keep their room until they are so many and a quarter of all. */
const DEAD_MIN = 1_024
const DEAD_SHARE = 0.25

/** One venue's subjects, filed by key; ids are their owner's, each at most once. */
export class Candidates {
  #postings = new Postings()
  readonly #places = new Map<number, number>()
  /** By place: whose it is, -1 when removed. */
  #ids: number[] = []
  #sums = new Float64Array(1_024)
  readonly #found: number[] = []
  readonly #worths = new Map<number, number>()

  get count(): number {
    return this.#places.size
  }

  /** Files a subject, in place of what was filed under its id. */
  put(id: number, keys: BlockingKeys): void {
    this.remove(id)
    const place = this.#postings.add(keys.filed)
    this.#places.set(id, place)
    this.#ids.push(id)
    if (place >= this.#sums.length) this.#sums = new Float64Array(this.#sums.length * 2)
  }

  /** Unknown ids are ignored. */
  remove(id: number): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#places.delete(id)
    this.#ids[place] = -1
    const deadCount = this.#ids.length - this.#places.size
    if (deadCount >= DEAD_MIN && deadCount > this.#ids.length * DEAD_SHARE) this.#compact()
  }

  /** The likeliest partners of a subject of the other venue, best first, at most `limit`. */
  find(keys: BlockingKeys, limit = CANDIDATES_MAX): readonly number[] {
    const common = this.#gather(keys.asked)
    const ranked = this.#rank(common)
    for (const place of this.#found) this.#sums[place] = 0
    this.#found.length = 0
    return ranked.slice(0, limit)
  }

  /** Adds up the worth of the rare keys; gives back those that were too common to look up. */
  #gather(asked: Uint32Array): readonly number[] {
    const known: { readonly key: number; readonly length: number }[] = []
    for (const key of asked) {
      const length = this.#postings.length(key)
      if (length > 0) known.push({ key, length })
    }
    known.sort((one, other) => one.length - other.length)
    const common: number[] = []
    let visited = 0
    for (const { key, length } of known) {
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
    const sums = this.#sums
    this.#postings.each(key, (place) => {
      if ((this.#ids[place] ?? -1) < 0) return
      const sum = sums[place] ?? 0
      if (sum === 0) this.#found.push(place)
      sums[place] = sum + worth
    })
  }

  #worthOf(length: number): number {
    return WORTH_MIN + Math.log1p(this.#places.size / length)
  }

  /** Ids, best first: the best by rare keys, put in order by all keys and by how many keys they have. */
  #rank(common: readonly number[]): readonly number[] {
    const sums = this.#sums
    const best = this.#found.sort((one, other) => (sums[other] ?? 0) - (sums[one] ?? 0))
    const worths = this.#worths
    worths.clear()
    for (const key of common) worths.set(key, this.#worthOf(this.#postings.length(key)))
    const rated = best.slice(0, RANKED_MAX).map((place) => {
      let sum = sums[place] ?? 0
      const keys = this.#postings.keysOf(place)
      for (const key of keys) sum += worths.get(key) ?? 0
      // Long texts share more by chance.
      return { id: this.#ids[place] ?? -1, rate: sum / Math.sqrt(keys.length + 20) }
    })
    rated.sort((one, other) => other.rate - one.rate || one.id - other.id)
    return rated.map(({ id }) => id)
  }

  /** Files the living anew: some 10 ms for ten thousand. */
  #compact(): void {
    const [postings, ids] = [this.#postings, this.#ids]
    this.#postings = new Postings()
    this.#ids = []
    for (const [place, id] of ids.entries()) {
      if (id < 0) continue
      this.#places.set(id, this.#postings.add(postings.keysOf(place)))
      this.#ids.push(id)
    }
  }
}
