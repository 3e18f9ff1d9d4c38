// What people said about pairs: confirmed or rejected, kept on disk by the venues' own ids, so that a word outlives a market
// that is forgotten and comes back. An owner, called directly. A market is confirmed with one other at most. Bounded by
// VERDICTS_MAX. Not for: carrying words out (matcher.ts). Upholds MATCHER10, MATCHER12.

import { EngineError } from '../../engine/errors.ts'
import type { PairWord } from '../../engine/matching/task.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { StoredVerdict, VerdictTable } from '../../storage/contract/matches.ts'
import type { MarketView } from '../views.ts'
import type { WordAnswer } from './answers.ts'

/** Words are typed by hand; further ones are refused. */
const VERDICTS_MAX = 100_000

export class MatchVerdicts {
  readonly #table: VerdictTable
  readonly #find: (venue: 'a' | 'b', nativeId: string) => MarketView | null
  readonly #nowMs: () => TimeMs
  readonly #verdicts = new Map<string, StoredVerdict>()
  /** Venue and native id → keys of verdicts. */
  readonly #byMarket = new Map<string, Set<string>>()
  #listener: (word: PairWord) => Promise<WordAnswer> = async () => 'later'
  /** Words are stored one after another, so that each is checked against those before it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: {
    readonly table: VerdictTable
    readonly find: (venue: 'a' | 'b', nativeId: string) => MarketView | null
    readonly nowMs: () => TimeMs
  }) {
    this.#table = parts.table
    this.#find = parts.find
    this.#nowMs = parts.nowMs
    for (const verdict of parts.table.all()) this.#keep(verdict)
  }

  /** Sets the listener, which resolves to what became of a word. */
  onWord(listener: (word: PairWord) => Promise<WordAnswer>): void {
    this.#listener = listener
  }

  /** In no promised order. */
  all(): readonly StoredVerdict[] {
    return [...this.#verdicts.values()]
  }

  /** The words on a market of which the other market is known as well. */
  wordsOn(market: MarketView): readonly PairWord[] {
    const { nativeId, venue } = market.ref
    const words: PairWord[] = []
    for (const key of this.#byMarket.get(`${venue}${nativeId}`) ?? []) {
      const verdict = this.#verdicts.get(key)
      if (verdict === undefined) continue
      const a = venue === 'a' ? market : this.#find('a', verdict.a)
      const b = venue === 'b' ? market : this.#find('b', verdict.b)
      if (a === null || b === null) continue
      words.push({ a: a.ref.number, b: b.ref.number, word: verdict.word })
    }
    return words
  }

  /**
   * Keeps a word, or takes one back (null), carries it out once it is on disk, and resolves to what became of it.
   * Throws EngineError BAD_REQUEST when both are of one venue, when one of them is confirmed with another, or
   * when too many words are kept.
   */
  async say(one: MarketView, other: MarketView, word: PairWord['word']): Promise<WordAnswer> {
    if (one.ref.venue === other.ref.venue) {
      throw new EngineError('BAD_REQUEST', 'a pair is a market of each venue')
    }
    const [a, b] = one.ref.venue === 'a' ? [one, other] : [other, one]
    const said = this.#last.then(() => this.#record(a, b, word))
    this.#last = said.catch(() => undefined)
    await said
    return this.#listener({ a: a.ref.number, b: b.ref.number, word })
  }

  async #record(a: MarketView, b: MarketView, word: PairWord['word']): Promise<void> {
    const pair = { a: a.ref.nativeId, b: b.ref.nativeId }
    if (word === null) return this.#remove(pair)
    if (word === 'confirmed') await this.#refuseSecond(pair)
    if (this.#verdicts.size >= VERDICTS_MAX) {
      throw new EngineError('BAD_REQUEST', `at most ${VERDICTS_MAX} words on pairs are kept`)
    }
    const verdict = { ...pair, word, atMs: this.#nowMs() }
    await this.#table.put(verdict)
    this.#keep(verdict)
  }

  async #remove(pair: Pair): Promise<void> {
    await this.#table.remove(pair)
    this.#forget(pair)
  }

  /** A slip must not undo a standing word: a market is confirmed with one other. A word on a forgotten market is given up. */
  async #refuseSecond(pair: Pair): Promise<void> {
    for (const key of marketsOf(pair).flatMap((market) => [
      ...(this.#byMarket.get(market) ?? []),
    ])) {
      const standing = this.#verdicts.get(key)
      if (standing?.word !== 'confirmed' || key === keyOf(pair)) continue
      const [a, b] = [this.#find('a', standing.a), this.#find('b', standing.b)]
      if (a === null || b === null) {
        await this.#remove(standing)
        continue
      }
      const ids = `${a.ref.id} ${b.ref.id}`
      throw new EngineError(
        'BAD_REQUEST',
        `${ids} are confirmed as a pair, and a market has one partner: first npm run match -- forget ${ids}`,
      )
    }
  }

  #keep(verdict: StoredVerdict): void {
    const key = keyOf(verdict)
    this.#verdicts.set(key, verdict)
    for (const market of marketsOf(verdict)) {
      const keys = this.#byMarket.get(market)
      if (keys === undefined) this.#byMarket.set(market, new Set([key]))
      else keys.add(key)
    }
  }

  #forget(pair: Pick<StoredVerdict, 'a' | 'b'>): void {
    const key = keyOf(pair)
    this.#verdicts.delete(key)
    for (const market of marketsOf(pair)) {
      const keys = this.#byMarket.get(market)
      keys?.delete(key)
      if (keys?.size === 0) this.#byMarket.delete(market)
    }
  }
}

type Pair = Pick<StoredVerdict, 'a' | 'b'>

const keyOf = ({ a, b }: Pair): string => `${a} ${b}`
const marketsOf = ({ a, b }: Pair): readonly string[] => [`a${a}`, `b${b}`]
