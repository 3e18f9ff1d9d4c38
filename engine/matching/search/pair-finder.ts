// Carries out tasks of the matcher upon one index and one choice of pairs, wherever it runs: in the thread
// (worker.ts) or, for tests, in place (thread.ts). A person's word stands above every score: a rejected pair is none,
// a confirmed one is chosen; other pairs of its markets stand until they are looked for again. Not for: whole dumps
// (match-corpus.ts). Upholds MATCHER1 to MATCHER3, MATCHER13.

import type { MatchMarket } from '../../subject.ts'
import { confirmed } from '../compare/confirmation.ts'
import { type Judge, openJudge } from '../compare/judge.ts'
import type {
  ChangeTask,
  FindTask,
  MatchChanges,
  MatchResult,
  MatchTask,
  PairWord,
} from '../task.ts'
import { judgePartners } from './judge-partners.ts'
import { MarketIndex } from './market-index.ts'
import { PairGraph, partnerIn, type ScoredPair } from './pair-graph.ts'

const NOTHING: MatchChanges = { begun: [], ended: [] }

type Open<Reading> = (markets: readonly MatchMarket[]) => Judge<Reading>

export class PairFinder<Reading> {
  readonly #open: Open<Reading>
  #judge: Judge<Reading>
  #index: MarketIndex<Reading>
  #graph = new PairGraph()
  /** People's words by `a b`, and whom each market has words with. */
  readonly #words = new Map<string, PairWord>()
  #seq = 0

  /** `open` makes a judge that has learned from some markets, or from none. */
  constructor(open: Open<Reading>) {
    this.#open = open
    this.#judge = open([])
    this.#index = new MarketIndex(this.#judge)
  }

  run(task: MatchTask): MatchResult {
    if (task.seq === 1) this.#begin()
    else if (task.seq !== this.#seq + 1) return 'lost'
    this.#seq = task.seq
    if (task.kind === 'change') return this.#change(task)
    return task.kind === 'find' ? this.#find(task) : this.#learn()
  }

  #begin(): void {
    this.#judge = this.#open([])
    this.#index = new MarketIndex(this.#judge)
    this.#graph = new PairGraph()
    this.#words.clear()
  }

  #change({ put, removed, words }: ChangeTask): MatchChanges {
    for (const number of removed) this.#index.remove(number)
    for (const { number, market } of put) this.#index.put(number, market)
    for (const word of words) {
      if (word.word === null) this.#words.delete(keyOf(word))
      else this.#words.set(keyOf(word), word)
    }
    // A market that is filed anew has its pairs until they are found again, or not: a doubt of a moment
    // would end them for whoever follows.
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
      // The markets that found this one count too: finding is not the same both ways.
      const known = this.#graph.pairsOf(number).map((pair) => partnerIn(pair, number))
      const found: ScoredPair[] = []
      judgePartners(this.#index, this.#judge, number, found, known)
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

  #learn(): MatchChanges {
    this.#judge = this.#open([...this.#index.markets()])
    this.#index.rejudge(this.#judge)
    return NOTHING
  }
}

const keyOf = ({ a, b }: { readonly a: number; readonly b: number }): string => `${a} ${b}`

/** The matcher of the service. */
export function openPairFinder(): PairFinder<unknown> {
  const finder: PairFinder<unknown> = new PairFinder((markets) =>
    openJudge({ markets, events: [] }),
  )
  return finder
}
