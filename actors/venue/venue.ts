// The actor of one venue. Decides which markets are watched, tracks whether the feed is live, and publishes each change
// of the feed's state. After a loss it marks books stale, requests them until they are live, and fetches missed trades.

import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../engine/clock.ts'
import { COVERAGE_REASONS, type CoveragePolicy } from '../../engine/coverage-policy.ts'
import type {
  FeedEvent,
  FeedState,
  FeedStatus,
  LifecycleUpdate,
  MarketSeenEvent,
  StaleReason,
  TradeEvent,
  TradesSource,
  Update,
  VenueEvent,
} from '../../engine/events.ts'
import type { NativeMarketId, OutcomeId, VenueKey } from '../../engine/ids.ts'
import { messageAgeMsCalm, messageAgeMsMax, priceAgeMsMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Publisher, Watcher } from '../../engine/publisher.ts'
import { runInSlicesFromNow, type SlicedWork } from '../../engine/time-slices.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import { SuspectAnswerError, SuspectAnswers } from '../../engine/venues/answer-checks.ts'
import type { DriftEntry } from '../../engine/venues/drift/drift.ts'
import type {
  CatalogPage,
  Readable,
  Venue,
  VenuePastPrices,
  WatchedMarket,
} from '../../engine/venues/venue.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import type { Catalog, KnownMarket } from '../catalog/catalog.ts'
import { SECOND_CHECK_MS } from '../market/book.ts'
import { DELAYED } from '../market/parts.ts'
import { publishStale } from '../market/updates.ts'
import type { Actor, ReceiveResult } from '../system.ts'
import type { VenueView } from '../views.ts'
import { TradeBackFill } from './back-fill.ts'
import { type BookCheckLimits, BookChecks } from './book-checks.ts'
import { BookCoverage } from './book-coverage.ts'
import { CatalogReader } from './catalog-reader.ts'
import { type OwnDelay, VenueDelay } from './delay.ts'
import type { DelayWatch, DelayWatcher } from './delay-watch.ts'
import { FeedIntervals } from './feed-intervals.ts'
import { StaleBooks } from './stale-books.ts'
import { TradeChecks } from './trade-checks.ts'
import { UNSETTLED_MS, UnsettledMarkets } from './unsettled.ts'

/** Events of the feed, and markets and trades that the catalogue does not know yet. */
export type VenueMessage = FeedEvent | MarketSeenEvent | TradeEvent

interface VenueActorParts {
  readonly venue: Venue
  readonly platform: string
  readonly catalog: Catalog
  readonly publisher: Publisher
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly delays: Pick<DelayWatch, 'delayMs'>
  readonly isHandled: () => boolean
  readonly bookLimits: BookCheckLimits
  /** `because`: source of the policy, for the log. */
  readonly coverage: { readonly policy: CoveragePolicy; readonly because: string }
  readonly priorityMarkets: () => Iterable<KnownMarket>
}

const NO_DATA_MS_MAX = 30_000
/** Maximum trades of unknown markets in memory. Further ones are dropped and announced as a gap. */
const HELD_TRADES_MAX = 10_000
/** Maximum time that a trade waits for its market, several times the duration of a market request. */
const HELD_MS_MAX = 300_000
const STATE_EVERY_MS = 1_000
/** If REST has at least this many trades in this time (two polls) and the stream none, the stream is lost. */
const NO_STREAM_TRADES_MS = 120_000
const NO_STREAM_TRADES_MIN = 20
/** Trades in this time after a reconnect may be missing from the stream. */
const TRADES_UP_MS = 5_000
/** Keeps the feed stale for this time after the last late book, so that its state does not flap. */
const LATE_FOR_MS = 3_000
/** Two days. A market that closed earlier and is unresolved is requested after the first crawl. */
const OVERDUE_MS = 172_800_000
/** Markets per step of the search for overdue ones, about 0.1 ms of work. */
const OVERDUE_PER_STEP = 256
const REST_DIFFERS = 'the book differs from REST'
/**
 * If more books than this, or all of at least two live books, become stale at once, one `status` update announces all
 * of them.
 */
const STALE_EACH_MAX = 100
/** Delay after that update until the books that are still stale are announced one by one. */
const STALE_TOGETHER_MS = 60_000

export class VenueActor implements Actor<VenueMessage>, VenueView, Watcher, DelayWatcher {
  readonly venue: VenueKey
  readonly platform: string
  readonly name: string
  readonly #parts: VenueActorParts
  readonly #suspectAnswers: SuspectAnswers
  readonly #reader: CatalogReader
  readonly #backFill: TradeBackFill
  readonly #intervals: FeedIntervals
  readonly #stale = new StaleBooks()
  readonly coverage: BookCoverage
  #coverageBecause: string
  readonly #bookChecks: BookChecks
  readonly #tradeChecks = new TradeChecks()
  readonly #unsettled = new UnsettledMarkets()
  readonly #live = new Set<MarketNumber>()
  readonly #lost = new Set<MarketNumber>()
  readonly #together = new Set<KnownMarket>()
  #togetherReason: StaleReason = 'disconnected'
  #togetherSinceMs = 0
  readonly delay = new VenueDelay()
  #lateAtMs = Number.NEGATIVE_INFINITY
  readonly #held = new Map<NativeMarketId, TradeEvent[]>()
  readonly #resyncs = new Map<string, { readonly causes: Count; readonly books: Count }>()
  #heldCount = 0
  /** The last published status, without `lagMs`, `delayMs` and `staleBooks`, which change constantly. */
  #published: Pick<FeedStatus, 'state' | 'reason' | 'completeToMs' | 'tradesSource'>
  #newestTradeMs = 0
  /** Trades since `sinceMs`. `fetched` counts only trades over REST that the stream should have delivered. */
  #tradeCounts = { sinceMs: 0, stream: 0, fetched: 0 }
  #upSinceMs = Number.POSITIVE_INFINITY
  /** Time of the last run's newest trade. Null when the trades since then were requested. */
  #unrequestedSinceMs: TimeMs | null
  #downSinceMs: TimeMs | null = null
  #isCrawled = false
  #stopTimer: () => void = () => undefined

  constructor(parts: VenueActorParts) {
    this.#parts = parts
    this.venue = parts.venue.key
    this.platform = parts.platform
    this.name = `venue ${parts.platform}`
    const { clock, metrics } = parts
    const log = parts.log.child({ venue: parts.platform })
    const { drift } = parts.venue
    const suspectAnswers = new SuspectAnswers({ metrics, log, venue: this.venue, drift })
    this.#suspectAnswers = suspectAnswers
    this.#reader = new CatalogReader({
      ...{ clock, log, suspectAnswers, catalog: parts.venue.catalog },
      onPage: (page) => this.#takePage(page),
      expected: () => this.#openMarkets(),
      onOtherEnvironment: (knownCount, got) => this.#abandonMissing(knownCount, got),
    })
    this.#backFill = new TradeBackFill({
      ...{ clock, log, metrics, suspectAnswers, feed: parts.venue.feed, venue: this.venue },
      oldestStoredMs: () => parts.storage.trades.extentOfVenue(this.venue)?.oldestMs ?? null,
      newestStoredMs: (untilMs) => this.#newestStoredMs(untilMs),
      onLost: (fromMs, toMs) => this.#announceGap(fromMs, toMs, null),
      isHandled: parts.isHandled,
      committed: () => parts.storage.committed(),
    })
    this.#unrequestedSinceMs = this.#lastRunsTradeTime()
    const { tradesSource } = this
    this.#published = { state: 'down', reason: null, completeToMs: null, tradesSource }
    const { coverage } = parts.storage
    this.#intervals = new FeedIntervals({ venue: this.venue, coverage, clock })
    this.#bookChecks = new BookChecks({
      ...{
        clock,
        metrics,
        venue: this.venue,
        limits: parts.bookLimits,
        priorityMarkets: parts.priorityMarkets,
      },
      read: (outcomes) => parts.venue.feed.readBooks(outcomes),
      isPolled: () => parts.venue.feed.health().bookDelayMs > 0,
    })
    this.#coverageBecause = parts.coverage.because
    this.coverage = new BookCoverage({
      ...{ clock, venue: this.venue, catalog: parts.catalog, feed: parts.venue.feed },
      policy: parts.coverage.policy,
      priorityMarkets: parts.priorityMarkets,
      onCovered: (markets) => this.#noteCovered(markets),
      onUncovered: (markets) => this.#noteUncovered(markets),
    })
    this.#addCoverageGauges()
    const name = `books_stale_${this.venue}`
    metrics.gauge(name, 'Books that wait for a snapshot.', () => this.#stale.count)
    const { venue } = this
    const late =
      'Books that wait for a snapshot because their changes waited too long in this process.'
    metrics.gauge(`books_late_${venue}`, late, () => this.#stale.lateCount)
    const behind = '1 while messages of the venue stay unread for too long.'
    metrics.gauge(`venue_behind_${venue}`, behind, () => Number(this.delay.isBehind))
    const lag = 'Recent delay from the venue to this process; 0 before the first book change.'
    metrics.gauge(`venue_lag_ms_${venue}`, lag, () => this.lagMs ?? 0)
  }

  /** Watches the known markets, then reads the catalogue. Calls `onCrawled` after the first crawl. */
  start(onCrawled: () => void): void {
    const { feed, drift } = this.#parts.venue
    drift.start()
    feed.start()
    const ownMarkets: KnownMarket[] = []
    for (const market of this.#parts.catalog.entries()) {
      if (market.actor.ref.venue === this.venue) ownMarkets.push(market)
    }
    this.#watch(ownMarkets)
    this.#reader.start(() => {
      this.#isCrawled = true
      void runInSlicesFromNow(this.#parts.clock, this.#requestOverdue())
      void this.coverage.compute().then(() => this.#logCoverage())
      onCrawled()
    })
    this.#backFill.start()
    this.#stopTimer = this.#parts.clock.every(STATE_EVERY_MS, () => this.#everySecond())
  }

  async stop(): Promise<void> {
    this.#stopTimer()
    this.#bookChecks.stop()
    this.coverage.stop()
    this.#saveTradeTime()
    this.#intervals.end()
    this.#parts.venue.drift.stop()
    await Promise.all([this.#reader.stop(), this.#backFill.stop(), this.#parts.venue.feed.stop()])
  }

  receive(message: VenueMessage): ReceiveResult {
    switch (message.kind) {
      case 'feedUp':
      case 'feedDown':
      case 'feedGap':
        // Only a lost connection ends the interval. A gap in single books is repaired within seconds.
        if (message.kind === 'feedDown') this.#intervals.end()
        if (message.stream === 'books') this.#takeBooksEvent(message)
        else this.#takeTradesEvent(message)
        break
      case 'marketSeen':
        this.#reader.request(message.market)
        break
      case 'trade':
        this.#hold(message)
        break
    }
  }

  restart(): void {}

  onOverflow(lost: VenueMessage): void {
    if (lost.kind === 'trade') this.#announceGap(lost.venueTimeMs, lost.venueTimeMs, 1)
  }

  /** Measures the delay and counts trades. Must be called with every event of this venue before the event is routed. */
  note(event: VenueEvent): void {
    if (event.kind === 'bookChange') this.delay.note(event)
    if (event.kind !== 'trade') return
    if (event.venueTimeMs > this.#newestTradeMs) this.#newestTradeMs = event.venueTimeMs
    if (event.source === 'stream') this.#tradeCounts.stream += 1
    else if (event.venueTimeMs > this.#upSinceMs + TRADES_UP_MS) this.#tradeCounts.fetched += 1
  }

  #checkTradeStream(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const { sinceMs, stream, fetched } = this.#tradeCounts
    if (nowMs - sinceMs < NO_STREAM_TRADES_MS) return
    this.#tradeCounts = { sinceMs: nowMs, stream: 0, fetched: 0 }
    if (stream > 0 || fetched < NO_STREAM_TRADES_MIN || this.state !== 'live') return
    this.#parts.venue.drift.note('trades', 'none by stream', `${fetched} over REST`)
  }

  /**
   * Called ten times a second. Requests a few late books if no message waits long, so that their snapshots cause no new
   * delay. Reconnects to drop a backlog that stayed unread for long.
   */
  onDelay(own: OwnDelay): void {
    this.delay.sample(own)
    this.#checkTrades()
    const areTradesLate = own.retainedMs > messageAgeMsMax || own.areTradesPaused
    const areBooksLate = this.#stale.lateCount > 0 || this.delay.isBehind
    if (areBooksLate || areTradesLate) this.#lateAtMs = own.nowMs
    if (this.delay.takeReconnect(own)) this.#parts.venue.feed.reconnect('read too late')
    const hasRoom = own.waitedMs <= messageAgeMsCalm && own.pausedMs === 0 && !this.delay.isBehind
    if (hasRoom) this.#resyncBooks(this.#stale.takeDeferred(own.nowMs), DELAYED)
    if (this.#isLate !== (this.#published.state === 'stale')) this.#publishState()
  }

  get #isLate(): boolean {
    return this.#parts.clock.monotonicMs() - this.#lateAtMs < LATE_FOR_MS
  }

  read(what: Readable): void {
    this.#parts.venue.feed.read(what)
  }

  #takeBooksEvent(event: FeedEvent): void {
    if (event.kind === 'feedUp') return
    const markets = event.outcomes
      .flatMap((outcome) => this.#parts.catalog.entryOfOutcome(this.venue, outcome) ?? [])
      .filter(({ actor }) => this.isCovered(actor.ref.number))
    const live = markets.filter(({ actor }) => actor.isBookLive)
    const isAll = live.length > 1 && live.length >= this.#live.size
    const isOfVenue = isAll || live.length > STALE_EACH_MAX
    const reason = staleReasonOf(event)
    if (isOfVenue) {
      this.#togetherReason = reason
      this.#togetherSinceMs = this.#parts.clock.monotonicMs()
      for (const market of live) this.#together.add(market)
    }
    for (const market of markets) {
      market.send({ kind: 'void', reason, isOfVenue })
      this.#noteStale(market)
      // The market may handle the `void` message later.
      const { number } = market.actor.ref
      if (this.#live.delete(number)) this.#lost.add(number)
    }
    this.#publishState()
    if (event.kind !== 'feedGap') return
    const outcomes = markets.flatMap(({ actor }) => actor.summary.outcomes[0]?.id ?? [])
    if (outcomes.length > 0) this.#resync(outcomes, event.reason)
  }

  #checkTrades(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const { contradicted, suspect } = this.#tradeChecks.takeDue(nowMs)
    for (const market of suspect) this.#bookChecks.requestCheck(market)
    const outcomes: OutcomeId[] = []
    for (const market of contradicted) {
      market.send({ kind: 'void', reason: 'contradicted_by_trade', isOfVenue: false })
      this.#noteStale(market)
      const outcome = market.actor.summary.outcomes[0]?.id
      if (outcome !== undefined) outcomes.push(outcome)
    }
    if (outcomes.length > 0) this.#resync(outcomes, 'contradicted_by_trade')
  }

  /** After a common outage, announces books that are still stale although other books recovered. */
  #announceLeft(): void {
    const sinceMs = this.#parts.clock.monotonicMs() - this.#togetherSinceMs
    const isOver = this.#together.size > 0 && sinceMs >= STALE_TOGETHER_MS
    if (!isOver || this.#ownReason !== null || this.#together.size >= this.#live.size) return
    for (const { actor } of this.#together) {
      if (actor.isBookLive || actor.summary.status === 'resolved') continue
      const nowMs = this.#parts.clock.nowMs()
      const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
      const stale = { reason: this.#togetherReason, isOfVenue: false }
      const confirmedAtMs = actor.bookConfirmedAtMs ?? nowMs
      publishStale(this.#parts.publisher, actor.ref, times, { ...stale, sinceMs: confirmedAtMs })
    }
    this.#together.clear()
  }

  checkAgain({ venue, nativeId }: MarketRef): void {
    const market = this.#coveredMarket(venue, nativeId)
    if (market === null) return
    this.#bookChecks.settle(market.actor.ref.number)
    this.#bookChecks.requestCheck(market, SECOND_CHECK_MS)
  }

  /**
   * Reads a book over REST. Resolves when the result arrived or after two seconds. Null if too many callers wait or the
   * book is not live.
   */
  confirmBook({ venue, nativeId }: MarketRef): Promise<void> | null {
    const market = this.#parts.catalog.entryOfNative(venue, nativeId)
    return market === null || !market.actor.isBookLive ? null : this.#bookChecks.confirm(market)
  }

  requestBookCheck({ venue, nativeId }: MarketRef): void {
    const market = this.#coveredMarket(venue, nativeId)
    if (market !== null) this.#bookChecks.requestCheck(market)
  }

  #coveredMarket(venue: VenueKey, nativeId: NativeMarketId): KnownMarket | null {
    const market = this.#parts.catalog.entryOfNative(venue, nativeId)
    return market !== null && this.isCovered(market.actor.ref.number) ? market : null
  }

  requestResync({ venue, nativeId }: MarketRef, reason: string): void {
    const market = this.#coveredMarket(venue, nativeId)
    if (market === null) return
    const outcome = market.actor.summary.outcomes[0]?.id
    if (outcome === undefined) return
    if (reason === DELAYED) return this.#stale.defer(market)
    if (!market.actor.isBookLive) this.#noteStale(market)
    this.#resync([outcome], reason)
  }

  #noteStale(market: KnownMarket): void {
    if (market.actor.summary.status !== 'open') return
    this.#stale.add(market, this.#parts.clock.monotonicMs())
  }

  #resync(outcomes: readonly OutcomeId[], reason: string): void {
    let counts = this.#resyncs.get(reason)
    if (counts === undefined) {
      const { metrics } = this.#parts
      const labels = { venue: this.venue, reason: reason.slice(0, 40) }
      const causes = 'Causes for which books were requested again, such as gaps of a subscription.'
      counts = {
        causes: metrics.count('resyncs_total', causes, labels),
        books: metrics.count('resync_books_total', 'Books requested again.', labels),
      }
      this.#resyncs.set(reason, counts)
    }
    counts.causes.inc()
    counts.books.inc(outcomes.length)
    this.#parts.venue.feed.resync(outcomes)
  }

  #takeTradesEvent(event: FeedEvent): void {
    if (event.kind === 'feedDown') {
      this.#downSinceMs ??= event.sinceMs
      return
    }
    // If the first connection broke before any trade arrived, the gap begins at the last run's newest trade.
    const lastRunMs = event.sinceMs === null ? this.#lastRunsTradeTime() : this.#unrequestedSinceMs
    const sinceMs = [event.sinceMs, lastRunMs].filter((ms) => ms !== null)
    if (sinceMs.length > 0) this.#backFill.fillFrom(timeMs(Math.min(...sinceMs)))
    if (event.kind !== 'feedUp') return
    this.#unrequestedSinceMs = null
    this.#downSinceMs = null
    this.#upSinceMs = this.#parts.clock.nowMs()
  }

  #lastRunsTradeTime(): TimeMs | null {
    const stored = this.#parts.storage.marks.get(this.#tradeMark)
    return stored === null ? null : timeMs(stored)
  }

  #newestStoredMs(untilMs: TimeMs): TimeMs | null {
    const { venue } = this
    const upTo = { fromMs: timeMs(0), toMs: untilMs, after: null, order: 'desc', limit: 1 } as const
    const [newest] = this.#parts.storage.trades.rangeOfVenue({ ...upTo, venue })
    return newest?.trade.timeMs ?? null
  }

  get #tradeMark(): string {
    return `newest_trade_ms_${this.venue}`
  }

  #saveTradeTime(): void {
    if (this.#newestTradeMs === 0) return
    const nowMs = this.#parts.clock.nowMs()
    // The mark must stay before the start of every unread range. If the process were killed, the next run would fetch
    // only trades after the mark. A live trade moves the mark on arrival, while the `feedUp` message that requests the
    // range may still wait in the mailbox.
    const unreadMs = this.#backFill.unreadSinceMs ?? nowMs
    const unrequestedMs = this.#unrequestedSinceMs ?? nowMs
    const markMs = Math.min(
      this.#newestTradeMs,
      nowMs,
      unreadMs,
      unrequestedMs,
      this.#heldSinceMs(),
    )
    this.#parts.storage.marks.put(this.#tradeMark, markMs)
  }

  #hold(event: TradeEvent): void {
    if (this.#heldCount >= HELD_TRADES_MAX) {
      return this.#announceGap(event.venueTimeMs, event.venueTimeMs, 1)
    }
    const held = this.#held.get(event.market)
    if (held === undefined) this.#held.set(event.market, [event])
    else held.push(event)
    this.#heldCount += 1
    this.#reader.request(event.market)
  }

  /** Venue time of the oldest held trade. Infinity if there is none. Held trades are only in memory. */
  #heldSinceMs(): number {
    const times = [...this.#held.values()].flatMap((held) => held.map((one) => one.venueTimeMs))
    return Math.min(...times)
  }

  #takeHeld(market: NativeMarketId): readonly TradeEvent[] {
    const held = this.#held.get(market)
    if (held === undefined) return []
    this.#held.delete(market)
    this.#heldCount -= held.length
    return held
  }

  #announceHeld(): void {
    if (!this.#isCrawled) return
    const nowMs = this.#parts.clock.nowMs()
    for (const [market, [first]] of this.#held) {
      // Entries are in order of their first trade, so all later ones are newer.
      if (first !== undefined && nowMs - first.receivedAtMs < HELD_MS_MAX) return
      const times = this.#takeHeld(market).map((trade) => trade.venueTimeMs)
      const [fromMs, toMs] = [timeMs(Math.min(...times)), timeMs(Math.max(...times))]
      this.#announceGap(fromMs, toMs, times.length)
    }
  }

  #announceGap(fromMs: TimeMs, toMs: TimeMs, count: number | null): void {
    this.#parts.publisher.publish({
      kind: 'gap',
      channel: 'trades',
      market: null,
      venue: this.venue,
      platform: this.platform,
      fromMs,
      toMs,
      count,
    })
  }

  /**
   * The venue serves data of another environment than before, so missing trades cannot be fetched. Announces them as a
   * gap.
   */
  #abandonMissing(knownCount: number, got: number): void {
    const sample = `${knownCount} open markets known, ${got} others listed`
    this.#parts.venue.drift.note('catalogue', 'none of the known markets', sample)
    this.#parts.log.error(
      { venue: this.platform, known: knownCount, listed: got },
      'the venue lists none of the known markets: is the data folder of another environment?',
    )
    this.#backFill.abandon(this.#parts.clock.nowMs())
  }

  backFillTrades(fromMs: TimeMs): void {
    this.#backFill.fillFrom(fromMs)
  }

  #takePage(page: CatalogPage): void {
    const onOlder = (market: NativeMarketId) => {
      this.#suspectAnswers.note(new SuspectAnswerError('market', 'older', market))
      this.#reader.request(market)
    }
    this.#watch(this.#parts.catalog.take(page, onOlder))
    for (const { nativeId } of page.markets) {
      const market = this.#parts.catalog.entryOfNative(this.venue, nativeId)
      // `market` is null if the catalogue does not take the listing because it is too old.
      for (const trade of this.#takeHeld(nativeId)) market?.send(trade)
    }
    // Trades of markets that the venue lists but this process rejects are dropped without a gap.
    for (const nativeId of page.refused ?? []) this.#takeHeld(nativeId)
  }

  /** Markets that every crawl must list: they are open and close in the future. */
  *#openMarkets(): Iterable<NativeMarketId> {
    const nowMs = this.#parts.clock.nowMs()
    for (const { actor } of this.#parts.catalog.entries()) {
      const { venue, status, closeAtMs, nativeId } = actor.summary
      const isOpen = venue === this.venue && status === 'open'
      if (isOpen && (closeAtMs === null || closeAtMs > nowMs)) yield nativeId
    }
  }

  /**
   * Requests overdue markets, and resolved ones whose payout is unknown. A crawl lists only markets that settled in the
   * last days, so after a longer downtime it misses some of them.
   */
  *#requestOverdue(): SlicedWork<void> {
    const nowMs = this.#parts.clock.nowMs()
    let count = 0
    for (const { actor } of this.#parts.catalog.entries()) {
      count += 1
      if (count % OVERDUE_PER_STEP === 0) yield
      const { venue, status, closeAtMs, nativeId, settlementPrice, settledAtMs } = actor.summary
      if (venue !== this.venue) continue
      const endedAtMs = settledAtMs ?? closeAtMs
      if (endedAtMs === null) continue
      const isOverdue =
        status === 'resolved'
          ? settlementPrice === null && endedAtMs > nowMs - UNSETTLED_MS
          : closeAtMs !== null && closeAtMs < nowMs - OVERDUE_MS
      if (isOverdue) this.#reader.request(nativeId)
    }
  }

  #noteUnsettled({ actor }: KnownMarket): void {
    const { nativeId, settlementPrice, settledAtMs, closeAtMs } = actor.summary
    if (settlementPrice !== null) return
    const nowMs = this.#parts.clock.nowMs()
    const isFresh = actor.resolvedAtMs !== null
    const endedAtMs = actor.resolvedAtMs ?? settledAtMs ?? closeAtMs
    if (endedAtMs !== null) this.#unsettled.add(nativeId, { endedAtMs, nowMs, isFresh })
  }

  #requestUnsettled(): void {
    const due = this.#unsettled.takeDue(this.#parts.clock.nowMs(), (market) => {
      const summary = this.#parts.catalog.entryOfNative(this.venue, market)?.actor.summary
      return summary?.status === 'resolved' && summary.settlementPrice === null
    })
    for (const market of due) this.#reader.request(market)
  }

  #watch(markets: readonly KnownMarket[]): void {
    const known: KnownMarket[] = []
    const watched: WatchedMarket[] = []
    for (const market of markets) {
      const { summary } = market.actor
      if (summary.status === 'resolved') {
        this.#noteUnsettled(market)
        continue
      }
      known.push(market)
      watched.push({
        nativeId: summary.nativeId,
        outcomes: summary.outcomes.map((outcome) => outcome.id),
        status: summary.status,
        openAtMs: summary.openAtMs,
        closeAtMs: summary.closeAtMs,
      })
    }
    if (watched.length === 0) return
    this.#parts.venue.feed.watch(watched)
    this.coverage.watch(known)
  }

  /** Whether the market's book is subscribed or polled, or will be because the policy covers all markets. */
  isCovered(market: MarketNumber): boolean {
    return this.coverage.isAll || this.coverage.isCovered(market)
  }

  get coverageBecause(): string {
    return this.#coverageBecause
  }

  setCoverage(policy: CoveragePolicy, because: string): Promise<void> {
    this.#coverageBecause = because
    return this.coverage.setPolicy(policy).then(() => this.#logCoverage())
  }

  #noteCovered(markets: readonly KnownMarket[]): void {
    const nowMs = this.#parts.clock.monotonicMs()
    for (const market of markets) {
      if (market.actor.summary.status === 'open') this.#stale.addFirst(market, nowMs)
      this.#bookChecks.add(market)
    }
  }

  #noteUncovered(markets: readonly KnownMarket[]): void {
    for (const market of markets) {
      this.#stale.remove(market)
      this.#together.delete(market)
      this.#drop(market)
      market.send({ kind: 'void', reason: 'not_covered', isOfVenue: false })
    }
    this.#publishState()
  }

  #logCoverage(): void {
    const { policy, counts } = this.coverage
    const { open, wanted, byReason: reasons } = counts
    this.#parts.log.info(
      { venue: this.platform, policy, because: this.#coverageBecause, open, wanted, reasons },
      `${wanted} of ${open} open markets have live books`,
    )
  }

  #addCoverageGauges(): void {
    const { coverage, venue } = this
    const { metrics } = this.#parts
    const gauges = {
      open: 'Open markets.',
      wanted: 'Open markets whose books the coverage policy or demand requires.',
      covered: 'Open markets whose books are subscribed or polled.',
      live: 'Open markets whose books are live.',
    } as const
    metrics.gauge(`markets_open_${venue}`, gauges.open, () => coverage.counts.open)
    for (const name of ['wanted', 'covered', 'live'] as const)
      metrics.gauge(`books_${name}_${venue}`, gauges[name], () => coverage.counts[name])
    for (const reason of COVERAGE_REASONS) {
      const help = `Markets whose books are required because of: ${reason}.`
      const read = () => coverage.counts.byReason[reason]
      metrics.gauge(`books_wanted_${reason}_${venue}`, help, read)
    }
  }

  onUpdate(update: Update): void {
    switch (update.kind) {
      case 'bookReplaced':
      case 'bookStale':
      case 'bookConfirmed':
      case 'lifecycle':
      case 'trade':
        break
      default:
        return
    }
    if (update.market.venue !== this.venue) return
    const market = this.#parts.catalog.entryOfNative(this.venue, update.market.nativeId)
    if (market === null) return
    if (update.kind === 'trade') {
      this.#tradeChecks.note(market, update, this.#parts.clock.monotonicMs())
    } else if (update.kind === 'lifecycle') this.#takeLifecycle(market, update.event)
    else this.#takeBookUpdate(market, update.kind)
  }

  #takeBookUpdate(market: KnownMarket, kind: 'bookReplaced' | 'bookStale' | 'bookConfirmed'): void {
    const { ref, isBookLive } = market.actor
    this.#bookChecks.settle(ref.number)
    // The message was queued before the market was uncovered.
    if (!this.isCovered(ref.number)) return
    this.coverage.noteLive(ref.number, isBookLive)
    if (kind === 'bookReplaced') this.#stale.remove(market)
    if (isBookLive) {
      this.#stale.remove(market)
      this.#live.add(ref.number)
      this.#lost.delete(ref.number)
      if (this.#together.delete(market) && this.#together.size === 0) this.#publishState()
    } else if (this.#live.delete(ref.number)) this.#lost.add(ref.number)
  }

  #takeLifecycle(market: KnownMarket, event: LifecycleUpdate['event']): void {
    if (event === 'opened') return this.#watch([market])
    if (event !== 'closed' && event !== 'resolved') return
    const { ref } = market.actor
    this.#stale.remove(market)
    this.#lost.delete(ref.number)
    this.#together.delete(market)
    if (event === 'closed') return this.coverage.close(ref.number)
    this.#noteUnsettled(market)
    this.coverage.remove(ref.number)
    this.#drop(market)
    this.#parts.venue.feed.unwatch([ref.nativeId])
  }

  #drop(market: KnownMarket): void {
    const { number } = market.actor.ref
    this.#live.delete(number)
    this.#lost.delete(number)
    this.#bookChecks.remove(market)
    this.#tradeChecks.remove(market)
  }

  #everySecond(): void {
    this.coverage.everySecond()
    this.#resyncBooks(this.#stale.takeDue(this.#parts.clock.monotonicMs()), 'still_stale')
    this.#announceHeld()
    this.#requestUnsettled()
    this.#saveTradeTime()
    this.#checkTradeStream()
    this.#bookChecks.everySecond()
    this.#announceLeft()
    const { state } = this
    const { lastDataAtMs, bookDelayMs } = this.#parts.venue.feed.health()
    // If books are polled less often than this, a price may have changed without a message.
    const isWatched = state === 'live' && bookDelayMs <= priceAgeMsMax
    if (isWatched) this.#intervals.extend(lastDataAtMs, this.coverage.isAll)
    else this.#intervals.end()
    this.#publishState()
  }

  #publishState(): void {
    const { venue, platform, state, reason, completeToMs, tradesSource } = this
    const status = { state, reason, completeToMs, tradesSource }
    if (isDeepStrictEqual(status, this.#published)) return
    this.#published = status
    const { lagMs, delayMs, staleBooks } = this
    const facts = { lagMs, delayMs, staleBooks }
    this.#parts.publisher.publish({ kind: 'status', venue, platform, ...status, ...facts })
  }

  #resyncBooks(markets: readonly KnownMarket[], reason: string): void {
    const outcomes: OutcomeId[] = []
    for (const market of markets) {
      const outcome = market.actor.summary.outcomes[0]?.id
      const isDone = market.actor.isBookLive || market.actor.summary.status !== 'open'
      if (isDone) this.#stale.remove(market)
      else if (outcome !== undefined) outcomes.push(outcome)
    }
    if (outcomes.length > 0) this.#resync(outcomes, reason)
  }

  get state(): FeedState {
    if (this.connectionsOpen === 0) return 'down'
    return this.reason === null ? 'live' : 'stale'
  }

  /** Null if the feed is live. */
  get reason(): StaleReason | null {
    if (this.#together.size > 0) return this.#togetherReason
    return this.#ownReason
  }

  get #ownReason(): StaleReason | null {
    const health = this.#parts.venue.feed.health()
    if (health.connectionsOpen < health.connectionsWanted) return 'disconnected'
    if (health.connectionsOpen === 0) return 'disconnected'
    const sinceDataMs = this.#parts.clock.nowMs() - (health.lastDataAtMs ?? 0)
    if (sinceDataMs > NO_DATA_MS_MAX) return 'silent'
    return this.#isLate ? 'delayed' : null
  }

  /**
   * Number of books that were live and are not live now. Includes all live books while the venue's messages stay
   * unread.
   */
  get staleBooks(): number {
    return this.#lost.size + (this.delay.isBehind ? this.#live.size : 0)
  }

  /**
   * Start of the current interval in which no change of the market's price was missed. Null if the market is not
   * covered or the feed is not live.
   */
  liveSinceOf(market: MarketNumber): TimeMs | null {
    const [feedMs, coveredMs] = [this.liveSinceMs, this.coverage.sinceMs(market)]
    if (feedMs === null || coveredMs === null) return null
    return feedMs > coveredMs ? feedMs : coveredMs
  }

  /** Start of the current interval without a missed message. Null if the feed or its books are not live. */
  get liveSinceMs(): TimeMs | null {
    return this.#intervals.liveSinceMs
  }

  get pastPrices(): VenuePastPrices {
    return this.#parts.venue.pastPrices
  }

  get completeToMs(): TimeMs | null {
    const { missingSinceMs, readToMs } = this.#backFill
    const times = [missingSinceMs, this.#unrequestedSinceMs, this.#downSinceMs]
    const missing = times.filter((ms) => ms !== null)
    return missing.length === 0 ? readToMs : timeMs(Math.min(...missing))
  }

  get lagMs(): number | null {
    return this.delay.lagMs
  }

  get delayMs(): number {
    const { isBehind, excessMs } = this.delay
    return Math.round(Math.max(this.#parts.delays.delayMs, isBehind ? excessMs : 0))
  }

  get connectionsOpen(): number {
    return this.#parts.venue.feed.health().connectionsOpen
  }

  get tradesSource(): TradesSource | null {
    return this.#parts.venue.feed.health().tradesSource
  }

  get connectionsWanted(): number {
    return this.#parts.venue.feed.health().connectionsWanted
  }

  get drift(): readonly DriftEntry[] {
    return this.#parts.venue.drift.entries()
  }
}

function staleReasonOf({ kind, reason }: FeedEvent): StaleReason {
  if (/^(silent|asked for books in vain|no sign of life)/.test(reason)) return 'silent'
  if (reason === 'read too late') return 'delayed'
  if (reason === REST_DIFFERS) return 'contradicted_by_rest'
  return kind === 'feedDown' ? 'disconnected' : 'messages_lost'
}
