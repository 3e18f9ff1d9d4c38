// Compares the words of two questions: coverage weighted by how telling words are, in both directions, the most
// telling word without a counterpart, cosines. Not for: dates, ranges, marks (compare.ts). Upholds SCORE3, SCORE5.

import { isSoftWord } from '../understand/lexicon.ts'
import type { Corpus } from './corpus.ts'

export interface WordComparison {
  /** Share of the first's telling weight that the second has, 0 to 1; 1 when it has no words. */
  readonly covered: number
  /** Weight of its most telling word that the second lacks, 0 to 1. */
  readonly missed: number
  /** The same, of words that are names. */
  readonly missedName: number
  /** Words not found, most telling first, for explanations. */
  readonly missing: readonly string[]
}

/** The least weight of a name. */
export const NAME_WEIGHT = 0.5
/** Weight of a soft word (lexicon.ts) as a share of its own. */
const SOFT_SHARE = 0.25

/** How much of `words` is in `known`; `names` are those that count as names. */
export function explain(
  words: readonly string[],
  known: WordIndex,
  names: ReadonlySet<string>,
  corpus: Corpus,
): WordComparison {
  let total = 0
  let found = 0
  let missed = 0
  let missedName = 0
  const missing: string[] = []
  for (const word of new Set(words)) {
    const weight = corpus.weight(word) * (isSoftWord(word) ? SOFT_SHARE : 1)
    total += weight
    if (known.has(word)) {
      found += weight
      continue
    }
    missing.push(word)
    missed = Math.max(missed, weight)
    // A name keeps its weight however frequent it is: a corpus may be full of one tournament.
    const isName = names.has(word) && !isSoftWord(word) && word.length > 2
    if (isName) missedName = Math.max(missedName, weight, NAME_WEIGHT)
  }
  return { covered: total === 0 ? 1 : found / total, missed, missedName, missing }
}

/** Words that are looked up whole or by their beginning: "starost" finds "starostove". */
export class WordIndex {
  readonly #words: ReadonlySet<string>

  constructor(...lists: readonly (readonly string[])[]) {
    const words = new Set<string>()
    for (const list of lists) for (const word of list) words.add(word)
    this.#words = words
  }

  has(word: string): boolean {
    if (this.#words.has(word)) return true
    if (word.length < 5) return false
    for (const other of this.#words) {
      if (other.length < 5 || Math.abs(other.length - word.length) > 4) continue
      const [short, long] = word.length <= other.length ? [word, other] : [other, word]
      if (
        long.startsWith(short.slice(0, Math.max(5, short.length - 2))) &&
        short.length / long.length > 0.6
      )
        return true
    }
    return false
  }

  get size(): number {
    return this.#words.size
  }
}

/** Cosine of two texts' telling words, 0 to 1. */
export function cosine(a: readonly string[], b: readonly string[], corpus: Corpus): number {
  const [one, other] = [new Set(a), new Set(b)]
  let shared = 0
  let lengthA = 0
  let lengthB = 0
  for (const word of one) {
    const square = corpus.weight(word) ** 2
    lengthA += square
    if (other.has(word)) shared += square
  }
  for (const word of other) lengthB += corpus.weight(word) ** 2
  return lengthA === 0 || lengthB === 0 ? 0 : shared / Math.sqrt(lengthA * lengthB)
}
