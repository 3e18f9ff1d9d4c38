// Two whole corpora matched: every market of the first with its likely partners of the second, events first, then one
// to one; and, where a venue gives events alone, the events. The same index, judge and choice as the service's.
// Not for: reading dumps (commands/match-corpus.ts), nor changes one by one (pair-finder.ts). Upholds CORPUS1, CORPUS6.

import type { VenueKey } from '../../ids.ts'
import type { Steps } from '../../steps.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { Judge, PairScore } from '../compare/judge.ts'
import { assign } from '../search/assignment.ts'
import { MarketIndex } from '../search/market-index.ts'
import { judgePartners } from '../search/pair-finder.ts'
import { KEPT_SCORE_MIN, PairGraph, type ScoredPair } from '../search/pair-graph.ts'

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
  const graph = new PairGraph()
  graph.change([], pairs)
  const markets: CorpusPair<MatchMarket>[] = []
  for (const pair of graph.chosen()) {
    const [left, right] = [index.market(pair.a), index.market(pair.b)]
    if (left !== null && right !== null) {
      markets.push({ a: left, b: right, judged: pair.judged })
    }
  }
  const events = yield* matchEvents(index, venuesOf(a))
  return { markets: markets.sort(byScore), events, judgedCount }
}

function* matchEvents<Reading>(
  index: MarketIndex<Reading>,
  firsts: readonly VenueKey[],
): Steps<readonly CorpusPair<MatchEvent>[]> {
  const rows = new Map<string, number>()
  const columns = new Map<string, number>()
  const edges: { row: number; column: number; weight: number; pair: CorpusPair<MatchEvent> }[] = []
  for (const venue of firsts) {
    for (const { key } of index.events(venue)) {
      for (const pair of index.eventPairs(venue, key)) {
        if (pair.judged.score < KEPT_SCORE_MIN) continue
        const row = numberOf(rows, pair.a.key)
        const column = numberOf(columns, pair.b.key)
        edges.push({ row, column, weight: (pair.judged.score / 100) ** 4, pair })
      }
      yield
    }
  }
  const chosen = new Set(assign(edges))
  return edges
    .filter((edge) => chosen.has(edge))
    .map(({ pair }) => pair)
    .sort(byScore)
}

/** One, or none where nothing is given. */
function venuesOf({ markets, events }: VenueSubjects): readonly VenueKey[] {
  const [first] = [...markets, ...events]
  return first === undefined ? [] : [first.venue]
}

function numberOf(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key)
  if (known !== undefined) return known
  numbers.set(key, numbers.size)
  return numbers.size - 1
}

function byScore(
  one: { readonly judged: PairScore },
  other: { readonly judged: PairScore },
): number {
  return other.judged.score - one.judged.score
}
