// Kalshi's live feed with an API key. The feed without a key is in polling.ts.

import type { VenueEvent } from '../../events.ts'
import type { HttpClient } from '../../fetch.ts'
import { addTo } from '../../grouping.ts'
import type { NativeMarketId, OutcomeId } from '../../ids.ts'
import { type TimeMs, timeMs } from '../../units.ts'
import { ConnectQueue } from '../connect-queue.ts'
import { Poller } from '../poller.ts'
import { latest } from '../socket-feed.ts'
import type {
  FeedHealth,
  Readable,
  TradesRange,
  TradesRead,
  VenueFeed,
  VenueParts,
  WatchedMarket,
} from '../venue.ts'
import { BookSocket } from './book/book-socket.ts'
import { SnapshotPace } from './book/snapshot-pace.ts'
import { BOOKS_PATH, type KalshiBudget } from './budget.ts'
import type { KalshiFees } from './catalog/fees.ts'
import { parseOrderbookRow, rowsOf } from './catalog/rest-rows.ts'
import type { StatusTimers } from './catalog/status-timers.ts'
import { FiguresReader } from './figures/figures-reader.ts'
import { TickerSocket } from './figures/ticker-socket.ts'
import type { SocketAccess } from './kalshi-socket.ts'
import { isBlockTrade, mapMessage, tickerOf } from './map.ts'
import type { FeeMessage, LifecycleMessage, TradeMessage } from './messages.ts'
import { parsePriceGrid } from './price-grid.ts'
import type { TradeReader } from './trades/trade-reader.ts'
import { TradeSocket } from './trades/trade-socket.ts'

/** Maximum markets per connection. The venue allows 500,000. The lower value limits the effect of one disconnect. */
const SOCKET_MARKETS_MAX = 5_000
/** A call of `cover` with at most this many markets is urgent, because a client waits for them. */
const URGENT_MARKETS_MAX = 100
const ACCOUNT_EVERY_MS = 3_600_000
const ACCOUNT_AFTER_FAILURE_MS = 600_000
/** A new connection is not reported as missing for this time if other connections deliver data. */
const ADDED_GRACE_MS = 10_000
/** At most four connection attempts a second, and four connections that wait for their first book. */
const CONNECT_LIMITS = {
  apartMs: 250,
  unansweredMax: 4,
  answerWaitMs: 10_000,
  refusedWaitMs: 10_000,
}

interface FeedParts extends VenueParts {
  readonly access: SocketAccess
  readonly http: HttpClient
  readonly budget: KalshiBudget
  readonly trades: TradeReader
  readonly timers: StatusTimers
  readonly fees: KalshiFees
  readonly tradingEndOf: (market: WatchedMarket) => TimeMs | null
}

export class KalshiFeed implements VenueFeed {
  readonly #parts: FeedParts
  readonly #tradeSocket: TradeSocket
  readonly #bookSockets = new Map<number, BookSocket>()
  readonly #connectQueue: ConnectQueue
  readonly #pace: SnapshotPace
  readonly #account: Poller
  readonly #tickers: TickerSocket
  readonly #figures: FiguresReader
  #areTickersStarted = false
  readonly #watched = new Set<string>()
  readonly #socketOf = new Map<string, BookSocket>()
  readonly #full = new Set<BookSocket>()
  readonly #stopping = new AbortController()
  #isStarted = false
  /** Applies to all book sockets, including sockets that are created later. */
  #arePaused = false

  constructor(parts: FeedParts) {
    this.#parts = parts
    const { trades, clock, http, budget } = parts
    const { counters } = parts.access
    this.#connectQueue = new ConnectQueue(clock, CONNECT_LIMITS)
    this.#pace = new SnapshotPace(clock)
    this.#account = new Poller(
      {
        ...{ clock, counters, trouble: 'account' },
        everyMs: () => ACCOUNT_EVERY_MS,
        afterFailureMs: ACCOUNT_AFTER_FAILURE_MS,
      },
      (signal) => budget.readAccount(http, counters.drift, signal),
    )
    const streamParts = { ...parts, emit: (event: VenueEvent) => this.#fromStream(event) }
    this.#tradeSocket = new TradeSocket(streamParts, parts.access, {
      onTrade: (trade, receivedAtMs) => this.#noteTrade(trade, receivedAtMs),
      onLifecycle: (message) => this.#noteLifecycle(message),
      onFee: (message) => this.#noteFee(message),
      fetchNewestTradeMs: () => trades.fetchNewestMs(),
    })
    const isWatched = (ticker: string) => this.#watched.has(ticker)
    this.#tickers = new TickerSocket(parts, parts.access, isWatched)
    this.#figures = new FiguresReader({ ...parts, counters, source: 'streamed', isWatched })
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#tradeSocket.start()
    this.#figures.start()
    this.#account.start()
    this.#startTickers()
    for (const socket of this.#bookSockets.values()) socket.start()
  }

  async stop(): Promise<void> {
    this.#isStarted = false
    this.#stopping.abort()
    this.#parts.timers.stop()
    this.#parts.http.stop()
    this.#connectQueue.stop()
    const sockets = [this.#tradeSocket, this.#tickers, ...this.#bookSockets.values()]
    await Promise.all([this.#figures, this.#account, ...sockets].map((each) => each.stop()))
  }

  #startTickers(): void {
    if (!this.#isStarted || this.#areTickersStarted || this.#watched.size === 0) return
    this.#areTickersStarted = true
    this.#tickers.start()
  }

  #noteTrade({ ticker, block }: TradeMessage, receivedAtMs: TimeMs): void {
    if (!this.#watched.has(ticker)) return
    // A block trade is matched outside the book and does not change it.
    if (!isBlockTrade(block)) this.#socketOf.get(ticker)?.noteTrade(ticker, receivedAtMs)
    this.#tickers.noteTrade(receivedAtMs)
    this.#figures.noteTrade(ticker)
  }

  watch(markets: readonly WatchedMarket[]): void {
    for (const market of markets) {
      const { nativeId, status, openAtMs } = market
      const closeAtMs = this.#parts.tradingEndOf(market)
      this.#parts.timers.set(nativeId, { status, openAtMs, closeAtMs })
      this.#watched.add(nativeId)
    }
    this.#startTickers()
  }

  unwatch(ids: readonly NativeMarketId[]): void {
    this.uncover(ids)
    for (const id of ids) {
      this.#parts.timers.remove(id)
      this.#watched.delete(id)
    }
    this.#tickers.remove(ids)
    this.#figures.remove(ids)
  }

  cover(ids: readonly NativeMarketId[]): void {
    const isUrgent = ids.length <= URGENT_MARKETS_MAX
    for (const id of ids) {
      if (this.#watched.has(id) && !this.#socketOf.has(id)) this.#assignSocket(id, isUrgent)
    }
  }

  uncover(ids: readonly NativeMarketId[]): void {
    const bySocket = this.#bySocket(ids)
    for (const id of ids) this.#socketOf.delete(id)
    for (const [socket, tickers] of bySocket) {
      socket.remove(tickers)
      // An open connection remains, so that the next market needs no handshake.
      if (socket.marketCount > 0 || this.#bookSockets.size === 1) continue
      this.#bookSockets.delete(socket.connection)
      this.#full.delete(socket)
      void socket.stop()
    }
  }

  resync(outcomes: readonly OutcomeId[]): void {
    const bySocket = this.#bySocket(outcomes.map(tickerOf))
    for (const [socket, tickers] of bySocket) socket.resync(tickers)
  }

  read(what: Readable): void {
    this.#arePaused = what === 'nothing'
    this.#tradeSocket.socket.pause(what !== 'all')
    this.#tickers.socket.pause(what !== 'all')
    this.#figures.read(what)
    for (const { socket } of this.#bookSockets.values()) socket.pause(this.#arePaused)
  }

  reconnect(reason: string): void {
    for (const { socket } of this.#bookSockets.values()) socket.reconnect(reason)
  }

  fetchTrades(range: TradesRange): Promise<TradesRead> {
    const { trades, emit } = this.#parts
    return trades.emitRange(range, emit, this.#stopping.signal)
  }

  health(): FeedHealth {
    const { socket: trades } = this.#tradeSocket
    const books = [...this.#bookSockets.values()].filter(({ isWanted }) => isWanted)
    const sockets = [trades, ...books.map(({ socket }) => socket)]
    const delivering = books.filter(({ socket }) => socket.isDelivering)
    return {
      connectionsOpen: Number(trades.isOpen) + delivering.length,
      connectionsWanted: sockets.length,
      lastDataAtMs: latest(sockets.map((socket) => socket.lastDataAtMs)),
      lastSignAtMs: latest(sockets.map((socket) => socket.lastSignAtMs)),
      bookDelayMs: 0,
      tradesSource: null,
    }
  }

  /** Reads as many books over REST as the budget allows. Requests snapshots of the remaining books on the stream. */
  readBooks(outcomes: readonly OutcomeId[]): void {
    const tickers = outcomes.map(tickerOf)
    const restCount = this.#parts.budget.takeBooks(tickers.length)
    if (restCount > 0) void this.#readBooks(tickers.slice(0, restCount))
    const bySocket = this.#bySocket(tickers.slice(restCount))
    for (const [socket, others] of bySocket) socket.check(others)
  }

  async #readBooks(tickers: readonly string[]): Promise<void> {
    const { access, http, clock, emit } = this.#parts
    const { signal } = this.#stopping
    try {
      const answer = await http.getJson(BOOKS_PATH, { tickers }, { signal, items: tickers.length })
      const receivedAtMs = clock.nowMs()
      for (const row of rowsOf(answer, 'orderbooks')) {
        const book = parseOrderbookRow(row)
        const refusal =
          book.kind === 'rejected'
            ? book
            : mapMessage(book, receivedAtMs, (event) => {
                if (event.kind === 'bookSnapshot') emit({ ...event, isInOrder: false })
              })
        if (refusal !== null) access.counters.refused(refusal, JSON.stringify(row) ?? '')
      }
    } catch (error) {
      if (!signal.aborted) access.counters.trouble('books_not_read', { detail: String(error) })
    }
  }

  #bySocket(tickers: readonly string[]): ReadonlyMap<BookSocket, readonly string[]> {
    const bySocket = new Map<BookSocket, string[]>()
    for (const ticker of tickers) {
      const socket = this.#socketOf.get(ticker)
      if (socket !== undefined) addTo(bySocket, socket, ticker)
    }
    return bySocket
  }

  /** Assigns a market to an open connection with free capacity, else to a closed one with capacity or to a new one. */
  #assignSocket(ticker: string, isUrgent: boolean): void {
    let socket: BookSocket | null = null
    for (const each of this.#bookSockets.values()) {
      if (each.marketCount >= SOCKET_MARKETS_MAX || this.#full.has(each)) continue
      if (socket === null || each.socket.isOpen) socket = each
      if (each.socket.isOpen) break
    }
    if (socket === null) {
      socket = this.#openSocket()
      if (this.#isStarted) socket.start()
    }
    this.#socketOf.set(ticker, socket)
    socket.add(ticker, isUrgent)
  }

  #openSocket(): BookSocket {
    let connection = 1
    while (this.#bookSockets.has(connection)) connection += 1
    const others = [...this.#bookSockets.values()]
    const isAddition = others.some(({ socket }) => socket.isDelivering)
    const socket: BookSocket = new BookSocket(this.#parts, this.#parts.access, {
      connection,
      wantedAtMs: isAddition ? this.#parts.clock.monotonicMs() + ADDED_GRACE_MS : 0,
      connectQueue: this.#connectQueue,
      pace: this.#pace,
      onOverflow: (tickers) => {
        this.#full.add(socket)
        for (const ticker of tickers) this.#assignSocket(ticker, false)
      },
      // The listing is read again, because an order outside the known price ranges means that the ranges may have
      // changed.
      onOffGrid: (ticker) => this.#parts.timers.confirmSoon(ticker),
      onGivenUp: (tickers) => {
        for (const ticker of tickers) this.#socketOf.delete(ticker)
      },
    })
    this.#bookSockets.set(connection, socket)
    socket.socket.pause(this.#arePaused)
    return socket
  }

  /** Schedules a later read of the listing, because REST may still return 404 right after the message. */
  #fromStream(event: VenueEvent): void {
    if (event.kind === 'marketSeen') this.#parts.timers.confirmSoon(event.market)
    else {
      if (event.kind === 'marketStatus') this.#parts.timers.noteStatus(event.market, event.status)
      this.#parts.emit(event)
    }
  }

  #noteFee({ event, terms }: FeeMessage): void {
    this.#parts.fees.note(event, terms)
    this.#parts.timers.confirmEventSoon(event)
  }

  #noteLifecycle(message: LifecycleMessage): void {
    const grid = parsePriceGrid({ price_ranges: message.priceRanges })
    if (grid !== null) this.#parts.access.terms.changeGrid(message.ticker, grid)
    if (message.change !== 'close_date_updated' || message.closeAtMs === null) return
    this.#parts.timers.correct(message.ticker, { closeAtMs: timeMs(message.closeAtMs) })
  }
}
