// Stores all scored pairs above the minimum score and chooses among them one to one. A change affects only markets that
// are connected by pairs. A confirmed pair is always chosen.

import type { PairScore } from '../compare/pair-scorer.ts'
import { assign, type Edge } from './assignment.ts'

/** Pairs with a lower score are not stored. Above the caps of another date and of another subject. */
export const PAIR_SCORE_MIN = 31
/** Maximum stored pairs of one market. The best are stored. */
const PAIRS_OF_ONE_MAX = 8
/** Maximum connected markets that are assigned together. Larger groups are split. */
const COMPONENT_MAX = 20_000
/** A pair that is heavier than every other pair of its markets by this factor is chosen without an assignment. */
const CLEAR_RATIO = 2
/** Larger than the sum of the weights of all other pairs in a group. */
const CONFIRMED_WEIGHT = 1e6

/** Numbers of two markets of two venues, in the order of the venue table. */
export interface ScoredPair {
  readonly a: number
  readonly b: number
  readonly pairScore: PairScore
  /** Confirmed by an operator, so it is chosen before every other pair of its markets. */
  readonly isConfirmed?: true
}

export interface PairChanges {
  /** New pairs, and pairs whose score changed. */
  readonly begun: readonly ScoredPair[]
  readonly ended: readonly { readonly a: number; readonly b: number }[]
}

export function partnerIn({ a, b }: Pick<ScoredPair, 'a' | 'b'>, market: number): number {
  return a === market ? b : a
}

export class PairGraph {
  readonly #pairs = new Map<number, ScoredPair[]>()
  /** The chosen pairs, each under both of its markets. */
  readonly #chosen = new Map<number, ScoredPair>()

  pairsOf(market: number): readonly ScoredPair[] {
    return this.#pairs.get(market) ?? []
  }

  *chosen(): Iterable<ScoredPair> {
    for (const [market, pair] of this.#chosen) if (pair.a === market) yield pair
  }

  /** Removes the pairs of these markets, adds the new ones, and reassigns the affected markets. */
  change(removed: Iterable<number>, pairs: readonly ScoredPair[]): PairChanges {
    const touched = new Set<number>()
    for (const market of removed) this.#drop(market, touched)
    for (const pair of pairs) {
      if (pair.pairScore.score < PAIR_SCORE_MIN) continue
      const { a, b } = pair
      this.#add(a, pair)
      this.#add(b, pair)
      this.#trim(a)
      this.#trim(b)
      touched.add(a).add(b)
    }
    return this.#chooseAround(touched)
  }

  #add(market: number, pair: ScoredPair): void {
    const current = this.#pairs.get(market) ?? []
    this.#pairs.set(market, current)
    const same = current.findIndex(({ a, b }) => a === pair.a && b === pair.b)
    if (same >= 0) current[same] = pair
    else current.push(pair)
    current.sort(byWeight)
  }

  /** Removes the worst pair of a market that has too many, from both of its markets. */
  #trim(market: number): void {
    const current = this.#pairs.get(market) ?? []
    if (current.length <= PAIRS_OF_ONE_MAX) return
    const lost = current.pop()
    if (lost !== undefined) this.#removePair(partnerIn(lost, market), lost)
  }

  #removePair(market: number, pair: ScoredPair): void {
    const left = this.pairsOf(market).filter((other) => other !== pair)
    if (left.length === 0) this.#pairs.delete(market)
    else this.#pairs.set(market, left)
  }

  #drop(market: number, touched: Set<number>): void {
    touched.add(market)
    for (const pair of this.pairsOf(market)) {
      const partner = partnerIn(pair, market)
      this.#removePair(partner, pair)
      touched.add(partner)
    }
    this.#pairs.delete(market)
  }

  #chooseAround(touched: Set<number>): PairChanges {
    const begun: ScoredPair[] = []
    const ended: { a: number; b: number }[] = []
    const seen = new Set<number>()
    // Whether a pair is clearly best depends on both its markets, and other pairs depend on that in turn.
    this.#spread(this.#spread(touched))
    // Starts at first markets, so that a component is always traversed in the same order.
    const firsts = [...touched].filter((market) => this.pairsOf(market)[0]?.a === market)
    for (const market of new Set([...firsts, ...touched])) {
      if (!seen.has(market)) this.#choose(this.#component(market, seen), { begun, ended })
    }
    return { begun, ended }
  }

  #spread(touched: Set<number>): Set<number> {
    for (const market of [...touched]) {
      for (const pair of this.pairsOf(market)) touched.add(partnerIn(pair, market))
    }
    return touched
  }

  /** This market's best pair, if it is clearly the best of both of its markets. Null if the market must be assigned. */
  #clearBestOf(market: number): ScoredPair | null {
    const [best, second] = this.pairsOf(market)
    if (best === undefined || !isFarAbove(best, second)) return null
    const [theirs, next] = this.pairsOf(partnerIn(best, market))
    return theirs === best && isFarAbove(best, next) ? best : null
  }

  /** Pairs of a market that are not decided without an assignment. */
  #openPairs(market: number): readonly ScoredPair[] {
    const clearBest = this.#clearBestOf(market)
    if (clearBest !== null) return [clearBest]
    return this.pairsOf(market).filter(
      (pair) => this.#clearBestOf(partnerIn(pair, market)) === null,
    )
  }

  /** Markets that are connected to a market by stored pairs or previously chosen pairs. */
  #component(market: number, seen: Set<number>): readonly number[] {
    const found: number[] = []
    const open = [market]
    seen.add(market)
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      found.push(next)
      if (found.length + open.length > COMPONENT_MAX) continue
      const before = this.#chosen.get(next)
      const pairs = this.#openPairs(next)
      for (const pair of before === undefined ? pairs : [...pairs, before]) {
        const partner = partnerIn(pair, next)
        if (seen.has(partner)) continue
        seen.add(partner)
        open.push(partner)
      }
    }
    return found
  }

  #choose(
    markets: readonly number[],
    changes: { begun: ScoredPair[]; ended: { a: number; b: number }[] },
  ): void {
    const among = new Set(markets)
    const edges: (Edge & { readonly pair: ScoredPair })[] = []
    for (const market of markets) {
      for (const pair of this.#openPairs(market)) {
        if (pair.a !== market || !among.has(pair.b)) continue
        edges.push({ row: pair.a, column: pair.b, weight: weightOf(pair), pair })
      }
    }
    const taken = new Set<Edge>(assign(edges))
    const chosen = oneEach(edges.filter((edge) => taken.has(edge)).map(({ pair }) => pair))
    for (const before of new Set(markets.flatMap((market) => this.#chosen.get(market) ?? []))) {
      if (chosen.get(before.a)?.b === before.b) continue
      changes.ended.push({ a: before.a, b: before.b })
      this.#chosen.delete(before.a)
      this.#chosen.delete(before.b)
    }
    for (const pair of chosen.values()) {
      const before = this.#chosen.get(pair.a)
      this.#chosen.set(pair.a, pair)
      this.#chosen.set(pair.b, pair)
      if (before === undefined || !isSameScore(before.pairScore, pair.pairScore)) {
        changes.begun.push(pair)
      }
    }
  }
}

/**
 * Chosen pairs by their first market. With more than two venues the first market of one pair may be the second of
 * another. Only the pair with the higher weight is then chosen.
 */
function oneEach(pairs: readonly ScoredPair[]): ReadonlyMap<number, ScoredPair> {
  const firsts = new Map(pairs.map((pair) => [pair.a, pair]))
  if (!pairs.some(({ b }) => firsts.has(b))) return firsts
  const chosenByFirst = new Map<number, ScoredPair>()
  const taken = new Set<number>()
  for (const pair of [...pairs].sort(byWeight)) {
    if (taken.has(pair.a) || taken.has(pair.b)) continue
    taken.add(pair.a).add(pair.b)
    chosenByFirst.set(pair.a, pair)
  }
  return chosenByFirst
}

/** Two uncertain pairs weigh at most as much as a certain one. An operator override outweighs any score. */
function weightOf({ pairScore, isConfirmed }: ScoredPair): number {
  return isConfirmed === true ? CONFIRMED_WEIGHT : (pairScore.score / 100) ** 4
}

function isFarAbove(one: ScoredPair, other: ScoredPair | undefined): boolean {
  return other === undefined || weightOf(one) >= CLEAR_RATIO * weightOf(other)
}

function byWeight(one: ScoredPair, other: ScoredPair): number {
  return weightOf(other) - weightOf(one) || one.a - other.a || one.b - other.b
}

function isSameScore(one: PairScore, other: PairScore): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
