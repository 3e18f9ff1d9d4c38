// Finds and tracks open opportunities. A change of best prices checks the baskets of the market at the end of the
// event-loop tick. Every open opportunity is also rechecked four times a second, because books age and fees change
// without a message.

import type { Basket } from '../../engine/arbitrage/basket.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { ArbitrageRefresh, ArbitrageUpdate, BookUpdate, Update } from '../../engine/events.ts'
import {
  opportunitiesMax,
  opportunityAgeMsMax,
  opportunityChangedMs,
  opportunityChecksMax,
  opportunityRecordedMsMin,
} from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import {
  type CloseReason,
  type Opportunity,
  type OpportunityLeg,
  type OpportunityPeak,
  type OpportunityState,
  type PastOpportunity,
  peakOf,
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
  buyFrom,
  type Candidate,
  eventCandidates,
  hasEventGap,
  hasGap,
  hasGapLater,
  hasPairGap,
  hasSameDescription,
  isEqual,
  isInReach,
  minContractsOf,
  opportunityOf,
  type Part,
  pairCandidates,
} from './baskets.ts'
import { BookAges, type CheckedMarket } from './book-ages.ts'
import { ORDERS, passing } from './opportunity-filters.ts'
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
  readonly bookAgeMsMax: number
  readonly confirm: (market: MarketRef) => void
}

interface OpenEntry {
  /** Ascending and unique within a run of the engine. */
  readonly number: number
  candidate: Candidate
  now: Opportunity
  readonly opened: OpportunityState
  best: OpportunityState
  basket: Basket
  isAffected: boolean
  checkedMarkets: readonly CheckedMarket[]
  peak: OpportunityPeak | null
  publishedMs: number
  /** Monotonic. */
  savedMs: number
}

type CheckResult = Basket | Exclude<NoOpportunity, 'not_identical'>

const SLOTS = 10
const SAVE_EVERY_MS = 10_000
const NO_OPPORTUNITIES: readonly OpenEntry[] = []
const NONE: readonly Candidate[] = []
const WITHOUT_GAP = { isGapOnly: false }

export class Arbitrage implements Watcher, ArbitrageView {
  readonly name = 'arbitrage'
  readonly #parts: ArbitrageParts
  readonly #open = new Map<string, OpenEntry>()
  readonly #byNumber = new Map<number, OpenEntry>()
  readonly #byMarket = new Map<MarketNumber, Set<OpenEntry>>()
  #slot = 0
  readonly #unpublished = new Set<OpenEntry>()
  readonly #changed = new Set<MarketNumber>()
  /**
   * Markets with a basket that cannot be bought now, because a book is stale, a fee change is announced, or too many
   * opportunities are open.
   */
  readonly #waiting = new Set<MarketNumber>()
  readonly #inEventGap = new Set<MarketNumber>()
  readonly #rankings: Rankings
  readonly #ages: BookAges
  readonly #refused: Count
  #lastNumber = 0
  #isScheduled = false
  #isStopped = false
  #stopTimer: StopTimer = () => undefined

  constructor(parts: ArbitrageParts) {
    this.#parts = parts
    this.#rankings = new Rankings(parts.clock)
    const { clock, bookAgeMsMax: ageMsMax, confirm } = parts
    this.#ages = new BookAges({ clock, ageMsMax, confirm })
    const { metrics } = parts
    metrics.gauge('opportunities_open', 'Open opportunities.', () => this.#open.size)
    const help = 'Opportunities that were ignored because too many were open.'
    this.#refused = metrics.count('opportunities_refused_total', help)
  }

  start(): void {
    const everyMs = opportunityChangedMs / SLOTS
    this.#stopTimer = this.#parts.clock.every(everyMs, () => this.#checkNextSlot())
  }

  /**
   * Publishes the end of the previous run's opportunities with the reason `restarted`, also of those that an orderly
   * shutdown ended, because subscribers may not have received that. Must be called after the stream has begun.
   */
  closeLastRun(): void {
    const { table, catalog } = this.#parts
    const nowMs = this.#parts.clock.nowMs()
    for (const open of table.takeOpen((number) => catalog.byNumber(number)?.ref ?? null)) {
      const { last, peak, isEnded } = open
      const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
      this.#publish({
        ...{ kind: 'arbitrage', market: marketOf(last), opportunity: last, ...times },
        ...{ event: 'closed', reason: 'restarted', peak, previousPeak: peak },
      })
      if (!isEnded) this.#storePast(last, open, { closedAtMs: nowMs, reason: 'restarted' })
    }
  }

  stop(): void {
    this.#stopTimer()
    this.#isStopped = true
    this.#changed.clear()
    this.#waiting.clear()
    for (const open of this.#open.values()) {
      this.#close(open, 'stopped')
      this.#save(open, { isEnded: true })
    }
  }

  onUpdate(update: Update): void {
    switch (update.kind) {
      case 'book':
        return this.#noteBook(update)
      case 'bookReplaced':
        for (const open of this.#byMarket.get(update.market.number) ?? NO_OPPORTUNITIES)
          open.isAffected = true
        return this.#note(update.market.number)
      case 'bookStale':
      case 'bookConfirmed':
      case 'price':
      case 'lifecycle':
        return this.#note(update.market.number)
      case 'status':
        if (update.state === 'live') return this.#noteWaiting(Number.POSITIVE_INFINITY)
        for (const { candidate } of this.#open.values())
          for (const { market } of candidate.parts)
            if (market.ref.venue === update.venue) this.#note(market.ref.number)
    }
  }

  onMarketRemoved(market: MarketNumber): void {
    this.#changed.delete(market)
    this.#waiting.delete(market)
    this.#inEventGap.delete(market)
    for (const open of this.#byMarket.get(market) ?? NO_OPPORTUNITIES)
      this.#close(open, 'market_closed')
  }

  /** Skips a book without an opportunity or a price gap. If a change creates a gap, a price update follows. */
  #noteBook(update: BookUpdate): void {
    const { number } = update.market
    const open = this.#byMarket.get(number)
    if (open !== undefined) {
      for (const one of open) one.isAffected ||= isInReach(one.candidate.parts, one.basket, update)
      return this.#note(number)
    }
    if (this.#inEventGap.has(number)) return this.#note(number)
    const match = this.#parts.matches.matchOf(update.market)
    if (match !== null && hasPairGap(match)) this.#note(number)
  }

  #note(market: MarketNumber): void {
    if (this.#isStopped) return
    this.#changed.add(market)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.clock.soon(() => this.#checkChanged())
  }

  #noteWaiting(count: number): void {
    let left = count
    for (const market of this.#waiting) {
      if (left <= 0) return
      left -= 1
      this.#waiting.delete(market)
      this.#note(market)
    }
  }

  #checkChanged(): void {
    const checkedKeys = new Set<string>()
    let left = opportunityChecksMax
    for (const number of this.#changed) {
      if (left === 0) break
      left -= 1
      this.#changed.delete(number)
      this.#inEventGap.delete(number)
      const market = this.#parts.catalog.byNumber(number)
      if (market === null) continue
      const candidates = this.#candidatesOf(market, { isGapOnly: !this.#byMarket.has(number) })
      this.#endOthers(number, candidates)
      for (const candidate of candidates) {
        if (checkedKeys.has(candidate.key)) continue
        checkedKeys.add(candidate.key)
        this.#checkCandidate(candidate)
      }
    }
    this.#isScheduled = this.#changed.size > 0
    if (this.#isScheduled) this.#parts.clock.soon(() => this.#checkChanged())
  }

  #endOthers(market: MarketNumber, candidates: readonly Candidate[]): void {
    for (const open of this.#byMarket.get(market) ?? NO_OPPORTUNITIES) {
      if (!candidates.some(({ key }) => key === open.candidate.key)) this.#end(open)
    }
  }

  #end(open: OpenEntry): void {
    const isOpen = open.candidate.parts.every(({ market }) => market.summary.status === 'open')
    this.#close(open, isOpen ? 'match_changed' : 'market_closed')
  }

  #candidatesOf(market: MarketView, gaps: { readonly isGapOnly: boolean }): readonly Candidate[] {
    const pair = this.#ofPair(market, gaps)
    const event = this.#ofEvent(market, gaps)
    return event.length === 0 ? pair : [...pair, ...event]
  }

  #ofPair(
    { ref }: MarketView,
    { isGapOnly }: { readonly isGapOnly: boolean },
  ): readonly Candidate[] {
    const match = this.#parts.matches.matchOf(ref)
    return match === null || (isGapOnly && !hasPairGap(match)) ? NONE : pairCandidates(match)
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
    // A market of the event that could not be read may be the winner.
    if (markets.length !== event.winnerAmong) return []
    return isGapOnly && !hasEventGap(markets) ? [] : eventCandidates(markets, event.title)
  }

  #currentCandidate({ key, kind, parts: [first] }: Candidate): Candidate | null {
    if (first === undefined) return null
    const { market } = first
    const candidates =
      kind === 'cross_venue'
        ? this.#ofPair(market, WITHOUT_GAP)
        : this.#ofEvent(market, WITHOUT_GAP)
    return candidates.find((one) => one.key === key) ?? null
  }

  #checkNextSlot(): void {
    this.#slot = (this.#slot + 1) % SLOTS
    for (const open of this.#open.values()) {
      if (open.number % SLOTS !== this.#slot) continue
      const candidate = this.#currentCandidate(open.candidate)
      if (candidate === null) this.#end(open)
      else if (
        candidate !== open.candidate ||
        !this.#ages.isUnchanged(candidate.parts, open.checkedMarkets)
      )
        this.#checkCandidate(candidate)
      if (this.#open.get(open.candidate.key) === open) this.#publishAge(open)
    }
    for (const open of this.#unpublished) this.#publishIfDue(open)
    if (this.#open.size < opportunitiesMax) this.#noteWaiting(opportunityChecksMax / SLOTS)
  }

  #checkCandidate(candidate: Candidate): void {
    const open = this.#open.get(candidate.key)
    const nowMs = this.#parts.clock.nowMs()
    if (open === undefined) {
      if (candidate.kind === 'single_venue')
        for (const { market } of candidate.parts) this.#inEventGap.add(market.ref.number)
      if (!hasGap(candidate, nowMs)) {
        if (hasGapLater(candidate, nowMs)) this.#wait(candidate)
        return
      }
    }
    const books = headsOf(candidate)
    const isUnaffected =
      open?.isAffected === false && this.#ages.hasSameTerms(candidate.parts, open.checkedMarkets)
    const result =
      this.#ages.blockerOf(candidate.parts, books) ??
      (isUnaffected ? open.basket : buyFrom(candidate, nowMs, null))
    if (typeof result === 'string') {
      if (result === 'stale_book' || hasGapLater(candidate, nowMs)) this.#wait(candidate)
      if (open !== undefined) this.#close(open, REASONS[result])
      return
    }
    const followed = open ?? this.#begin(candidate, result, books)
    if (followed === null) return this.#wait(candidate)
    followed.candidate = candidate
    followed.basket = result
    followed.isAffected = false
    followed.checkedMarkets = this.#ages.checkedMarketsOf(candidate.parts, books)
    if (open !== undefined) this.#renew(open, result, books)
  }

  #wait({ parts: [first] }: Candidate): void {
    if (first !== undefined) this.#waiting.add(first.market.ref.number)
  }

  #opportunity(
    candidate: Candidate,
    basket: Basket,
    books: readonly BookLevels[],
    identity: { readonly id: string; readonly openedAtMs: TimeMs },
  ): Opportunity {
    const legs = candidate.parts.map((part, index) => {
      return this.#leg(part, basket.legs[index], books[index])
    })
    return opportunityOf(candidate, { basket, legs }, identity, this.#parts.clock.nowMs())
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
      bookAgeMs: this.#ages.of(market, book) ?? 0,
    }
  }

  #begin(candidate: Candidate, basket: Basket, books: readonly BookLevels[]): OpenEntry | null {
    if (this.#open.size >= opportunitiesMax) {
      this.#refused.inc()
      return null
    }
    this.#lastNumber += 1
    const number = this.#lastNumber
    const openedAtMs = this.#parts.clock.nowMs()
    const id = `${this.#parts.publisher.epoch}-${number}`
    const now = this.#opportunity(candidate, basket, books, { id, openedAtMs })
    const states = { now, opened: stateOf(now), best: stateOf(now) }
    const open: OpenEntry = {
      ...{ number, candidate, ...states, basket, isAffected: false },
      ...{ checkedMarkets: [], peak: null, publishedMs: 0, savedMs: 0 },
    }
    this.#open.set(candidate.key, open)
    this.#byNumber.set(number, open)
    for (const { market } of candidate.parts) {
      const ofMarket = this.#byMarket.get(market.ref.number)
      if (ofMarket === undefined) this.#byMarket.set(market.ref.number, new Set([open]))
      else ofMarket.add(open)
    }
    // The book's subscription may have stopped delivering, so the book is read over REST.
    this.#ages.confirm(candidate.parts)
    this.#publishEvent(open, 'opened', null)
    return open
  }

  #renew(open: OpenEntry, basket: Basket, books: readonly BookLevels[]): void {
    const { id, openedAtMs } = open.now
    if (!isEqual(open.now, basket) || !hasSameDescription(open.now, open.candidate)) {
      open.now = this.#opportunity(open.candidate, basket, books, { id, openedAtMs })
      this.#unpublished.add(open)
      if (open.now.profit > open.best.profit) open.best = stateOf(open.now)
    }
    if (this.#unpublished.has(open)) this.#publishIfDue(open)
  }

  #publishIfDue(open: OpenEntry): void {
    const isDue = this.#parts.clock.monotonicMs() - open.publishedMs >= opportunityChangedMs
    if (isDue) this.#publishEvent(open, 'changed', null)
  }

  #close(open: OpenEntry, reason: CloseReason): void {
    const { candidate, number, now } = open
    this.#open.delete(candidate.key)
    this.#byNumber.delete(number)
    for (const { market } of candidate.parts) {
      const ofMarket = this.#byMarket.get(market.ref.number)
      ofMarket?.delete(open)
      if (ofMarket?.size === 0) this.#byMarket.delete(market.ref.number)
    }
    const closedAtMs = this.#parts.clock.nowMs()
    this.#publishEvent(open, 'closed', reason)
    this.#parts.table.removeOpen(now.id)
    this.#storePast(now, open, { closedAtMs, reason })
  }

  #storePast(
    last: Opportunity,
    { opened, best }: Pick<PastOpportunity, 'opened' | 'best'>,
    end: Pick<PastOpportunity, 'closedAtMs' | 'reason'>,
  ): void {
    if (end.closedAtMs - last.openedAtMs < opportunityRecordedMsMin) return
    const { id, kind, matchScore, question, category, closesAtMs } = last
    const legs = last.legs.map(({ market: { venue, nativeId }, outcome }) => ({
      venue,
      market: nativeId,
      outcome,
    }))
    const identity = { id, kind, matchScore, legs, question, category, closesAtMs }
    this.#parts.table.put({ ...identity, opened, best, last: stateOf(last), ...end })
  }

  /** If the process is killed, the next run publishes the end of this opportunity. */
  #save(open: OpenEntry, { isEnded }: { readonly isEnded: boolean }): void {
    const { opened, best, now: last, peak } = open
    if (peak === null) return
    open.savedMs = this.#parts.clock.monotonicMs()
    this.#parts.table.putOpen({ opened, best, last, peak, isEnded })
  }

  #publishEvent(
    open: OpenEntry,
    event: ArbitrageUpdate['event'],
    reason: CloseReason | null,
  ): void {
    const { clock } = this.#parts
    const { now, peak: before } = open
    open.publishedMs = clock.monotonicMs()
    this.#unpublished.delete(open)
    const peak = before !== null && event === 'closed' ? before : peakOf(now, before, clock.nowMs())
    const update = this.#updateOf(open, { event, reason, peak })
    open.peak = peak
    const isDue = event === 'opened' || open.publishedMs - open.savedMs >= SAVE_EVERY_MS
    if (isDue && event !== 'closed') this.#save(open, { isEnded: false })
    this.#publish(update)
  }

  #publish(update: ArbitrageRefresh): void {
    const { publisher } = this.#parts
    const stamp = publisher.stamp('arbitrage', update.market.number)
    publisher.publish(Object.assign(update, stamp))
  }

  /** Publishes a new maximum age. Only subscribers with a filter on age receive it. */
  #publishAge(open: OpenEntry): void {
    const { peak: before } = open
    if (before === null || before.ageMs >= opportunityAgeMsMax) return
    const ageMs = Math.max(before.ageMs, this.#parts.clock.nowMs() - open.now.openedAtMs)
    const peak = { ...before, ageMs }
    const update = this.#updateOf(open, { event: 'changed', reason: null, peak })
    open.peak = peak
    this.#parts.publisher.publishArbitrageRefresh(update)
  }

  #updateOf(
    open: OpenEntry,
    change: Pick<ArbitrageUpdate, 'event' | 'reason' | 'peak'>,
  ): ArbitrageRefresh {
    const { now: opportunity, peak: previousPeak } = open
    const nowMs = this.#parts.clock.nowMs()
    return {
      kind: 'arbitrage',
      market: marketOf(opportunity),
      opportunity,
      venueTimeMs: nowMs,
      receivedAtMs: nowMs,
      event: change.event,
      reason: change.reason,
      peak: change.peak,
      previousPeak,
    }
  }

  find(id: string): Opportunity | null {
    const [epoch, number] = [id.slice(0, id.lastIndexOf('-')), id.slice(id.lastIndexOf('-') + 1)]
    if (epoch !== this.#parts.publisher.epoch || !/^\d+$/.test(number)) return null
    return this.#shown(Number(number))
  }

  *open(): Iterable<Opportunity> {
    for (const { now, peak } of this.#open.values()) if (peak !== null) yield now
  }

  ofMarket(market: MarketNumber): readonly Opportunity[] {
    return [...(this.#byMarket.get(market) ?? NO_OPPORTUNITIES)].flatMap(
      (open) => this.#asOfNow(open) ?? [],
    )
  }

  #shown(number: number): Opportunity | null {
    const open = this.#byNumber.get(number)
    return open === undefined ? null : this.#asOfNow(open)
  }

  /** Returns the opportunity with the current age of its books. Null if a book has become too old. */
  #asOfNow({ now, candidate: { parts }, checkedMarkets }: OpenEntry): Opportunity | null {
    const legs: OpportunityLeg[] = []
    for (const [index, leg] of now.legs.entries()) {
      const [part, checked] = [parts[index], checkedMarkets[index]]
      if (part === undefined || checked === undefined) legs.push(leg)
      else {
        const bookAgeMs = this.#ages.since(part.market)
        if (bookAgeMs === null || this.#ages.isTooOld(bookAgeMs) || part.market.isBehind) {
          return null
        }
        legs.push({ ...leg, bookSeq: checked.bookSeq, bookAgeMs })
      }
    }
    return { ...now, legs }
  }

  list(query: Parameters<ArbitrageView['list']>[0]): OpportunityPage | 'expired' {
    const { filter, sortBy, pin } = query
    const key = `${sortBy} ${JSON.stringify(filter)}`
    const ranking =
      pin === null
        ? this.#rankings.add(key, this.#select(filter, sortBy))
        : this.#rankings.resume(pin, key)
    if (ranking === null) return 'expired'
    const { rows, ...rest } = pageOf(ranking, query, (one) => this.#shown(one))
    return { opportunities: rows, ...rest }
  }

  #select(filter: OpportunityFilter, sortBy: OpportunityOrder): Uint32Array {
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
    const candidate = this.#ofMarket(parts)
    if (candidate === null) return { isPossible: false, reason: 'not_identical' }
    const books = headsOf(candidate)
    const nowMs = this.#parts.clock.nowMs()
    const result =
      this.#ages.blockerOf(candidate.parts, books) ?? buyFrom(candidate, nowMs, contracts)
    if (result === 'below_minimum') {
      const minContracts = minContractsOf(candidate, nowMs)
      return { isPossible: false, reason: result, minContracts }
    }
    if (typeof result === 'string') return { isPossible: false, reason: result }
    const identity = { id: 'quote', openedAtMs: nowMs }
    const opportunity = this.#opportunity(candidate, result, books, identity)
    return { isPossible: true, opportunity }
  }

  #ofMarket(parts: readonly Part[]): Candidate | null {
    const [first] = parts
    if (first === undefined) return null
    const keys = new Set(parts.map(({ market, isFirst }) => `${market.ref.number} ${isFirst}`))
    if (keys.size < parts.length) return null
    for (const candidate of this.#candidatesOf(first.market, WITHOUT_GAP)) {
      const isSame =
        candidate.parts.length === parts.length &&
        candidate.parts.every(({ market, isFirst }) => keys.has(`${market.ref.number} ${isFirst}`))
      if (isSame) return candidate
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

const REASONS: Readonly<Record<Exclude<CheckResult, Basket>, CloseReason>> = {
  no_depth: 'prices',
  no_profit: 'prices',
  fee_unknown: 'prices',
  below_minimum: 'prices',
  not_open: 'market_closed',
  stale_book: 'stale',
}

const headsOf = ({ parts }: Candidate): readonly BookLevels[] =>
  parts.map(({ market }) => market.levels(0))

function marketOf({ legs }: Opportunity): MarketRef {
  const [first] = legs
  if (first === undefined) throw new Error('an opportunity has legs')
  return first.market
}
