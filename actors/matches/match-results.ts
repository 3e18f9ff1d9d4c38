// Applies the results of the matching thread. Stores pairs in memory and on disk, and publishes `matched` and
// `unmatched` when a pair of high confidence begins or ends. Ended pairs with comparable prices are retained until
// ENDED_MS after both results.

import type { MarketNumber } from '../../engine/market/market.ts'
import type { PairScore } from '../../engine/matching/compare/pair-scorer.ts'
import type { MatchChanges, PairOverride } from '../../engine/matching/match-task.ts'
import { type Relation, VETOES, type VetoReason } from '../../engine/matching/veto/vetoes.ts'
import type { Publisher } from '../../engine/publisher.ts'
import { DAY_MS, type TimeMs } from '../../engine/units.ts'
import type { StoredMatch } from '../../storage/contract/matches.ts'
import type { MatchTable } from '../../storage/contract/storage.ts'
import { publishLifecycle } from '../market/updates.ts'
import type { MarketView } from '../views.ts'
import { isConfidentMatch, isMatchable, type Matches } from './matches.ts'
import { isSettled, type MatchView } from './views.ts'

const ENDED_MS = 30 * DAY_MS
/** Maximum ended pairs. The pair that ended first is removed first. */
const ENDED_MAX = 10_000

export interface ResultParts {
  readonly matches: Matches
  readonly table: MatchTable
  readonly publisher: Publisher
  readonly market: (number: MarketNumber) => MarketView | null
  readonly nowMs: () => TimeMs
}

export class MatchResults {
  readonly #parts: ResultParts
  readonly #unconfirmed = new Set<MarketNumber>()

  constructor(parts: ResultParts) {
    this.#parts = parts
  }

  restore(): void {
    const { matches, table, market } = this.#parts
    for (const stored of [...table.all()]) {
      const [a, b] = [market(stored.a), market(stored.b)]
      const pairScore = pairScoreOf(stored)
      if (a !== null && b !== null && pairScore !== null) {
        matches.put(a, b, pairScore, stored.matchedAtMs)
        if (matches.matchOf(a.ref) !== null) this.#unconfirmed.add(stored.a)
        if (matches.listedMatchOf(a.ref)?.b === b) continue
      }
      table.remove(stored.a)
    }
    this.removeOld()
  }

  apply({ begun, ended }: MatchChanges): void {
    const { matches, market } = this.#parts
    for (const { a, b } of ended) {
      const match = matches.matchOfFirst(a)
      if (match?.b.ref.number === b) this.#end(match)
    }
    for (const pair of begun) {
      const [a, b] = [market(pair.a), market(pair.b)]
      // A market may have closed while the thread was searching.
      if (a === null || b === null || !isMatchable(a) || !isMatchable(b)) continue
      this.#unconfirmed.delete(pair.a)
      this.#begin(a, b, pair.pairScore)
    }
  }

  endUnfound(numbers: readonly MarketNumber[]): void {
    for (const number of numbers) {
      if (!this.#unconfirmed.delete(number)) continue
      const match = this.#parts.matches.matchOfFirst(number)
      if (match !== null) this.#end(match)
    }
  }

  markAllUnconfirmed(): void {
    for (const { a } of this.#parts.matches.all()) this.#unconfirmed.add(a.ref.number)
  }

  /** Ends the pair of a market that does not trade. */
  close({ ref }: MarketView): void {
    const { matches, table } = this.#parts
    const match = matches.matchOf(ref)
    if (match === null) return
    const { a, b, pairScore } = match
    this.#unconfirmed.delete(a.ref.number)
    matches.end(ref)
    if (matches.endedMatchOf(ref) === null) table.remove(a.ref.number)
    if (isConfidentMatch(pairScore)) this.#publishLifecycles('unmatched', a, b)
    if (matches.endedCount <= ENDED_MAX) return
    const [oldest] = matches.allEnded()
    if (oldest !== undefined) this.#end(oldest)
  }

  /** Removes the pair of a removed market. */
  remove({ ref }: MarketView): void {
    const { matches } = this.#parts
    const match = matches.listedMatchOf(ref)
    if (match !== null) this.#end(match)
  }

  /** Removes pairs whose markets both ended more than ENDED_MS ago. */
  removeOld(): void {
    const { matches, nowMs } = this.#parts
    const fromMs = nowMs() - ENDED_MS
    for (const match of [...matches.allEnded()]) {
      const { a, b } = match
      if (isSettled(match) && [a, b].every((market) => endOf(market) < fromMs)) this.#end(match)
    }
  }

  /** Ends a rejected pair at once. The matching thread receives the override later. */
  applyOverride({ a, b, decision }: PairOverride): void {
    const { matches, market } = this.#parts
    const first = market(a)
    const match = first && matches.listedMatchOf(first.ref)
    if (decision === 'rejected' && match?.b.ref.number === b) this.#end(match)
  }

  #begin(a: MarketView, b: MarketView, pairScore: PairScore): void {
    const { matches, table, nowMs } = this.#parts
    const pairs = new Set([a, b].flatMap(({ ref }) => matches.listedMatchOf(ref) ?? []))
    const before = [...pairs].find((match) => match.a === a && match.b === b)
    for (const match of pairs) if (match !== before) this.#end(match)
    const matchedAtMs = before?.matchedAtMs ?? nowMs()
    const wasLive = before !== undefined && matches.matchOf(a.ref) === before
    const wasMatched = wasLive && isConfidentMatch(before.pairScore)
    matches.put(a, b, pairScore, matchedAtMs)
    table.put({ a: a.ref.number, b: b.ref.number, matchedAtMs, ...pairScore })
    if (wasMatched !== isConfidentMatch(pairScore))
      this.#publishLifecycles(wasMatched ? 'unmatched' : 'matched', a, b)
  }

  #end(match: MatchView): void {
    const { matches, table } = this.#parts
    const { a, b, pairScore } = match
    const isLive = matches.matchOf(a.ref) === match
    this.#unconfirmed.delete(a.ref.number)
    matches.remove(a.ref)
    table.remove(a.ref.number)
    if (isLive && isConfidentMatch(pairScore)) this.#publishLifecycles('unmatched', a, b)
  }

  #publishLifecycles(event: 'matched' | 'unmatched', a: MarketView, b: MarketView): void {
    const nowMs = this.#parts.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    const { publisher } = this.#parts
    publishLifecycle(publisher, a.ref, times, { event, facts: a.summary, matchedMarket: b.ref })
    publishLifecycle(publisher, b.ref, times, { event, facts: b.summary, matchedMarket: a.ref })
  }
}

const endOf = ({ summary: { settledAtMs, closeAtMs } }: MarketView): number =>
  settledAtMs ?? closeAtMs ?? 0

/** Null for a record with an unknown relation. */
export function pairScoreOf(stored: StoredMatch): PairScore | null {
  const { score, relation, inverted, outcomeMap, reasons, explanation } = stored
  if (!isRelation(relation)) return null
  const vetoes = stored.vetoes.filter(isVeto)
  return { score, relation, inverted, outcomeMap, vetoes, reasons, explanation }
}

const RELATIONS: readonly string[] = ['identical', 'subset', 'superset', 'overlap', 'different']

function isRelation(text: string): text is Relation {
  return RELATIONS.includes(text)
}

function isVeto(text: string): text is VetoReason {
  return Object.hasOwn(VETOES, text)
}
