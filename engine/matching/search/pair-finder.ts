// Runs matcher tasks on one index and one pair graph, in the worker thread (worker.ts) or, in tests, in the caller's
// thread. An operator override has priority over every score: a rejected pair is removed, and a confirmed pair is
// chosen. Other pairs of its markets remain until the next partner search.

import { isBefore } from '../../ids.ts'
import { DEFAULT_SCORER, type PairScore, type PairScorer } from '../compare/pair-scorer.ts'
import type {
  ChangeTask,
  FindTask,
  MatchChanges,
  MatchResult,
  MatchTask,
  PairOverride,
} from '../match-task.ts'
import { DEFAULT_FAMILIES, Families } from '../veto/families.ts'
import { VETOES } from '../veto/vetoes.ts'
import { MarketIndex } from './market-index.ts'
import { PAIR_SCORE_MIN, PairGraph, partnerIn, type ScoredPair } from './pair-graph.ts'

const NOTHING: MatchChanges = { begun: [], ended: [] }
const CONFIRMED = 'confirmed by hand'

export class PairFinder<Parsed> {
  readonly #scorer: PairScorer<Parsed>
  #index: MarketIndex<Parsed>
  #graph = new PairGraph()
  /** Operator overrides, with `a b` as key. */
  readonly #overrides = new Map<string, PairOverride>()
  #families = DEFAULT_FAMILIES
  #seq = 0

  constructor(scorer: PairScorer<Parsed>) {
    this.#scorer = scorer
    this.#index = new MarketIndex(scorer)
  }

  run(task: MatchTask): MatchResult {
    if (task.seq === 1) this.#begin()
    else if (task.seq !== this.#seq + 1) return 'lost'
    this.#seq = task.seq
    return task.kind === 'change' ? this.#change(task) : this.#find(task)
  }

  #begin(): void {
    this.#index = new MarketIndex(this.#scorer)
    this.#graph = new PairGraph()
    this.#overrides.clear()
    this.#families = DEFAULT_FAMILIES
    this.#scorer.addTeams?.(null)
  }

  #change({ put, removed, overrides, families, teams }: ChangeTask): MatchChanges {
    if (families !== undefined) this.#families = new Families(families)
    if (teams !== undefined) this.#scorer.addTeams?.(teams)
    for (const number of removed) this.#index.remove(number)
    for (const { number, market } of put) this.#index.put(number, market)
    for (const pairOverride of overrides) {
      if (pairOverride.decision === null) this.#overrides.delete(keyOf(pairOverride))
      else this.#overrides.set(keyOf(pairOverride), pairOverride)
    }
    // A changed market keeps its pairs until its partners are searched again. Ending and restoring them would be
    // published to subscribers.
    const updated = new Set(put.map(({ number }) => number))
    const lost = removed.filter((number) => !updated.has(number))
    return lost.length === 0 ? NOTHING : this.#graph.change(lost, [])
  }

  #find({ numbers }: FindTask): MatchChanges {
    const searched: number[] = []
    const pairs: ScoredPair[] = []
    for (const number of numbers) {
      if (this.#index.market(number) === null) continue
      searched.push(number)
      // Includes markets that found this one in their own search, because the search is not symmetric.
      const currentPartners = this.#graph.pairsOf(number).map((pair) => partnerIn(pair, number))
      const found: ScoredPair[] = []
      const families = this.#families
      scorePartners(this.#index, this.#scorer, number, found, { currentPartners, families })
      pairs.push(...found.filter((pair) => !this.#overrides.has(keyOf(pair))))
      this.#addConfirmed(number, pairs)
    }
    return this.#graph.change(searched, pairs)
  }

  #addConfirmed(number: number, into: ScoredPair[]): void {
    for (const { a, b, decision } of this.#overrides.values()) {
      if (decision !== 'confirmed' || (a !== number && b !== number)) continue
      const [ours, theirs] = [this.#index.parsedMarket(a), this.#index.parsedMarket(b)]
      if (ours === null || theirs === null) continue
      const pairScore = confirmed(this.#scorer.scoreMarkets(ours, theirs))
      into.push({ a, b, pairScore, isConfirmed: true })
    }
  }
}

const keyOf = ({ a, b }: { readonly a: number; readonly b: number }): string => `${a} ${b}`

export function openPairFinder(): PairFinder<unknown> {
  return new PairFinder<unknown>(DEFAULT_SCORER)
}

/**
 * Scores a market against its likely partners and adds the pairs above the minimum score. Returns the number of scored
 * pairs.
 */
export function scorePartners<Parsed>(
  index: MarketIndex<Parsed>,
  scorer: PairScorer<Parsed>,
  number: number,
  into: ScoredPair[],
  {
    currentPartners = [],
    families,
  }: { currentPartners?: Iterable<number>; families?: Families } = {},
): number {
  const ours = index.market(number)?.venue
  const parsed = index.parsedMarket(number)
  if (parsed === null || ours === undefined) return 0
  const partners = new Set(index.partnersOf(number))
  for (const other of currentPartners) partners.add(other)
  for (const other of partners) {
    const theirs = index.parsedMarket(other)
    const venue = index.market(other)?.venue
    if (theirs === null || venue === undefined) continue
    const isFirst = isBefore(ours, venue)
    const [one, two] = isFirst ? [parsed, theirs] : [theirs, parsed]
    const pairScore = scorer.scoreMarkets(one, two, PAIR_SCORE_MIN, families)
    if (pairScore.score < PAIR_SCORE_MIN) continue
    const [a, b] = isFirst ? [number, other] : [other, number]
    into.push({ a, b, pairScore: shared(pairScore) })
  }
  return partners.size
}

/** Thousands of stored pairs have equal scores, which share one object. */
const SHARED_SCORES_MAX = 8_192
const sharedScores = new Map<string, PairScore>()

function shared(pairScore: PairScore): PairScore {
  const text = JSON.stringify(pairScore)
  const currentPartners = sharedScores.get(text)
  if (currentPartners !== undefined) return currentPartners
  if (sharedScores.size >= SHARED_SCORES_MAX) sharedScores.clear()
  sharedScores.set(text, pairScore)
  return pairScore
}

/**
 * The score of a pair that an operator confirmed: 100, whatever conflicts the texts have. The orientation is retained,
 * because comparing prices of Yes with prices of No would be wrong. If the pair was parsed as opposite it remains
 * inverted, without that veto's cap.
 */
export function confirmed({ vetoes, inverted }: PairScore): PairScore {
  const isInverted = vetoes.includes('opposite_side')
  return {
    score: 100,
    relation: 'identical',
    inverted: isInverted,
    outcomeMap: isInverted ? [1, 0] : [0, 1],
    vetoes: isInverted ? ['opposite_side'] : [],
    reasons: [CONFIRMED],
    explanation: `The same question: ${CONFIRMED}${sidesText(isInverted ? true : inverted)}.`,
  }
}

function sidesText(inverted: boolean | null): string {
  if (inverted === null) return ', with sides that could not be read and count as equal'
  return inverted ? `, but with ${VETOES.opposite_side.description}` : ''
}
