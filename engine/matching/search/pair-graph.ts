// Which markets are thought to go together: every scored pair worth keeping, and the one-to-one choice among them.
// A change touches only the markets that hang together with it; a confirmed pair is always of the choice. Not for:
// finding pairs (market-index.ts), nor what people said (pair-finder.ts). Bounded by PAIRS_OF_ONE_MAX a market.
// Upholds CORPUS1 to CORPUS4, CORPUS10.

import type { PairScore } from '../compare/judge.ts'
import { assign, type Edge } from './assignment.ts'

/** Pairs below it are not kept. */
export const KEPT_SCORE_MIN = 30
/** Pairs of one market; the best stay. */
const PAIRS_OF_ONE_MAX = 8
/** Markets that are assigned anew together; what hangs together beyond is chosen apart. */
const COMPONENT_MAX = 20_000
/** A pair so many times as heavy as every other of its two markets is taken without weighing the others. */
const PLAIN_RATIO = 2
/** More than all that a confirmed pair's two markets, or any of those they hang together with, could weigh. */
const CONFIRMED_WEIGHT = 1e6

/** Two markets, one of each venue, under their owner's numbers. */
export interface ScoredPair {
  readonly a: number
  readonly b: number
  readonly judged: PairScore
  /** A person said so: it is chosen whatever else its two markets could have. */
  readonly isConfirmed?: true
}

/** What a change did to the choice. */
export interface PairChanges {
  /** New, or judged anew in another way. */
  readonly begun: readonly ScoredPair[]
  readonly ended: readonly { readonly a: number; readonly b: number }[]
}

type Side = 'a' | 'b'

export class PairGraph {
  readonly #pairs: Record<Side, Map<number, ScoredPair[]>> = { a: new Map(), b: new Map() }
  /** By venue a's market. */
  readonly #chosen = new Map<number, ScoredPair>()
  readonly #chosenOfB = new Map<number, ScoredPair>()

  /** Whom a market is thought to go with, best first, chosen or not. */
  pairsOf(side: Side, market: number): readonly ScoredPair[] {
    return this.#pairs[side].get(market) ?? []
  }

  /** The choice as of now: each market at most once. */
  chosen(): Iterable<ScoredPair> {
    return this.#chosen.values()
  }

  get chosenCount(): number {
    return this.#chosen.size
  }

  /** Takes away all that was thought of these markets, then adds the pairs, and chooses anew around them. */
  change(
    removed: { readonly a: Iterable<number>; readonly b: Iterable<number> },
    pairs: readonly ScoredPair[],
  ): PairChanges {
    const touched: Record<Side, Set<number>> = { a: new Set(), b: new Set() }
    for (const side of ['a', 'b'] as const) {
      for (const market of removed[side]) this.#drop(side, market, touched)
    }
    for (const pair of pairs) {
      if (pair.judged.score < KEPT_SCORE_MIN) continue
      this.#add('a', pair.a, pair)
      this.#add('b', pair.b, pair)
      this.#trim('a', pair.a)
      this.#trim('b', pair.b)
      touched.a.add(pair.a)
      touched.b.add(pair.b)
    }
    return this.#chooseAround(touched)
  }

  #add(side: Side, market: number, pair: ScoredPair): void {
    const known = this.#pairs[side].get(market)
    if (known === undefined) {
      this.#pairs[side].set(market, [pair])
      return
    }
    const same = known.findIndex(({ a, b }) => a === pair.a && b === pair.b)
    if (same >= 0) known[same] = pair
    else known.push(pair)
    known.sort(byWeight)
  }

  /** The worst pair of a market that has too many goes at both its ends. */
  #trim(side: Side, market: number): void {
    const known = this.#pairs[side].get(market) ?? []
    if (known.length <= PAIRS_OF_ONE_MAX) return
    const lost = known.pop()
    if (lost !== undefined) this.#forget(side === 'a' ? 'b' : 'a', lost)
  }

  #forget(side: Side, pair: ScoredPair): void {
    const left = (this.#pairs[side].get(pair[side]) ?? []).filter((known) => known !== pair)
    if (left.length === 0) this.#pairs[side].delete(pair[side])
    else this.#pairs[side].set(pair[side], left)
  }

  #drop(side: Side, market: number, touched: Record<Side, Set<number>>): void {
    const far: Side = side === 'a' ? 'b' : 'a'
    touched[side].add(market)
    for (const pair of this.#pairs[side].get(market) ?? []) {
      this.#forget(far, pair)
      touched[far].add(pair[far])
    }
    this.#pairs[side].delete(market)
  }

  #chooseAround(touched: Record<Side, Set<number>>): PairChanges {
    const begun: ScoredPair[] = []
    const ended: { a: number; b: number }[] = []
    const seen: Record<Side, Set<number>> = { a: new Set(), b: new Set() }
    // Whether a pair is plain hangs on its two markets, and whether another counts on that.
    this.#spread(this.#spread(touched))
    for (const side of ['a', 'b'] as const) {
      for (const market of touched[side]) {
        if (seen[side].has(market)) continue
        const { a, b } = this.#component(side, market, seen)
        this.#choose(a, b, { begun, ended })
      }
    }
    return { begun, ended }
  }

  /** Adds the markets next to these. */
  #spread(touched: Record<Side, Set<number>>): Record<Side, Set<number>> {
    const [a, b] = [[...touched.a], [...touched.b]]
    for (const market of a) for (const pair of this.pairsOf('a', market)) touched.b.add(pair.b)
    for (const market of b) for (const pair of this.pairsOf('b', market)) touched.a.add(pair.a)
    return touched
  }

  /** The pair that one of its markets, and the other, plainly belong to; null when it must be weighed. */
  #plainOf(side: Side, market: number): ScoredPair | null {
    const [best, second] = this.pairsOf(side, market)
    if (best === undefined || !isFarAbove(best, second)) return null
    const far: Side = side === 'a' ? 'b' : 'a'
    const [theirs, next] = this.pairsOf(far, best[far])
    return theirs === best && isFarAbove(best, next) ? best : null
  }

  /** Pairs of a market that have to be weighed against each other. */
  #openPairs(side: Side, market: number): readonly ScoredPair[] {
    const plain = this.#plainOf(side, market)
    if (plain !== null) return [plain]
    const far: Side = side === 'a' ? 'b' : 'a'
    return this.pairsOf(side, market).filter((pair) => this.#plainOf(far, pair[far]) === null)
  }

  /** Markets that hang together with one, by pairs of today and by what was chosen before. */
  #component(side: Side, market: number, seen: Record<Side, Set<number>>): Record<Side, number[]> {
    const found: Record<Side, number[]> = { a: [], b: [] }
    const open: (readonly [Side, number])[] = [[side, market]]
    seen[side].add(market)
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [at, number] = next
      found[at].push(number)
      if (found.a.length + found.b.length + open.length > COMPONENT_MAX) continue
      const far: Side = at === 'a' ? 'b' : 'a'
      const before = at === 'a' ? this.#chosen.get(number) : this.#chosenOfB.get(number)
      const pairs = this.#openPairs(at, number)
      for (const pair of before === undefined ? pairs : [...pairs, before]) {
        if (seen[far].has(pair[far])) continue
        seen[far].add(pair[far])
        open.push([far, pair[far]])
      }
    }
    return found
  }

  #choose(
    a: readonly number[],
    b: readonly number[],
    changes: { begun: ScoredPair[]; ended: { a: number; b: number }[] },
  ): void {
    const among = new Set(b)
    const edges: (Edge & { readonly pair: ScoredPair })[] = []
    for (const market of a) {
      for (const pair of this.#openPairs('a', market)) {
        if (!among.has(pair.b)) continue
        edges.push({ row: pair.a, column: pair.b, weight: weightOf(pair), pair })
      }
    }
    const chosen = new Map<number, ScoredPair>()
    const taken = new Set<Edge>(assign(edges))
    for (const edge of edges) if (taken.has(edge)) chosen.set(edge.pair.a, edge.pair)
    for (const before of this.#chosenAmong(a, b)) {
      const now = chosen.get(before.a)
      if (now?.b === before.b) continue
      changes.ended.push({ a: before.a, b: before.b })
      this.#chosen.delete(before.a)
      this.#chosenOfB.delete(before.b)
    }
    for (const pair of chosen.values()) {
      const before = this.#chosen.get(pair.a)
      this.#chosen.set(pair.a, pair)
      this.#chosenOfB.set(pair.b, pair)
      if (before === undefined || !isSameJudgement(before.judged, pair.judged)) {
        changes.begun.push(pair)
      }
    }
  }

  #chosenAmong(a: readonly number[], b: readonly number[]): ReadonlySet<ScoredPair> {
    const found = new Set<ScoredPair>()
    for (const market of a) {
      const pair = this.#chosen.get(market)
      if (pair !== undefined) found.add(pair)
    }
    for (const market of b) {
      const pair = this.#chosenOfB.get(market)
      if (pair !== undefined) found.add(pair)
    }
    return found
  }
}

/** Two doubtful pairs are no better than a sure one, and no score is better than a person's word. */
function weightOf({ judged, isConfirmed }: ScoredPair): number {
  return isConfirmed === true ? CONFIRMED_WEIGHT : (judged.score / 100) ** 4
}

function isFarAbove(one: ScoredPair, other: ScoredPair | undefined): boolean {
  return other === undefined || weightOf(one) >= PLAIN_RATIO * weightOf(other)
}

function byWeight(one: ScoredPair, other: ScoredPair): number {
  return weightOf(other) - weightOf(one) || one.a - other.a || one.b - other.b
}

function isSameJudgement(one: PairScore, other: PairScore): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
