import { outcomeId } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import type { ConnectQueue } from '../../connect-queue.ts'
import { feedReporter } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import { KalshiSocket, type SocketAccess } from '../kalshi-socket.ts'
import { tickerOf } from '../map.ts'
import type { StreamHooks } from '../stream.ts'
import { Legs } from './legs.ts'
import type { SnapshotPace } from './snapshot-pace.ts'
import { REPLY_TIMEOUT_MS, Subscriptions } from './subscriptions.ts'

const NO_DATA_AFTER_MS = 10_000
const FLUSH_EVERY_MS = 100
/**
 * Flushes without a probe snapshot before a reconnect: 4 s. Flushes are counted instead of time: a process that was
 * blocked reads the queued data before its next flush.
 */
const PROBE_FLUSHES = 40
/** Maximum delay between a trade and the change of its book. */
const TRADE_WITHOUT_CHANGE_MS = 5_000

interface BookSocketOptions {
  readonly connection: number
  readonly connectQueue: ConnectQueue
  readonly pace: SnapshotPace
  /** Before this monotonic time the connection counts as wanted only if it delivers data. */
  readonly wantedAtMs: number
  readonly onOverflow: (tickers: readonly string[]) => void
  readonly onGivenUp: (tickers: readonly string[]) => void
  readonly onOffGrid: (ticker: string) => void
}

export class BookSocket extends KalshiSocket {
  readonly #options: BookSocketOptions
  readonly #report: ReturnType<typeof feedReporter>
  readonly #legs: Legs
  readonly #subscriptions: Subscriptions
  #downSinceMs: TimeMs | null = null
  #isUp = false
  #lastTradeAtMs: TimeMs | null = null
  #flushCount = 0
  #lastTicker: string | null = null
  /** Flushes since the pending probe snapshot was requested. Null if none is pending. */
  #probeFlushes: number | null = null
  #probedDataAtMs: TimeMs | null = null
  /** Receive time of the last in-order message before the current gap. */
  #gapSinceMs: TimeMs | null = null

  constructor(parts: VenueParts, access: SocketAccess, options: BookSocketOptions) {
    const purpose = { stream: 'books', connection: options.connection } as const
    const { connectQueue } = options
    super(parts, access, { ...purpose, connectQueue, noDataAfterMs: NO_DATA_AFTER_MS })
    this.#options = options
    this.#report = feedReporter(parts, { venue: 'b', ...purpose })
    const nowMs = () => parts.clock.monotonicMs()
    const { drift } = access.counters
    this.#subscriptions = new Subscriptions({
      send: (text) => this.socket.send(text),
      nowMs,
      pace: options.pace,
      isDelivering: () => this.#isDelivering,
      trouble: (reason, details) => access.counters.trouble(reason, details),
      drift,
      onSuspect: (tickers, reason) =>
        this.#report('feedGap', reason, this.#gapSinceMs, tickers.map(outcomeId)),
      onOverflow: options.onOverflow,
      onGivenUp: options.onGivenUp,
      resetSid: (sid) => this.stream.resetSid(sid),
    })
    this.#legs = new Legs({
      ...{ nowMs, drift, fetchBook: access.fetchBook },
      onFlip: () => this.socket.reconnect('No is quoted in prices of Yes'),
    })
  }

  protected hooks(): StreamHooks {
    return {
      emit: (event) => {
        const isCheck =
          event.kind === 'bookSnapshot' && this.#subscriptions.takeCheck(tickerOf(event.outcome))
        this.parts.emit(isCheck ? { ...event, isInOrder: false } : event)
      },
      combos: this.access.combos,
      terms: this.access.terms,
      transform: (message) => this.#legs.read(message),
      onOffGrid: (ticker) => this.#options.onOffGrid(ticker),
      onReply: (reply) => {
        // An error reply proves that the venue read the request. Other replies also arrive on a connection that
        // delivers no books.
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
    }
  }

  protected timers() {
    return [[FLUSH_EVERY_MS, () => this.#flush()]] as const
  }

  get connection(): number {
    return this.#options.connection
  }

  get marketCount(): number {
    return this.#subscriptions.marketCount
  }

  get isWanted(): boolean {
    if (this.marketCount === 0) return false
    return this.socket.isDelivering || this.parts.clock.monotonicMs() >= this.#options.wantedAtMs
  }

  get #isDelivering(): boolean {
    const { lastDataAtMs } = this.socket
    return lastDataAtMs !== null && this.parts.clock.nowMs() - lastDataAtMs < REPLY_TIMEOUT_MS
  }

  /** An urgent market is subscribed before all others. */
  add(ticker: string, isUrgent: boolean): void {
    this.#subscriptions.add(ticker, isUrgent)
  }

  remove(tickers: readonly string[]): void {
    this.#subscriptions.remove(tickers)
  }

  /** Requests new snapshots. Has no effect on a closed connection, because a reopened connection starts with snapshots. */
  resync(tickers: readonly string[]): void {
    this.#subscriptions.want(tickers)
  }

  /**
   * Requests snapshots that verify books. They are emitted as not in order, so that they are only compared with the
   * books.
   */
  check(tickers: readonly string[]): void {
    this.#subscriptions.check(tickers)
  }

  /** Records a trade of a market on this connection. A change of the market's book must follow. */
  noteTrade(ticker: string, receivedAtMs: TimeMs): void {
    if (this.#subscriptions.isSubscribed(ticker)) this.#lastTradeAtMs = receivedAtMs
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

  /** Reconnects if the probe snapshot does not arrive. Heartbeats alone do not prove that books are delivered. */
  #checkProbe(): void {
    if (this.#probeFlushes === null) return
    const isAnswered = this.socket.lastDataAtMs !== this.#probedDataAtMs
    if (isAnswered || this.socket.isPaused) this.#probeFlushes = null
    else if (this.#subscriptions.hasUnsentRequests) return
    else if (this.#probeFlushes < PROBE_FLUSHES) this.#probeFlushes += 1
    else this.#reconnectAfterSilence('silent, a snapshot was not answered')
  }

  #reconnectAfterSilence(reason: string): void {
    // The venue's pings continued during the silence, so the outage starts at the last data and not at the last ping.
    this.#downSinceMs ??= this.socket.lastDataAtMs
    this.socket.reconnect(reason)
  }

  protected opened(): void {
    this.#isUp = false
    this.#lastTradeAtMs = null
    this.#subscriptions.opened()
  }

  /** Reports the connection as up at its first data. An open socket alone does not prove that data will arrive. */
  #noteUp(): void {
    const sinceMs = this.#downSinceMs
    this.#isUp = true
    this.#downSinceMs = null
    this.#options.connectQueue.settle(this.#options.connection)
    this.#report('feedUp', 'connected', sinceMs, this.#subscriptions.tickers.map(outcomeId))
  }

  protected lost(reason: string): void {
    // The outage starts at the last data or pong, because a pong proves that TCP delivered everything before it.
    this.#downSinceMs ??= this.socket.lastSignAtMs ?? this.parts.clock.nowMs()
    this.#probeFlushes = null
    const outcomes = this.#subscriptions.tickers.map(outcomeId)
    this.#subscriptions.closed()
    this.#report('feedDown', reason, this.#downSinceMs, outcomes)
  }

  /**
   * Reconnects if markets trade without changes of their books. Otherwise requests one snapshot per subscription. The
   * snapshot's sequence number reveals a lost message.
   */
  protected checkSilence(): void {
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
}
