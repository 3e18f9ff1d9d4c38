// The opportunities that are open now: baskets of outcomes that earn after depth and fees. A change of a book has the
// baskets of its market looked at at the end of its turn of the loop; what is open is looked at four times a second
// besides, since books grow old and fees change without a message: a tenth of them at a time, so that the loop stands
// still for none. An owner, called directly.
// Not for: what a basket earns (engine/arbitrage/basket.ts), which outcomes belong together (baskets.ts), the table of
// ended ones (storage/opportunities.ts). Upholds ARBIT1 to ARBIT9.

import { type Basket, buyBasket } from '../../engine/arbitrage/basket.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { ArbitrageUpdate, LastingArbitrage, Update } from '../../engine/events.ts'
import {
  opportunitiesMax,
  opportunityAgeMsMax,
  opportunityBookAgeMsMax,
  opportunityChangedMs,
  opportunityKeptMsMin,
  opportunityLooksMax,
} from '../../engine/limits.ts'
import { type FeeModel, feesAt } from '../../engine/market/fees.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import {
  type CloseReason,
  type Opportunity,
  type OpportunityLeg,
  type Reach,
  reachOf,
  stateOf,
} from '../../engine/opportunity.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Publisher, Watcher } from '../../engine/publisher.ts'
import { type SizeMicros, type TimeMs, usdMicros } from '../../engine/units.ts'
import type { OpportunityTable, SliceQuery } from '../../storage/contract/storage.ts'
import type { MatchListView } from '../matches/views.ts'
import { pageOf, Rankings } from '../rows/rankings.ts'
import type { BookLevels, CatalogView, MarketView } from '../views.ts'
import {
  type Candidate,
  eventCandidates,
  hasEventGap,
  hasGap,
  hasGapLater,
  isEqual,
  isSaidAlike,
  legOf,
  type Part,
  pairCandidates,
  wordsOf,
} from './baskets.ts'
import { ORDERS, passing } from './listing.ts'
import type {
  ArbitrageView,
  NoOpportunity,
  OpportunityFilter,
  OpportunityOrder,
  OpportunityPage,
  Quote,
  QuoteLeg,
} from './views.ts'

interface ArbitrageParts {
  readonly clock: Clock
  readonly publisher: Publisher
  readonly metrics: Metrics
  readonly catalog: Pick<CatalogView, 'byNumber' | 'marketsOfEvent' | 'event'>
  readonly matches: Pick<MatchListView, 'matchOf'>
  readonly table: OpportunityTable
  /** When data last came from what carries a market's book; null while its venue's feed is not live. */
  readonly heardMs: (market: MarketRef) => TimeMs | null
}

/** An open one, as its owner follows it. */
interface Open {
  /** Of this run; ascends. */
  readonly number: number
  candidate: Candidate
  now: Opportunity
  readonly opened: Opportunity
  best: Opportunity
  /** How its markets stood when it was looked at last. */
  looks: readonly Look[]
  /** Null: it is not told yet. */
  reached: Reach | null
  toldMs: number
}

/** How a market stood at a look. */
interface Look {
  readonly version: number
  readonly bookSeq: number
  readonly receivedAtMs: TimeMs | null
  readonly fees: FeeModel
}

type Looked = Basket | Exclude<NoOpportunity, 'not_identical'>

/** Parts of what is open that are looked at one after the other. */
const SLOTS = 10
const NO_OPPORTUNITIES: readonly Open[] = []

export class Arbitrage implements Watcher, ArbitrageView {
  readonly name = 'arbitrage'
  readonly #parts: ArbitrageParts
  readonly #open = new Map<string, Open>()
  readonly #byNumber = new Map<number, Open>()
  readonly #byMarket = new Map<MarketNumber, Set<Open>>()
  readonly #slots = Array.from({ length: SLOTS }, () => new Set<Open>())
  #slotsSeen = 0
  /** Those that changed since they were told. */
  readonly #news = new Set<Open>()
  /** Markets whose baskets are looked at at the end of this turn: bounded by the markets. */
  readonly #changed = new Set<MarketNumber>()
  /**
   * Markets with a basket that would earn but for what can pass without a change of its books: one that may be out of
   * date, a fee that is announced to change, too many that are open. Bounded by the markets.
   */
  readonly #waiting = new Set<MarketNumber>()
  readonly #rankings: Rankings
  readonly #refused: Count
  #lastNumber = 0
  #isScheduled = false
  #isStopped = false
  #stopTimer: StopTimer = () => undefined

  constructor(parts: ArbitrageParts) {
    this.#parts = parts
    this.#rankings = new Rankings(parts.clock)
    const { metrics } = parts
    metrics.gauge('opportunities_open', 'Opportunities that are open.', () => this.#open.size)
    const help = 'Opportunities that were left out since too many were open.'
    this.#refused = metrics.count('opportunities_refused_total', help)
  }

  start(): void {
    const everyMs = opportunityChangedMs / SLOTS
    this.#stopTimer = this.#parts.clock.every(everyMs, () => this.#lookAtSome())
  }

  /** What is open ends, so that its course is kept; nothing begins any more. */
  stop(): void {
    this.#stopTimer()
    this.#isStopped = true
    this.#changed.clear()
    this.#waiting.clear()
    for (const open of this.#open.values()) this.#close(open, 'stopped')
  }

  // What changed

  onUpdate(update: Update): void {
    switch (update.kind) {
      case 'book':
      case 'bookReplaced':
      case 'bookLate':
      case 'lifecycle':
        this.#note(update.market.number)
        return
      case 'status':
        if (update.state === 'live') return this.#noteWaiting(Number.POSITIVE_INFINITY)
        for (const { candidate } of this.#open.values())
          for (const { market } of candidate.parts)
            if (market.ref.venue === update.venue) this.#note(market.ref.number)
    }
  }

  onForget(market: MarketNumber): void {
    this.#changed.delete(market)
    this.#waiting.delete(market)
    for (const open of this.#byMarket.get(market) ?? NO_OPPORTUNITIES)
      this.#close(open, 'market_closed')
  }

  #note(market: MarketNumber): void {
    if (this.#isStopped) return
    this.#changed.add(market)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.clock.soon(() => this.#lookAtChanged())
  }

  /** So many of those that wait, the longest waiting first; what still waits after the look does so behind the others. */
  #noteWaiting(count: number): void {
    let left = count
    for (const market of this.#waiting) {
      if (left <= 0) return
      left -= 1
      this.#waiting.delete(market)
      this.#note(market)
    }
  }

  #lookAtChanged(): void {
    const looked = new Set<string>()
    let left = opportunityLooksMax
    for (const number of this.#changed) {
      if (left === 0) break
      left -= 1
      this.#changed.delete(number)
      const market = this.#parts.catalog.byNumber(number)
      if (market === null) continue
      const candidates = this.#candidatesOf(market, { isGapOnly: !this.#byMarket.has(number) })
      this.#endOthers(number, candidates)
      for (const candidate of candidates) {
        if (looked.has(candidate.key)) continue
        looked.add(candidate.key)
        this.#look(candidate)
      }
    }
    this.#isScheduled = this.#changed.size > 0
    if (this.#isScheduled) this.#parts.clock.soon(() => this.#lookAtChanged())
  }

  /** Opportunities of a market that belongs to other baskets by now, or to none. */
  #endOthers(market: MarketNumber, candidates: readonly Candidate[]): void {
    for (const open of this.#byMarket.get(market) ?? NO_OPPORTUNITIES) {
      if (!candidates.some(({ key }) => key === open.candidate.key)) this.#end(open)
    }
  }

  #end(open: Open): void {
    const isOpen = open.candidate.parts.every(({ market }) => market.summary.status === 'open')
    this.#close(open, isOpen ? 'match_changed' : 'market_closed')
  }

  /** `isGapOnly`: the baskets of its event are left out while their best prices leave nothing. */
  #candidatesOf(market: MarketView, gaps: { readonly isGapOnly: boolean }): readonly Candidate[] {
    const pair = this.#ofPair(market)
    const event = this.#ofEvent(market, gaps)
    return event.length === 0 ? pair : [...pair, ...event]
  }

  #ofPair({ ref }: MarketView): readonly Candidate[] {
    return pairCandidates(this.#parts.matches.matchOf(ref))
  }

  #ofEvent(
    { ref, summary }: MarketView,
    { isGapOnly }: { readonly isGapOnly: boolean },
  ): readonly Candidate[] {
    const { catalog } = this.#parts
    if (summary.event === null) return []
    const event = catalog.event(ref.venue, summary.event)
    if (event === null || event.winnerAmong === null) return []
    const markets = catalog.marketsOfEvent(ref.venue, summary.event)
    // One that could not be read may be the one that wins.
    if (markets.length !== event.winnerAmong) return []
    return isGapOnly && !hasEventGap(markets) ? [] : eventCandidates(markets, event.title)
  }

  /** The same outcomes as they belong together now; null: they do no longer. */
  #asKnown({ key, kind, parts: [first] }: Candidate): Candidate | null {
    if (first === undefined) return null
    const { market } = first
    const known =
      kind === 'cross_venue' ? this.#ofPair(market) : this.#ofEvent(market, { isGapOnly: false })
    return known.find((one) => one.key === key) ?? null
  }

  /** The next part of what is open, and what may be told by now. */
  #lookAtSome(): void {
    this.#slotsSeen += 1
    for (const open of this.#slots[this.#slotsSeen % SLOTS] ?? NO_OPPORTUNITIES) {
      const candidate = this.#asKnown(open.candidate)
      if (candidate === null) this.#end(open)
      else if (candidate !== open.candidate || !this.#isAsLooked(open)) this.#look(candidate)
      if (this.#open.get(open.candidate.key) === open) this.#grow(open)
    }
    for (const open of this.#news) this.#tellNews(open)
    if (this.#open.size < opportunitiesMax) this.#noteWaiting(opportunityLooksMax / SLOTS)
  }

  /** Whether it earns what it did at the last look: no market has changed since, no fee, and no book is too old. */
  #isAsLooked({ candidate: { parts }, looks }: Open): boolean {
    const nowMs = this.#parts.clock.nowMs()
    for (const [index, { market }] of parts.entries()) {
      const look = looks[index]
      if (look === undefined || market.version !== look.version) return false
      if (feesAt(market.summary.fees, nowMs) !== look.fees) return false
      const age = this.#ageSince(market, look.receivedAtMs)
      if (age === null || age > opportunityBookAgeMsMax) return false
    }
    return true
  }

  // What it earns

  #look(candidate: Candidate): void {
    const open = this.#open.get(candidate.key)
    const nowMs = this.#parts.clock.nowMs()
    if (open === undefined && !hasGap(candidate, nowMs)) {
      if (hasGapLater(candidate, nowMs)) this.#wait(candidate)
      return
    }
    const books = headsOf(candidate)
    const looked = this.#buy(candidate, books, null)
    if (typeof looked === 'string') {
      if (looked === 'stale_book' || hasGapLater(candidate, nowMs)) this.#wait(candidate)
      if (open !== undefined) this.#close(open, REASONS[looked])
      return
    }
    const looking = open ?? this.#begin(candidate, looked, books)
    if (looking === null) return this.#wait(candidate)
    looking.candidate = candidate
    looking.looks = candidate.parts.map(({ market: { version, summary } }, index) => ({
      version,
      bookSeq: books[index]?.seq ?? 0,
      receivedAtMs: books[index]?.receivedAtMs ?? null,
      fees: feesAt(summary.fees, nowMs),
    }))
    if (open !== undefined) this.#renew(open, looked, books)
  }

  #wait({ parts: [first] }: Candidate): void {
    if (first !== undefined) this.#waiting.add(first.market.ref.number)
  }

  /** What can be bought now, or why nothing can. */
  #buy(
    { parts, winners }: Pick<Candidate, 'parts' | 'winners'>,
    books: readonly BookLevels[],
    contracts: SizeMicros | null,
  ): Looked {
    const nowMs = this.#parts.clock.nowMs()
    if (parts.some(({ market }) => market.summary.status !== 'open')) return 'not_open'
    for (const [index, { market }] of parts.entries()) {
      const age = this.#ageOf(market, books[index])
      if (age === null || age > opportunityBookAgeMsMax) return 'stale_book'
    }
    const legs = parts.map((part) => legOf(part, nowMs))
    return buyBasket({ legs, winners, contracts })
  }

  /**
   * How long ago a book was known to be right, in milliseconds; null when it may not be. A feed that is live tells every
   * change in order, so a book without a change is as young as the newest message of the socket that carries it.
   */
  #ageOf(market: MarketView, book: BookLevels | undefined): number | null {
    if (book === undefined || book.isStale || market.isBehind) return null
    return this.#ageSince(market, book.receivedAtMs)
  }

  /** The age of a book whose last change came then, while nothing says that it is out of date. */
  #ageSince({ ref }: MarketView, receivedAtMs: TimeMs | null): number | null {
    const heardMs = this.#parts.heardMs(ref)
    if (heardMs === null || receivedAtMs === null) return null
    return Math.max(0, this.#parts.clock.nowMs() - Math.max(heardMs, receivedAtMs))
  }

  #opportunity(
    { parts, ...candidate }: Candidate,
    basket: Basket,
    books: readonly BookLevels[],
    being: { readonly id: string; readonly openedAtMs: TimeMs },
  ): Opportunity {
    return {
      ...being,
      kind: candidate.kind,
      legs: parts.map((part, index) => this.#leg(part, basket.legs[index], books[index])),
      contracts: basket.contracts,
      cost: usdMicros(basket.legs.reduce((sum, { cost }) => sum + cost, 0)),
      fees: usdMicros(basket.legs.reduce((sum, { fee }) => sum + fee, 0)),
      payout: basket.payout,
      profit: basket.profit,
      steps: basket.steps,
      updatedAtMs: this.#parts.clock.nowMs(),
      ...wordsOf({ ...candidate, parts }),
    }
  }

  #leg(
    { market, isFirst }: Part,
    bought: Basket['legs'][number] | undefined,
    book: BookLevels | undefined,
  ): OpportunityLeg {
    const { outcomes, question } = market.summary
    return {
      market: market.ref,
      question,
      outcome: (isFirst ? outcomes[0] : outcomes[1])?.label ?? (isFirst ? 'Yes' : 'No'),
      isFirst,
      cost: bought?.cost ?? usdMicros(0),
      fee: bought?.fee ?? usdMicros(0),
      bookSeq: book?.seq ?? 0,
      bookAgeMs: this.#ageOf(market, book) ?? 0,
    }
  }

  // How it goes on

  /** Null: too many are open. */
  #begin(candidate: Candidate, basket: Basket, books: readonly BookLevels[]): Open | null {
    if (this.#open.size >= opportunitiesMax) {
      this.#refused.inc()
      return null
    }
    this.#lastNumber += 1
    const number = this.#lastNumber
    const openedAtMs = this.#parts.clock.nowMs()
    const id = `${this.#parts.publisher.epoch}-${number}`
    const now = this.#opportunity(candidate, basket, books, { id, openedAtMs })
    const states = { now, opened: now, best: now }
    const open: Open = { number, candidate, ...states, looks: [], reached: null, toldMs: 0 }
    this.#open.set(candidate.key, open)
    this.#slots[number % SLOTS]?.add(open)
    this.#byNumber.set(number, open)
    for (const { market } of candidate.parts) {
      const known = this.#byMarket.get(market.ref.number)
      if (known === undefined) this.#byMarket.set(market.ref.number, new Set([open]))
      else known.add(open)
    }
    this.#tell(open, 'opened', null)
    return open
  }

  #renew(open: Open, basket: Basket, books: readonly BookLevels[]): void {
    const { id, openedAtMs } = open.now
    if (!isEqual(open.now, basket) || !isSaidAlike(open.now, open.candidate)) {
      open.now = this.#opportunity(open.candidate, basket, books, { id, openedAtMs })
      this.#news.add(open)
      if (open.now.profit > open.best.profit) open.best = open.now
    }
    if (this.#news.has(open)) this.#tellNews(open)
  }

  #tellNews(open: Open): void {
    const isDue = this.#parts.clock.monotonicMs() - open.toldMs >= opportunityChangedMs
    if (isDue) this.#tell(open, 'changed', null)
  }

  #close(open: Open, reason: CloseReason): void {
    const { candidate, number, now, best, opened } = open
    this.#open.delete(candidate.key)
    this.#byNumber.delete(number)
    this.#slots[number % SLOTS]?.delete(open)
    for (const { market } of candidate.parts) {
      const known = this.#byMarket.get(market.ref.number)
      known?.delete(open)
      if (known?.size === 0) this.#byMarket.delete(market.ref.number)
    }
    const closedAtMs = this.#parts.clock.nowMs()
    this.#tell(open, 'closed', reason)
    if (closedAtMs - now.openedAtMs < opportunityKeptMsMin) return
    const { id, kind, matchScore, question, category, closesAtMs } = now
    const legs = now.legs.map(({ market: { venue, nativeId }, outcome }) => ({
      venue,
      market: nativeId,
      outcome,
    }))
    const states = { opened: stateOf(opened), best: stateOf(best), last: stateOf(now) }
    const being = { id, kind, matchScore, legs, question, category, closesAtMs }
    this.#parts.table.put({ ...being, ...states, closedAtMs, reason })
  }

  #tell(open: Open, event: ArbitrageUpdate['event'], reason: CloseReason | null): void {
    const { publisher, clock } = this.#parts
    const { now, reached: before } = open
    open.toldMs = clock.monotonicMs()
    this.#news.delete(open)
    const reached =
      before !== null && event === 'closed' ? before : reachOf(now, before, clock.nowMs())
    const update = this.#updateOf(open, { event, reason, reached })
    open.reached = reached
    publisher.publish({ ...update, ...publisher.stamp('arbitrage', update.market.number) })
  }

  /** It is older: those that ask for an age hear of it. */
  #grow(open: Open): void {
    const { reached: before } = open
    if (before === null || before.ageMs >= opportunityAgeMsMax) return
    const ageMs = Math.max(before.ageMs, this.#parts.clock.nowMs() - open.now.openedAtMs)
    const reached = { ...before, ageMs }
    const update = this.#updateOf(open, { event: 'changed', reason: null, reached })
    open.reached = reached
    this.#parts.publisher.tellLasting(update)
  }

  #updateOf(
    open: Open,
    told: Pick<ArbitrageUpdate, 'event' | 'reason' | 'reached'>,
  ): LastingArbitrage {
    const { now: opportunity, reached: reachedBefore } = open
    const market = marketOf(opportunity)
    const nowMs = this.#parts.clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    return { kind: 'arbitrage', market, opportunity, ...times, ...told, reachedBefore }
  }

  // What is seen of it

  find(id: string): Opportunity | null {
    const [epoch, number] = [id.slice(0, id.lastIndexOf('-')), id.slice(id.lastIndexOf('-') + 1)]
    if (epoch !== this.#parts.publisher.epoch || !/^\d+$/.test(number)) return null
    return this.#shown(Number(number))
  }

  /** Every one that has been told, in no promised order. */
  *open(): Iterable<Opportunity> {
    for (const { now, reached } of this.#open.values()) if (reached !== null) yield now
  }

  ofMarket(market: MarketNumber): readonly Opportunity[] {
    return [...(this.#byMarket.get(market) ?? NO_OPPORTUNITIES)].map((open) => this.#asOfNow(open))
  }

  #shown(number: number): Opportunity | null {
    const open = this.#byNumber.get(number)
    return open === undefined ? null : this.#asOfNow(open)
  }

  /** With its books as they were at the last look, which may have found the same, and their age by now. */
  #asOfNow({ now, candidate: { parts }, looks }: Open): Opportunity {
    const legs = now.legs.map((leg, index) => {
      const [part, look] = [parts[index], looks[index]]
      if (part === undefined || look === undefined) return leg
      const bookAgeMs = this.#ageSince(part.market, look.receivedAtMs) ?? leg.bookAgeMs
      return { ...leg, bookSeq: look.bookSeq, bookAgeMs }
    })
    return { ...now, legs }
  }

  list(query: Parameters<ArbitrageView['list']>[0]): OpportunityPage | 'expired' {
    const { filter, sortBy, pin } = query
    const key = `${sortBy} ${JSON.stringify(filter)}`
    const ranking =
      pin === null
        ? this.#rankings.keep(key, this.#cut(filter, sortBy))
        : this.#rankings.resume(pin, key)
    if (ranking === null) return 'expired'
    const { rows, ...rest } = pageOf(ranking, query, (one) => this.#shown(one))
    return { opportunities: rows, ...rest }
  }

  #cut(filter: OpportunityFilter, sortBy: OpportunityOrder): Uint32Array {
    const nowMs = this.#parts.clock.nowMs()
    const passes = passing(filter, nowMs)
    const rank = ORDERS[sortBy]
    return Uint32Array.from(
      [...this.#byNumber.values()]
        .filter(({ now }) => passes(now))
        .map(({ number, now }) => ({ number, rank: rank(now, nowMs) }))
        .sort((one, other) => other.rank - one.rank || one.number - other.number),
      ({ number }) => number,
    )
  }

  quote(legs: readonly QuoteLeg[], contracts: SizeMicros | null): Quote {
    const parts = legs.map(({ market, outcome }): Part => ({ market, isFirst: outcome === 0 }))
    const candidate = this.#known(parts)
    if (candidate === null) return { isPossible: false, reason: 'not_identical' }
    const books = headsOf(candidate)
    const looked = this.#buy(candidate, books, contracts)
    if (typeof looked === 'string') return { isPossible: false, reason: looked }
    const openedAtMs = this.#parts.clock.nowMs()
    const opportunity = this.#opportunity(candidate, looked, books, { id: 'quote', openedAtMs })
    return { isPossible: true, opportunity }
  }

  /** The candidate that consists of just these parts, in any order. */
  #known(parts: readonly Part[]): Candidate | null {
    const [first] = parts
    if (first === undefined) return null
    const keys = new Set(parts.map(({ market, isFirst }) => `${market.ref.number} ${isFirst}`))
    if (keys.size < parts.length) return null
    for (const candidate of this.#candidatesOf(first.market, { isGapOnly: false })) {
      const isIt =
        candidate.parts.length === parts.length &&
        candidate.parts.every(({ market, isFirst }) => keys.has(`${market.ref.number} ${isFirst}`))
      if (isIt) return candidate
    }
    return null
  }

  past(query: SliceQuery) {
    return this.#parts.table.range(query)
  }

  oldestPastMs(): TimeMs | null {
    return this.#parts.table.oldestMs()
  }
}

const REASONS: Readonly<Record<Exclude<Looked, Basket>, CloseReason>> = {
  no_depth: 'prices',
  no_profit: 'prices',
  fee_unknown: 'prices',
  not_open: 'market_closed',
  stale_book: 'stale',
}

/** How the books of a basket stand, without their levels. */
const headsOf = ({ parts }: Candidate): readonly BookLevels[] =>
  parts.map(({ market }) => market.levels(0))

function marketOf({ legs }: Opportunity): MarketRef {
  const [first] = legs
  if (first === undefined) throw new Error('an opportunity has legs')
  return first.market
}
