// Finds events by words of their titles. Words, prefixes and typing errors match as in the search for markets.

import SearchableMap from 'minisearch/SearchableMap'
import { correctionsOf } from '../../engine/search/spelling.ts'
import { PREFIX_CHARACTERS_MIN, queryWords, wordsOf } from '../../engine/search/tokenizer.ts'
import { firstAtLeast } from '../../engine/search/word-index.ts'

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
   * nothing.
   */
  find(text: string): Uint8Array {
    const words = queryWords(text)
    const foundCounts = new Uint8Array(this.#last + 1)
    // Word n increments only the counts of events that contain words 1 to n - 1.
    for (const [index, word] of words.entries()) {
      for (const numbers of this.#numbersOf(word)) {
        for (const number of numbers) {
          if (foundCounts[number] === index) foundCounts[number] = index + 1
        }
      }
    }
    const all = words.length
    for (let number = 0; number < foundCounts.length; number += 1) {
      foundCounts[number] = all > 0 && foundCounts[number] === all ? 1 : 0
    }
    return foundCounts
  }

  #numbersOf(word: string): readonly (readonly number[])[] {
    if (word.length < PREFIX_CHARACTERS_MIN) return [this.#events.get(word) ?? []]
    const matches = [...this.#events.atPrefix(word).values()]
    const matchCount = matches.reduce((sum, { length }) => sum + length, 0)
    const corrections = correctionsOf(word, matchCount, (one) => this.#events.get(one))
    return [...matches, ...corrections.values()]
  }
}
