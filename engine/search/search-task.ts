// What crosses the thread of the search, both ways.

/**
 * A change of the index, or a question. Changes are numbered from 1, and the first one begins an empty index; a question
 * names the last change. A thread that lacks a change answers `lost`: it has taken another thread's place.
 */
export type SearchTask = SearchChange | SearchQuery

export interface SearchChange {
  readonly kind: 'change'
  readonly seq: number
  readonly texts: SearchTexts
  /** Numbers whose texts are removed; none of them is among the new texts. */
  readonly removed: readonly number[]
}

/**
 * Columns, as they cross a thread at a third of what rows cost: the text of `numbers[index]` is
 * `questions[index]`, `events[index]`, `words[index]`. Numbers are above 0.
 */
export interface SearchTexts {
  readonly numbers: readonly number[]
  readonly questions: readonly string[]
  /** Titles of their events; empty for none. */
  readonly events: readonly string[]
  /** Their other words: labels of outcomes, tags, category. */
  readonly words: readonly string[]
}

export interface SearchQuery {
  readonly kind: 'find'
  readonly seq: number
  readonly text: string
  readonly isRanked: boolean
}

/** The answer to a question is the numbers found, best first if ranked; to a change `changed`. */
export type SearchResult = Uint32Array | 'changed' | 'lost'

export function isSearchResult(value: unknown): value is SearchResult {
  return value === 'changed' || value === 'lost' || value instanceof Uint32Array
}
