// One market held against its likely partners: the step that a whole corpus and a single change have in common.
// Not for: who the partners are (market-index.ts), nor which pairs are chosen (pair-graph.ts).

import { isBefore } from '../../ids.ts'
import type { Judge } from '../compare/judge.ts'
import type { MarketIndex } from './market-index.ts'
import { KEPT_SCORE_MIN, type ScoredPair } from './pair-graph.ts'

/** Judges a market with its likely partners; adds the pairs worth keeping, gives how many were judged. */
export function judgePartners<Reading>(
  index: MarketIndex<Reading>,
  judge: Judge<Reading>,
  number: number,
  into: ScoredPair[],
  known: Iterable<number> = [],
): number {
  const ours = index.market(number)?.venue
  const reading = index.readingOf(number)
  if (reading === null || ours === undefined) return 0
  const partners = new Set(index.partnersOf(number))
  for (const other of known) partners.add(other)
  for (const other of partners) {
    const theirs = index.readingOf(other)
    const venue = index.market(other)?.venue
    if (theirs === null || venue === undefined) continue
    const isFirst = isBefore(ours, venue)
    const judged = isFirst
      ? judge.scoreMarkets(reading, theirs)
      : judge.scoreMarkets(theirs, reading)
    if (judged.score < KEPT_SCORE_MIN) continue
    into.push(isFirst ? { a: number, b: other, judged } : { a: other, b: number, judged })
  }
  return partners.size
}
