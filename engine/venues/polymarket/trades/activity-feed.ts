// The activity stream (RTDS): all fills of the venue and their participants, including fills of unknown markets.

import type { StopTimer } from '../../../clock.ts'
import type { VenueEvent } from '../../../events.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import { type FrameTap, feedReporter, type RawFrame, SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import type { WireTrade } from '../messages.ts'
import { parseActivity } from '../parse.ts'
import type { FollowedWallets } from '../wallets/followed-wallets.ts'
import type { LastTrades } from './last-trades.ts'
import { type LastTrade, readTrade, type TradeLedger, type TradeRow } from './trade-ledger.ts'

/** Connection number of the activity stream. The book sockets count from 1. */
const ACTIVITY_CONNECTION = 0

interface ActivityParts {
  readonly venue: VenueParts
  readonly url: string
  readonly tap: FrameTap | undefined
  readonly counters: VenueCounters
  readonly ledger: TradeLedger
  readonly followed: FollowedWallets
  readonly lastTrades: LastTrades
  readonly emit: (event: VenueEvent) => void
  readonly noDataAfterMs: number
}

const SUBSCRIBE = JSON.stringify({
  action: 'subscribe',
  subscriptions: [{ topic: 'activity', type: '*' }],
})
const PING_EVERY_MS = 5_000
const DEAD_AFTER_MS = 30_000
/** Maximum delay of fills on the stream, including the rounding of their time to whole seconds. */
const OVERLAP_MS = 5_000
/** Minimum interval between two reconnects while the stream counts as ended. */
const RECONNECT_EVERY_MS = 300_000
const COUNTED_MS = 60_000
/** Drift is recorded if at least this many frames of one kind and none of the other kind arrive within an interval. */
const ONE_SIDED_MIN = 20
const DECIDED_EVERY_MS = 250
/** Minimum interval between two reported gaps. Gaps within the interval are merged into one gap with the earliest start. */
const GAPS_APART_MS = 60_000

export class ActivityFeed {
  readonly #parts: ActivityParts
  readonly socket: SocketFeed
  readonly #report: ReturnType<typeof feedReporter>
  #lostSinceMs: TimeMs | null = null
  #reconnectedAtMs = 0
  readonly #unnamed = new UnnamedRows()
  #counts = { matched: 0, participant: 0, other: 0 }
  #stopTimers: readonly StopTimer[] = []
  #gapSinceMs: TimeMs | null = null
  #gapAllowedAtMs = 0
  #stopGapTimer: StopTimer | null = null

  constructor(parts: ActivityParts) {
    this.#parts = parts
    const of = { venue: 'a', stream: 'trades', connection: ACTIVITY_CONNECTION } as const
    this.#report = feedReporter({ clock: parts.venue.clock, emit: parts.emit }, of)
    this.socket = new SocketFeed({
      ...{ ...parts.venue, ...of, tap: parts.tap, drift: parts.counters.drift },
      url: () => parts.url,
      onOpen: () => this.#opened(),
      onFrame: (frame) => this.#received(frame),
      onDown: (reason) => this.#down(reason),
      onSilence: () => this.#reconnectEnded(),
      pingText: 'PING',
      pingEveryMs: PING_EVERY_MS,
      noDataAfterMs: parts.noDataAfterMs,
      deadAfterMs: DEAD_AFTER_MS,
    })
  }

  start(): void {
    const { clock } = this.#parts.venue
    if (this.#stopTimers.length === 0) {
      this.#stopTimers = [
        clock.every(COUNTED_MS, () => this.#compareCounts()),
        clock.every(DECIDED_EVERY_MS, () => this.#decideUnnamed()),
      ]
    }
    this.socket.start()
  }

  stop(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    this.#stopTimers = []
    this.#stopGapTimer?.()
    this.#stopGapTimer = null
    return this.socket.stop()
  }

  reportGap(sinceMs: TimeMs, reason: string): void {
    this.#parts.counters.trouble('trades_in_doubt', { detail: reason })
    this.#gapSinceMs = least(this.#gapSinceMs, sinceMs)
    const waitMs = this.#gapAllowedAtMs - this.#parts.venue.clock.monotonicMs()
    if (waitMs <= 0) this.#emitGap(reason)
    else this.#stopGapTimer ??= this.#parts.venue.clock.after(waitMs, () => this.#emitGap(reason))
  }

  #emitGap(reason: string): void {
    this.#stopGapTimer?.()
    this.#stopGapTimer = null
    const sinceMs = this.#gapSinceMs
    if (sinceMs === null) return
    this.#gapSinceMs = null
    this.#gapAllowedAtMs = this.#parts.venue.clock.monotonicMs() + GAPS_APART_MS
    this.#report('feedGap', reason, sinceMs)
  }

  takenOver(reason: string, sinceMs: TimeMs): void {
    const fromMs = least(this.#lostSinceMs, sinceMs)
    this.#lostSinceMs = null
    this.#report('feedUp', reason, timeMs(fromMs - OVERLAP_MS))
  }

  get #isEnded(): boolean {
    return this.#parts.lastTrades.source !== 'activity'
  }

  #opened(): void {
    this.socket.send(SUBSCRIBE)
    const sinceMs = this.#lostSinceMs
    this.#lostSinceMs = null
    if (!this.#isEnded) this.#report('feedUp', 'connected', sinceMs)
  }

  #down(reason: string): void {
    const { lastDataAtMs, lateSinceMs } = this.socket
    const lastMs = lastDataAtMs ?? this.#parts.venue.clock.nowMs()
    const sinceMs = timeMs(Math.min(lastMs, lateSinceMs ?? lastMs) - OVERLAP_MS)
    if (this.#isEnded) return
    this.#lostSinceMs = least(this.#lostSinceMs, sinceMs)
    this.#report('feedDown', reason, this.#lostSinceMs)
  }

  #received(frame: RawFrame): 'data' | 'sign' {
    const { counters, lastTrades } = this.#parts
    const parsed = parseActivity(frame.text)
    switch (parsed.kind) {
      case 'sign':
        return 'sign'
      case 'other':
        counters.ignored('other_topic')
        this.#counts.other += 1
        counters.drift.note('rtds.type', parsed.name, frame.text, 'notice')
        return 'sign'
      case 'refused':
        counters.drift.note('rtds', 'subscription refused', frame.text)
        lastTrades.refused()
        return 'sign'
      case 'rejected':
        counters.rejected(parsed.reason, frame.text)
        this.reportGap(timeMs(frame.receivedAtMs - OVERLAP_MS), parsed.reason)
        return 'data'
      case 'activity': {
        const { kind, row: wire } = parsed.message
        const row = readTrade(wire)
        if (typeof row === 'string') {
          // A back-fill would not help, because the Data API returns the same row.
          counters.rejected(row, frame.text, kind)
          return 'data'
        }
        counters.mapped(kind)
        const given = { row, wire, receivedAtMs: frame.receivedAtMs }
        if (kind === 'matched') this.#takeMatched(given)
        else if (kind === 'participant') this.#takeParticipant(given)
        else {
          counters.drift.note('rtds.type', 'no topic and type', frame.text, 'notice')
          this.#unnamed.add(given, this.#parts.venue.clock.monotonicMs())
        }
        return 'data'
      }
    }
  }

  #takeMatched({ row, receivedAtMs }: UnnamedRow): void {
    this.#counts.matched += 1
    this.#parts.lastTrades.matched(row, receivedAtMs)
  }

  #takeParticipant({ row, wire, receivedAtMs }: UnnamedRow): void {
    this.#counts.participant += 1
    this.#parts.lastTrades.part(row)
    this.#parts.ledger.addParticipant(row, receivedAtMs)
    const fill = this.#parts.followed.fill(row, wire, receivedAtMs)
    if (fill !== null) this.#parts.emit(fill)
  }

  #decideUnnamed(): void {
    const nowMs = this.#parts.venue.clock.monotonicMs()
    const tradeOf = (txHash: string) => this.#parts.lastTrades.tradeOf(txHash)
    for (const decided of this.#unnamed.takeDue(nowMs, tradeOf)) this.#takeDecided(decided)
  }

  /** Emits a classified transaction. If the taker has no participant row, its match row serves as the participant row. */
  #takeDecided({ taker, others }: DecidedRows): void {
    this.#takeMatched(taker)
    const hasParts = others.some(({ row }) => row.wallet === taker.row.wallet)
    for (const part of hasParts ? others : [taker, ...others]) this.#takeParticipant(part)
  }

  /**
   * Opens a new connection, because the present connection received no rows although trades arrived from another
   * source.
   */
  reconnect(reason: string): void {
    this.socket.reconnect(reason)
  }

  /** Reconnects while the stream counts as ended, because a new connection may receive rows again. */
  #reconnectEnded(): void {
    if (!this.#isEnded) return
    const nowMs = this.#parts.venue.clock.monotonicMs()
    if (nowMs - this.#reconnectedAtMs < RECONNECT_EVERY_MS) return
    this.#reconnectedAtMs = nowMs
    this.socket.reconnect('retry of the ended stream')
  }

  /** Records drift if only one type of row arrives. Each match has participant rows. */
  #compareCounts(): void {
    const { matched, participant, other } = this.#counts
    this.#counts = { matched: 0, participant: 0, other: 0 }
    const { drift } = this.#parts.counters
    if (other >= ONE_SIDED_MIN && matched + participant === 0) {
      drift.note('rtds', 'no rows, other frames > 0', `${other} in a minute`)
    }
    if (matched >= ONE_SIDED_MIN && participant === 0) {
      drift.note('rtds', 'trades 0, orders_matched > 0', `${matched} in a minute`)
    }
    if (participant >= ONE_SIDED_MIN && matched === 0) {
      drift.note('rtds', 'orders_matched 0, trades > 0', `${participant} in a minute`)
    }
  }
}

function least(one: TimeMs | null, other: TimeMs): TimeMs {
  return one !== null && one < other ? one : other
}

interface UnnamedRow {
  readonly row: TradeRow
  readonly wire: WireTrade
  readonly receivedAtMs: TimeMs
}

/** The distinct rows of one transaction, divided into the taker's row and all other rows. */
interface DecidedRows {
  readonly taker: UnnamedRow
  readonly others: readonly UnnamedRow[]
}

const HELD_MS = 1_000
/** Maximum transactions that wait. Above the maximum the oldest is classified at once. */
const TRANSACTIONS_MAX = 4_096
const ROWS_MAX = 256

/** Collects activity frames without `topic` and `type` for a second per transaction. Then classifies them. */
class UnnamedRows {
  readonly #transactions = new Map<string, { readonly sinceMs: number; rows: UnnamedRow[] }>()

  add(unnamed: UnnamedRow, nowMs: number): void {
    const { txHash } = unnamed.row
    const held = this.#transactions.get(txHash)
    if (held === undefined) this.#transactions.set(txHash, { sinceMs: nowMs, rows: [unnamed] })
    else if (held.rows.length < ROWS_MAX) held.rows.push(unnamed)
  }

  /**
   * Removes and classifies the transactions that are due. `tradeOf` returns the transaction's fill on the market
   * channel.
   */
  takeDue(nowMs: number, tradeOf: (txHash: string) => LastTrade | null): readonly DecidedRows[] {
    const decided: DecidedRows[] = []
    for (const [txHash, { sinceMs, rows }] of this.#transactions) {
      if (nowMs - sinceMs < HELD_MS && this.#transactions.size <= TRANSACTIONS_MAX) break
      this.#transactions.delete(txHash)
      decided.push(decide(rows, tradeOf(txHash)))
    }
    return decided
  }
}

/**
 * Chooses the taker's row: the row with token and side of the market channel's fill. Without a fill, the row that
 * arrived twice, as a match and as a participant. Otherwise the largest row, because the makers' rows add up to it.
 */
function decide(rows: readonly UnnamedRow[], trade: LastTrade | null): DecidedRows {
  const shown = rows.filter(({ row }) => row.asset === trade?.asset && row.side === trade.side)
  const repeated = rows.filter(({ row }, at) => indexOfKey(rows, row.key) < at)
  const candidates = [shown, repeated].find(({ length }) => length > 0) ?? rows
  const taker = candidates.reduce((most, one) => (one.row.size > most.row.size ? one : most))
  const others = rows.filter(
    ({ row }, at) => row.key !== taker.row.key && indexOfKey(rows, row.key) === at,
  )
  return { taker, others }
}

function indexOfKey(rows: readonly UnnamedRow[], key: string): number {
  return rows.findIndex(({ row }) => row.key === key)
}
