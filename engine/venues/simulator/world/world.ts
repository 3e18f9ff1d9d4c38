// The simulated world over time: markets, their states, and the rate of order flow. The same seed, start and clock give
// the same run.

import type { Clock } from '../../../clock.ts'
import { DueList } from '../../../due-list.ts'
import { nativeMarketId } from '../../../ids.ts'
import { legacyEnding } from '../../../position-ids.ts'
import type { Random } from '../../../random.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import type { Calendar, EventOutline, PlannedEvent } from '../calendar.ts'
import type { Faults } from '../faults.ts'
import type {
  SimEvent,
  SimMarket,
  SimPairKind,
  SimTrade,
  SimVenue,
  SimWallet,
  World,
  WorldChange,
} from '../model.ts'
import { ActivityTree } from './activity-tree.ts'
import { BookFaults, WITHDRAWN_MS, type Withdrawal } from './book-faults.ts'
import { fairPricesOf } from './fair-price.ts'
import { Gaps, type SimGap } from './gaps.ts'
import { LazyEvent } from './lazy-event.ts'
import { LazyEvents } from './lazy-events.ts'
import { endTrading, LIFE, LiveMarket, nextMomentMs } from './live-market.ts'
import { migratedOf } from './migrated-market.ts'
import { OrderFlow } from './order-flow.ts'
import { inventPast } from './past.ts'
import { RunIds } from './run-ids.ts'
import { TradeTape } from './trade-tape.ts'
import { Trading } from './trading.ts'
import { WalletPool } from './wallets.ts'

const FLOW_MS_MAX = 250
const SECOND_MS = 1_000
const TRADES_MAX = 2_000_000
const LISTED_AFTER_MS = 2 * 86_400_000
/**
 * Trades per venue before a new world's start. The number is smaller in a large world, where each trade plans events
 * and delays the start.
 */
const PAST_TRADES = 6_000
const PAST_TRADES_LARGE = 2_000
/** Maximum number of retained books without changes. The others are created again when they are read. */
const UNCHANGED_BOOKS_MAX = 10_000

/**
 * Kinds of pairs whose prices depend on each other. The price of the opposite question is one dollar minus the
 * question's.
 */
const SAME_QUESTION_KINDS: ReadonlySet<SimPairKind> = new Set(['same', 'opposite_side'])

type Due =
  | { readonly kind: 'change'; readonly event: WorldEvent }
  | { readonly kind: 'restore'; readonly withdrawal: Withdrawal }

/** The parts of the calendar that the world uses. With outlines, events are planned when they are read. */
export type Plan = Pick<Calendar, 'eventsAt' | 'createdBetween' | 'eventNumbered' | 'teams'> &
  Partial<Pick<Calendar, 'outlines'>>

interface WorldEvent extends SimEvent {
  readonly markets: LiveMarket[]
}

/** The world behind both simulated venues. `step` must be called about every 20 ms. */
export class SimulatedWorld implements World {
  readonly seed: number
  readonly startedMs: TimeMs
  /** Start time of the first run of the world. */
  readonly bornMs: TimeMs
  readonly wallets: readonly SimWallet[]
  readonly #clock: Clock
  readonly #random: Random
  readonly #plan: Plan
  readonly #outlines: Calendar['outlines']
  readonly #messagesPerMs: number
  readonly #trading: Trading
  readonly #flow: OrderFlow
  readonly #faults: BookFaults
  readonly #gaps: Gaps
  readonly #isHalted: (market: SimMarket) => boolean
  readonly #open = new ActivityTree<LiveMarket>()
  readonly #due = new DueList<Due>()
  readonly #listedEvents = { a: new Set<WorldEvent>(), b: new Set<WorldEvent>() }
  /** Null: the world is small. */
  readonly #lazy: LazyEvents | null
  /** The listed markets by native id, without those that are not planned yet. */
  readonly #markets = { a: new Map<string, LiveMarket>(), b: new Map<string, LiveMarket>() }
  readonly #events = { a: new Map<string, WorldEvent>(), b: new Map<string, WorldEvent>() }
  readonly #marketsByToken = new Map<string, LiveMarket>()
  readonly #newBooks = new Set<LiveMarket>()
  /** Cleared when an event is added or removed. */
  readonly #eventLists: Record<SimVenue, readonly SimEvent[] | null> = { a: null, b: null }
  readonly #marketLists: Record<SimVenue, readonly SimMarket[] | null> = { a: null, b: null }
  readonly #unlisted = new Map<string, LiveMarket>()
  readonly #tapes: { readonly a: TradeTape; readonly b: TradeTape }
  #listeners: readonly ((change: WorldChange) => void)[] = []
  #messagesDue = 0
  #flowedToMs: TimeMs
  #burst: { readonly messagesPerMs: number; readonly untilMs: number } | null = null
  #plannedToMs: TimeMs
  #sweptSecond: number
  /**
   * True during order flow. Only these changes count towards the rate, so that the close of many books does not stop
   * the flow.
   */
  #isMetered = false
  #isPaused = false

  constructor(options: {
    seed: number
    messagesPerSecond: number
    plan: Plan
    faults: Faults
    clock: Clock
    random: Random
    earlier?: { readonly bornMs: number; readonly startedMs: number } | null
    tradeCountMax?: number
    gapsPerMinute?: number
    isHalted?: (market: SimMarket) => boolean
  }) {
    const { seed, clock, random } = options
    const earlier = options.earlier ?? null
    this.seed = seed
    this.#clock = clock
    this.#random = random
    this.#plan = options.plan
    this.#isHalted = options.isHalted ?? (() => false)
    this.#messagesPerMs = options.messagesPerSecond / SECOND_MS
    const nowMs = clock.nowMs()
    // Ids depend on the start, so the start is after that of the last run even if the clock was set back.
    this.startedMs = timeMs(Math.max(nowMs, (earlier?.startedMs ?? 0) + 1))
    this.bornMs = earlier === null ? this.startedMs : timeMs(earlier.bornMs)
    this.#flowedToMs = nowMs
    this.#plannedToMs = nowMs
    this.#sweptSecond = Math.floor(nowMs / SECOND_MS)
    const onDrop = (market: SimMarket, count: number): void => {
      const { venue, nativeId } = market.listing
      const live = this.#markets[venue].get(nativeId) ?? this.#unlisted.get(nativeId)
      live?.dropTrades(count)
    }
    const tape = { countMax: options.tradeCountMax ?? TRADES_MAX, onDrop }
    this.#tapes = { a: new TradeTape(tape), b: new TradeTape(tape) }
    const ids = new RunIds({ seed, startedMs: this.startedMs })
    const bornIds = new RunIds({ seed, startedMs: this.bornMs })
    const wallets = new WalletPool({ ids: bornIds, random })
    this.wallets = wallets.all
    const emit = (change: WorldChange): void => this.#emit(change)
    this.#trading = new Trading({ random, wallets, ids, emit })
    this.#flow = new OrderFlow({ random, trading: this.#trading, emit })
    this.#faults = new BookFaults({ faults: options.faults, emit })
    this.#gaps = new Gaps({
      ...{ seed, startedMs: this.startedMs, perMinute: options.gapsPerMinute ?? 0 },
      ...{
        flow: this.#flow,
        pairs: (isIncluded) => this.#pairs(isIncluded),
        events: () => this.#exclusiveGroups(),
      },
    })
    const outlines = options.plan.outlines ?? null
    this.#outlines = outlines
    this.#lazy =
      outlines === null
        ? null
        : new LazyEvents({
            context: this,
            eventNumbered: (venue, number) => options.plan.eventNumbered(venue, number),
            onPlanned: (event) => this.#register(event),
          })
    if (outlines === null) {
      const planned = options.plan.eventsAt(nowMs).toSorted(byCreation)
      for (const event of planned) this.#admit(event, null)
    } else {
      for (const outline of outlines.at(nowMs)) this.#admitOutline(outline, null)
    }
  }

  nowMs(): TimeMs {
    return this.#clock.nowMs()
  }

  /**
   * Generates trades and results of the days before the start and emits them to the listeners. Must be called before
   * the first step.
   */
  emitPast(): void {
    const ofVenue = (venue: SimVenue) =>
      [...this.#listedEvents[venue]].flatMap(({ markets }) => markets)
    inventPast({
      markets: { a: ofVenue('a'), b: ofVenue('b') },
      trading: this.#trading,
      random: this.#random,
      nowMs: this.startedMs,
      tradesPerVenue: this.#lazy === null ? PAST_TRADES : PAST_TRADES_LARGE,
      emit: (change) => this.#emit(change),
    })
  }

  step(): void {
    if (this.#isPaused) return
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#plannedToMs >= SECOND_MS) {
      const fromMs = this.#plannedToMs
      this.#plannedToMs = nowMs
      if (this.#outlines === null) {
        for (const event of this.#plan.createdBetween(fromMs, nowMs)) this.#admit(event, nowMs)
      } else {
        for (const outline of this.#outlines.between(fromMs, nowMs)) {
          this.#admitOutline(outline, nowMs)
        }
      }
    }
    for (let due = this.#due.takeDue(nowMs); due !== null; due = this.#due.takeDue(nowMs)) {
      this.#happen(due, nowMs)
    }
    const second = Math.floor(nowMs / SECOND_MS)
    if (second > this.#sweptSecond) {
      this.#sweptSecond = second
      this.#sweep(second, nowMs)
    }
    this.#gaps.step(nowMs)
    this.#runFlow(nowMs)
  }

  get gaps(): readonly SimGap[] {
    return this.#gaps.planned
  }

  /** Stops all changes, so that tests can compare states exactly. Requests are still answered. */
  pause(): void {
    this.#isPaused = true
  }

  /** Continues from the current time. Status changes that became due during the pause occur at the next step. */
  resume(): void {
    this.#isPaused = false
    this.#flowedToMs = this.#clock.nowMs()
  }

  /** Adds this many messages, evenly over `forMs`, instead of an unfinished burst. */
  burst(messages: number, forMs: number): void {
    this.#burst = { messagesPerMs: messages / forMs, untilMs: this.#clock.nowMs() + forMs }
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  events(venue: SimVenue): readonly SimEvent[] {
    const events = this.#eventLists[venue] ?? [...this.#listedEvents[venue]]
    this.#eventLists[venue] = events
    return events
  }

  markets(venue: SimVenue): readonly SimMarket[] {
    const markets = this.#marketLists[venue] ?? this.events(venue).flatMap((each) => each.markets)
    this.#marketLists[venue] = markets
    return markets
  }

  market(venue: SimVenue, nativeId: string): SimMarket | null {
    const find = () => this.#markets[venue].get(nativeId)
    return this.#planned(venue, nativeId, find) ?? this.#migrated(venue, nativeId)
  }

  /** Searches all markets, because requests for these ids are rare. */
  #migrated(venue: SimVenue, nativeId: string): SimMarket | null {
    const ending = venue === 'a' ? legacyEnding(nativeMarketId(nativeId)) : null
    if (ending === null) return null
    const candidates = this.#lazy?.candidates('a', nativeId).flatMap(({ markets }) => markets)
    const origin = (candidates ?? this.markets('a')).find(({ listing }) =>
      listing.nativeId.endsWith(ending),
    )
    return origin === undefined ? null : migratedOf(origin)
  }

  /** In a large world, plans the events that may have the id if nothing is found. */
  #planned<Found>(venue: SimVenue, id: string, find: () => Found | undefined): Found | undefined {
    const found = find()
    if (found !== undefined || this.#lazy === null) return found
    this.#lazy.planCandidates(venue, id)
    return find()
  }

  /** The listed markets whose texts have been read. In a small world, all listed markets. */
  plannedMarkets(venue: SimVenue): IterableIterator<SimMarket> {
    return this.#markets[venue].values()
  }

  /** Markets whose book was created by a read or a change. */
  *touchedMarkets(venue: SimVenue): IterableIterator<SimMarket> {
    for (const market of this.#markets[venue].values()) if (market.isTouched) yield market
  }

  marketOfToken(token: string): { market: SimMarket; outcomeIndex: 0 | 1 } | null {
    const market = this.#planned('a', token, () => this.#marketsByToken.get(token))
    if (market === undefined) return null
    return { market, outcomeIndex: market.listing.tokens[0] === token ? 0 : 1 }
  }

  event(venue: SimVenue, nativeId: string): SimEvent | null {
    return this.#planned(venue, nativeId, () => this.#events[venue].get(nativeId)) ?? null
  }

  trades(venue: SimVenue): readonly SimTrade[] {
    return this.#tapes[venue].trades
  }

  droppedTradeCount(venue: SimVenue): number {
    return this.#tapes[venue].droppedCount
  }

  tradesFromMs(venue: SimVenue): TimeMs {
    const oldest = this.droppedTradeCount(venue) === 0 ? undefined : this.trades(venue)[0]
    return timeMs(Math.max(this.bornMs, oldest?.atMs ?? 0))
  }

  /** The event of an unlisted market is planned again. Null: the market never existed. */
  marketOf(at: { venue: SimVenue; nativeId: string; eventNumber: number }): LiveMarket | null {
    const { venue, nativeId, eventNumber } = at
    const lazy = this.#lazy?.numbered(venue, eventNumber) ?? null
    if (lazy !== null && !lazy.isPlanned) this.#lazy?.prepare(lazy)
    const listed = this.#markets[venue].get(nativeId) ?? this.#unlisted.get(nativeId)
    if (listed !== undefined) return listed
    const event = this.#unlistedEvent(venue, eventNumber)
    for (const market of event?.markets ?? []) this.#unlisted.set(market.listing.nativeId, market)
    return this.#unlisted.get(nativeId) ?? null
  }

  #unlistedEvent(venue: SimVenue, number: number): WorldEvent | null {
    if (this.#lazy === null) {
      const planned = this.#plan.eventNumbered(venue, number)
      return planned === null ? null : this.#eventOf(planned)
    }
    const outline = this.#outlines?.numbered(venue, number) ?? null
    return outline === null ? null : this.#lazy.addUnlisted(outline)
  }

  bookCreated(market: LiveMarket): void {
    this.#newBooks.add(market)
    if (this.#newBooks.size <= UNCHANGED_BOOKS_MAX) return
    const [oldest] = this.#newBooks
    if (oldest === undefined) return
    this.#newBooks.delete(oldest)
    oldest.releaseBook()
  }

  /**
   * Adds retained trades of earlier runs. `droppedCount` trades were dropped before them. Listeners do not receive
   * them.
   */
  restoreTrades(venue: SimVenue, trades: readonly SimTrade[], droppedCount: number): void {
    this.#tapes[venue].skip(droppedCount)
    for (const trade of trades) {
      if (trade.market instanceof LiveMarket) trade.market.addTrade(trade)
      this.#tapes[venue].add(trade)
    }
  }

  teams(): ReturnType<World['teams']> {
    return this.#plan.teams()
  }

  onChange(listener: (change: WorldChange) => void): () => void {
    // A new array, because a listener may unsubscribe during a change.
    this.#listeners = [...this.#listeners, listener]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
  }

  #isMoving(market: LiveMarket): boolean {
    return market.slot >= 0 && !this.#isHalted(market)
  }

  #exclusiveGroups() {
    const groups: (readonly LiveMarket[])[] = []
    for (const market of this.#markets.a.values()) {
      const { event, linked } = market
      const isComplete = event.isMutuallyExclusive && linked.length === event.markets.length
      if (!isComplete || linked[0] !== market || linked.length < 2) continue
      if (linked.every((one) => this.#isMoving(one))) groups.push(linked)
    }
    return groups
  }

  #pairs(isIncluded: (kind: SimPairKind) => boolean) {
    const pairs: { readonly a: LiveMarket; readonly b: LiveMarket }[] = []
    const isMoving = (market: LiveMarket): boolean => this.#isMoving(market)
    for (const a of this.#markets.a.values()) {
      const { pair } = a.listing
      if (pair === null || !isIncluded(pair.kind) || !isMoving(a)) continue
      const b = this.#markets.b.get(pair.otherNativeId)
      if (b !== undefined && isMoving(b)) pairs.push({ a, b })
    }
    return pairs
  }

  #clearLists(venue: SimVenue): void {
    this.#eventLists[venue] = null
    this.#marketLists[venue] = null
  }

  /** `nowMs` is null at the start, when no changes are emitted. */
  #admit(planned: PlannedEvent, nowMs: TimeMs | null): void {
    const { venue, nativeId } = planned.event
    if (this.#events[venue].has(nativeId)) return
    const event = this.#eventOf(planned)
    if (event.markets.length === 0) return
    this.#register(event)
    this.#list(event, nowMs)
  }

  #admitOutline(outline: EventOutline, nowMs: TimeMs | null): void {
    const event = this.#lazy?.add(outline) ?? null
    if (event !== null) this.#list(event, nowMs)
  }

  #eventOf(planned: PlannedEvent): WorldEvent {
    const markets: LiveMarket[] = []
    const event: WorldEvent = { ...planned.event, markets }
    const fairs = fairPricesOf(this.seed, planned)
    planned.markets.forEach(({ listing, prior }, index) => {
      const fair = fairs[index]
      if (fair === undefined) return
      const facts = { prior, fair }
      markets.push(new LiveMarket({ listing, event, factsOf: () => facts, context: this }))
    })
    return event
  }

  /** Makes an event and its markets known by their ids, and links markets with the same question. */
  #register(event: WorldEvent): void {
    const { venue, markets } = event
    if (event.isMutuallyExclusive) for (const market of markets) market.linked = markets
    if (event instanceof LazyEvent && !event.isListed) return
    this.#events[venue].set(event.nativeId, event)
    for (const market of markets) {
      const { listing } = market
      this.#markets[venue].set(listing.nativeId, market)
      if (venue === 'a') for (const token of listing.tokens) this.#marketsByToken.set(token, market)
      this.#link(market)
    }
  }

  #list(event: WorldEvent, nowMs: TimeMs | null): void {
    const { venue, markets } = event
    this.#listedEvents[venue].add(event)
    this.#clearLists(venue)
    for (const market of markets) {
      if (nowMs !== null) market.status = 'unopened'
      if (market.status === 'open') this.#join(market)
    }
    this.#await({ kind: 'change', event })
    if (nowMs === null) return
    for (const market of markets) this.#emit({ kind: 'created', market, atMs: nowMs })
  }

  #link(market: LiveMarket): void {
    const { venue, pair } = market.listing
    if (pair === null || !SAME_QUESTION_KINDS.has(pair.kind)) return
    const counterpart = this.#markets[venue === 'a' ? 'b' : 'a'].get(pair.otherNativeId)
    if (counterpart === undefined || counterpart.linked === market.linked) return
    const linked = [...new Set([...counterpart.linked, ...market.linked])]
    for (const one of linked) one.linked = linked
  }

  #happen(due: Due, nowMs: TimeMs): void {
    if (due.kind === 'change') {
      const { event } = due
      const momentMs = nextChangeMs(event)
      if (momentMs === null) return this.#drop(event)
      for (const market of event.markets) {
        if (nextMomentMs(market) === momentMs) this.#moveOn(market, nowMs)
      }
      this.#await(due)
    } else {
      const { market } = due.withdrawal
      this.#faults.restore(due.withdrawal, nowMs)
      if (market.status !== 'open') return
      this.#join(market)
      this.#settle(market, nowMs)
    }
  }

  #moveOn(market: LiveMarket, nowMs: TimeMs): void {
    const life = LIFE[market.status]
    if (life === null) return
    if (market.status === 'open') {
      this.#leave(market)
      endTrading(market, nowMs, (change) => this.#emit(change))
    }
    market.status = life.next
    market.updatedMs = nowMs
    this.#emit({ kind: life.moment, market, atMs: nowMs })
    if (life.next === 'open') {
      this.#join(market)
      this.#settle(market, nowMs)
    }
  }

  /** Waits for the next status change of the event's markets. After the last one, waits for the end of the listing. */
  #await(due: Extract<Due, { kind: 'change' }>): void {
    const { event } = due
    const endMs = () => Math.max(...event.markets.map(({ listing }) => listing.resolveMs))
    this.#due.add(nextChangeMs(event) ?? endMs() + LISTED_AFTER_MS, due)
  }

  #join(market: LiveMarket): void {
    if (market.slot < 0) market.slot = this.#open.add(market, market.listing.activity)
  }

  #leave(market: LiveMarket): void {
    if (market.slot >= 0) this.#open.remove(market.slot)
    market.slot = -1
  }

  #drop(event: WorldEvent): void {
    const { venue } = event
    this.#clearLists(venue)
    this.#listedEvents[venue].delete(event)
    if (event instanceof LazyEvent) {
      this.#lazy?.drop(event)
      if (!event.isPlanned) return
    }
    this.#events[venue].delete(event.nativeId)
    for (const { listing } of event.markets) {
      this.#markets[venue].delete(listing.nativeId)
      for (const token of listing.tokens) this.#marketsByToken.delete(token)
    }
  }

  #sweep(second: number, nowMs: TimeMs): void {
    for (const withdrawal of this.#faults.sweep(this.#open, second, nowMs)) {
      this.#leave(withdrawal.market)
      this.#due.add(nowMs + WITHDRAWN_MS, { kind: 'restore', withdrawal })
    }
  }

  /** Runs the order flow since the last step. Each action uses messages from the number that is due. */
  #runFlow(nowMs: TimeMs): void {
    const elapsedMs = Math.min(nowMs - this.#flowedToMs, FLOW_MS_MAX)
    // All messages of a burst are sent, even if a step is late.
    const burstMs = Math.min(nowMs, this.#burst?.untilMs ?? 0) - this.#flowedToMs
    const ofBurst = Math.max(burstMs, 0) * (this.#burst?.messagesPerMs ?? 0)
    this.#flowedToMs = nowMs
    if (elapsedMs <= 0) return
    const balanceMax = FLOW_MS_MAX * this.#messagesPerMs
    const due = Math.min(this.#messagesDue + elapsedMs * this.#messagesPerMs, balanceMax)
    this.#messagesDue = due + ofBurst
    // Some actions have no effect and use no messages, so the number of tries is limited.
    this.#isMetered = true
    for (let tries = 100 + 4 * this.#messagesDue; this.#messagesDue > 0 && tries > 0; tries -= 1) {
      const market = this.#open.draw(this.#random)
      if (market === null) break
      if (!this.#settle(market, nowMs)) continue
      this.#flow.act(market, nowMs)
    }
    this.#isMetered = false
  }

  /**
   * Cancels quotes of all linked markets that the fair price has passed, so that the books of linked markets never
   * offer arbitrage. Returns false if one of the markets is halted or its book is held.
   */
  #settle({ linked }: LiveMarket, nowMs: TimeMs): boolean {
    if (linked.some((market) => market.gap?.isHeld === true || this.#isHalted(market))) return false
    for (const market of linked) if (market.slot >= 0) this.#flow.settle(market, nowMs)
    return true
  }

  #emit(change: WorldChange): void {
    if (this.#isMetered) this.#messagesDue -= messageCost(change)
    if (change.kind === 'trade') this.#tapes[change.market.listing.venue].add(change.trade)
    for (const listener of this.#listeners) listener(change)
  }
}

function nextChangeMs({ markets }: WorldEvent): TimeMs | null {
  let nextMs: TimeMs | null = null
  for (const market of markets) {
    const momentMs = nextMomentMs(market)
    if (momentMs !== null && (nextMs === null || momentMs < nextMs)) nextMs = momentMs
  }
  return nextMs
}

function byCreation(left: PlannedEvent, right: PlannedEvent): number {
  return left.event.createdMs - right.event.createdMs || left.event.number - right.event.number
}

/**
 * Number of stream messages that a client with all channels receives for a change. Lifecycle messages do not count. See
 * Market channel and Activity stream in engine/venues/polymarket/README.md, and Messages in
 * engine/venues/kalshi/README.md.
 */
export function messageCost(change: WorldChange): number {
  const isPolymarket = change.market.listing.venue === 'a'
  if (change.kind === 'levels') return isPolymarket ? 1 : change.changes.length
  if (change.kind !== 'trade') return 0
  // Venue a: last_trade_price, the books of both tokens, orders_matched, and a `trades` row per participant.
  if (isPolymarket) return 1 + 2 + 1 + 1 + change.trade.makers.length
  // Venue b: the trade, and a delta per level.
  return 1 + change.changes.length
}
