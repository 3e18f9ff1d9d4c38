// Full-text search over market questions, by a library (MiniSearch): all words must match, beginnings
// of words do. Text is indexed a few markets a turn, since forty thousand at once take a second.
// Not for: filters and ranking by volume (actors/catalog.ts). Upholds CAT5.

import MiniSearch from 'minisearch'
import type { MarketNumber } from '../engine/market.ts'
import type { MarketSummary } from '../storage/storage.ts'

const TERMS_MAX = 16
const CHARACTERS_MAX = 200

/**
 * How the library clears removed markets out of its index, once they are a tenth of it: a few words
 * at a time, since a word that most markets have costs milliseconds.
 */
const VACUUM = { minDirtFactor: 0.1, minDirtCount: 20, batchSize: 20, batchWait: 10 }

/** Markets indexed in one turn of the loop: about half a millisecond. */
const INDEXED_PER_TURN = 20

interface SearchText {
  readonly id: MarketNumber
  readonly question: string
  readonly event: string
  readonly words: string
}

export class MarketSearch {
  readonly #index = new MiniSearch<SearchText>({
    fields: ['question', 'event', 'words'],
    searchOptions: { combineWith: 'AND', prefix: (term) => term.length >= 2 },
    processTerm: (term) => fold(term),
    autoVacuum: VACUUM,
  })

  /** Put and not yet indexed; at most the markets that exist. */
  readonly #waiting = new Map<MarketNumber, SearchText>()
  #isIndexing = false

  /** Adds a market, or takes its changed words; found at once, since `find` indexes what waits. */
  put(number: MarketNumber, summary: MarketSummary, eventTitle: string | null): void {
    const text: SearchText = {
      id: number,
      question: summary.question,
      event: eventTitle ?? '',
      words: [
        ...summary.outcomes.map((outcome) => outcome.label),
        ...summary.tags,
        summary.category ?? '',
      ].join(' '),
    }
    this.#waiting.set(number, text)
    if (this.#isIndexing) return
    this.#isIndexing = true
    setImmediate(() => this.#indexSome())
  }

  #indexSome(): void {
    this.#indexWaiting(INDEXED_PER_TURN)
    this.#isIndexing = this.#waiting.size > 0
    if (this.#isIndexing) setImmediate(() => this.#indexSome())
  }

  #indexWaiting(count: number): void {
    let left = count
    for (const [number, text] of this.#waiting) {
      if (left === 0) return
      left -= 1
      this.#waiting.delete(number)
      if (this.#index.has(number)) this.#index.replace(text)
      else this.#index.add(text)
    }
  }

  /** The market is found no more; the library gives its memory back a little later. */
  remove(number: MarketNumber): void {
    this.#waiting.delete(number)
    if (this.#index.has(number)) this.#index.discard(number)
  }

  /** Markets whose text has every word, best first. At most 200 characters and 16 words are used. */
  find(query: string): { readonly number: MarketNumber; readonly score: number }[] {
    this.#indexWaiting(this.#waiting.size)
    const words = query.slice(0, CHARACTERS_MAX).split(/\s+/).slice(0, TERMS_MAX).join(' ')
    return this.#index
      .search(words)
      .map((result) => ({ number: Number(result.id), score: result.score }))
  }
}

/** Compatibility form without accents, lower case: "Bogotá" is found as "bogota". */
function fold(term: string): string {
  return term
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
}
