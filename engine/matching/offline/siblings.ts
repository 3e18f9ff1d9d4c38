// Questions that are alike and never the same, given free by one venue: to a labelled pair's second side the nearest
// titles of other families. With its first side each makes a pair that is different, whatever words it shares. Not for:
// judging (evaluation.ts): such pairs train the model and are never counted.

import { cosine } from '../compare/words.ts'
import { fold, meanings } from '../understand/words.ts'
import { withoutDates } from './learn-words.ts'

interface Title {
  readonly title: string
  readonly words: readonly string[]
}

/** Titles of one venue, found by their telling words. */
export class Siblings {
  readonly #byWord = new Map<string, Title[]>()

  constructor(titles: Iterable<string>) {
    const seen = new Set<string>()
    for (const title of titles) {
      const words = wordsOf(title)
      const key = [...new Set(words)].sort().join(' ')
      if (words.length < 2 || seen.has(key)) continue
      seen.add(key)
      for (const word of new Set(words)) {
        const listed = this.#byWord.get(word)
        if (listed === undefined) this.#byWord.set(word, [{ title, words }])
        else if (listed.length < LISTED_MAX) listed.push({ title, words })
      }
    }
  }

  /** Titles that share most of a title's words and differ in some, nearest first. */
  of(title: string, count: number): readonly string[] {
    const words = wordsOf(title)
    const near = new Map<Title, number>()
    for (const word of new Set(words)) {
      for (const other of this.#byWord.get(word) ?? []) {
        if (near.has(other)) continue
        const isApart = [
          [words, other.words],
          [other.words, words],
        ].every(([one = [], two = []]) => one.some((each) => !two.includes(each)))
        near.set(other, isApart ? cosine(words, other.words) : 0)
      }
    }
    const ranked = [...near].sort(([one, x], [two, y]) => y - x || (one.title < two.title ? -1 : 1))
    return [
      ...new Set(ranked.filter(([, near]) => near > NEAR_MIN).map(([{ title }]) => title)),
    ].slice(0, count)
  }
}

const LISTED_MAX = 3_000
const NEAR_MIN = 0.4

const wordsOf = (title: string): readonly string[] => meanings(withoutDates(fold(title)))
