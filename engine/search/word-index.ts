// Inverted index of short texts: word → ids of the documents that contain it. A query reads each entry of its rarest
// word once, and at most a constant multiple of that number for the other words.

import { CORRECTED_WORDS_MAX, correctionsOf } from './spelling.ts'
import { PREFIX_CHARACTERS_MIN } from './tokenizer.ts'

/** Bits for the fields in which a word occurs. The question has the largest weight, then the event's title. */
export const IN_QUESTION = 1
export const IN_EVENT = 2
export const IN_WORDS = 4
const FIELD_BITS = 3
const FIELDS = 7
/** Weight of a match by the fields that contain the word, indexed by bits. */
const FIELD_WORTH = Float64Array.from({ length: FIELDS + 1 }, (_, bits) =>
  [1, 0.6, 0.3].reduce((sum, worth, bit) => sum + (bits & (1 << bit) ? worth : 0), 0),
)
/** Weight factor of a prefix match. The longer the indexed word, the smaller its weight. */
const PREFIX_WORTH = 0.8

/** BM25's usual constants for the penalty of longer texts. */
const LENGTH_WEIGHT = 1.2
const LENGTH_SHARE = 0.7
/** Longer texts get the penalty of this length. */
const WORDS_COUNTED_MAX = 255

/** The index is compacted when it contains this many removed texts and a quarter of all texts is removed. */
const DEAD_MIN = 1_024
const DEAD_SHARE = 0.25

/** Number of entries whose scan takes as long as one binary search. */
const WALKED_PER_SEEK = 64

/** Scores that differ by less than this fraction of the best score are equal. */
const SCORE_STEPS = 16_384

/**
 * A word and its entries, ascending:
 *
 *     31            3 2     0
 *     |    docId     | bits |      docId: document id of the text; bits: IN_QUESTION, IN_EVENT, IN_WORDS
 */
interface Term {
  readonly word: string
  entries: number[]
}

/** A word of a query with the terms that match it. */
interface QueryTerm {
  readonly word: string
  readonly matches: readonly { readonly word: string; readonly entries: readonly number[] }[]
  readonly entryCount: number
}

export class WordIndex {
  readonly #terms = new Map<string, Term>()
  /** Terms in order, except terms that were added since the last query. */
  #sorted: Term[] = []
  #unsorted: Term[] = []
  readonly #docIds = new Map<number, number>()
  /** Indexed by document id: the text's number (0 if removed), and its number of distinct words. */
  #numbers = new Uint32Array(1_024)
  #lengths = new Uint8Array(1_024)
  #docCount = 0
  #lengthSum = 0
  /** Scratch arrays of a search, indexed by document id: the number of matched words of a candidate, and their weight. */
  #foundCounts = new Uint8Array(0)
  #scores = new Float64Array(0)
  #candidates = new Uint32Array(0)

  get count(): number {
    return this.#docIds.size
  }

  /** Adds or replaces the text of a number above 0. `words` maps each word to its field bits. */
  put(number: number, words: ReadonlyMap<string, number>): void {
    this.remove(number)
    const docId = this.#docCount
    if (docId === this.#numbers.length) this.#grow()
    this.#docCount += 1
    this.#docIds.set(number, docId)
    this.#numbers[docId] = number
    this.#lengths[docId] = Math.min(words.size, WORDS_COUNTED_MAX)
    this.#lengthSum += this.#lengths[docId] ?? 0
    for (const [word, bits] of words) {
      let term = this.#terms.get(word)
      if (term === undefined) {
        term = { word, entries: [] }
        this.#terms.set(word, term)
        this.#unsorted.push(term)
      }
      term.entries.push((docId << FIELD_BITS) | (bits & FIELDS))
    }
  }

  remove(number: number): void {
    const docId = this.#docIds.get(number)
    if (docId === undefined) return
    this.#docIds.delete(number)
    this.#numbers[docId] = 0
    this.#lengthSum -= this.#lengths[docId] ?? 0
    const deadCount = this.#docCount - this.#docIds.size
    if (deadCount >= DEAD_MIN && deadCount > this.#docCount * DEAD_SHARE) this.#compact()
  }

  /**
   * Returns the numbers of the texts in which every word of `words` occurs, itself or as a prefix. If ranked, the best
   * match is first. `words` must be a result of `queryWords`. Up to four words with few matches also match much more
   * frequent words that differ by one typing error: if ranked, after the texts without typing errors, otherwise only if
   * there are none.
   */
  find(words: readonly string[], isRanked: boolean): Uint32Array {
    const terms = words.map((word) => this.#termOf(word))
    const exact = this.#findTerms(terms, isRanked)
    if (!isRanked && exact.length > 0) return exact
    const corrected: QueryTerm[] = []
    let correctedCount = 0
    for (const term of terms) {
      const matched = correctedCount < CORRECTED_WORDS_MAX ? this.#corrected(term) : term
      if (matched !== term) correctedCount += 1
      if (matched.entryCount === 0) return exact
      corrected.push(matched)
    }
    if (corrected.every((term, index) => term === terms[index])) return exact
    const found = this.#findTerms(corrected, isRanked)
    if (exact.length === 0) return found
    const isExact = new Set(exact)
    const others = found.filter((number) => !isExact.has(number))
    const all = new Uint32Array(exact.length + others.length)
    all.set(exact)
    all.set(others, exact.length)
    return all
  }

  /**
   * Only texts with the rarest word are checked for the other words. The cost depends on the matches of the rarest
   * word, not on the number of texts.
   */
  #findTerms(terms: readonly QueryTerm[], isRanked: boolean): Uint32Array {
    const ascending = [...terms].sort((one, other) => one.entryCount - other.entryCount)
    const [rarest] = ascending
    if (rarest === undefined || rarest.entryCount === 0) return new Uint32Array(0)
    this.#reserve()
    let count = 0
    for (const [index, { word, matches, entryCount }] of ascending.entries()) {
      const rarity = this.#rarity(entryCount)
      for (const { word: answer, entries } of matches) {
        const worth = rarity * closeness(answer, word)
        if (index === 0) count = this.#begin(entries, worth, count)
        else if (entries.length > count * WALKED_PER_SEEK) this.#seek(entries, worth, index, count)
        else this.#walk(entries, worth, index)
      }
      if (index > 0) count = this.#filterCandidates(index + 1, count)
    }
    const docIds = this.#candidates.subarray(0, count)
    for (const docId of docIds) this.#foundCounts[docId] = 0
    if (!isRanked) return this.#collect(docIds)
    // The entries of one term are in ascending order. The entries of several terms must be sorted.
    if (rarest.matches.length > 1) docIds.sort()
    return this.#rank(docIds)
  }

  #reserve(): void {
    const length = this.#numbers.length
    if (this.#foundCounts.length === length) return
    this.#foundCounts = new Uint8Array(length)
    this.#scores = new Float64Array(length)
    this.#candidates = new Uint32Array(length)
  }

  #begin(entries: readonly number[], worth: number, before: number): number {
    const [foundCounts, numbers] = [this.#foundCounts, this.#numbers]
    const [scores, candidates] = [this.#scores, this.#candidates]
    let count = before
    for (let position = 0; position < entries.length; position += 1) {
      const entry = entries[position] ?? 0
      const docId = entry >>> FIELD_BITS
      if (foundCounts[docId] !== 0 || numbers[docId] === 0) continue
      foundCounts[docId] = 1
      scores[docId] = worth * (FIELD_WORTH[entry & FIELDS] ?? 0)
      candidates[count] = docId
      count += 1
    }
    return count
  }

  /** Looks up each candidate in the entries of a much longer term, by binary search. */
  #seek(entries: readonly number[], worth: number, index: number, count: number): void {
    for (let position = 0; position < count; position += 1) {
      const docId = this.#candidates[position] ?? 0
      if (this.#foundCounts[docId] !== index) continue
      const entry = entries[firstAtLeast(entries, docId << FIELD_BITS)]
      if (entry !== undefined && entry >>> FIELD_BITS === docId) this.#score(entry, worth)
    }
  }

  /** Scans the entries of a term for candidates that matched the first `index` words. */
  #walk(entries: readonly number[], worth: number, index: number): void {
    const foundCounts = this.#foundCounts
    for (let position = 0; position < entries.length; position += 1) {
      const entry = entries[position] ?? 0
      if (foundCounts[entry >>> FIELD_BITS] === index) this.#score(entry, worth)
    }
  }

  #score(entry: number, worth: number): void {
    const docId = entry >>> FIELD_BITS
    this.#foundCounts[docId] = (this.#foundCounts[docId] ?? 0) + 1
    this.#scores[docId] = (this.#scores[docId] ?? 0) + worth * (FIELD_WORTH[entry & FIELDS] ?? 0)
  }

  #filterCandidates(wordCount: number, count: number): number {
    const [foundCounts, candidates] = [this.#foundCounts, this.#candidates]
    let remaining = 0
    for (let position = 0; position < count; position += 1) {
      const docId = candidates[position] ?? 0
      if (foundCounts[docId] === wordCount) {
        candidates[remaining] = docId
        remaining += 1
      } else foundCounts[docId] = 0
    }
    return remaining
  }

  /** BM25 inverse document frequency of a word, over all terms that match the word. */
  #rarity(entryCount: number): number {
    const lacking = Math.max(this.#docIds.size - entryCount, 0)
    return Math.log(1 + (lacking + 0.5) / (entryCount + 0.5))
  }

  #collect(docIds: Uint32Array): Uint32Array {
    const found = new Uint32Array(docIds.length)
    for (let index = 0; index < docIds.length; index += 1) {
      found[index] = this.#numbers[docIds[index] ?? 0] ?? 0
    }
    return found
  }

  /** Sorts by score, descending. Equal documents are in the order of their addition. */
  #rank(docIds: Uint32Array): Uint32Array {
    const { length } = docIds
    const [all, lengths] = [this.#scores, this.#lengths]
    const factors = this.#lengthFactors()
    const scores = new Float64Array(length)
    let scoreMax = Number.MIN_VALUE
    for (let index = 0; index < length; index += 1) {
      const docId = docIds[index] ?? 0
      const score = (all[docId] ?? 0) * (factors[lengths[docId] ?? 0] ?? 0)
      if (score > scoreMax) scoreMax = score
      scores[index] = score
    }
    // A counting sort, because a common word is in most documents.
    const steps = new Uint16Array(length)
    const starts = new Uint32Array(SCORE_STEPS + 2)
    for (let index = 0; index < length; index += 1) {
      const step = SCORE_STEPS - Math.round(((scores[index] ?? 0) / scoreMax) * SCORE_STEPS)
      steps[index] = step
      starts[step + 1] = (starts[step + 1] ?? 0) + 1
    }
    for (let step = 1; step < starts.length; step += 1) {
      starts[step] = (starts[step] ?? 0) + (starts[step - 1] ?? 0)
    }
    const ranked = new Uint32Array(length)
    for (let index = 0; index < length; index += 1) {
      const step = steps[index] ?? 0
      const rank = starts[step] ?? 0
      starts[step] = rank + 1
      ranked[rank] = this.#numbers[docIds[index] ?? 0] ?? 0
    }
    return ranked
  }

  /** BM25 length factor by the number of distinct words in a text. */
  #lengthFactors(): Float64Array {
    const lengthMean = this.#lengthSum / Math.max(this.#docIds.size, 1)
    const factors = new Float64Array(WORDS_COUNTED_MAX + 1)
    for (let words = 0; words < factors.length; words += 1) {
      const relative = words / lengthMean
      factors[words] = 1 / (1 + LENGTH_WEIGHT * (1 - LENGTH_SHARE + LENGTH_SHARE * relative))
    }
    return factors
  }

  #termOf(word: string): QueryTerm {
    this.#sort()
    const from = lowerBound(this.#sorted, word)
    const isPrefix = word.length >= PREFIX_CHARACTERS_MIN
    let to = from
    let entryCount = 0
    for (let term = this.#sorted[to]; term !== undefined; term = this.#sorted[to]) {
      if (isPrefix ? !term.word.startsWith(word) : term.word !== word) break
      entryCount += term.entries.length
      to += 1
    }
    return { word, matches: this.#sorted.slice(from, to), entryCount }
  }

  /** Returns `term` itself if it needs no correction. */
  #corrected(term: QueryTerm): QueryTerm {
    const { word, matches, entryCount } = term
    const corrections = correctionsOf(word, entryCount, (one) => this.#terms.get(one)?.entries)
    if (corrections.size === 0) return term
    const added = [...corrections].map(([one, entries]) => ({ word: one, entries }))
    const addedCount = added.reduce((sum, { entries }) => sum + entries.length, 0)
    return { word, matches: [...matches, ...added], entryCount: entryCount + addedCount }
  }

  /** V8's sort merges the two already sorted parts fast. */
  #sort(): void {
    if (this.#unsorted.length === 0) return
    this.#sorted = [...this.#sorted, ...this.#unsorted.sort(byWord)].sort(byWord)
    this.#unsorted = []
  }

  #grow(): void {
    const numbers = new Uint32Array(this.#numbers.length * 2)
    numbers.set(this.#numbers)
    this.#numbers = numbers
    const lengths = new Uint8Array(numbers.length)
    lengths.set(this.#lengths)
    this.#lengths = lengths
  }

  /** Frees the document ids of removed texts. Entries remain ascending. Takes some 20 ms for 100,000 texts. */
  #compact(): void {
    const docIds = new Int32Array(this.#docCount).fill(-1)
    let count = 0
    for (let docId = 0; docId < this.#docCount; docId += 1) {
      const number = this.#numbers[docId] ?? 0
      if (number === 0) continue
      docIds[docId] = count
      this.#numbers[count] = number
      this.#lengths[count] = this.#lengths[docId] ?? 0
      this.#docIds.set(number, count)
      count += 1
    }
    this.#docCount = count
    this.#sort()
    for (const term of this.#sorted) {
      term.entries = moved(term.entries, docIds)
      if (term.entries.length === 0) this.#terms.delete(term.word)
    }
    this.#sorted = this.#sorted.filter((term) => term.entries.length > 0)
  }
}

const byWord = (one: Term, other: Term): number => (one.word < other.word ? -1 : 1)

/**
 * Weight factor of a match, 1 for an exact match. Exact matches precede longer words, because only the first matching
 * term of a text is scored.
 */
function closeness(term: string, queryWord: string): number {
  return term.length === queryWord.length ? 1 : PREFIX_WORTH * (queryWord.length / term.length)
}

function moved(entries: readonly number[], docIds: Int32Array): number[] {
  const movedEntries: number[] = []
  for (const entry of entries) {
    const docId = docIds[entry >>> FIELD_BITS] ?? -1
    if (docId >= 0) movedEntries.push((docId << FIELD_BITS) | (entry & FIELDS))
  }
  return movedEntries
}

/** Index of the first entry that is at least `least`, or the insertion point. `entries` must ascend. */
export function firstAtLeast(entries: readonly number[], least: number): number {
  let from = 0
  let to = entries.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((entries[middle] ?? 0) < least) from = middle + 1
    else to = middle
  }
  return from
}

function lowerBound(terms: readonly Term[], word: string): number {
  let from = 0
  let to = terms.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((terms[middle]?.word ?? '') < word) from = middle + 1
    else to = middle
  }
  return from
}
