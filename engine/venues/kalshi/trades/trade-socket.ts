// The connection for what needs no list of markets: every trade of the exchange, and every change
// of a market's state. Apart from the books', so that a flood of deltas delays no trade.

import type { StopTimer } from '../../../clock.ts'
import type { TimeMs } from '../../../units.ts'
import { timeMs } from '../../../units.ts'
import { feedEvent, type SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import { REPLY_TIMEOUT_MS } from '../book/subscriptions.ts'
import { kalshiSocket, type SocketAccess } from '../kalshi-socket.ts'
import type { DataMessage, FeeMessage, LifecycleMessage, Reply, TradeMessage } from '../messages.ts'
import { codeName, KalshiStream } from '../stream.ts'

/** So long without a message it is worth asking REST whether anything was traded. */
const NO_DATA_AFTER_MS = 20_000
/** Our clock and the venue's may differ, and a trade may be seen late: back-fills begin earlier. */
const OVERLAP_MS = 2_000
/** A trade younger than this may still be on its way to us. */
const ON_ITS_WAY_MS = 5_000
const RETRY_EVERY_MS = 1_000
/** Unreadable trades become a gap at most so often. */
const LOST_GAP_EVERY_MS = 60_000
const TRADES_ID = 1
const LIFECYCLE_ID = 2

interface TradeSocketHooks {
  /** A trade was emitted (for the silence checks). */
  readonly onTrade: (trade: TradeMessage, receivedAtMs: TimeMs) => void
  readonly onLifecycle: (message: LifecycleMessage) => void
  readonly onFee: (message: FeeMessage) => void
  /** The venue time of the newest trade over REST; null when there is none. Rejects on trouble. */
  readonly fetchNewestTradeMs: () => Promise<TimeMs | null>
}

/** Connection 0 of the venue. */
export class TradeSocket {
  readonly #parts: VenueParts
  readonly #hooks: TradeSocketHooks
  readonly #access: SocketAccess
  readonly socket: SocketFeed
  readonly #stream: KalshiStream
  readonly #stopTimers: StopTimer[] = []
  /** Sids of the present connection; null until the venue confirmed. */
  #tradesSid: number | null = null
  #lifecycleSid: number | null = null
  /** Trades came before the venue had confirmed their subscription, if it ever does. */
  #areTradesUnconfirmed = false
  #subscribedAtMs = 0
  #downSinceMs: TimeMs | null = null
  #lastTradeTimeMs: TimeMs | null = null
  #lastTradeAtMs: TimeMs | null = null
  #lastLostGapMs = Number.NEGATIVE_INFINITY

  constructor(parts: VenueParts, access: SocketAccess, hooks: TradeSocketHooks) {
    this.#parts = parts
    this.#hooks = hooks
    this.#access = access
    this.#stream = new KalshiStream(
      {
        emit: parts.emit,
        combos: access.combos,
        onReply: (reply) => this.#replied(reply),
        onGap: (sid, lastInOrderAtMs) => this.#noteGap(sid, lastInOrderAtMs),
        onLost: (sid, _ticker, lastInOrderAtMs) => {
          if (sid !== null) this.#noteLost(sid, lastInOrderAtMs)
        },
        onMapped: (message) => this.#noteMapped(message),
        onFee: (message) => hooks.onFee(message),
      },
      access.counters,
    )
    this.socket = kalshiSocket(parts, access, this.#stream, {
      stream: 'trades',
      connection: 0,
      noDataAfterMs: NO_DATA_AFTER_MS,
      onOpen: () => this.#opened(),
      onDown: (reason) => this.#lost(reason),
      onSilence: () => void this.#checkSilence(),
    })
  }

  start(): void {
    this.socket.start()
    this.#stopTimers.push(this.#parts.clock.every(RETRY_EVERY_MS, () => this.#checkReplies()))
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    await this.socket.stop()
  }

  #opened(): void {
    this.#stream.restart()
    this.#tradesSid = null
    this.#lifecycleSid = null
    this.#areTradesUnconfirmed = false
    this.#subscribe()
  }

  #subscribe(): void {
    this.#subscribedAtMs = this.#parts.clock.monotonicMs()
    const subscribe = (id: number, channel: string) =>
      this.socket.send(JSON.stringify({ id, cmd: 'subscribe', params: { channels: [channel] } }))
    if (this.#tradesSid === null) subscribe(TRADES_ID, 'trade')
    if (this.#lifecycleSid === null) subscribe(LIFECYCLE_ID, 'market_lifecycle_v2')
  }

  #replied(reply: Reply): void {
    if (reply.kind === 'error') {
      const { code, text, sid } = reply
      this.#access.counters.trouble(`command_error_${codeName(code)}`, { text, sid })
      const isOver = code === 10 || code === 25
      if (isOver && sid !== null && sid === this.#lifecycleSid) this.#lifecycleSid = null
      // Whatever else ended: the trades are what must not be missed, so a new connection decides.
      else if (isOver) this.socket.reconnect('subscription lost')
      return
    }
    if (reply.kind === 'unsubscribed' || reply.sid === null) return
    if (reply.commandId === LIFECYCLE_ID) this.#lifecycleSid = reply.sid
    if (reply.commandId !== TRADES_ID) return
    this.#areTradesUnconfirmed = false
    this.#tradesFlow(reply.sid)
  }

  #tradesFlow(sid: number): void {
    if (this.#tradesSid !== null) return
    this.#tradesSid = sid
    // Only now can a back-fill close the hole: what it cannot see yet, the stream will show.
    const sinceMs = this.#downSinceMs
    this.#downSinceMs = null
    this.#emitFeedEvent('feedUp', 'subscribed', sinceMs)
  }

  #checkReplies(): void {
    if (!this.socket.isOpen) return
    const areTradesConfirmed = this.#tradesSid !== null && !this.#areTradesUnconfirmed
    if (areTradesConfirmed && this.#lifecycleSid !== null) return
    const waitedMs = this.#parts.clock.monotonicMs() - this.#subscribedAtMs
    if (waitedMs < REPLY_TIMEOUT_MS) return
    const channel = areTradesConfirmed ? 'market_lifecycle_v2' : 'trade'
    const areTradesMissing = this.#tradesSid === null
    const weight = areTradesMissing ? 'loss' : 'notice'
    this.#access.counters.drift.note('ws.unacknowledged', channel, '', weight)
    this.#areTradesUnconfirmed = false
    if (areTradesMissing) this.socket.reconnect('trades were not confirmed')
    else this.#subscribe()
  }

  #noteMapped(message: DataMessage): void {
    if (message.kind === 'trade') {
      // A trade proves the subscription that the venue did not confirm.
      if (this.#tradesSid === null) {
        this.#areTradesUnconfirmed = true
        this.#tradesFlow(message.sid)
      }
      this.#lastTradeTimeMs = timeMs(Math.max(message.timeMs, this.#lastTradeTimeMs ?? 0))
      this.#lastTradeAtMs = this.#parts.clock.nowMs()
      this.#hooks.onTrade(message, this.#lastTradeAtMs)
    } else if (message.kind === 'lifecycle') this.#hooks.onLifecycle(message)
  }

  #noteGap(sid: number, lastInOrderAtMs: TimeMs | null): void {
    // A hole in the lifecycle messages is mended by the next refresh of the catalogue.
    if (sid !== this.#tradesSid) return
    this.#emitFeedEvent(
      'feedGap',
      'sequence gap',
      earlier(lastInOrderAtMs ?? this.#parts.clock.nowMs()),
    )
  }

  /** REST may have a readable row; if the venue's data itself is broken, asking always is no use. */
  #noteLost(sid: number, lastInOrderAtMs: TimeMs | null): void {
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs - this.#lastLostGapMs < LOST_GAP_EVERY_MS) return
    this.#lastLostGapMs = nowMs
    this.#noteGap(sid, lastInOrderAtMs)
  }

  #lost(reason: string): void {
    const signAtMs = this.socket.lastSignAtMs ?? this.#parts.clock.nowMs()
    const lostAtMs = timeMs(Math.min(signAtMs, this.socket.lateSinceMs ?? signAtMs))
    // Down again before the first hole was closed: it reaches further back.
    this.#downSinceMs ??= earlier(lostAtMs)
    this.#emitFeedEvent('feedDown', reason, this.#downSinceMs)
  }

  /** Silence is suspicious only when REST knows a trade that we should have seen by now. */
  async #checkSilence(): Promise<void> {
    const openSinceMs = this.#lastTradeTimeMs
    let newestMs: TimeMs | null
    try {
      newestMs = await this.#hooks.fetchNewestTradeMs()
    } catch {
      this.#access.counters.trouble('silence_check')
      return
    }
    if (newestMs === null || !this.socket.isOpen || openSinceMs !== this.#lastTradeTimeMs) return
    const isOld = newestMs < this.#parts.clock.nowMs() - ON_ITS_WAY_MS
    const isUnseen = this.#lastTradeTimeMs === null || newestMs > this.#lastTradeTimeMs
    if (!isOld || !isUnseen) return
    // The pings went on meanwhile: not the last sign but the last trade says where the hole begins.
    this.#downSinceMs = earlier(this.#lastTradeAtMs ?? newestMs)
    this.socket.reconnect('silent while REST shows trades')
  }

  #emitFeedEvent(
    kind: 'feedUp' | 'feedDown' | 'feedGap',
    reason: string,
    sinceMs: TimeMs | null,
  ): void {
    this.#parts.emit(
      feedEvent(this.#parts.clock.nowMs(), {
        kind,
        venue: 'b',
        stream: 'trades',
        connection: 0,
        // The whole venue: no list of a hundred thousand outcomes.
        outcomes: [],
        reason,
        sinceMs,
      }),
    )
  }
}

function earlier(time: TimeMs): TimeMs {
  return timeMs(time - OVERLAP_MS)
}
