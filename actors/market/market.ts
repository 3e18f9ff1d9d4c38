// One market's actor. Handles one event at a time and publishes the changes in the same event-loop tick. An idle market
// releases recent prices and transactions but retains its book. The next event or read loads them from storage.

import type {
  BookChangeEvent,
  BookReplaced,
  BookSnapshotEvent,
  CountedChannel,
  FiguresEvent,
  LastPriceEvent,
  LevelChange,
  MarketPrice,
  MarketStatusEvent,
  TickSizeEvent,
  TradeEvent,
} from '../../engine/events.ts'
import { checkpointEveryMs, marketIdleMsMax, messageAgeMsMax } from '../../engine/limits.ts'
import { type MarketRef, mayFollow, resolutionAfter } from '../../engine/market/market.ts'
import {
  type FiguresState,
  figuresOfListing,
  MarketFigures,
  withFigures,
} from '../../engine/market/trading-figures.ts'
import { firstRetainedMs } from '../../engine/retention-time.ts'
import { complement, type TimeMs, timeMs, type UsdMicros } from '../../engine/units.ts'
import type { VolumeUnit } from '../../engine/venue-table.ts'
import type { ListingDetails, MarketSummary, StoredTrade } from '../../storage/contract/storage.ts'
import { hasLifecycleChange } from '../catalog/changes.ts'
import type { Actor, ReceiveResult } from '../system.ts'
import type { BookLevels, BookView, MarketView, SliceQuery } from '../views.ts'
import { MarketBook } from './book.ts'
import {
  type BothTimes,
  DELAYED,
  type MarketMessage,
  type MarketParts,
  type MarketVenue,
  type VoidMessage,
} from './parts.ts'
import { MarketPrices, type PriceInputs } from './prices.ts'
import { type CompletedTrade, MarketTrades } from './trades.ts'
import { publishLifecycle, publishStale, statusEvent } from './updates.ts'

const TRADE_WEIGHT = 4
const CHECKSUM_EVERY = 50
const LOST = { reason: 'messages_lost', isOfVenue: false } as const
const LATE = { reason: 'delayed', isOfVenue: false } as const

export class MarketActor implements Actor<MarketMessage>, MarketView {
  // Fields that every event uses come first, so that they share a CPU cache line.
  readonly #parts: MarketParts
  readonly #book: MarketBook
  #version = 0
  #wasLive = false
  #stale: Pick<VoidMessage, 'reason' | 'isOfVenue'> = LOST
  readonly ref: MarketRef
  summary: MarketSummary
  readonly #prices: MarketPrices
  readonly #trades: MarketTrades
  /** Null while the figures equal those of the summary. */
  #figures: MarketFigures | null = null
  /** Time of the figures in a later listing that equalled the summary. Null: there was none. */
  #confirmedAtMs: TimeMs | null = null
  #isFiguresRead = false
  #areFiguresUnsaved = false
  #isRecalled = false
  #resolvedAtMs: TimeMs | null = null
  #listedAtMs: TimeMs
  #activeAtMs: TimeMs
  #checkpointAtMs: TimeMs
  #isDirty = false

  constructor(ref: MarketRef, summary: MarketSummary, parts: MarketParts) {
    this.ref = ref
    this.summary = summary
    this.#parts = parts
    this.#book = new MarketBook(ref.number, parts.storage.snapshots)
    this.#prices = new MarketPrices(ref.number, parts.storage.ticks)
    this.#trades = new MarketTrades(ref, parts.storage)
    this.#activeAtMs = parts.nowMs()
    this.#listedAtMs = this.#activeAtMs
    this.#checkpointAtMs = this.#activeAtMs
  }

  get name(): string {
    return `market ${this.ref.id}`
  }

  get #venue(): MarketVenue | null {
    return this.#parts.venue(this.ref.venue)
  }

  receive(message: MarketMessage, waitedMs = 0): ReceiveResult {
    switch (message.kind) {
      case 'bookChange':
        if (waitedMs > messageAgeMsMax) this.onLate()
        this.#changeBook(message)
        break
      case 'bookSnapshot':
        if (waitedMs > messageAgeMsMax) this.#ignoreLate()
        else this.#takeSnapshot(message)
        break
      case 'trade':
        this.#takeTrade(message)
        break
      case 'tradeParticipant':
        this.#publishCompleted(this.#trades.addParticipant(message))
        break
      case 'lastPrice':
        this.#takeLastPrice(message)
        break
      case 'figures':
        this.#takeFigures(message)
        break
      case 'confirmed':
        this.#confirm(message.atMs)
        break
      case 'tickSize':
        this.#takeTickSize(message)
        break
      case 'marketStatus':
        this.#takeStatus(message)
        break
      case 'summary':
        this.#takeSummary(message.summary)
        break
      case 'void':
        if (message.reason === 'not_covered') this.#discardBook()
        else this.#markStale(message)
        break
    }
    this.#change()
    this.#checkLive()
  }

  #markStale(stale: Pick<VoidMessage, 'reason' | 'isOfVenue'>): void {
    this.#stale = stale
    this.#book.saveSnapshot(this.#parts.nowMs())
    this.#book.markStale(stale.reason)
  }

  #discardBook(): void {
    if (!this.#book.hasBook) return
    this.#markStale({ reason: 'not_covered', isOfVenue: false })
    // Subscribers may still have the levels of a stale book, so the discarded book is published as stale again.
    this.#wasLive = true
    this.#checkLive()
    this.#book.discard()
    if (this.summary.status === 'resolved') return
    const nowMs = this.#parts.nowMs()
    this.#touch(nowMs)
    this.#reprice({ venueTimeMs: nowMs, receivedAtMs: nowMs })
  }

  #checkLive(): void {
    const { isLive } = this.#book
    const stale = this.#stale
    this.#stale = LOST
    if (this.#wasLive === isLive) return
    this.#wasLive = isLive
    if (isLive || this.summary.status === 'resolved') return
    const times = this.#book.times(this.#parts.nowMs())
    const sinceMs = this.#book.confirmedAtMs ?? times.receivedAtMs
    publishStale(this.#parts.publisher, this.ref, times, { ...stale, sinceMs })
  }

  restart(): void {
    this.#change()
    this.#stale = { reason: 'restarted', isOfVenue: false }
    this.#book.markStale('restarted')
    this.#prices.reset()
    this.#trades.release()
    this.#checkLive()
    this.#venue?.requestResync(this.ref, 'actor_restarted')
  }

  /** Messages about the book. They may overtake trades, which do not affect the book. */
  isPerishable({ kind }: MarketMessage): boolean {
    return (
      kind === 'bookChange' || kind === 'bookSnapshot' || kind === 'void' || kind === 'tickSize'
    )
  }

  /** A later snapshot replaces dropped book messages. Trades are never dropped. */
  isDroppable({ kind }: MarketMessage): boolean {
    return kind === 'bookChange' || kind === 'bookSnapshot'
  }

  /** Memory of a message in units of one changed level (about 200 bytes). */
  weightOf(message: MarketMessage): number {
    if (message.kind === 'bookChange') return message.changes.length
    if (message.kind === 'bookSnapshot') return message.bids.length + message.asks.length + 1
    return message.kind === 'trade' ? TRADE_WEIGHT : 1
  }

  /** Ignores book changes until a snapshot arrives. */
  onLate(): void {
    if (!this.#book.isLive) return
    this.#book.saveSnapshot(this.#parts.nowMs())
    this.#book.markLate()
    this.#change()
    this.#stale = LATE
    this.#checkLive()
    this.#venue?.requestResync(this.ref, DELAYED)
  }

  /** A late snapshot would show an old book as live, so a new one is requested. */
  #ignoreLate(): void {
    this.#parts.ignored('book_snapshot_late')
    if (this.#book.isLive) this.onLate()
    else if (this.summary.status !== 'resolved') this.#venue?.requestResync(this.ref, DELAYED)
  }

  onOverflow(lost: MarketMessage): void {
    this.#change()
    if (lost.kind === 'trade') this.#venue?.backFillTrades(lost.venueTimeMs)
    this.#stale = LATE
    this.#book.markStale(LATE.reason)
    this.#checkLive()
    this.#venue?.requestResync(this.ref, 'mailbox_full')
  }

  #changeBook(event: BookChangeEvent): void {
    if (!this.#book.isLive) return this.#parts.ignored('book_change_before_snapshot')
    const { changes, mismatch } = this.#book.change(event)
    if (changes.length === 0) this.#parts.ignored('book_unchanged')
    else this.#publishBook(event, changes)
    if (mismatch !== null) this.#venue?.requestResync(this.ref, mismatch)
  }

  #takeSnapshot(event: BookSnapshotEvent): void {
    if (this.summary.status === 'resolved') return this.#parts.ignored('book_after_resolution')
    if (!event.isInOrder) return this.#checkBook(event)
    if (!this.#isCovered) return this.#parts.ignored('book_not_covered')
    this.#recall()
    if (this.#book.isLive) {
      const changes = this.#book.merge(event)
      if (changes.length > 0) this.#publishBook(event, changes)
      else this.#parts.ignored('book_unchanged')
    } else if (this.#book.revive(event)) {
      this.#touch(event.receivedAtMs)
      this.#publishConfirmed(event, true)
      this.#prices.noteNext()
      this.#reprice(event)
    } else {
      this.#publishReplaced(event, this.#book.replace(event))
    }
    if (!this.#book.isLive) this.#venue?.requestResync(this.ref, 'crossed_snapshot')
  }

  #checkBook(event: BookSnapshotEvent): void {
    if (!this.#book.isLive) return this.#parts.ignored('book_check_while_stale')
    switch (this.#book.check(event)) {
      case 'equal':
        this.#parts.ignored('book_check_equal')
        return this.#publishConfirmed(event, false)
      case 'older':
        return this.#parts.ignored('book_check_older')
      case 'differs':
        this.#parts.ignored('book_check_differs')
        return this.#venue?.checkAgain(this.ref)
      case 'contradicted':
        this.#markStale({ reason: 'contradicted_by_rest', isOfVenue: false })
        this.#venue?.requestResync(this.ref, 'differs_from_rest')
    }
  }

  #publishConfirmed({ venueTimeMs, receivedAtMs }: BothTimes, wasStale: boolean): void {
    const { publisher } = this.#parts
    const { ref: market } = this
    const stamp = publisher.latest('orderbook', market.number)
    const times = { venueTimeMs, receivedAtMs }
    publisher.publish({ kind: 'bookConfirmed', market, ...times, ...stamp, wasStale })
  }

  #publishReplaced(event: BookSnapshotEvent, reason: BookReplaced['reason']): void {
    this.#touch(event.receivedAtMs)
    const { publisher } = this.#parts
    const stamp = publisher.latest('orderbook', this.ref.number)
    const { venueTimeMs, receivedAtMs } = event
    const times = { venueTimeMs, receivedAtMs }
    publisher.publish({ kind: 'bookReplaced', market: this.ref, ...times, reason, ...stamp })
    this.#prices.noteNext()
    this.#reprice(event)
  }

  #publishBook(event: BothTimes, changes: readonly LevelChange[]): void {
    this.#touch(event.receivedAtMs)
    const { publisher } = this.#parts
    const { ref: market } = this
    const { offset, seq } = publisher.stamp('orderbook', market.number)
    const checksum = seq % CHECKSUM_EVERY === 0 ? this.#book.levels.checksum() : null
    const { venueTimeMs, receivedAtMs } = event
    const times = { venueTimeMs, receivedAtMs }
    publisher.publish({ kind: 'book', market, offset, seq, ...times, changes, checksum })
    this.#reprice(event)
  }

  #takeTickSize(event: TickSizeEvent): void {
    this.summary = { ...this.summary, tickMicros: event.tickMicros }
    if (!event.retainsBook) this.#markStale({ reason: 'tick_changed', isOfVenue: false })
    this.#change()
    this.#parts.changed(this)
  }

  #takeTrade(event: TradeEvent): void {
    const outcomeIndex = this.summary.outcomes.findIndex((outcome) => outcome.id === event.outcome)
    if (outcomeIndex < 0) return this.#parts.ignored('trade_unknown_outcome')
    if (this.#trades.has(event.nativeId)) return this.#parts.ignored('trade_duplicate')
    const { event: unstored, completed } = this.#trades.unstored(event, outcomeIndex)
    this.#publishCompleted(completed)
    if (unstored === null) return this.#parts.ignored('trade_of_known_transaction')
    this.#storeTrade(unstored, outcomeIndex)
  }

  #storeTrade(event: TradeEvent, outcomeIndex: number): void {
    this.#recall()
    const isLive = event.source !== 'history'
    if (!isLive && this.#isBeyondRetention(event))
      return this.#parts.ignored('trade_before_retention')
    const stamp = isLive ? this.#parts.publisher.stamp('trades', this.ref.number) : null
    const trade = this.#trades.add(event, outcomeIndex, stamp, this.#parts.run)
    const isLast = !trade.isBlock && this.#prices.noteTrade(trade, event.receivedAtMs)
    this.#touch(event.receivedAtMs)
    if (stamp === null) {
      this.#parts.publisher.publishPastTrade(this.ref, trade, event.receivedAtMs)
      if (isLast) this.#reprice(event)
      return
    }
    this.#openFigures().count(trade, trade.receivedAtMs)
    this.#areFiguresUnsaved = true
    this.#parts.changed(this)
    const { venueTimeMs, receivedAtMs } = event
    const times = { venueTimeMs, receivedAtMs }
    this.#parts.publisher.publish({ kind: 'trade', market: this.ref, ...stamp, ...times, trade })
    this.#publishCompleted(this.#trades.makersOf(trade))
    if (!trade.isBlock) this.#reprice(event)
  }

  #publishCompleted(completed: readonly CompletedTrade[]): void {
    for (const { trade, completion } of completed) {
      this.#parts.publisher.publishCompletedTrade(this.ref, trade, completion)
    }
  }

  /** Retention may have removed this trade. The bar of its hour is retained and would count the trade twice. */
  #isBeyondRetention({ venueTimeMs }: TradeEvent): boolean {
    const { nowMs, retentionDays } = this.#parts
    return venueTimeMs < firstRetainedMs(nowMs(), retentionDays)
  }

  #takeLastPrice(event: LastPriceEvent): void {
    this.#recall()
    const isFirst = this.summary.outcomes[0]?.id === event.outcome
    this.#prices.noteLastPrice(isFirst ? event.price : complement(event.price), event)
    this.#touch(event.receivedAtMs)
    this.#reprice(event)
  }

  #takeFigures(event: FiguresEvent): void {
    const { venueTimeMs, receivedAtMs, tradesToMs: atMs } = event
    const lastPriceAtMs = timeMs(Math.min(venueTimeMs, receivedAtMs))
    if (!this.#openFigures().take({ ...event, atMs, lastPriceAtMs })) {
      return this.#parts.ignored('figures_older')
    }
    this.#areFiguresUnsaved = true
    this.#touch(receivedAtMs)
    this.#parts.changed(this)
    if (event.lastPrice === null) return
    this.#prices.noteLastPrice(event.lastPrice, event)
    this.#reprice(event)
  }

  #confirm(atMs: TimeMs): void {
    this.#isFiguresRead = true
    this.#figures?.take(figuresOfListing({ ...this.present, figuresAtMs: atMs }, atMs))
    this.#confirmedAtMs = atMs
    this.#parts.changed(this)
    // The listing is newer than the last trade, so the listing sets the price of a market without a book.
    const isPricedByTrade = this.#prices.source === 'last_trade' && !this.#isCovered
    if (isPricedByTrade) this.#reprice({ venueTimeMs: atMs, receivedAtMs: this.#parts.nowMs() })
  }

  #openFigures(): MarketFigures {
    if (this.#figures === null) {
      const venueTotal = this.#isFiguresRead ? this.summary.volumeTotal : null
      this.#figures = new MarketFigures(this.figures, this.volumeUnit, venueTotal)
    }
    return this.#figures
  }

  #reprice(event: BothTimes): void {
    this.#recall()
    const price = this.#prices.settle(this.#priceInputs(this.summary), event.receivedAtMs)
    if (price === null) return
    this.#change()
    const { publisher } = this.#parts
    const { ref: market } = this
    const { venueTimeMs, receivedAtMs } = event
    const { offset, seq } = publisher.stamp('prices', market.number)
    publisher.publish({ kind: 'price', market, offset, seq, venueTimeMs, receivedAtMs, price })
  }

  #takeStatus(event: MarketStatusEvent): void {
    const before = this.summary
    const { status, resolutionStatus = null, settlementPrice, venueTimeMs: settledAtMs } = event
    if (!mayFollow(before.status, status)) return this.#parts.ignored('status_out_of_order')
    const stated = { status, resolutionStatus, settlementPrice, settledAtMs }
    const after = resolutionAfter(before, stated)
    // A second message with the same status may contain a result that the first message lacked.
    if (
      after.status === before.status &&
      after.resolutionStatus === before.resolutionStatus &&
      after.settlementPrice === before.settlementPrice
    ) {
      return
    }
    this.#changeSummary({ ...before, ...after, isUnopened: false }, event)
  }

  #takeSummary(summary: MarketSummary): void {
    const now = this.#parts.nowMs()
    if (!mayFollow(this.summary.status, summary.status)) this.#parts.ignored('status_out_of_order')
    const listed = this.#figured(summary, now)
    // A status message may have set the result while the listing was read.
    const changed = { ...listed, ...resolutionAfter(this.summary, summary) }
    this.#changeSummary(changed, { venueTimeMs: now, receivedAtMs: now })
  }

  #figured(listed: MarketSummary, nowMs: TimeMs): MarketSummary {
    const isLower = (listed.volumeTotal ?? 0) < (this.summary.volumeTotal ?? 0)
    if (this.#figures !== null || isLower) {
      const isTaken = this.#openFigures().take(figuresOfListing(listed, nowMs))
      if (!isTaken) this.#parts.ignored('figures_older')
    }
    this.#isFiguresRead = true
    this.#confirmedAtMs = null
    return this.#figures === null ? listed : withFigures(listed, this.#figures)
  }

  #changeSummary(summary: MarketSummary, event: BothTimes): void {
    const before = this.summary
    this.summary = summary
    this.#listedAtMs = event.receivedAtMs
    if (this.#areFiguresUnsaved) this.checkpoint(event.receivedAtMs)
    else this.#parts.storage.markets.putSummary(this.ref.number, this.present)
    this.#change()
    this.#parts.changed(this)
    if (summary.status === before.status) {
      const isSamePrice = summary.settlementPrice === before.settlementPrice
      // A venue may publish the settlement price after the settlement.
      const isSettled = summary.status === 'resolved' && !isSamePrice
      if (isSettled || hasLifecycleChange(before, summary)) {
        const what = { event: isSettled ? 'settled' : 'changed', facts: summary } as const
        publishLifecycle(this.#parts.publisher, this.ref, event, what)
      }
      if (isSamePrice && !this.#isMoved(before)) return
      this.#touch(event.receivedAtMs)
      return this.#reprice(event)
    }
    this.#touch(event.receivedAtMs)
    if (summary.status === 'resolved') this.#end(event)
    const what = { event: statusEvent(summary), facts: summary }
    publishLifecycle(this.#parts.publisher, this.ref, event, what)
    this.#reprice(event)
  }

  #isMoved(before: MarketSummary): boolean {
    const { lastPrice, bestBid, bestAsk } = this.summary
    const isSame =
      before.lastPrice === lastPrice && before.bestBid === bestBid && before.bestAsk === bestAsk
    if (isSame) return false
    this.#recall()
    const [old, now] = [this.#priceInputs(before), this.#priceInputs(this.summary)]
    return this.#prices.isMovedBy(old, now)
  }

  #end(event: BothTimes): void {
    this.#resolvedAtMs = event.receivedAtMs
    const changes = this.#book.empty(event)
    if (changes.length > 0) this.#publishBook(event, changes)
  }

  #touch(nowMs: TimeMs): void {
    this.#change()
    this.#activeAtMs = nowMs
    this.#isDirty = true
  }

  /** Called before publishing, so that a watcher that reads the market sees the new version. */
  #change(): void {
    this.#version += 1
  }

  /** Called about every five seconds. Writes data that is due and releases the memory of an idle market. */
  tick(nowMs: TimeMs): void {
    this.#book.saveSnapshot(nowMs)
    if (this.#isDirty && nowMs - this.#checkpointAtMs >= checkpointEveryMs) this.checkpoint(nowMs)
    if (nowMs - this.#activeAtMs >= marketIdleMsMax) this.#sleep(nowMs)
  }

  checkpoint(nowMs: TimeMs): void {
    this.#checkpointAtMs = nowMs
    this.#book.saveSnapshot(nowMs)
    if (!this.#isDirty) return
    // Without this call, a checkpoint before this run's first book would delete the stored book.
    this.#recall()
    this.#isDirty = false
    this.#prices.save()
    // Figures are written together with the time of the newest trade, because `Catalog.load` adds all later trades.
    if (this.#areFiguresUnsaved) {
      this.#parts.storage.markets.putSummary(this.ref.number, this.present)
      this.#areFiguresUnsaved = false
    }
    this.#parts.storage.checkpoints.put(this.ref.number, {
      writtenAtMs: nowMs,
      ...this.#prices.checkpointFields(),
      ...this.#book.checkpointFields(),
    })
  }

  #sleep(nowMs: TimeMs): void {
    this.checkpoint(nowMs)
    this.#prices.release()
    this.#trades.release()
    this.#book.levels.trim()
    this.#activeAtMs = nowMs
  }

  /** Restores the last run's price, and its book as not live. Runs before this run's first snapshot, price or read. */
  #recall(): void {
    if (this.#isRecalled) return
    this.#isRecalled = true
    const checkpoint = this.#parts.storage.checkpoints.get(this.ref.number)
    const newest = this.#trades.newestPriced()
    if (checkpoint === null && newest === null) return
    this.#change()
    const { status, settlementPrice } = this.summary
    const isCovered = this.#isCovered
    if (status !== 'resolved' || settlementPrice === null) {
      this.#prices.recall(checkpoint, newest, isCovered)
    }
    if (checkpoint !== null && status !== 'resolved' && isCovered) this.#book.recall(checkpoint)
  }

  get volume24h(): UsdMicros {
    return (this.#figures ?? this.summary).volume24h
  }

  get volumeTotal(): UsdMicros | null {
    return (this.#figures ?? this.summary).volumeTotal
  }

  get volumeUnit(): VolumeUnit {
    return this.#parts.volumeUnit(this.ref.venue)
  }

  get figures(): FiguresState {
    if (this.#figures !== null) return this.#figures
    const { summary } = this
    const confirmed = this.#confirmedAtMs
    return {
      lastPrice: summary.lastPrice,
      lastPriceAtMs: null,
      previousPrice: summary.previousPrice,
      volume24h: summary.volume24h,
      volumeTotal: summary.volumeTotal,
      openInterest: summary.openInterest,
      figuresAtMs: confirmed ?? summary.figuresAtMs,
      dayFiguresAtMs: confirmed ?? summary.dayFiguresAtMs,
      excess: 0,
    }
  }

  get present(): MarketSummary {
    return this.#figures === null ? this.summary : withFigures(this.summary, this.#figures)
  }

  /** Adds a stored trade to the figures at startup. The last run did not save the trade in the figures. */
  countUnsaved(trade: StoredTrade): void {
    this.#recall()
    this.#openFigures().count(trade, trade.receivedAtMs)
    this.#prices.noteTrade(trade, trade.receivedAtMs)
    this.#areFiguresUnsaved = true
    this.#isDirty = true
  }

  get version(): number {
    this.#recall()
    return this.#version + (this.#venue?.delay.changeCount ?? 0)
  }

  get tradesVersion(): number {
    return this.#trades.version
  }

  get isBehind(): boolean {
    return this.#venue?.delay.isBehind === true
  }

  /** Time at which this run received the resolution. Null if the market is unresolved or resolved in an earlier run. */
  get resolvedAtMs(): TimeMs | null {
    return this.#resolvedAtMs
  }

  get bookConfirmedAtMs(): TimeMs | null {
    this.#recall()
    return this.#book.confirmedAtMs
  }

  get isBookLive(): boolean {
    return this.#book.isLive
  }

  price(): MarketPrice {
    this.#recall()
    return this.#prices.present(this.#priceInputs(this.summary), this.#listedAtMs)
  }

  priceAt(atMs: TimeMs) {
    return this.#prices.before(atMs)
  }

  book(): BookView {
    return { ...this.#levels(), checksum: this.#book.levels.checksum() }
  }

  levels(levelsMax: number): BookLevels {
    return this.#levels(levelsMax)
  }

  #levels(levelsMax?: number): BookLevels {
    this.#recall()
    const stamp = this.#parts.publisher.latest('orderbook', this.ref.number)
    return this.#book.view(stamp, this.summary.status === 'resolved', levelsMax)
  }

  /** A live book stays covered until the venue reports the end of its coverage. */
  get #isCovered(): boolean {
    return this.#book.isLive || this.#venue?.isCovered(this.ref.number) !== false
  }

  #priceInputs(summary: MarketSummary): PriceInputs {
    const listedAtMs = Math.max(summary.figuresAtMs ?? 0, this.#confirmedAtMs ?? 0)
    return { summary, book: this.#book, isCovered: this.#isCovered, listedAtMs }
  }

  trades(query: SliceQuery) {
    return this.#trades.slice(query)
  }

  snapshots({ after, ...range }: SliceQuery) {
    const market = this.ref.number
    return this.#parts.storage.snapshots.range({ ...range, market, after: after?.timeMs ?? null })
  }

  bars(query: Parameters<MarketView['bars']>[0]) {
    return this.#parts.storage.bars.range({ ...query, market: this.ref.number })
  }

  oldestTradeMs(): TimeMs | null {
    return this.#parts.storage.trades.oldestMs(this.ref.number)
  }

  oldestSnapshotMs(): TimeMs | null {
    return this.#parts.storage.snapshots.oldestMs(this.ref.number)
  }

  seq(channel: CountedChannel): number {
    return this.#parts.publisher.latest(channel, this.ref.number).seq
  }

  details(): ListingDetails {
    const stored = this.#parts.storage.markets.details(this.ref.number)
    return stored ?? { description: null, native: {} }
  }
}
