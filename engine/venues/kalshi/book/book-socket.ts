// One connection for order books: its socket, its subscriptions, and what both say about the feed's
// health. The trades and lifecycle messages have a connection of their own (engine/venues/kalshi/trades/trade-socket.ts).

import type { StopTimer } from '../../../clock.ts'
import { outcomeId } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import { feedEvent, type SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import { kalshiSocket, type SocketAccess } from '../kalshi-socket.ts'
import { KalshiStream } from '../stream.ts'
import { Legs } from './legs.ts'
import { Subscriptions } from './subscriptions.ts'

const NO_DATA_AFTER_MS = 10_000
const FLUSH_EVERY_MS = 100
/** A snapshot requested in silence comes within so many flushes (4 s), or nothing does. Flushes, since a process that stood
 * still reads afterwards what came meanwhile. */
const PROBE_FLUSHES = 40
/** A trade changes its book; so much later the change should have been seen. */
const TRADE_WITHOUT_CHANGE_MS = 5_000

export class BookSocket {
  readonly #parts: VenueParts
  readonly #connection: number
  readonly socket: SocketFeed
  readonly #stream: KalshiStream
  readonly #legs: Legs
  readonly #subscriptions: Subscriptions
  readonly #stopTimers: StopTimer[] = []
  #downSinceMs: TimeMs | null = null
  /** `feedUp` has been emitted since the socket opened. */
  #isUp = false
  #lastTradeAtMs: TimeMs | null = null
  #flushCount = 0
  /** The market of the newest message: a snapshot of it is sure to be answered. */
  #lastTicker: string | null = null
  /** Flushes since a snapshot was requested in silence; null: none is awaited. */
  #probeFlushes: number | null = null
  /** When the newest data had come by then. */
  #probedDataAtMs: TimeMs | null = null
  /** When the sid of the present hole was last in order. */
  #gapSinceMs: TimeMs | null = null

  constructor(
    parts: VenueParts,
    access: SocketAccess,
    options: {
      connection: number
      onOverflow: (tickers: readonly string[]) => void
      onGivenUp: (tickers: readonly string[]) => void
      onOffGrid: (ticker: string) => void
    },
  ) {
    const { clock, emit } = parts
    this.#parts = parts
    this.#connection = options.connection
    this.#subscriptions = new Subscriptions({
      send: (text) => this.socket.send(text),
      nowMs: () => clock.monotonicMs(),
      trouble: (reason, details) => access.counters.trouble(reason, details),
      drift: access.counters.drift,
      onSuspect: (tickers, reason) =>
        this.#emitFeedEvent('feedGap', tickers, reason, this.#gapSinceMs),
      onOverflow: options.onOverflow,
      onGivenUp: options.onGivenUp,
      resetSid: (sid) => this.#stream.resetSid(sid),
    })
    this.#legs = new Legs({
      nowMs: () => clock.monotonicMs(),
      drift: access.counters.drift,
      fetchBook: access.fetchBook,
      onFlip: () => this.socket.reconnect('prices on the other leg'),
    })
    this.#stream = new KalshiStream(
      {
        emit,
        combos: access.combos,
        terms: access.terms,
        transform: (message) => this.#legs.read(message),
        onOffGrid: options.onOffGrid,
        onReply: (reply) => {
          // A request that is refused was read; other replies come over a socket without books too.
          if (reply.kind === 'error') this.#probeFlushes = null
          this.#subscriptions.reply(reply)
        },
        onGap: (sid, lastInOrderAtMs) => {
          this.#gapSinceMs = lastInOrderAtMs
          this.#subscriptions.noteGap(sid, 'sequence gap')
        },
        onLost: (sid, ticker, lastInOrderAtMs) => {
          this.#gapSinceMs = lastInOrderAtMs
          this.#subscriptions.noteLost(sid, ticker, 'unreadable message')
        },
        accepts: (message) => this.#subscriptions.has(message.ticker),
        onMapped: (message) => {
          if (!this.#isUp) this.#noteUp()
          this.#lastTicker = message.ticker
          if (message.kind !== 'orderbookSnapshot') return
          this.#subscriptions.noteSnapshot(message.ticker)
          this.#legs.noteSnapshot(message)
        },
      },
      access.counters,
    )
    this.socket = kalshiSocket(parts, access, this.#stream, {
      stream: 'books',
      connection: options.connection,
      noDataAfterMs: NO_DATA_AFTER_MS,
      onOpen: () => this.#opened(),
      onDown: (reason) => this.#lost(reason),
      onSilence: () => this.#checkSilence(),
    })
  }

  get marketCount(): number {
    return this.#subscriptions.marketCount
  }

  start(): void {
    this.socket.start()
    this.#stopTimers.push(this.#parts.clock.every(FLUSH_EVERY_MS, () => this.#flush()))
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    await this.socket.stop()
  }

  add(ticker: string): void {
    this.#subscriptions.add(ticker)
  }

  remove(tickers: readonly string[]): void {
    this.#subscriptions.remove(tickers)
  }

  /** Asks for fresh snapshots. Closed: nothing to do, the next connection begins with them. */
  resync(tickers: readonly string[]): void {
    this.#subscriptions.want(tickers)
  }

  /** The trade stream saw a fill in one of our markets: its book must change too. */
  noteTrade(receivedAtMs: TimeMs): void {
    this.#lastTradeAtMs = receivedAtMs
  }

  #flush(): void {
    this.#flushCount += 1
    if (this.#flushCount % 10 === 0 && this.socket.isOpen && !this.#subscriptions.checkReplies()) {
      this.socket.reconnect('a command was not answered')
      return
    }
    this.#subscriptions.flush()
    this.#checkProbe()
  }

  /** Heartbeats say nothing of the books: a snapshot that does not come either makes all of them stale. */
  #checkProbe(): void {
    if (this.#probeFlushes === null) return
    const isAnswered = this.socket.lastDataAtMs !== this.#probedDataAtMs
    if (isAnswered || this.socket.isPaused) this.#probeFlushes = null
    else if (this.#probeFlushes < PROBE_FLUSHES) this.#probeFlushes += 1
    else this.#reconnectAfterSilence('silent, a snapshot was not answered')
  }

  #reconnectAfterSilence(reason: string): void {
    // The pings went on meanwhile: not the last sign but the last data says since when.
    this.#downSinceMs ??= this.socket.lastDataAtMs
    this.socket.reconnect(reason)
  }

  #opened(): void {
    this.#stream.restart()
    this.#isUp = false
    this.#subscriptions.opened()
  }

  /** The first data of an open socket: before it nothing says that anything will come. */
  #noteUp(): void {
    const sinceMs = this.#downSinceMs
    this.#isUp = true
    this.#downSinceMs = null
    this.#emitFeedEvent('feedUp', this.#subscriptions.tickers, 'connected', sinceMs)
  }

  #lost(reason: string): void {
    // A late pong proves that TCP had delivered everything before it.
    this.#downSinceMs ??= this.socket.lastSignAtMs ?? this.#parts.clock.nowMs()
    this.#probeFlushes = null
    const tickers = this.#subscriptions.tickers
    this.#subscriptions.closed()
    this.#emitFeedEvent('feedDown', tickers, reason, this.#downSinceMs)
  }

  /**
   * Markets that trade while the stream is silent: it is broken. Else what was sent last may have been lost, and the hole
   * that shows it never come: a snapshot of one market of each subscription is numbered behind it. It also proves that
   * the socket still delivers.
   */
  #checkSilence(): void {
    const dataAtMs = this.socket.lastDataAtMs
    const tradeAtMs = this.#lastTradeAtMs
    const isTraded = tradeAtMs !== null
    if (isTraded && (dataAtMs === null || tradeAtMs > dataAtMs + TRADE_WITHOUT_CHANGE_MS)) {
      this.#reconnectAfterSilence('silent while its markets trade')
    } else if (this.#subscriptions.probe(this.#lastTicker)) {
      this.#probeFlushes ??= 0
      this.#probedDataAtMs = dataAtMs
    }
  }

  #emitFeedEvent(
    kind: 'feedUp' | 'feedDown' | 'feedGap',
    tickers: readonly string[],
    reason: string,
    sinceMs: TimeMs | null,
  ): void {
    this.#parts.emit(
      feedEvent(this.#parts.clock.nowMs(), {
        kind,
        venue: 'b',
        stream: 'books',
        connection: this.#connection,
        outcomes: tickers.map(outcomeId),
        reason,
        sinceMs,
      }),
    )
  }
}
