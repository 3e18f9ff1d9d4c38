// What people said about pairs: confirmed or rejected, kept on disk by the venues' own ids, so that a word outlives a market
// that is forgotten and comes back; and about families of markets, by their patterns. An owner, called directly. A market is
// confirmed with one other at most. Bounded by VERDICTS_MAX and FAMILIES_MAX.

import { EngineError } from '../../engine/errors.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { PairWord } from '../../engine/matching/task.ts'
import { type FamilyVerdict, patternFault } from '../../engine/matching/veto/families.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { StoredVerdict, VerdictKey, VerdictTable } from '../../storage/contract/matches.ts'
import type { MarketView } from '../views.ts'
import type { WordAnswer } from './answers.ts'

/** Words are typed by hand; further ones are refused. */
const VERDICTS_MAX = 100_000
/** Each market is held against the patterns of all families. */
const FAMILIES_MAX = 1_000

/** The venues of a verdict's two sides. */
const VENUES = ['a', 'b'] as const
const NO_PAIR = 'a pair is a market of each venue'

interface Named {
  readonly venue: VenueKey
  readonly native: string
}

/** What carries verdicts out. */
export interface VerdictListener {
  /** Resolves to what became of a word. */
  hear(word: PairWord): Promise<WordAnswer>
  /** A verdict on families was added, changed or taken back. */
  hearFamilies(): void
}

export class MatchVerdicts {
  readonly #table: VerdictTable
  readonly #find: (venue: 'a' | 'b', nativeId: string) => MarketView | null
  readonly #nowMs: () => TimeMs
  readonly #verdicts = new Map<string, StoredVerdict>()
  /** Venue and native id → keys of verdicts. */
  readonly #byMarket = new Map<string, Set<string>>()
  #listener: VerdictListener | null = null
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

  onWord(listener: VerdictListener): void {
    this.#listener = listener
  }

  /** In no promised order. */
  all(): readonly StoredVerdict[] {
    return [...this.#verdicts.values()]
  }

  /** The verdicts on families, as the matching thread takes them. */
  families(): readonly FamilyVerdict[] {
    return this.all().flatMap(({ on, a, b, word }) =>
      on === 'family' ? [{ a, b, word, why: `${b} with ${a}, ${word} by hand` }] : [],
    )
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
   * Keeps a word, or takes one back (null), carries it out once it is on disk, and resolves to what became of it;
   * `unsaid`: there was none to take back.
   * Throws EngineError BAD_REQUEST when both are of one venue, when one of them is confirmed with another, or
   * when too many words are kept.
   */
  async say(
    one: MarketView,
    other: MarketView,
    word: PairWord['word'],
  ): Promise<WordAnswer | 'unsaid'> {
    if (one.ref.venue === other.ref.venue) {
      throw new EngineError('BAD_REQUEST', NO_PAIR)
    }
    const [a, b] = one.ref.venue === 'a' ? [one, other] : [other, one]
    const of = { on: 'pair', a: a.ref.nativeId, b: b.ref.nativeId } as const
    if (!(await this.#inTurn(of, word)) && word === null) return 'unsaid'
    const carriedOut = this.#listener?.hear({ a: a.ref.number, b: b.ref.number, word })
    return carriedOut ?? 'later'
  }

  /**
   * Keeps a word on all pairs of two families, venue a's pattern and venue b's, or takes it back (null). Resolves once it
   * is on disk, to whether one was kept before. Throws EngineError BAD_REQUEST for a pattern that is none, or when too many words are kept.
   */
  async sayFamily(a: string, b: string, word: PairWord['word']): Promise<boolean> {
    for (const pattern of [a, b]) {
      const fault = patternFault(pattern)
      if (fault !== null) throw new EngineError('BAD_REQUEST', `${pattern.slice(0, 256)}: ${fault}`)
    }
    const of = { on: 'family', a: a.toLowerCase(), b: b.toLowerCase() } as const
    const wasKept = await this.#inTurn(of, word)
    if (wasKept || word !== null) this.#listener?.hearFamilies()
    return wasKept
  }

  /** Takes back the word on two markets that need not be known; resolves to whether there was one. */
  async forget(markets: readonly (Named | null)[]): Promise<boolean> {
    const [a, b] = VENUES.map((venue) => markets.find((market) => market?.venue === venue))
    if (a == null || b == null) throw new EngineError('BAD_REQUEST', NO_PAIR)
    return this.#inTurn({ on: 'pair', a: a.native, b: b.native }, null)
  }

  /** Resolves to whether a word was kept before. */
  #inTurn(of: VerdictKey, word: PairWord['word']): Promise<boolean> {
    const said = this.#last.then(async () => {
      const wasKept = this.#verdicts.has(keyOf(of))
      if (wasKept || word !== null) await this.#record(of, word)
      return wasKept
    })
    this.#last = said.catch(() => undefined)
    return said
  }

  async #record(of: VerdictKey, word: PairWord['word']): Promise<void> {
    if (word === null) return this.#remove(of)
    if (of.on === 'pair' && word === 'confirmed') await this.#refuseSecond(of)
    const max = of.on === 'pair' ? VERDICTS_MAX : FAMILIES_MAX
    const kept = of.on === 'pair' ? this.#verdicts.size : this.families().length
    if (kept >= max && !this.#verdicts.has(keyOf(of))) {
      throw new EngineError('BAD_REQUEST', `at most ${max} verdicts of the kind are kept`)
    }
    const verdict = { ...of, word, atMs: this.#nowMs() }
    await this.#table.put(verdict)
    this.#keep(verdict)
  }

  async #remove(of: VerdictKey): Promise<void> {
    await this.#table.remove(of)
    this.#forget(of)
  }

  /** A slip must not undo a standing word: a market is confirmed with one other. A word on a forgotten market is given up. */
  async #refuseSecond(pair: VerdictKey): Promise<void> {
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

  #forget(pair: VerdictKey): void {
    const key = keyOf(pair)
    this.#verdicts.delete(key)
    for (const market of marketsOf(pair)) {
      const keys = this.#byMarket.get(market)
      keys?.delete(key)
      if (keys?.size === 0) this.#byMarket.delete(market)
    }
  }
}

/** A verdict as the commands list it: both sides as the commands take them. */
export function rowOf({ on, a, b, word, atMs }: StoredVerdict, names: VenueTable) {
  const sign = on === 'family' ? ':' : '_'
  const [one, other] = [a, b].map(
    (name, at) => `${names.platform(VENUES[at] ?? 'a')}${sign}${name}`,
  )
  return { one, other, word, atMs }
}

const keyOf = ({ on, a, b }: VerdictKey): string => `${on} ${a} ${b}`
const marketsOf = ({ on, a, b }: VerdictKey): readonly string[] =>
  on === 'family' ? [] : [`a${a}`, `b${b}`]
