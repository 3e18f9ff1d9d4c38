// The connection for trades and state changes of all markets. Books use separate connections, so that their deltas do
// not delay trades.

import { type TimeMs, timeMs } from '../../../units.ts'
import { feedReporter } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import { REPLY_TIMEOUT_MS } from '../book/subscriptions.ts'
import { KalshiSocket, type SocketAccess } from '../kalshi-socket.ts'
import type { DataMessage, FeeMessage, LifecycleMessage, Reply, TradeMessage } from '../messages.ts'
import type { StreamHooks } from '../stream.ts'

/** After this time without trades, REST is checked for newer trades. */
const NO_DATA_AFTER_MS = 20_000
/** Back-fills start this much earlier, because clocks differ and trades may arrive late. */
const OVERLAP_MS = 2_000
/** Maximum age of a trade that may still be in transit. */
const ON_ITS_WAY_MS = 5_000
const RETRY_EVERY_MS = 1_000
/** Minimum interval between two reported gaps that are caused by unreadable trades. */
const LOST_GAP_EVERY_MS = 60_000
const TRADES_ID = 1
const LIFECYCLE_ID = 2

interface TradeSocketHooks {
  /** Called after a trade was emitted, to detect silent book and ticker connections. */
  readonly onTrade: (trade: TradeMessage, receivedAtMs: TimeMs) => void
  readonly onLifecycle: (message: LifecycleMessage) => void
  readonly onFee: (message: FeeMessage) => void
  /** Venue time of the newest trade in REST. Null if there is none. Rejects on failure. */
  readonly fetchNewestTradeMs: () => Promise<TimeMs | null>
}

export class TradeSocket extends KalshiSocket {
  readonly #hooks: TradeSocketHooks
  readonly #report: ReturnType<typeof feedReporter>
  #tradesSid: number | null = null
  #lifecycleSid: number | null = null
  /** Whether trades arrived before the venue confirmed their subscription. */
  #areTradesUnconfirmed = false
  #subscribedAtMs = 0
  #downSinceMs: TimeMs | null = null
  #lastTradeTimeMs: TimeMs | null = null
  #lastTradeAtMs: TimeMs | null = null
  #lastLostGapMs = Number.NEGATIVE_INFINITY

  constructor(parts: VenueParts, access: SocketAccess, hooks: TradeSocketHooks) {
    const purpose = { stream: 'trades', connection: 0 } as const
    super(parts, access, { ...purpose, noDataAfterMs: NO_DATA_AFTER_MS })
    this.#hooks = hooks
    // An event without outcomes concerns the whole venue.
    this.#report = feedReporter(parts, { venue: 'b', ...purpose })
  }

  protected hooks(): StreamHooks {
    return {
      emit: this.parts.emit,
      combos: this.access.combos,
      onReply: (reply) => this.#replied(reply),
      onGap: (sid, lastInOrderAtMs) => this.#noteGap(sid, lastInOrderAtMs),
      onLost: (sid, _ticker, lastInOrderAtMs) => {
        if (sid !== null) this.#noteLost(sid, lastInOrderAtMs)
      },
      onMapped: (message) => this.#noteMapped(message),
      onFee: (message) => this.#hooks.onFee(message),
    }
  }

  protected timers() {
    return [[RETRY_EVERY_MS, () => this.#checkReplies()]] as const
  }

  protected opened(): void {
    this.#tradesSid = null
    this.#lifecycleSid = null
    this.#areTradesUnconfirmed = false
    this.#subscribe()
  }

  #subscribe(): void {
    this.#subscribedAtMs = this.parts.clock.monotonicMs()
    const subscribe = (id: number, channel: string) =>
      this.socket.send(JSON.stringify({ id, cmd: 'subscribe', params: { channels: [channel] } }))
    if (this.#tradesSid === null) subscribe(TRADES_ID, 'trade')
    if (this.#lifecycleSid === null) subscribe(LIFECYCLE_ID, 'market_lifecycle_v2')
  }

  #replied(reply: Reply): void {
    if (reply.kind === 'error') {
      const { code, sid } = reply
      this.noteCommandError(reply)
      const isOver = code === 10 || code === 25
      if (isOver && sid !== null && sid === this.#lifecycleSid) this.#lifecycleSid = null
      // An ended trade subscription would lose trades, so the socket reconnects.
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
    // The gap is reported only after the confirmation. Before it, trades may arrive neither over the stream nor in
    // REST, which lists them late.
    const sinceMs = this.#downSinceMs
    this.#downSinceMs = null
    this.#report('feedUp', 'subscribed', sinceMs)
  }

  #checkReplies(): void {
    if (!this.socket.isOpen) return
    const areTradesConfirmed = this.#tradesSid !== null && !this.#areTradesUnconfirmed
    if (areTradesConfirmed && this.#lifecycleSid !== null) return
    const waitedMs = this.parts.clock.monotonicMs() - this.#subscribedAtMs
    if (waitedMs < REPLY_TIMEOUT_MS) return
    const channel = areTradesConfirmed ? 'market_lifecycle_v2' : 'trade'
    const areTradesMissing = this.#tradesSid === null
    const weight = areTradesMissing ? 'loss' : 'notice'
    this.access.counters.drift.note('ws.unacknowledged', channel, '', weight)
    this.#areTradesUnconfirmed = false
    if (areTradesMissing) this.socket.reconnect('trades were not confirmed')
    else this.#subscribe()
  }

  #noteMapped(message: DataMessage): void {
    if (message.kind === 'trade') {
      // A trade proves that the unconfirmed subscription is active.
      if (this.#tradesSid === null) {
        this.#areTradesUnconfirmed = true
        this.#tradesFlow(message.sid)
      }
      this.#lastTradeTimeMs = timeMs(Math.max(message.timeMs, this.#lastTradeTimeMs ?? 0))
      this.#lastTradeAtMs = this.parts.clock.nowMs()
      this.#hooks.onTrade(message, this.#lastTradeAtMs)
    } else if (message.kind === 'lifecycle') this.#hooks.onLifecycle(message)
  }

  #noteGap(sid: number, lastInOrderAtMs: TimeMs | null): void {
    // A gap in the lifecycle messages needs no action, because the next catalogue refresh covers it.
    if (sid !== this.#tradesSid) return
    const sinceMs = lastInOrderAtMs ?? this.parts.clock.nowMs()
    this.#report('feedGap', 'sequence gap', earlier(sinceMs))
  }

  /**
   * Reports a gap after an unreadable trade, because its REST row may be readable. The rate is limited, because the
   * venue may have changed the format of all trades.
   */
  #noteLost(sid: number, lastInOrderAtMs: TimeMs | null): void {
    const nowMs = this.parts.clock.monotonicMs()
    if (nowMs - this.#lastLostGapMs < LOST_GAP_EVERY_MS) return
    this.#lastLostGapMs = nowMs
    this.#noteGap(sid, lastInOrderAtMs)
  }

  protected lost(reason: string): void {
    const signAtMs = this.socket.lastSignAtMs ?? this.parts.clock.nowMs()
    const lostAtMs = timeMs(Math.min(signAtMs, this.socket.lateSinceMs ?? signAtMs))
    // If the connection is lost again during an outage, the earlier start applies.
    this.#downSinceMs ??= earlier(lostAtMs)
    this.#report('feedDown', reason, this.#downSinceMs)
  }

  /** Reconnects only if REST has a trade that should have arrived by now, because a quiet period is no outage. */
  protected async checkSilence(): Promise<void> {
    const openSinceMs = this.#lastTradeTimeMs
    let newestMs: TimeMs | null
    try {
      newestMs = await this.#hooks.fetchNewestTradeMs()
    } catch {
      this.access.counters.trouble('silence_check')
      return
    }
    if (newestMs === null || !this.socket.isOpen || openSinceMs !== this.#lastTradeTimeMs) return
    const isOld = newestMs < this.parts.clock.nowMs() - ON_ITS_WAY_MS
    const isUnseen = this.#lastTradeTimeMs === null || newestMs > this.#lastTradeTimeMs
    if (!isOld || !isUnseen) return
    // The venue's pings continued during the silence, so the gap starts at the last trade and not at the last ping.
    this.#downSinceMs = earlier(this.#lastTradeAtMs ?? newestMs)
    this.socket.reconnect('silent while REST shows trades')
  }
}

function earlier(time: TimeMs): TimeMs {
  return timeMs(time - OVERLAP_MS)
}
