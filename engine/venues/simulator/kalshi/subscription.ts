// One `sid` of one connection of venue b's stream: its coverage and its sequence number.

import type { KalshiOutbox } from './kalshi-outbox.ts'
import type { MessageKind } from './messages.ts'

interface KalshiSubscriptionOptions {
  readonly outbox: KalshiOutbox
  readonly channel: string
  readonly sid: number
  /** Covers markets by name, not the whole exchange. */
  readonly isByMarket: boolean
  readonly isYesPriced: boolean
  /** An `ok` omits the list of markets. */
  readonly isAckShort: boolean
}

/** A subscription. The connection changes its coverage; the stream delivers to it. */
export class KalshiSubscription {
  readonly channel: string
  readonly sid: number
  /** Covered tickers. Null: the whole exchange. */
  readonly tickers: Set<string> | null
  readonly isYesPriced: boolean
  readonly #outbox: KalshiOutbox
  readonly #isAckShort: boolean
  #seq = 0

  constructor(options: KalshiSubscriptionOptions) {
    this.channel = options.channel
    this.sid = options.sid
    this.tickers = options.isByMarket ? new Set() : null
    this.isYesPriced = options.isYesPriced
    this.#outbox = options.outbox
    this.#isAckShort = options.isAckShort
  }

  /** Consumes the next sequence number of this sid. */
  nextSeq(): number {
    this.#seq += 1
    return this.#seq
  }

  /** Numbers and sends a stream message. Only `ticker` messages have no number. */
  deliver(kind: MessageKind, body: string): void {
    const head = `{"type":"${kind}","sid":${this.sid},`
    const number = kind === 'ticker' ? '' : `"seq":${this.nextSeq()},`
    this.#outbox.stream(kind, `${head}${number}"msg":${body}}`)
  }

  /** The `msg` of an `ok`: everything covered now, sorted. */
  listText(): string {
    if (this.#isAckShort) return '{}'
    return JSON.stringify({ market_tickers: [...(this.tickers ?? [])].sort() })
  }
}
