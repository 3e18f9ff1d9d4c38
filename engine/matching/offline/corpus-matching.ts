// Matches two whole corpora with the index, scorer and assignment of the service. Compares every market of the first
// corpus with its likely partners in the second, events first, and pairs them one to one. If a corpus contains only
// events, events are paired.

import type { VenueKey } from '../../ids.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { SlicedWork } from '../../time-slices.ts'
import type { PairScore, PairScorer } from '../compare/pair-scorer.ts'
import { MarketIndex } from '../search/market-index.ts'
import { scorePartners } from '../search/pair-finder.ts'
import { PairGraph, type ScoredPair } from '../search/pair-graph.ts'

/** Subjects of one venue. `markets` includes the markets of the events. */
export interface VenueSubjects {
  readonly markets: readonly MatchMarket[]
  readonly events: readonly MatchEvent[]
}

export interface CorpusPair<Subject> {
  readonly a: Subject
  readonly b: Subject
  readonly pairScore: PairScore
}

export interface CorpusMatches {
  /** One-to-one pairs, best first. */
  readonly markets: readonly CorpusPair<MatchMarket>[]
  readonly events: readonly CorpusPair<MatchEvent>[]
  readonly scoredCount: number
}

/** `a` must be the corpus of the venue that is first in the venue table. Yields after each of its markets. */
export function* matchCorpus<Parsed>(
  a: VenueSubjects,
  b: VenueSubjects,
  scorer: PairScorer<Parsed>,
): SlicedWork<CorpusMatches> {
  const index = new MarketIndex(scorer, venuesOf(b))
  for (const event of [...a.events, ...b.events]) index.putEvent(event)
  for (const [number, market] of [...a.markets, ...b.markets].entries()) {
    index.put(number, market)
    yield
  }
  const pairs: ScoredPair[] = []
  let scoredCount = 0
  for (let number = 0; number < a.markets.length; number += 1) {
    scoredCount += scorePartners(index, scorer, number, pairs)
    yield
  }
  const markets = chosenOf(pairs, (number) => index.market(number))
  const events = yield* matchEvents(index, venuesOf(a))
  return { markets, events, scoredCount }
}

function* matchEvents<Parsed>(
  index: MarketIndex<Parsed>,
  firsts: readonly VenueKey[],
): SlicedWork<readonly CorpusPair<MatchEvent>[]> {
  const numbers = new Map<string, number>()
  const events: MatchEvent[] = []
  const numberOf = (event: MatchEvent): number => {
    const name = `${event.venue} ${event.key}`
    const number = numbers.get(name) ?? events.push(event) - 1
    numbers.set(name, number)
    return number
  }
  const pairs: ScoredPair[] = []
  for (const venue of firsts) {
    for (const { key } of index.events(venue)) {
      for (const { a, b, pairScore } of index.eventPairs(venue, key)) {
        pairs.push({ a: numberOf(a), b: numberOf(b), pairScore })
      }
      yield
    }
  }
  return chosenOf(pairs, (number) => events[number] ?? null)
}

function chosenOf<Subject>(
  pairs: readonly ScoredPair[],
  subjectOf: (number: number) => Subject | null,
): readonly CorpusPair<Subject>[] {
  const graph = new PairGraph()
  graph.change([], pairs)
  const chosen: CorpusPair<Subject>[] = []
  for (const pair of graph.chosen()) {
    const [a, b] = [subjectOf(pair.a), subjectOf(pair.b)]
    if (a !== null && b !== null) chosen.push({ a, b, pairScore: pair.pairScore })
  }
  return chosen.sort((one, other) => other.pairScore.score - one.pairScore.score)
}

function venuesOf({ markets, events }: VenueSubjects): readonly VenueKey[] {
  const [first] = [...markets, ...events]
  return first === undefined ? [] : [first.venue]
}
