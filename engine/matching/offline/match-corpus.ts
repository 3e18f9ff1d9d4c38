// Two whole corpora matched: every market of the first with its likely partners of the second, events first, then one
// to one; and, where a venue gives events alone, the events. The same index, judge and choice as the service's.

import type { VenueKey } from '../../ids.ts'
import type { Steps } from '../../steps.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { Judge, PairScore } from '../compare/judge.ts'
import { MarketIndex } from '../search/market-index.ts'
import { judgePartners } from '../search/pair-finder.ts'
import { PairGraph, type ScoredPair } from '../search/pair-graph.ts'

/** One venue's side: events that are given with their markets have those among `markets` too. */
export interface VenueSubjects {
  readonly markets: readonly MatchMarket[]
  readonly events: readonly MatchEvent[]
}

export interface CorpusPair<Subject> {
  readonly a: Subject
  readonly b: Subject
  readonly judged: PairScore
}

export interface CorpusMatches {
  /** One to one, best first. */
  readonly markets: readonly CorpusPair<MatchMarket>[]
  readonly events: readonly CorpusPair<MatchEvent>[]
  /** How many pairs of markets were judged. */
  readonly judgedCount: number
}

/** The first corpus is of the venue that the table lists first. Yields after each of its markets. */
export function* matchCorpus<Reading>(
  a: VenueSubjects,
  b: VenueSubjects,
  judge: Judge<Reading>,
): Steps<CorpusMatches> {
  const index = new MarketIndex(judge, venuesOf(b))
  for (const event of [...a.events, ...b.events]) index.putEvent(event)
  for (const [number, market] of [...a.markets, ...b.markets].entries()) {
    index.put(number, market)
    yield
  }
  const pairs: ScoredPair[] = []
  let judgedCount = 0
  for (let number = 0; number < a.markets.length; number += 1) {
    judgedCount += judgePartners(index, judge, number, pairs)
    yield
  }
  const markets = chosenOf(pairs, (number) => index.market(number))
  const events = yield* matchEvents(index, venuesOf(a))
  return { markets, events, judgedCount }
}

function* matchEvents<Reading>(
  index: MarketIndex<Reading>,
  firsts: readonly VenueKey[],
): Steps<readonly CorpusPair<MatchEvent>[]> {
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
      for (const { a, b, judged } of index.eventPairs(venue, key)) {
        pairs.push({ a: numberOf(a), b: numberOf(b), judged })
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
    if (a !== null && b !== null) chosen.push({ a, b, judged: pair.judged })
  }
  return chosen.sort((one, other) => other.judged.score - one.judged.score)
}

function venuesOf({ markets, events }: VenueSubjects): readonly VenueKey[] {
  const [first] = [...markets, ...events]
  return first === undefined ? [] : [first.venue]
}
