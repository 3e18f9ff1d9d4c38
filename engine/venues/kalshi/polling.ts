// The feed without an API key, because Kalshi's socket requires a key. Trades of all markets are polled every two
// seconds. Books are polled within the budget of tokens, recently traded markets more often.

import { LRUCache } from 'lru-cache'
import type { HttpClient } from '../../fetch.ts'
import { type NativeMarketId, type OutcomeId, outcomeId } from '../../ids.ts'
import { takeFirst } from '../../take-first.ts'
import { type TimeMs, timeMs } from '../../units.ts'
import { listIn, SuspectAnswerError } from '../answer-checks.ts'
import { Poller } from '../poller.ts'
import { type FrameTap, feedReporter } from '../socket-feed.ts'
import type {
  FeedHealth,
  Readable,
  TradesRange,
  TradesRead,
  VenueFeed,
  VenueParts,
  WatchedMarket,
} from '../venue.ts'
import type { VenueCounters } from '../venue-counters.ts'
import { BOOKS_PATH, HOT_SHARE, type KalshiBudget } from './budget.ts'
import { parseOrderbookRow } from './catalog/rest-rows.ts'
import type { StatusTimers } from './catalog/status-timers.ts'
import { FiguresReader } from './figures/figures-reader.ts'
import { mapMessage, tickerOf } from './map.ts'
import type { TradeReader } from './trades/trade-reader.ts'

const TRADES_EVERY_MS = 2_000
const BOOKS_EVERY_MS = 1_000
const URGENT_EVERY_MS = 200
const BATCH_TICKERS_MAX = 100
/** Tokens for this many books are reserved for urgent books. */
const RESERVED_BOOKS = 5
/** A call of `cover` with at most this many markets is urgent, because a client waits for them. */
const URGENT_MARKETS_MAX = 100
/** Maximum books to request again outside of the round. The round polls further books. */
const RESYNCS_MAX = 100
const HOT_FOR_MS = 60_000
const HOT_EVERY_MS = 2_000
/** Each poll overlaps the previous poll by this time, because trades may be listed late. */
const OVERLAP_MS = 3_000
/** Trades that were read after a longer pause count as a back-fill. */
const STREAM_AGE_MAX_MS = 10_000
const IDS_MAX = 40_000
const FAILURES_UNTIL_DOWN = 3

interface PollingParts extends VenueParts {
  readonly http: HttpClient
  readonly budget: KalshiBudget
  readonly trades: TradeReader
  readonly timers: StatusTimers
  readonly counters: VenueCounters
  readonly tap: FrameTap | undefined
  readonly tradingEndOf: (market: WatchedMarket) => TimeMs | null
}

type PolledStream = 'books' | 'trades'

interface PollState {
  failures: number
  isUp: boolean
  succeededAtMs: TimeMs | null
}

export class PollingFeed implements VenueFeed {
  readonly #parts: PollingParts
  readonly #stopping = new AbortController()
  readonly #pollers: readonly Poller[]
  readonly #figures: FiguresReader
  /** The open covered markets in the order of their book polls. `#ringPosition` is the position of the current round. */
  #ring: string[] = []
  readonly #polled = new Set<string>()
  readonly #watched = new Set<string>()
  readonly #open = new Set<string>()
  readonly #covered = new Set<string>()
  #ringPosition = -1
  /** `stepCount` and `beganAtMs` are of the current round. `lastMs` is the duration of the previous round. */
  #round = { stepCount: 0, beganAtMs: 0, lastMs: 0 }
  readonly #urgent = new Set<string>()
  readonly #resyncs = new Set<string>()
  /** Recently traded markets, with the times of their last trade and last book poll. */
  readonly #hot = new Map<string, { tradedAtMs: number; fetchedAtMs: number }>()
  readonly #states: Record<PolledStream, PollState> = {
    books: { failures: 0, isUp: false, succeededAtMs: null },
    trades: { failures: 0, isUp: false, succeededAtMs: null },
  }
  readonly #ids = new LRUCache<string, true>({ max: IDS_MAX })
  #tradesFromMs: TimeMs
  #lastDataAtMs: TimeMs | null = null
  #read: Readable = 'all'

  constructor(parts: PollingParts) {
    this.#parts = parts
    const isWatched = (ticker: string) => this.#watched.has(ticker)
    this.#figures = new FiguresReader({ ...parts, source: 'polled', isWatched })
    this.#tradesFromMs = parts.clock.nowMs()
    this.#round.beganAtMs = parts.clock.monotonicMs()
    this.#pollers = [
      this.#poller('trades', () => TRADES_EVERY_MS),
      this.#poller('books', () => (this.#urgent.size > 0 ? URGENT_EVERY_MS : BOOKS_EVERY_MS)),
    ]
  }

  start(): void {
    this.#tradesFromMs = timeMs(this.#parts.clock.nowMs() - OVERLAP_MS)
    this.#figures.start()
    for (const poller of this.#pollers) poller.start()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#parts.timers.stop()
    this.#parts.http.stop()
    await Promise.all([this.#figures, ...this.#pollers].map((each) => each.stop()))
  }

  watch(markets: readonly WatchedMarket[]): void {
    for (const market of markets) {
      const { nativeId, status, openAtMs } = market
      const closeAtMs = this.#parts.tradingEndOf(market)
      this.#parts.timers.set(nativeId, { status, openAtMs, closeAtMs })
      this.#watched.add(nativeId)
      if (status !== 'open') continue
      this.#open.add(nativeId)
      if (this.#covered.has(nativeId)) this.#poll(nativeId)
    }
  }

  unwatch(ids: readonly NativeMarketId[]): void {
    this.uncover(ids)
    for (const id of ids) {
      this.#watched.delete(id)
      this.#open.delete(id)
      this.#parts.timers.remove(id)
    }
    this.#figures.remove(ids)
  }

  cover(ids: readonly NativeMarketId[]): void {
    for (const id of ids) {
      if (!this.#watched.has(id) || this.#covered.has(id)) continue
      this.#covered.add(id)
      // A market that is not open is polled once. Polling resumes when it opens.
      if (this.#open.has(id)) this.#poll(id)
      else this.#resyncs.add(id)
      if (ids.length <= URGENT_MARKETS_MAX) this.#urgent.add(id)
    }
  }

  uncover(ids: readonly NativeMarketId[]): void {
    for (const id of ids) {
      this.#covered.delete(id)
      this.#polled.delete(id)
      this.#urgent.delete(id)
      this.#resyncs.delete(id)
      this.#hot.delete(id)
    }
    this.#ring = this.#ring.filter((ticker) => this.#polled.has(ticker))
  }

  #poll(ticker: string): void {
    if (this.#polled.has(ticker)) return
    this.#polled.add(ticker)
    this.#ring.push(ticker)
  }

  resync(outcomes: readonly OutcomeId[]): void {
    for (const outcome of outcomes) this.#resyncSoon(tickerOf(outcome))
  }

  #resyncSoon(ticker: string): void {
    if (this.#covered.has(ticker) && this.#resyncs.size < RESYNCS_MAX) this.#resyncs.add(ticker)
  }

  read(what: Readable): void {
    this.#read = what
    this.#figures.read(what)
  }

  /** Has no effect, because there is no connection. */
  reconnect(): void {}

  fetchTrades(range: TradesRange): Promise<TradesRead> {
    const { trades, emit } = this.#parts
    return trades.emitRange(range, emit, this.#stopping.signal)
  }

  health(): FeedHealth {
    const { books, trades } = this.#states
    // Without open covered markets no book is polled. The trades alone then show whether the venue responds.
    const hasBooks = this.#ring.length > 0
    return {
      connectionsOpen: Number(hasBooks && books.isUp) + Number(trades.isUp),
      connectionsWanted: hasBooks ? 2 : 1,
      lastDataAtMs: this.#lastDataAtMs,
      lastSignAtMs: this.#lastDataAtMs,
      bookDelayMs: this.#roundMs(),
      tradesSource: null,
    }
  }

  readBooks(outcomes: readonly OutcomeId[]): void {
    this.resync(outcomes)
  }

  #poller(stream: PolledStream, everyMs: () => number): Poller {
    const trouble = `poll_${stream}`
    const onFailure = (reason: string) => this.#noteFailure(stream, reason)
    return new Poller({ ...this.#parts, everyMs, trouble, onFailure }, async (signal) => {
      if (this.#read !== 'all' && this.#read !== stream) return
      const outcome = await (stream === 'trades' ? this.#pollTrades() : this.#pollBooks())
      // A poll that sent no request does not affect the venue's health.
      if (!signal.aborted && outcome === 'answered') this.#noteSuccess(stream)
    })
  }

  async #pollTrades(): Promise<'answered'> {
    const { clock, trades, emit } = this.#parts
    const nowMs = clock.nowMs()
    const isLate = nowMs - this.#tradesFromMs > STREAM_AGE_MAX_MS
    // The range extends into the future, because the venue's clock may be ahead.
    const range = {
      ticker: null,
      fromMs: timeMs(this.#tradesFromMs - OVERLAP_MS),
      toMs: timeMs(nowMs + 60_000),
      source: isLate ? ('backfill' as const) : ('stream' as const),
    }
    const answer = await trades.fetchRange(range, this.#stopping.signal)
    if (this.#stopping.signal.aborted) return 'answered'
    for (const trade of answer.trades) {
      if (this.#ids.get(trade.nativeId) === true) continue
      this.#ids.set(trade.nativeId, true)
      const ticker = tickerOf(trade.outcome)
      const hot = this.#hot.get(ticker)
      if (hot !== undefined) hot.tradedAtMs = nowMs
      else if (this.#covered.has(ticker)) {
        this.#hot.set(ticker, { tradedAtMs: nowMs, fetchedAtMs: 0 })
      }
      if (this.#watched.has(ticker)) this.#figures.noteTrade(ticker)
      emit(trade)
    }
    this.#tradesFromMs = nowMs
    return 'answered'
  }

  async #pollBooks(): Promise<'answered' | 'idle'> {
    const { http, tap, clock, budget } = this.#parts
    const tickers = this.#nextBatch(Math.min(budget.bookCount, BATCH_TICKERS_MAX))
    if (tickers.length === 0) return 'idle'
    budget.takeBooks(tickers.length)
    let answer: unknown
    try {
      const options = { signal: this.#stopping.signal, items: tickers.length }
      answer = await http.getJson(BOOKS_PATH, { tickers }, options)
    } catch (error) {
      for (const ticker of tickers) this.#resyncSoon(ticker)
      throw error
    }
    const receivedAtMs = clock.nowMs()
    if (tap !== undefined) {
      tap({ connection: 1, receivedAtMs, text: JSON.stringify(answer) }, 'b', 'rest_books')
    }
    const rows = listIn(answer, 'orderbooks', 'books')
    // Every open market has a book, possibly empty. A response without any book is suspect.
    if (rows.length === 0 && tickers.some((ticker) => this.#polled.has(ticker))) {
      throw new SuspectAnswerError('books', 'empty', `of ${tickers.length} markets`)
    }
    this.#lastDataAtMs = receivedAtMs
    for (const row of rows) this.#takeBook(row, receivedAtMs)
    return 'answered'
  }

  #takeBook(row: unknown, receivedAtMs: TimeMs): void {
    const { counters, emit } = this.#parts
    const book = parseOrderbookRow(row)
    if (book.kind === 'rejected') return counters.rejected(book.reason, JSON.stringify(row) ?? '')
    if (!this.#covered.has(book.ticker)) return
    const refusal = mapMessage(book, receivedAtMs, emit)
    if (refusal === null) counters.mapped(book.kind)
    else counters.refused(refusal, JSON.stringify(row) ?? '')
  }

  #nextBatch(countMax: number): readonly string[] {
    const nowMs = this.#parts.clock.nowMs()
    const batch = new Set(takeFirst(this.#urgent, countMax))
    for (const ticker of batch) this.#resyncs.delete(ticker)
    const count = Math.max(batch.size, countMax - RESERVED_BOOKS)
    for (const ticker of takeFirst(this.#resyncs, count - batch.size)) batch.add(ticker)
    const hotCountMax = batch.size + Math.floor((count - batch.size) * HOT_SHARE)
    for (const [ticker, hot] of this.#hot) {
      if (nowMs - hot.tradedAtMs > HOT_FOR_MS) this.#hot.delete(ticker)
      else if (batch.size < hotCountMax && nowMs - hot.fetchedAtMs >= HOT_EVERY_MS) {
        batch.add(ticker)
      }
    }
    let steps = 0
    for (; steps < this.#ring.length && batch.size < count; steps += 1) {
      this.#ringPosition = (this.#ringPosition + 1) % this.#ring.length
      const ticker = this.#ring[this.#ringPosition]
      if (ticker !== undefined) batch.add(ticker)
    }
    this.#countRound(steps)
    for (const ticker of batch) {
      const hot = this.#hot.get(ticker)
      if (hot === undefined) continue
      // The end of the map has the markets that were polled last.
      this.#hot.delete(ticker)
      this.#hot.set(ticker, { ...hot, fetchedAtMs: nowMs })
    }
    return [...batch]
  }

  #countRound(steps: number): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const stepCount = this.#round.stepCount + steps
    if (stepCount < this.#ring.length) this.#round.stepCount = stepCount
    else this.#round = { stepCount: 0, beganAtMs: nowMs, lastMs: nowMs - this.#round.beganAtMs }
  }

  /** Maximum age of a book: the duration of the last or of the current round, whichever is longer. */
  #roundMs(): number {
    const underWayMs = this.#parts.clock.monotonicMs() - this.#round.beganAtMs
    return this.#ring.length === 0 ? 0 : Math.max(this.#round.lastMs, underWayMs)
  }

  #noteSuccess(stream: PolledStream): void {
    const state = this.#states[stream]
    const nowMs = this.#parts.clock.nowMs()
    const sinceMs = state.succeededAtMs
    state.failures = 0
    state.succeededAtMs = nowMs
    this.#lastDataAtMs = nowMs
    if (state.isUp) return
    state.isUp = true
    this.#report('feedUp', stream, 'polled', sinceMs)
  }

  /** Three consecutive failures count as a lost connection. */
  #noteFailure(stream: PolledStream, reason: string): void {
    const state = this.#states[stream]
    state.failures += 1
    if (!state.isUp || state.failures < FAILURES_UNTIL_DOWN) return
    state.isUp = false
    this.#report('feedDown', stream, reason, state.succeededAtMs)
  }

  #report(
    kind: 'feedUp' | 'feedDown',
    stream: PolledStream,
    reason: string,
    sinceMs: TimeMs | null,
  ) {
    const connection = stream === 'trades' ? 0 : 1
    const outcomes = stream === 'trades' ? [] : this.#ring.map(outcomeId)
    feedReporter(this.#parts, { venue: 'b', stream, connection })(kind, reason, sinceMs, outcomes)
  }
}
