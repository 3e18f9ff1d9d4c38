// Runs search tasks on one index, in the thread (worker.ts) or inline (search.ts).

import type { SearchResult, SearchTask, SearchTexts } from './search-task.ts'
import { queryWords, wordsOf } from './tokenizer.ts'
import { IN_EVENT, IN_QUESTION, IN_WORDS, WordIndex } from './word-index.ts'

export class Searcher {
  #index = new WordIndex()
  /** Number of the last completed change. Initially a number that no change has. */
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
