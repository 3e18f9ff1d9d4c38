// Carries out tasks of the matcher upon one index and one choice of pairs, wherever it runs: in the thread
// (worker.ts) or, for tests, in place. An operator's verdict stands above every score: a rejected pair is no
// pair, a confirmed one is chosen; other pairs of its markets stand until they are looked for again.

import { isBefore } from '../../ids.ts'
import { JUDGE, type Judge, type PairScore } from '../compare/judge.ts'
import type {
  ChangeTask,
  FindTask,
  MatchChanges,
  MatchResult,
  MatchTask,
  PairWord,
} from '../task.ts'
import { Families, KNOWN_FAMILIES } from '../veto/families.ts'
import { VETOES } from '../veto/vetoes.ts'
import { MarketIndex } from './market-index.ts'
import { KEPT_SCORE_MIN, PairGraph, partnerIn, type ScoredPair } from './pair-graph.ts'

const NOTHING: MatchChanges = { begun: [], ended: [] }
const CONFIRMED = 'confirmed by hand'

export class PairFinder<Reading> {
  readonly #judge: Judge<Reading>
  #index: MarketIndex<Reading>
  #graph = new PairGraph()
  /** An operator's verdicts, by `a b`. */
  readonly #words = new Map<string, PairWord>()
  #families = KNOWN_FAMILIES
  #seq = 0

  constructor(judge: Judge<Reading>) {
    this.#judge = judge
    this.#index = new MarketIndex(judge)
  }

  run(task: MatchTask): MatchResult {
    if (task.seq === 1) this.#begin()
    else if (task.seq !== this.#seq + 1) return 'lost'
    this.#seq = task.seq
    return task.kind === 'change' ? this.#change(task) : this.#find(task)
  }

  #begin(): void {
    this.#index = new MarketIndex(this.#judge)
    this.#graph = new PairGraph()
    this.#words.clear()
    this.#families = KNOWN_FAMILIES
    this.#judge.teach?.(null)
  }

  #change({ put, removed, words, families, teams }: ChangeTask): MatchChanges {
    if (families !== undefined) this.#families = new Families(families)
    if (teams !== undefined) this.#judge.teach?.(teams)
    for (const number of removed) this.#index.remove(number)
    for (const { number, market } of put) this.#index.put(number, market)
    for (const word of words) {
      if (word.word === null) this.#words.delete(keyOf(word))
      else this.#words.set(keyOf(word), word)
    }
    // A market that is filed anew keeps its pairs until its partners are looked for again: ending them at once
    // would end them for the stream's subscribers.
    const kept = new Set(put.map(({ number }) => number))
    const lost = removed.filter((number) => !kept.has(number))
    return lost.length === 0 ? NOTHING : this.#graph.change(lost, [])
  }

  #find({ numbers }: FindTask): MatchChanges {
    const asked: number[] = []
    const pairs: ScoredPair[] = []
    for (const number of numbers) {
      if (this.#index.market(number) === null) continue
      asked.push(number)
      // The markets that found this one count too: a market may find another that does not find it.
      const known = this.#graph.pairsOf(number).map((pair) => partnerIn(pair, number))
      const found: ScoredPair[] = []
      const families = this.#families
      judgePartners(this.#index, this.#judge, number, found, { known, families })
      pairs.push(...found.filter((pair) => !this.#words.has(keyOf(pair))))
      this.#addConfirmed(number, pairs)
    }
    return this.#graph.change(asked, pairs)
  }

  #addConfirmed(number: number, into: ScoredPair[]): void {
    for (const { a, b, word } of this.#words.values()) {
      if (word !== 'confirmed' || (a !== number && b !== number)) continue
      const [ours, theirs] = [this.#index.readingOf(a), this.#index.readingOf(b)]
      if (ours === null || theirs === null) continue
      const judged = confirmed(this.#judge.scoreMarkets(ours, theirs))
      into.push({ a, b, judged, isConfirmed: true })
    }
  }
}

const keyOf = ({ a, b }: { readonly a: number; readonly b: number }): string => `${a} ${b}`

/** The matcher of the service. */
export function openPairFinder(): PairFinder<unknown> {
  return new PairFinder<unknown>(JUDGE)
}

/**
 * Judges a market with its likely partners, in a whole corpus as after a single change; adds the pairs worth keeping,
 * returns how many were judged.
 */
export function judgePartners<Reading>(
  index: MarketIndex<Reading>,
  judge: Judge<Reading>,
  number: number,
  into: ScoredPair[],
  { known = [], families }: { known?: Iterable<number>; families?: Families } = {},
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
    const [one, two] = isFirst ? [reading, theirs] : [theirs, reading]
    const judged = judge.scoreMarkets(one, two, KEPT_SCORE_MIN, families)
    if (judged.score < KEPT_SCORE_MIN) continue
    const [a, b] = isFirst ? [number, other] : [other, number]
    into.push({ a, b, judged: shared(judged) })
  }
  return partners.size
}

/** Thousands of kept pairs are judged in the same words: they share one judgement. */
const JUDGEMENTS_MAX = 8_192
const judgements = new Map<string, PairScore>()

function shared(judged: PairScore): PairScore {
  const text = JSON.stringify(judged)
  const known = judgements.get(text)
  if (known !== undefined) return known
  if (judgements.size >= JUDGEMENTS_MAX) judgements.clear()
  judgements.set(text, judged)
  return judged
}

/**
 * The judgement of a pair that an operator confirmed, from the one that was read: score 100, whatever conflicts the texts
 * have. The orientation stays as it was read, since prices of Yes against prices of No would be wrong: only a pair read
 * as opposite stays inverted, and a person's word stands above that veto's cap.
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
    explanation: `The same question: ${CONFIRMED}${saySides(isInverted ? true : inverted)}.`,
  }
}

function saySides(inverted: boolean | null): string {
  if (inverted === null) return ', with sides that could not be read and count as equal'
  return inverted ? `, but with ${VETOES.opposite_side.says}` : ''
}
