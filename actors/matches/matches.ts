// The pairs of markets. A live pair is "matched" if its confidence is high and the first outcomes of both markets have
// the same meaning. A pair ends when one of its markets stops trading.

import type { Clock } from '../../engine/clock.ts'
import { isBefore } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { PairScore } from '../../engine/matching/compare/pair-scorer.ts'
import { MATCH_SCORE } from '../../engine/matching/veto/vetoes.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import { pageOf, Rankings } from '../rows/rankings.ts'
import type { CatalogWatcher, MarketView, MatchesView } from '../views.ts'
import {
  confidenceOf,
  isComparable,
  isSettled,
  type MatchFilter,
  type MatchListView,
  type MatchOrder,
  type MatchPage,
  type MatchView,
  priceGapOf,
  type VenueTexts,
} from './views.ts'

const CERTAIN: PairScore = {
  score: 100,
  relation: 'identical',
  inverted: false,
  outcomeMap: [0, 1],
  vetoes: [],
  reasons: [],
  explanation: 'The same question.',
}

type EventTitle = (market: MarketView) => string | null

export class Matches implements MatchesView, MatchListView, CatalogWatcher {
  readonly #byMarket = new Map<MarketNumber, MatchView>()
  readonly #matchedMarkets = new Map<MarketNumber, MarketView>()
  /** In the order of their end. Each market is in at most one pair, live or ended. */
  readonly #ended = new Map<MarketNumber, MatchView>()
  readonly #rankings: Rankings
  readonly #eventTitle: EventTitle
  #highCount = 0
  #version = 0

  constructor(
    parts: { readonly clock?: Pick<Clock, 'monotonicMs'>; readonly eventTitle?: EventTitle } = {},
  ) {
    this.#rankings = new Rankings(parts.clock ?? STOPPED_CLOCK)
    this.#eventTitle = parts.eventTitle ?? (() => null)
  }

  get version(): number {
    return this.#version
  }

  get count(): number {
    return this.#matchedMarkets.size / 2
  }

  get total(): number {
    return this.#byMarket.size / 2
  }

  get highCount(): number {
    return this.#highCount
  }

  matchedMarketOf(market: MarketRef): MarketView | null {
    return this.#matchedMarkets.get(market.number) ?? null
  }

  matchOf(market: MarketRef): MatchView | null {
    return this.#byMarket.get(market.number) ?? null
  }

  endedMatchOf(market: MarketRef): MatchView | null {
    return this.#ended.get(market.number) ?? null
  }

  /** The live or ended pair. */
  listedMatchOf(market: MarketRef): MatchView | null {
    return this.matchOf(market) ?? this.endedMatchOf(market)
  }

  get endedCount(): number {
    return this.#ended.size / 2
  }

  matchOfFirst(number: MarketNumber): MatchView | null {
    const match = this.#byMarket.get(number)
    return match?.a.ref.number === number ? match : null
  }

  *all(): Iterable<MatchView> {
    for (const [number, match] of this.#byMarket) if (match.a.ref.number === number) yield match
  }

  /** The pair that ended first comes first. */
  *allEnded(): Iterable<MatchView> {
    for (const [number, match] of this.#ended) if (match.a.ref.number === number) yield match
  }

  /** Live and ended pairs. */
  *allListed(): Iterable<MatchView> {
    yield* this.all()
    yield* this.allEnded()
  }

  /**
   * Removes earlier pairs of both markets. A pair with a market that does not trade is an ended pair. Throws if both
   * markets are of one venue.
   */
  put(
    one: MarketView,
    other: MarketView,
    pairScore: PairScore = CERTAIN,
    matchedAtMs: TimeMs = timeMs(0),
  ): void {
    if (one.ref.venue === other.ref.venue)
      throw new Error('matched markets must be of different venues')
    const [a, b] = isBefore(one.ref.venue, other.ref.venue) ? [one, other] : [other, one]
    const before = this.#byMarket.get(a.ref.number)
    const wasMatched = this.#matchedMarkets.get(a.ref.number) === b
    const match = { a, b, pairScore, matchedAtMs }
    for (const { ref } of [a, b]) this.#removeEnded(ref)
    if (!isMatchable(a) || !isMatchable(b)) {
      for (const { ref } of [a, b]) this.remove(ref)
      return this.#retain(match)
    }
    const isMatched = isConfidentMatch(pairScore)
    if (before?.b !== b || wasMatched !== isMatched) {
      const unpaired = [this.#unpair(a.ref), this.#unpair(b.ref)]
      if (unpaired.includes(true) || isMatched) this.#version += 1
    } else if (before.pairScore.score >= MATCH_SCORE) {
      this.#highCount -= 1
    }
    this.#byMarket.set(a.ref.number, match)
    this.#byMarket.set(b.ref.number, match)
    if (pairScore.score >= MATCH_SCORE) this.#highCount += 1
    if (!isMatched) return
    this.#matchedMarkets.set(a.ref.number, b)
    this.#matchedMarkets.set(b.ref.number, a)
  }

  remove(market: MarketRef): void {
    this.#removeEnded(market)
    if (this.#unpair(market)) this.#version += 1
  }

  /** Ends the live pair of a market. Retains the pair if its prices are comparable. */
  end(market: MarketRef): void {
    const match = this.matchOf(market)
    if (match === null) return
    this.remove(market)
    this.#retain(match)
  }

  #retain(match: MatchView): void {
    if (!isComparable(match.pairScore)) return
    for (const { ref } of [match.a, match.b]) this.#ended.set(ref.number, match)
  }

  #removeEnded(market: MarketRef): void {
    const match = this.#ended.get(market.number)
    if (match === undefined) return
    for (const { ref } of [match.a, match.b]) this.#ended.delete(ref.number)
  }

  listMatches(query: {
    filter: MatchFilter
    sortBy: MatchOrder
    pin: number | null
    offset: number
    limit: number
  }): MatchPage | 'expired' {
    const { filter, sortBy, pin } = query
    const key = `matches ${sortBy} ${JSON.stringify(filter)}`
    // Price gaps change constantly, so a cached ranking would be out of order after seconds.
    const isOfGaps = sortBy === 'price_gap' || filter.gapMin > 0
    const select = () => this.#select(filter, sortBy)
    const ranking =
      isOfGaps && pin === null
        ? this.#rankings.add(key, select())
        : this.#rankings.find(pin, key, select)
    if (ranking === null) return 'expired'
    const { rows: matches, ...rest } = pageOf(ranking, query, (one) => {
      const match = this.matchOfFirst(one) ?? this.#ended.get(one) ?? null
      return match === null || !hasMinGap(match, filter) ? null : match
    })
    return { matches, ...rest }
  }

  onListed(market: MarketView): void {
    if (!isMatchable(market)) this.end(market.ref)
  }

  onRemoved(market: MarketView): void {
    this.remove(market.ref)
  }

  #unpair(market: MarketRef): boolean {
    const match = this.#byMarket.get(market.number)
    if (match === undefined) return false
    for (const { ref } of [match.a, match.b]) this.#byMarket.delete(ref.number)
    if (match.pairScore.score >= MATCH_SCORE) this.#highCount -= 1
    const wasMatched = this.#matchedMarkets.delete(match.a.ref.number)
    this.#matchedMarkets.delete(match.b.ref.number)
    return wasMatched
  }

  *#withStatus(status: MatchFilter['status']): Iterable<MatchView> {
    if (status === 'open' || status === 'all') yield* this.all()
    if (status === 'open') return
    for (const match of this.allEnded()) {
      if (status === 'all' || isSettled(match) === (status === 'resolved')) yield match
    }
  }

  #select(filter: MatchFilter, sortBy: MatchOrder): Uint32Array {
    const isWanted = wanted(filter, this.#eventTitle)
    const rank = RANKS[sortBy]
    const rows: { number: number; rank: number; score: number; volume: number }[] = []
    for (const match of this.#withStatus(filter.status)) {
      if (!isWanted(match)) continue
      const { a, pairScore } = match
      const measures = { score: pairScore.score, volume: volumeOf(match) }
      rows.push({ number: a.ref.number, rank: rank(match), ...measures })
    }
    rows.sort(
      (one, other) =>
        other.rank - one.rank ||
        other.score - one.score ||
        other.volume - one.volume ||
        one.number - other.number,
    )
    return Uint32Array.from(rows, ({ number }) => number)
  }
}

/** In dollars. -1 if the gap is unknown. */
function gapWidthOf(match: MatchView): number {
  const gap = priceGapOf(match)
  return gap === null ? -1 : Math.abs(gap)
}

const hasMinGap = (match: MatchView, { gapMin }: MatchFilter): boolean =>
  gapMin === 0 || gapWidthOf(match) >= gapMin

const volumeOf = ({ a, b }: MatchView): number => a.volume24h + b.volume24h

const RANKS: Readonly<Record<MatchOrder, (match: MatchView) => number>> = {
  score: ({ pairScore }) => pairScore.score,
  price_gap: gapWidthOf,
  volume: volumeOf,
}

export function isMatchable({ summary }: MarketView): boolean {
  return summary.status === 'open' || summary.isUnopened
}

export function isConfidentMatch(pairScore: PairScore): boolean {
  return isComparable(pairScore) && pairScore.inverted === false
}

function wanted(filter: MatchFilter, eventTitle: EventTitle): (match: MatchView) => boolean {
  const terms = filter.search?.toLowerCase().split(/\s+/).filter(Boolean) ?? []
  const hasSlug = having(filter.slugs, ({ slug }) => slug)
  const hasEvent = having(filter.events, ({ event }) => event)
  return (match) => {
    const { a, b, pairScore } = match
    const { score, relation } = pairScore
    if (score < filter.scoreMin) return false
    if (filter.relation !== null && relation !== filter.relation) return false
    if (filter.confidence !== null && confidenceOf(score) !== filter.confidence) return false
    if (!hasSlug([a, b]) || !hasEvent([a, b])) return false
    if (!hasMinGap(match, filter)) return false
    if (terms.length === 0) return true
    const texts = [a, b].flatMap((market) => [market.summary.question, eventTitle(market) ?? ''])
    const text = texts.join(' ').toLowerCase()
    return terms.every((term) => text.includes(term))
  }
}

function having(
  { venues, texts }: VenueTexts,
  textOf: (summary: MarketView['summary']) => string | null,
): (pair: readonly MarketView[]) => boolean {
  const wanted = new Set(texts.map((text) => text.toLowerCase()))
  if (wanted.size === 0) return () => true
  return (pair) =>
    pair.some(
      ({ ref, summary }) =>
        venues.includes(ref.venue) && wanted.has(textOf(summary)?.toLowerCase() ?? ''),
    )
}

/** For instances that never list matches. */
const STOPPED_CLOCK: Pick<Clock, 'monotonicMs'> = { monotonicMs: () => 0 }
