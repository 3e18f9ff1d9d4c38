// The ticker connection: volume, open interest and last price of all markets. It is separate from the trade
// connection, so that quotes do not delay trades. It does not affect the feed's health, because figures are otherwise
// read over REST (figures-reader.ts).

import type { StopTimer } from '../../../clock.ts'
import type { FiguresEvent, VenueEvent } from '../../../events.ts'
import type { OutcomeId } from '../../../ids.ts'
import type { SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import { REPLY_TIMEOUT_MS } from '../book/subscriptions.ts'
import { kalshiSocket, type SocketAccess } from '../kalshi-socket.ts'
import type { DataMessage, Reply, TickerMessage } from '../messages.ts'
import { codeName, KalshiStream } from '../stream.ts'

const NO_DATA_AFTER_MS = 30_000
/** A trade changes its market's figures. The ticker message must arrive within this time. */
const TRADE_WITHOUT_TICKER_MS = 5_000
/** Only the newest ticker message of a market within this time is emitted. */
const FLUSH_EVERY_MS = 100
const CHECK_EVERY_MS = 1_000
const CHANNEL = 'ticker'

/** Unchanged figures are emitted at this interval, to update their time. */
const CONFIRM_EVERY_MS = 60_000

/** The newest emitted ticker message of a market, its figures as text, and its receive time. */
interface Seen {
  readonly message: TickerMessage
  readonly atMs: number
}

/** Connection 0 of the stream `tickers`. */
export class TickerSocket {
  readonly #parts: VenueParts
  readonly #access: SocketAccess
  readonly #isWatched: (ticker: string) => boolean
  readonly socket: SocketFeed
  readonly #stream: KalshiStream
  readonly #stopTimers: StopTimer[] = []
  /** By ticker; bounded by the watched markets. */
  readonly #seen = new Map<string, Seen>()
  readonly #pending = new Map<OutcomeId, FiguresEvent>()
  #isConfirmed = false
  #subscribedAtMs = 0
  #lastTradeAtMs = 0

  constructor(parts: VenueParts, access: SocketAccess, isWatched: (ticker: string) => boolean) {
    this.#parts = parts
    this.#access = access
    this.#isWatched = isWatched
    this.#stream = new KalshiStream(
      {
        emit: (event) => this.#take(event),
        combos: access.combos,
        accepts: (message) => this.#isChanged(message),
        onReply: (reply) => this.#replied(reply),
        onGap: () => undefined,
        onLost: () => undefined,
      },
      access.counters,
    )
    this.socket = kalshiSocket(parts, access, this.#stream, {
      stream: 'tickers',
      connection: 0,
      noDataAfterMs: NO_DATA_AFTER_MS,
      onOpen: () => this.#opened(),
      onDown: () => undefined,
      onSilence: () => this.#checkSilence(),
    })
  }

  start(): void {
    const { clock } = this.#parts
    this.socket.start()
    this.#stopTimers.push(
      clock.every(FLUSH_EVERY_MS, () => this.#flush()),
      clock.every(CHECK_EVERY_MS, () => this.#checkReply()),
    )
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    this.#pending.clear()
    await this.socket.stop()
  }

  noteTrade(receivedAtMs: number): void {
    this.#lastTradeAtMs = receivedAtMs
  }

  remove(tickers: readonly string[]): void {
    for (const ticker of tickers) this.#seen.delete(ticker)
  }

  #opened(): void {
    this.#stream.restart()
    this.#isConfirmed = false
    this.#subscribe()
  }

  #subscribe(): void {
    this.#subscribedAtMs = this.#parts.clock.monotonicMs()
    const params = { channels: [CHANNEL] }
    this.socket.send(JSON.stringify({ id: 1, cmd: 'subscribe', params }))
  }

  #replied(reply: Reply): void {
    if (reply.kind !== 'error') {
      this.#isConfirmed ||= reply.kind !== 'unsubscribed'
      return
    }
    const { code, text, sid } = reply
    this.#access.counters.trouble(`command_error_${codeName(code)}`, { text, sid })
    this.#isConfirmed = false
  }

  /** Subscribes again if the subscription was refused, ended or not confirmed. A ticker message confirms it. */
  #checkReply(): void {
    if (!this.socket.isOpen || this.#isConfirmed) return
    if (this.#parts.clock.monotonicMs() - this.#subscribedAtMs < REPLY_TIMEOUT_MS) return
    this.#access.counters.drift.note('ws.unacknowledged', CHANNEL, '', 'notice')
    this.#subscribe()
  }

  /** Most ticker messages report a changed quote, which is already in the book. These are dropped. */
  #isChanged(message: DataMessage): boolean {
    if (message.kind !== 'ticker' || !this.#isWatched(message.ticker)) return false
    this.#isConfirmed = true
    const atMs = this.#parts.clock.monotonicMs()
    const seen = this.#seen.get(message.ticker)
    const isSeen =
      seen !== undefined &&
      seen.message.volume === message.volume &&
      seen.message.openInterest === message.openInterest &&
      seen.message.price === message.price &&
      atMs - seen.atMs < CONFIRM_EVERY_MS
    if (isSeen) return false
    this.#seen.set(message.ticker, { message, atMs })
    return true
  }

  #take(event: VenueEvent): void {
    if (event.kind === 'figures') this.#pending.set(event.outcome, event)
  }

  #flush(): void {
    if (this.#pending.size === 0) return
    for (const event of this.#pending.values()) this.#parts.emit(event)
    this.#pending.clear()
  }

  #checkSilence(): void {
    const dataAtMs = this.socket.lastDataAtMs ?? 0
    if (this.#lastTradeAtMs <= dataAtMs + TRADE_WITHOUT_TICKER_MS) return
    this.#access.counters.drift.note('ws.silent', CHANNEL, '', 'notice')
    this.socket.reconnect('silent while markets trade')
  }
}
