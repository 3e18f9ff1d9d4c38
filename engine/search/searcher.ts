import { queryWords, wordsOf } from './tokenizer.ts'
import { IN_EVENT, IN_QUESTION, IN_WORDS, WordIndex } from './word-index.ts'

/**
 * Changes are numbered from 1, and change 1 starts an empty index. A query contains the number of the last change. A
 * thread that missed a change returns `lost`.
 */
export type SearchTask = SearchChange | SearchQuery

export interface SearchChange {
  readonly kind: 'change'
  readonly seq: number
  readonly texts: SearchTexts
  readonly removed: readonly number[]
}

/**
 * Columns are three times as fast as rows to transfer to a thread. The text of market `numbers[index]` is
 * `questions[index]`, `events[index]` and `words[index]`. Numbers are above 0.
 */
export interface SearchTexts {
  readonly numbers: readonly number[]
  readonly questions: readonly string[]
  /** Event titles. Empty if the market has no event. */
  readonly events: readonly string[]
  readonly words: readonly string[]
}

export interface SearchQuery {
  readonly kind: 'find'
  readonly seq: number
  readonly text: string
  readonly isRanked: boolean
}

/** A query returns the numbers of the found markets, best first if ranked. A change returns `changed`. */
export type SearchResult = Uint32Array | 'changed' | 'lost'

export function isSearchResult(value: unknown): value is SearchResult {
  return value === 'changed' || value === 'lost' || value instanceof Uint32Array
}

export class Searcher {
  #index = new WordIndex()
  /** Number of the last completed change. Initially a number that never occurs. */
  #seq = 0

  get count(): number {
    return this.#index.count
  }

  run(task: SearchTask): SearchResult {
    if (task.kind === 'find') {
      if (task.seq !== this.#seq) return 'lost'
      return this.#index.find(queryWords(task.text), task.isRanked)
    }
    if (task.seq === 1) this.#index = new WordIndex()
    else if (task.seq !== this.#seq + 1) return 'lost'
    for (const number of task.removed) this.#index.remove(number)
    this.#put(task.texts)
    this.#seq = task.seq
    return 'changed'
  }

  #put({ numbers, questions, events, words }: SearchTexts): void {
    for (const [index, number] of numbers.entries()) {
      const fieldBits = new Map<string, number>()
      for (const word of wordsOf(questions[index] ?? '')) fieldBits.set(word, IN_QUESTION)
      for (const word of wordsOf(events[index] ?? '')) mark(fieldBits, word, IN_EVENT)
      for (const word of wordsOf(words[index] ?? '')) mark(fieldBits, word, IN_WORDS)
      this.#index.put(number, fieldBits)
    }
  }
}

function mark(fieldBits: Map<string, number>, word: string, bit: number): void {
  fieldBits.set(word, (fieldBits.get(word) ?? 0) | bit)
}
