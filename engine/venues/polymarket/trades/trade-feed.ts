import type { TradesSource, VenueEvent } from '../../../events.ts'
import type { TimeMs } from '../../../units.ts'
import type { FrameTap, SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import type { DataApi } from '../data-api.ts'
import { FollowedWallets } from '../wallets/followed-wallets.ts'
import { ActivityFeed } from './activity-feed.ts'
import { BackFill } from './back-fill.ts'
import { LastTrades } from './last-trades.ts'
import { TradeCheck } from './trade-check.ts'
import { type LastTrade, TradeLedger } from './trade-ledger.ts'
import { TradeWalk } from './trade-walk.ts'

interface TradeFeedParts {
  readonly venue: VenueParts
  readonly data: Pick<DataApi, 'page'>
  readonly url: string
  readonly tap: FrameTap | undefined
  readonly counters: VenueCounters
  readonly emit: (event: VenueEvent) => void
  readonly noDataAfterMs: number
  /** Whether the market channel currently sends this token's fills. */
  readonly isStreamed: (token: string) => boolean
  readonly signal: AbortSignal
}

const TRADE_INCOMPLETE = { kind: 'ws.last_trade_price', name: 'no whole trade' }

export class TradeFeed {
  readonly backFill: BackFill
  readonly followed: FollowedWallets
  readonly #activity: ActivityFeed
  readonly #check: TradeCheck
  readonly #lastTrades: LastTrades
  readonly #drift: VenueCounters['drift']

  constructor(parts: TradeFeedParts) {
    const { venue, counters, emit, signal } = parts
    const { clock } = venue
    this.#drift = counters.drift
    const walk = new TradeWalk({
      data: parts.data,
      clock,
      suspectAnswers: counters.suspectAnswers,
      drift: counters.drift,
      onRejected: (reason, row) => {
        if (reason === 'combo_trade') counters.ignored(reason)
        else counters.rejected(reason, JSON.stringify(row) ?? '')
      },
      onCut: (pages) => counters.trouble('trades_beyond_limit', { detail: `${pages} pages` }),
    })
    const ledger = new TradeLedger({
      emit,
      onSuspicion: (suspicion) => this.#check.add(suspicion),
      fillsOf: (row) => this.#lastTrades.fillsOf(row),
    })
    const onGivenUp = (sinceMs: TimeMs, reason: string) => this.#activity.reportGap(sinceMs, reason)
    const onChecked = (outcome: string) => counters.ignored(outcome)
    const followed = new FollowedWallets({ counters, roleOf: (row) => ledger.roleOf(row) })
    this.followed = followed
    this.#lastTrades = new LastTrades({
      ...{ clock, counters, ledger, emit, isStreamed: parts.isStreamed },
      noDataAfterMs: parts.noDataAfterMs,
      onNoRows: (reason) => this.#activity.reconnect(reason),
      onSource: (source, reason, sinceMs) => {
        counters.trouble('trades_source', { source, reason })
        venue.log.warn({ source, reason }, 'trades come from another source')
        this.#activity.takenOver(reason, sinceMs)
      },
    })
    this.#activity = new ActivityFeed({ ...parts, ledger, followed, lastTrades: this.#lastTrades })
    this.#check = new TradeCheck({ clock, walk, onGivenUp, onChecked }, ledger)
    this.backFill = new BackFill({ clock, walk, ledger, counters, emit, onGivenUp, signal })
  }

  get socket(): SocketFeed {
    return this.#activity.socket
  }

  start(): void {
    this.#activity.start()
    this.#check.start()
    this.#lastTrades.start()
  }

  stop(): Promise<void> {
    this.#check.stop()
    this.#lastTrades.stop()
    return this.#activity.stop()
  }

  get source(): TradesSource {
    return this.#lastTrades.source
  }

  /** Pauses the activity stream only. The market channel is paused with the books. */
  pause(isPaused: boolean): void {
    this.#lastTrades.pause(isPaused)
    this.#activity.socket.pause(isPaused)
  }

  /**
   * Handles a `last_trade_price` of the market channel. `trade` is null if the message does not contain a complete
   * fill.
   */
  lastTrade(trade: LastTrade | null, receivedAtMs: TimeMs): void {
    this.#drift.shares.noteField(TRADE_INCOMPLETE, trade !== null, '')
    if (trade !== null) this.#lastTrades.take(trade, receivedAtMs)
  }

  /**
   * Handles a reconnect of the market channel. If the channel is the source of trades, trades may be missing since
   * `sinceMs`.
   */
  marketChannelUp(sinceMs: TimeMs): void {
    if (this.source === 'activity') return
    this.#activity.reportGap(sinceMs, 'the market channel was down')
  }
}
