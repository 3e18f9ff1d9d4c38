// Texts of markets as columns for the thread of the search, composed when they are handed over, so
// that those that wait cost no text of their own. Not for: what a word is (engine/search/words.ts).
// Upholds SEARCH1.

import type { MarketNumber } from '../../engine/market/market.ts'
import type { SearchTexts } from '../../engine/search/task.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'

/** What a market is found by. */
export interface MarketText {
  readonly number: MarketNumber
  readonly summary: MarketSummary
  readonly eventTitle: string | null
}

/** Words beyond these characters of a column are not found: a title has a hundred or two. */
const COLUMN_CHARACTERS_MAX = 2_000

export class SearchTextColumns {
  readonly #numbers: MarketNumber[] = []
  readonly #questions: string[] = []
  readonly #events: string[] = []
  readonly #words: string[] = []

  get count(): number {
    return this.#numbers.length
  }

  get texts(): SearchTexts {
    return {
      numbers: this.#numbers,
      questions: this.#questions,
      events: this.#events,
      words: this.#words,
    }
  }

  add({ number, summary, eventTitle }: MarketText): void {
    this.#numbers.push(number)
    this.#questions.push(clipped(summary.question))
    this.#events.push(clipped(eventTitle ?? ''))
    this.#words.push(clipped(wordsBeside(summary)))
  }
}

function wordsBeside({ outcomes, tags, category }: MarketSummary): string {
  let words = category ?? ''
  for (const { label } of outcomes) words += ` ${label}`
  for (const tag of tags) words += ` ${tag}`
  return words
}

function clipped(text: string): string {
  return text.length > COLUMN_CHARACTERS_MAX ? text.slice(0, COLUMN_CHARACTERS_MAX) : text
}
