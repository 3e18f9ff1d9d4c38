// The interface between the search for pairs and their judgement: a text is read once, then pairs of readings are scored;
// and the judge of the service, in place of which tests put another.
// Not for: how a pair is judged (score.ts).
// Upholds CORPUS8.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { Proposition } from '../understand/proposition.ts'
import { understandEvent, understandMarket } from '../understand/understand.ts'
import { type PairScore, scorePair } from './score.ts'

export type { PairScore }

/** Reads subjects and scores pairs of readings, venue a's first; pure, and never throws for any text. */
export interface Judge<Reading> {
  readMarket(market: MatchMarket): Reading
  readEvent(event: MatchEvent): Reading
  scoreMarkets(a: Reading, b: Reading): PairScore
  scoreEvents(a: Reading, b: Reading): PairScore
}

/** The judge of the service. */
export const JUDGE: Judge<Proposition> = {
  readMarket,
  readEvent,
  scoreMarkets: scorePair,
  scoreEvents: scorePair,
}

/** The reading of a market does not depend on the corpus: each market is read once, and its reading dies with it. */
const readings = new WeakMap<MatchMarket, Proposition>()

function readMarket(market: MatchMarket): Proposition {
  const known = readings.get(market)
  if (known !== undefined) return known
  const reading = understandMarket(market)
  readings.set(market, reading)
  return reading
}

function readEvent(event: MatchEvent): Proposition {
  return understandEvent(event, readMarket)
}
