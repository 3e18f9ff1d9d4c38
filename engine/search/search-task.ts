// Messages to and from the search thread.

/**
 * A change of the index, or a query. Changes are numbered from 1, and change 1 starts an empty index. A query names the
 * last change. A thread that missed a change, because it replaced another thread, answers `lost`.
 */
export type SearchTask = SearchChange | SearchQuery

export interface SearchChange {
  readonly kind: 'change'
  readonly seq: number
  readonly texts: SearchTexts
  /** Market numbers whose texts are removed. None of them is among the new texts. */
  readonly removed: readonly number[]
}

/**
 * Columns, which cost a third of rows to transfer to a thread. The text of `numbers[index]` is `questions[index]`,
 * `events[index]`, `words[index]`. Numbers are above 0.
 */
export interface SearchTexts {
  readonly numbers: readonly number[]
  readonly questions: readonly string[]
  /** Event titles; empty if the market has no event. */
  readonly events: readonly string[]
  /** Remaining words: outcome labels, tags, category. */
  readonly words: readonly string[]
}

export interface SearchQuery {
  readonly kind: 'find'
  readonly seq: number
  readonly text: string
  readonly isRanked: boolean
}

/** A query returns the numbers found, best first if ranked. A change returns `changed`. */
export type SearchResult = Uint32Array | 'changed' | 'lost'

export function isSearchResult(value: unknown): value is SearchResult {
  return value === 'changed' || value === 'lost' || value instanceof Uint32Array
}
