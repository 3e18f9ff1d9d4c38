import type { Faults } from '../faults.ts'
import type { SimSocket } from '../sim-socket.ts'
import type { MessageKind } from './messages.ts'

export class KalshiOutbox {
  readonly #socket: SimSocket
  readonly #faults: Faults
  /** A delta to send after the next one (the fault `reorder`). */
  #held: string | null = null

  constructor(socket: SimSocket, faults: Faults) {
    this.#socket = socket
    this.#faults = faults
  }

  /** Answers to commands are never lost. A held delta is sent first. */
  reply(text: string): void {
    this.releaseHeld()
    this.#socket.reply(text)
  }

  /** A lost message also uses a sequence number, so that clients see a gap. */
  stream(kind: MessageKind, text: string): void {
    if (this.#socket.isSilenced) return
    if (kind === 'orderbook_delta') {
      if (this.#faults.strikes('lost_delta')) return
      if (this.#held === null && this.#faults.strikes('reorder')) {
        this.#held = text
        return
      }
    }
    this.#socket.reply(text)
    if (kind === 'orderbook_delta') this.releaseHeld()
    if (this.#faults.strikes('duplicate')) this.#socket.reply(text)
  }

  releaseHeld(): void {
    if (this.#held !== null) this.#socket.reply(this.#held)
    this.#held = null
  }
}

interface KalshiSubscriptionOptions {
  readonly outbox: KalshiOutbox
  readonly channel: string
  readonly sid: number
  /** True: the subscription lists markets. False: it covers the whole exchange. */
  readonly isByMarket: boolean
  readonly isYesPriced: boolean
  readonly isAckShort: boolean
}

export class KalshiSubscription {
  readonly channel: string
  readonly sid: number
  /** Null: the subscription covers the whole exchange. */
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

  nextSeq(): number {
    this.#seq += 1
    return this.#seq
  }

  /** Only `ticker` messages have no sequence number. */
  deliver(kind: MessageKind, body: string): void {
    const head = `{"type":"${kind}","sid":${this.sid},`
    const number = kind === 'ticker' ? '' : `"seq":${this.nextSeq()},`
    this.#outbox.stream(kind, `${head}${number}"msg":${body}}`)
  }

  /** The `msg` of an `ok` answer: all markets that the subscription covers now, sorted. */
  listText(): string {
    if (this.#isAckShort) return '{}'
    return JSON.stringify({ market_tickers: [...(this.tickers ?? [])].sort() })
  }
}
