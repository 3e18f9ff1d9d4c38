// The connection for ticker messages: volume, open interest and last price of all markets. The feed's health ignores
// this connection, because figures-reader.ts reads the same figures over REST.

import type { FiguresEvent } from '../../../events.ts'
import type { OutcomeId } from '../../../ids.ts'
import type { VenueParts } from '../../venue.ts'
import { REPLY_TIMEOUT_MS } from '../book/subscriptions.ts'
import { KalshiSocket, type SocketAccess } from '../kalshi-socket.ts'
import type { DataMessage, TickerMessage } from '../messages.ts'
import type { StreamHooks } from '../stream.ts'

const NO_DATA_AFTER_MS = 30_000
/** Maximum delay between a trade and the ticker message that follows it. */
const TRADE_WITHOUT_TICKER_MS = 5_000
/** Interval at which the newest ticker message of each market is emitted. Earlier messages are dropped. */
const FLUSH_EVERY_MS = 100
const CHECK_EVERY_MS = 1_000
const CHANNEL = 'ticker'

/** Unchanged figures are emitted at this interval, to update their time. */
const CONFIRM_EVERY_MS = 60_000

interface Seen {
  readonly message: TickerMessage
  readonly atMs: number
}

export class TickerSocket extends KalshiSocket {
  readonly #isWatched: (ticker: string) => boolean
  /** The newest emitted ticker message by ticker, bounded by the watched markets. */
  readonly #seen = new Map<string, Seen>()
  readonly #pending = new Map<OutcomeId, FiguresEvent>()
  #isConfirmed = false
  #subscribedAtMs = 0
  #lastTradeAtMs = 0

  constructor(parts: VenueParts, access: SocketAccess, isWatched: (ticker: string) => boolean) {
    const purpose = { stream: 'tickers', connection: 0, noDataAfterMs: NO_DATA_AFTER_MS }
    super(parts, access, purpose)
    this.#isWatched = isWatched
  }

  protected hooks(): StreamHooks {
    return {
      emit: (event) => {
        if (event.kind === 'figures') this.#pending.set(event.outcome, event)
      },
      combos: this.access.combos,
      accepts: (message) => this.#isChanged(message),
      onReply: (reply) => {
        if (reply.kind === 'error') this.noteCommandError(reply)
        const isAgreed = reply.kind === 'subscribed' || reply.kind === 'ok'
        this.#isConfirmed = isAgreed || (this.#isConfirmed && reply.kind !== 'error')
      },
      onGap: () => undefined,
      onLost: () => undefined,
    }
  }

  protected timers() {
    return [
      [FLUSH_EVERY_MS, () => this.#flush()],
      [CHECK_EVERY_MS, () => this.#checkReply()],
    ] as const
  }

  override stop(): Promise<void> {
    this.#pending.clear()
    return super.stop()
  }

  noteTrade(receivedAtMs: number): void {
    this.#lastTradeAtMs = receivedAtMs
  }

  remove(tickers: readonly string[]): void {
    for (const ticker of tickers) this.#seen.delete(ticker)
  }

  protected opened(): void {
    this.#isConfirmed = false
    this.#subscribe()
  }

  protected lost(): void {}

  #subscribe(): void {
    this.#subscribedAtMs = this.parts.clock.monotonicMs()
    const params = { channels: [CHANNEL] }
    this.socket.send(JSON.stringify({ id: 1, cmd: 'subscribe', params }))
  }

  /** Subscribes again if the subscription was refused, ended or not confirmed. A ticker message also confirms it. */
  #checkReply(): void {
    if (!this.socket.isOpen || this.#isConfirmed) return
    if (this.parts.clock.monotonicMs() - this.#subscribedAtMs < REPLY_TIMEOUT_MS) return
    this.access.counters.drift.note('ws.unacknowledged', CHANNEL, '', 'notice')
    this.#subscribe()
  }

  /** False for messages that report only a changed quote, which the book already contains. */
  #isChanged(message: DataMessage): boolean {
    if (message.kind !== 'ticker' || !this.#isWatched(message.ticker)) return false
    this.#isConfirmed = true
    const atMs = this.parts.clock.monotonicMs()
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

  #flush(): void {
    if (this.#pending.size === 0) return
    for (const event of this.#pending.values()) this.parts.emit(event)
    this.#pending.clear()
  }

  protected checkSilence(): void {
    const dataAtMs = this.socket.lastDataAtMs ?? 0
    if (this.#lastTradeAtMs <= dataAtMs + TRADE_WITHOUT_TICKER_MS) return
    this.access.counters.drift.note('ws.silent', CHANNEL, '', 'notice')
    this.socket.reconnect('silent while markets trade')
  }
}
