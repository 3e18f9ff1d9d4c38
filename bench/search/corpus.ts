// Markets and questions for the search bench. The markets are those of the simulated world's calendar. The questions
// use its word frequencies, so that the worst cases are realistic.

import type { MarketText } from '../../actors/catalog/search.ts'
import { seededRandom } from '../../engine/random.ts'
import { wordsOf } from '../../engine/search/tokenizer.ts'
import { timeMs } from '../../engine/units.ts'
import { Calendar } from '../../engine/venues/simulator/calendar.ts'
import { listing } from '../../test/support/worlds/builders.ts'

const AT = timeMs(Date.UTC(2026, 10, 20, 12))
const CHARACTERS_MAX = 200

/** Every market of a world, numbered from 1. */
export function marketTexts(seed: number, marketsPerVenue: number): MarketText[] {
  const texts: MarketText[] = []
  const base = listing('bench')
  for (const { event, markets } of new Calendar({ seed, marketsPerVenue }).eventsAt(AT)) {
    for (const { listing: market } of markets) {
      const outcomes = base.outcomes.map((outcome, index) => ({
        ...outcome,
        label: market.outcomes[index] ?? '',
      }))
      const { question } = market
      const { title, category, tags } = event
      const summary = { ...base, question, outcomes, category, tags }
      texts.push({ number: texts.length + 1, summary, eventTitle: title })
    }
  }
  return texts
}

/** The distinct words by which a market can be found. */
export function vocabularyOfMarket({ summary, eventTitle }: MarketText): Set<string> {
  const { question, category, outcomes, tags } = summary
  const labels = outcomes.map(({ label }) => label)
  return new Set(wordsOf([question, eventTitle, category, ...labels, ...tags].join(' ')))
}

/** One to three words of one market's question, sometimes with the last one incomplete. */
export function typicalQuestions(texts: readonly MarketText[], count: number): string[] {
  const random = seededRandom('bench questions')
  return Array.from({ length: count }, () => {
    const terms = wordsOf(random.pick(texts).summary.question).filter(({ length }) => length > 2)
    const picked = Array.from({ length: 1 + random.below(3) }, () => random.pick(terms))
    const last = picked.at(-1) ?? ''
    return [...picked.slice(0, -1), random.below(3) === 0 ? last.slice(0, 4) : last].join(' ')
  })
}

/** Questions of maximum length, whose words and prefixes occur in nearly every market. */
export function worstQuestions(texts: readonly MarketText[]): string[] {
  const terms = new Map<string, number>()
  const beginnings = new Map<string, number>()
  for (const text of texts) {
    for (const term of vocabularyOfMarket(text)) {
      terms.set(term, (terms.get(term) ?? 0) + 1)
      const beginning = term.slice(0, 2)
      beginnings.set(beginning, (beginnings.get(beginning) ?? 0) + 1)
    }
  }
  const top = (counts: Map<string, number>, count: number) =>
    [...counts]
      .filter(([term]) => term.length > 1)
      .sort(([, one], [, other]) => other - one)
      .slice(0, count)
      .map(([term]) => term)
      .join(' ')
  const longest = texts.toSorted(
    (one, other) => other.summary.question.length - one.summary.question.length,
  )
  return [
    ...[1, 2, 3, 5, 16].map((count) => top(terms, count)),
    ...[1, 2, 3, 5, 16].map((count) => top(beginnings, count)),
    'will the win the 2026',
    'will the of in on at to be by or up do we it is as win the 2026 '.repeat(4),
    ...longest.slice(0, 3).map(({ summary }) => summary.question),
  ].map((question) => question.slice(0, CHARACTERS_MAX))
}
