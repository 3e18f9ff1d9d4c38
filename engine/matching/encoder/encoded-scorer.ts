// The scorer with a sentence encoder. A veto caps the score, whatever the similarity.

import type { MatchMarket } from '../../subject.ts'
import { type Comparison, compare } from '../compare/compare.ts'
import { DEFAULT_SCORER, type PairScorer } from '../compare/pair-scorer.ts'
import { scoreOf } from '../compare/score.ts'
import type { Proposition } from '../understand/proposition.ts'
import type { Families } from '../veto/families.ts'
import type { OpenEncoder } from './encoder-folder.ts'
import type { Encoder } from './sentence-encoder.ts'

export function encodedScorer({ encoder, model }: OpenEncoder): PairScorer<Proposition> {
  const score: PairScorer<Proposition>['scoreMarkets'] = (a, b, from, families) =>
    scoreOf(compareWith(encoder, a, b, from, families), model)
  return { ...DEFAULT_SCORER, scoreMarkets: score, scoreEvents: score }
}

/** Compares two propositions. Without an encoder only their words are compared. */
export function compareWith(
  encoder: Encoder | null,
  a: Proposition,
  b: Proposition,
  from?: number,
  families?: Families,
): Comparison {
  const similarity = encoder === null ? 'not asked' : encoder.similarity(a.sentence, b.sentence)
  return compare(a, b, from, families, similarity ?? 'not read')
}

/**
 * Texts that must be encoded before a market, or an event with its markets, is compared. Empty for games, which are
 * compared by their teams.
 */
export function textsOf(market: MatchMarket): readonly string[] {
  const { game, sentence } = DEFAULT_SCORER.readMarket(market)
  return game === null ? [sentence, market.eventTitle || market.title] : []
}
