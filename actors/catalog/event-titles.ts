// Finds events by words of their titles. Words, prefixes and typing errors match as in the search for markets.

import SearchableMap from 'minisearch/SearchableMap'
import { CORRECTED_WORDS_MAX, correctionsOf } from '../../engine/search/spelling.ts'
import { PREFIX_CHARACTERS_MIN, queryWords, wordsOf } from '../../engine/search/tokenizer.ts'
import { firstAtLeast } from '../../engine/search/word-index.ts'

/** Numbers of the events that contain a word, by indexed word. */
type Matches = readonly (readonly number[])[]

export class EventTitles {
  readonly #events = new SearchableMap<number[]>()
  #last = 0

  /** Numbers must be added in ascending order. A removed number can be added again. */
  put(number: number, title: string): void {
    this.#last = Math.max(this.#last, number)
    for (const word of new Set(wordsOf(title))) {
      const numbers = this.#events.get(word)
      if (numbers === undefined) this.#events.set(word, [number])
      else if ((numbers.at(-1) ?? 0) < number) numbers.push(number)
      else numbers.splice(firstAtLeast(numbers, number), 0, number)
    }
  }

  /** `title` must equal the title that was passed to `put`. */
  remove(number: number, title: string): void {
    for (const word of new Set(wordsOf(title))) {
      const numbers = this.#events.get(word)
      if (numbers === undefined) continue
      const position = firstAtLeast(numbers, number)
      if (numbers[position] !== number) continue
      if (numbers.length === 1) this.#events.delete(word)
      else numbers.splice(position, 1)
    }
  }

  /**
   * Returns an array with 1 at the number of each event whose title contains every word. A text without words matches
   * nothing. Typing errors are corrected in up to four words, and only if no title contains every word.
   */
  find(text: string): Uint8Array {
    const words = queryWords(text)
    const exact = words.map((word) => this.#numbersOf(word))
    const found = this.#findAll(exact)
    if (found.includes(1)) return found
    const corrected: Matches[] = []
    for (const [index, word] of words.entries()) {
      const matches = exact[index] ?? []
      const all = index < CORRECTED_WORDS_MAX ? this.#withCorrections(word, matches) : matches
      if (all.length === 0) return found
      corrected.push(all)
    }
    return this.#findAll(corrected)
  }

  #findAll(words: readonly Matches[]): Uint8Array {
    const foundCounts = new Uint8Array(this.#last + 1)
    // Word n increments only the counts of events that contain words 1 to n - 1.
    for (const [index, matches] of words.entries()) {
      for (const number of matches.flat()) {
        if (foundCounts[number] === index) foundCounts[number] = index + 1
      }
    }
    const all = words.length
    for (let number = 0; number < foundCounts.length; number += 1) {
      foundCounts[number] = all > 0 && foundCounts[number] === all ? 1 : 0
    }
    return foundCounts
  }

  #numbersOf(word: string): Matches {
    if (word.length < PREFIX_CHARACTERS_MIN) return [this.#events.get(word) ?? []]
    return [...this.#events.atPrefix(word).values()]
  }

  #withCorrections(word: string, matches: Matches): Matches {
    const matchCount = matches.reduce((sum, { length }) => sum + length, 0)
    const corrections = correctionsOf(word, matchCount, (one) => this.#events.get(one))
    return [...matches, ...corrections.values()]
  }
}
