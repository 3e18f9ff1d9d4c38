// The opportunities that are open now: baskets of outcomes that earn after depth and fees. A change of a book has the
// baskets of its market looked at once a turn of the loop; what is open is looked at four times a second besides, since
// books grow old and fees change without a message. An owner, called directly.
// Not for: what a basket earns (engine/arbitrage/basket.ts), which outcomes belong together (baskets.ts), the table of
// ended ones (storage/opportunities.ts). Upholds ARBIT1 to ARBIT9.

import { type Basket, buyBasket } from '../../engine/arbitrage/basket.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { ArbitrageUpdate, LastingArbitrage, Update } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import {
  opportunitiesMax,
  opportunityAgeMsMax,
  opportunityBookAgeMsMax,
  opportunityChangedMs,
  opportunityKeptMsMin,
} from '../../engine/limits.ts'
import { type FeeModel, feesAt } from '../../engine/market/fees.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import {
  annualisedOf,
  type CloseReason,
  edgeOf,
  type Opportunity,
  type OpportunityLeg,
  type Reach,
  reachOf,
  stateOf,
} from '../../engine/opportunity.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Publisher, Watcher } from '../../engine/publisher.ts'
import {
  DAY_MS,
  MICROS,
  type SizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../engine/units.ts'
import type { OpportunityTable, SliceQuery } from '../../storage/contract/storage.ts'
import type { MatchListView } from '../matches/views.ts'
import { Rankings } from '../rows/rankings.ts'
import type { BookView, CatalogView, MarketView } from '../views.ts'
import {
  bookOf,
  type Candidate,
  eventCandidates,
  hasEventGap,
  hasGap,
  headOf,
  legOf,
  type Part,
  pairCandidates,
} from './baskets.ts'
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
  /** When a venue's feed last said anything while it was live; null while it is not. */
  readonly heardMs: (venue: VenueKey) => TimeMs | null
}

/** An open one, as its owner follows it. */
interface Open {
  /** Of this run; ascends. */
  readonly number: number
  readonly candidate: Candidate
  now: Opportunity
  readonly opened: Opportunity
  best: Opportunity
  /** Of its books, and the fees, when it was looked at last. */
  seqs: readonly number[]
  fees: readonly FeeModel[]
  /** Null: it is not told yet. */
  reached: Reach | null
  toldMs: number
  /** Changed since it was told. */
  isNews: boolean
}

type Looked = Basket | Exclude<NoOpportunity, 'not_identical'>

export class Arbitrage implements Watcher, ArbitrageView {
  readonly name = 'arbitrage'
  readonly #parts: ArbitrageParts
  readonly #open = new Map<string, Open>()
  readonly #byNumber = new Map<number, Open>()
  readonly #byMarket = new Map<MarketNumber, Set<Open>>()
  /** Markets whose baskets are looked at in the next turn: bounded by the markets. */
  readonly #changed = new Set<MarketNumber>()
  readonly #rankings: Rankings
  readonly #refused: Count
  #lastNumber = 0
  #isScheduled = false
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
    this.#stopTimer = this.#parts.clock.every(opportunityChangedMs, () => this.#lookAtOpen())
  }

  stop(): void {
    this.#stopTimer()
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
        for (const { candidate } of this.#open.values())
          for (const { market } of candidate.parts)
            if (market.ref.venue === update.venue) this.#note(market.ref.number)
    }
  }

  onForget(market: MarketNumber): void {
    this.#changed.delete(market)
    for (const open of [...(this.#byMarket.get(market) ?? [])]) this.#close(open, 'market_closed')
  }

  #note(market: MarketNumber): void {
    this.#changed.add(market)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.clock.after(0, () => this.#lookAtChanged())
  }

  #lookAtChanged(): void {
    this.#isScheduled = false
    const markets = [...this.#changed]
    this.#changed.clear()
    const looked = new Set<string>()
    for (const number of markets) {
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
  }

  /** Opportunities of a market that belongs to other baskets by now, or to none. */
  #endOthers(market: MarketNumber, candidates: readonly Candidate[]): void {
    for (const open of [...(this.#byMarket.get(market) ?? [])]) {
      if (candidates.some(({ key }) => key === open.candidate.key)) continue
      const { parts } = open.candidate
      const isOpen = parts.every(({ market: one }) => one.summary.status === 'open')
      this.#close(open, isOpen ? 'match_changed' : 'market_closed')
    }
  }

  /** `isGapOnly`: the baskets of its event are left out while their best prices leave nothing. */
  #candidatesOf(
    market: MarketView,
    { isGapOnly }: { readonly isGapOnly: boolean },
  ): readonly Candidate[] {
    const { matches, catalog } = this.#parts
    const { ref, summary } = market
    const pair = pairCandidates(matches.matchOf(ref))
    if (summary.event === null) return pair
    const event = catalog.event(ref.venue, summary.event)
    if (event === null || event.winnerAmong === null) return pair
    const markets = catalog.marketsOfEvent(ref.venue, summary.event)
    // One that could not be read may be the one that wins.
    if (markets.length !== event.winnerAmong) return pair
    if (isGapOnly && !hasEventGap(markets)) return pair
    return [...pair, ...eventCandidates(markets, event.title)]
  }

  #lookAtOpen(): void {
    for (const open of [...this.#open.values()]) {
      if (this.#isAsLooked(open)) this.#tellNews(open)
      else this.#look(open.candidate)
      if (this.#open.get(open.candidate.key) === open) this.#grow(open)
    }
  }

  /** Whether it earns what it did at the last look: no book, fee or status is another, and no book is too old. */
  #isAsLooked({ candidate: { parts }, seqs, fees }: Open): boolean {
    const nowMs = this.#parts.clock.nowMs()
    return parts.every((part, index) => {
      const { market } = part
      const head = headOf(part)
      if (market.summary.status !== 'open' || head.seq !== seqs[index]) return false
      const age = this.#ageOf(market, head)
      if (age === null || age > opportunityBookAgeMsMax) return false
      return feesAt(market.summary.fees, nowMs) === fees[index]
    })
  }

  // What it earns

  #look(candidate: Candidate): void {
    const open = this.#open.get(candidate.key)
    if (open === undefined && !hasGap(candidate)) return
    const books = candidate.parts.map(bookOf)
    const looked = this.#buy(candidate, books, null)
    if (typeof looked === 'string') {
      if (open !== undefined) this.#close(open, REASONS[looked])
      return
    }
    const looking = open ?? this.#begin(candidate, looked, books)
    if (looking === null) return
    const nowMs = this.#parts.clock.nowMs()
    looking.seqs = books.map(({ seq }) => seq)
    looking.fees = candidate.parts.map(({ market }) => feesAt(market.summary.fees, nowMs))
    if (open !== undefined) this.#renew(open, looked, books)
  }

  /** What can be bought now, or why nothing can. */
  #buy(
    { parts, winners }: Pick<Candidate, 'parts' | 'winners'>,
    books: readonly BookView[],
    contracts: SizeMicros | null,
  ): Looked {
    const nowMs = this.#parts.clock.nowMs()
    if (parts.some(({ market }) => market.summary.status !== 'open')) return 'not_open'
    for (const [index, { market }] of parts.entries()) {
      const age = this.#ageOf(market, books[index])
      if (age === null || age > opportunityBookAgeMsMax) return 'stale_book'
    }
    const legs = parts.map((part, index) => legOf(part, books[index] ?? bookOf(part), nowMs))
    return buyBasket({ legs, winners, contracts })
  }

  /**
   * How long ago a book was known to be right, in milliseconds; null when it may not be. A feed that is live tells every
   * change in order, so a book without a change is as young as the newest message of its venue.
   */
  #ageOf(market: MarketView, book: BookView | undefined): number | null {
    if (book === undefined || book.isStale || market.isBehind) return null
    const heardMs = this.#parts.heardMs(market.ref.venue)
    if (heardMs === null || book.receivedAtMs === null) return null
    return Math.max(0, this.#parts.clock.nowMs() - Math.max(heardMs, book.receivedAtMs))
  }

  #opportunity(
    { parts, ...candidate }: Candidate,
    basket: Basket,
    books: readonly BookView[],
    being: { readonly id: string; readonly openedAtMs: TimeMs },
  ): Opportunity {
    const [first] = parts
    const closes = parts.map(({ market }) => market.summary.closeAtMs)
    const known = closes.filter((time): time is TimeMs => time !== null)
    return {
      ...being,
      kind: candidate.kind,
      matchScore: candidate.score,
      legs: parts.map((part, index) => this.#leg(part, basket.legs[index], books[index])),
      contracts: basket.contracts,
      cost: usdMicros(basket.legs.reduce((sum, { cost }) => sum + cost, 0)),
      fees: usdMicros(basket.legs.reduce((sum, { fee }) => sum + fee, 0)),
      payout: basket.payout,
      profit: basket.profit,
      steps: basket.steps,
      updatedAtMs: this.#parts.clock.nowMs(),
      closesAtMs: known.length === closes.length ? timeMs(Math.max(...known)) : null,
      question: first?.market.summary.question ?? '',
      category: first?.market.summary.category ?? null,
      explanation: candidate.explanation,
    }
  }

  #leg(
    { market, isFirst }: Part,
    bought: Basket['legs'][number] | undefined,
    book: BookView | undefined,
  ): OpportunityLeg {
    const { outcomes } = market.summary
    return {
      market: market.ref,
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
  #begin(candidate: Candidate, basket: Basket, books: readonly BookView[]): Open | null {
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
    const untold = { reached: null, toldMs: 0, isNews: false, seqs: [], fees: [] }
    const open: Open = { number, candidate, ...states, ...untold }
    this.#open.set(candidate.key, open)
    this.#byNumber.set(number, open)
    for (const { market } of candidate.parts) {
      const known = this.#byMarket.get(market.ref.number)
      if (known === undefined) this.#byMarket.set(market.ref.number, new Set([open]))
      else known.add(open)
    }
    this.#tell(open, 'opened', null)
    return open
  }

  #renew(open: Open, basket: Basket, books: readonly BookView[]): void {
    const { id, openedAtMs } = open.now
    const isSame = isEqual(open.now, basket)
    if (!isSame) {
      open.now = this.#opportunity(open.candidate, basket, books, { id, openedAtMs })
      open.isNews = true
      if (open.now.profit > open.best.profit) open.best = open.now
    }
    this.#tellNews(open)
  }

  #tellNews(open: Open): void {
    const isDue = this.#parts.clock.monotonicMs() - open.toldMs >= opportunityChangedMs
    if (open.isNews && isDue) this.#tell(open, 'changed', null)
  }

  #close(open: Open, reason: CloseReason): void {
    const { candidate, number, now, best, opened } = open
    this.#open.delete(candidate.key)
    this.#byNumber.delete(number)
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
    open.isNews = false
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
    return this.#byNumber.get(Number(number))?.now ?? null
  }

  ofMarket(market: MarketNumber): readonly Opportunity[] {
    return [...(this.#byMarket.get(market) ?? [])].map(({ now }) => now)
  }

  list(query: Parameters<ArbitrageView['list']>[0]): OpportunityPage | 'expired' {
    const { filter, sortBy, pin, offset, limit } = query
    const key = `${sortBy} ${JSON.stringify(filter)}`
    const ranking =
      pin === null
        ? this.#rankings.keep(key, this.#cut(filter, sortBy))
        : this.#rankings.resume(pin, key)
    if (ranking === null) return 'expired'
    const { numbers } = ranking
    const opportunities: Opportunity[] = []
    let at = offset
    // One that ended since is skipped.
    for (; at < numbers.length && opportunities.length < limit; at += 1) {
      const open = this.#byNumber.get(numbers[at] ?? 0)
      if (open !== undefined) opportunities.push(open.now)
    }
    const next = at < numbers.length ? { pin: ranking.pin, offset: at } : null
    return { opportunities, total: numbers.length, next }
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
    const books = candidate.parts.map(bookOf)
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

const ORDERS: Readonly<Record<OpportunityOrder, (one: Opportunity, nowMs: TimeMs) => number>> = {
  profit: ({ profit }) => profit,
  edge: edgeOf,
  annualised: (one, nowMs) => annualisedOf(one, nowMs) ?? Number.NEGATIVE_INFINITY,
  opened_at: ({ openedAtMs }) => openedAtMs,
}

function passing(filter: OpportunityFilter, nowMs: TimeMs): (one: Opportunity) => boolean {
  const words = filter.search?.toLowerCase().split(/\s+/).filter(Boolean) ?? []
  const category = filter.category?.toLowerCase() ?? null
  const { kind, venue, profitMin, edgeMin, daysMax } = filter
  return (one) => {
    if (kind !== null && one.kind !== kind) return false
    if (one.profit < profitMin * MICROS || edgeOf(one) < edgeMin) return false
    if (category !== null && one.category?.toLowerCase() !== category) return false
    if (venue !== null && !one.legs.some(({ market }) => market.venue === venue)) return false
    if (daysMax !== null) {
      if (one.closesAtMs === null || one.closesAtMs > nowMs + daysMax * DAY_MS) return false
    }
    const question = one.question.toLowerCase()
    return words.every((word) => question.includes(word))
  }
}

/** Whether a basket is what was found before: everything but the age of its books. */
function isEqual(now: Opportunity, basket: Basket): boolean {
  return (
    now.contracts === basket.contracts &&
    now.profit === basket.profit &&
    now.legs.every(({ cost, fee }, index) => {
      const leg = basket.legs[index]
      return leg?.cost === cost && leg.fee === fee
    })
  )
}

function marketOf({ legs }: Opportunity): MarketRef {
  const [first] = legs
  if (first === undefined) throw new Error('an opportunity has legs')
  return first.market
}
