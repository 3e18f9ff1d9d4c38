// The interface between the search for pairs and their judgement: a text is read once, then pairs of readings are scored;
// and the judge of the service, in place of which tests put another.
// Not for: how a pair is judged (score.ts).
// Upholds CORPUS8.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { everything, type Proposition } from '../understand/proposition.ts'
import { understandEvent, understandMarket } from '../understand/understand.ts'
import { Corpus } from './corpus.ts'
import { type PairScore, scorePair } from './score.ts'

export type { PairScore }

/** Reads subjects and scores pairs of readings, venue a's first; pure, and never throws for any text. */
export interface Judge<Reading> {
  readMarket(market: MatchMarket): Reading
  readEvent(event: MatchEvent): Reading
  scoreMarkets(a: Reading, b: Reading): PairScore
  scoreEvents(a: Reading, b: Reading): PairScore
}

/** The most subjects whose words are learned; the weights hardly change with more. */
const LEARNED_MAX = 8_000

/** A judge whose word weights are learned from these subjects; of more than LEARNED_MAX an even sample. */
export function openJudge(subjects: {
  readonly markets: readonly MatchMarket[]
  readonly events: readonly MatchEvent[]
}): Judge<Proposition> {
  const texts: (readonly string[])[] = []
  for (const market of sampled(subjects.markets, LEARNED_MAX)) {
    texts.push(everything(readMarket(market)))
  }
  for (const event of sampled(subjects.events, LEARNED_MAX)) {
    texts.push(everything(readEvent({ ...event, markets: event.markets.slice(0, 6) })))
  }
  return judgeOf(new Corpus(texts))
}

/** A judge by a corpus learned elsewhere. */
function judgeOf(corpus: Corpus): Judge<Proposition> {
  const score = (a: Proposition, b: Proposition): PairScore => scorePair(a, b, corpus)
  return {
    readMarket,
    readEvent,
    scoreMarkets: score,
    scoreEvents: score,
  }
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

const readEvent = (event: MatchEvent): Proposition => understandEvent(event, readMarket)

function* sampled<Item>(items: readonly Item[], limit: number): Iterable<Item> {
  const step = Math.max(1, items.length / limit)
  for (let at = 0; at < items.length; at += step) {
    const item = items[Math.floor(at)]
    if (item !== undefined) yield item
  }
}
