// The score is the share of common words in titles and answers.

import type { PairScore, PairScorer } from '../../../engine/matching/compare/pair-scorer.ts'
import type { MatchMarket } from '../../../engine/subject.ts'

type WordScores = ReadonlySet<string>

/** Equal words score 100. */
export const wordScorer: PairScorer<WordScores> = {
  readMarket: ({ title, subtitle }) => wordsOf(`${title} ${subtitle}`),
  readEvent: ({ title }) => wordsOf(title),
  scoreMarkets: score,
  scoreEvents: score,
}

function score(a: WordScores, b: WordScores): PairScore {
  const shared = [...a].filter((term) => b.has(term)).length
  const value = Math.round((100 * shared) / Math.max(1, new Set([...a, ...b]).size))
  return pairScore(value)
}

export function pairScore(value: number, set: Partial<PairScore> = {}): PairScore {
  return {
    score: value,
    relation: value >= 80 ? 'identical' : 'overlap',
    inverted: false,
    outcomeMap: value >= 80 ? [0, 1] : null,
    vetoes: [],
    reasons: [],
    explanation: `They share ${value} % of their words.`,
    ...set,
  }
}

function wordsOf(text: string): WordScores {
  return new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? [])
}

export function subject(set: Partial<MatchMarket> & Pick<MatchMarket, 'venue'>): MatchMarket {
  return {
    handles: set.venue === 'b' ? 'ticker' : 'slug',
    ...{ key: set.title ?? '', title: '', subtitle: '', outcomes: [], rules: '', handle: '' },
    ...{ eventKey: null, eventTitle: '', eventSubtitle: '', series: null, category: null },
    ...{ tags: [], startMs: null, closeMs: null, strike: null, betType: '', line: null },
    ...set,
  }
}
