// Full-text search over market questions, by a library (MiniSearch): prefix and slightly misspelt
// words match, all words must. Text is indexed as markets appear, a few at a time.
// Not for: filters and ranking by volume (actors/catalog.ts). Upholds CAT5.

import MiniSearch from 'minisearch'
import type { MarketNumber } from '../engine/market.ts'
import type { MarketSummary } from '../storage/storage.ts'

const TERMS_MAX = 16
const CHARACTERS_MAX = 200

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
  })

  /** Adds a market, or takes its changed words. */
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
    if (this.#index.has(number)) this.#index.replace(text)
    else this.#index.add(text)
  }

  /** The market is found no more; the library gives its memory back a little later. */
  remove(number: MarketNumber): void {
    if (this.#index.has(number)) this.#index.discard(number)
  }

  /** Markets whose text has every word, best first. At most 200 characters and 16 words are used. */
  find(query: string): { readonly number: MarketNumber; readonly score: number }[] {
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
