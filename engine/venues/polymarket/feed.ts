// Polymarket's live feed. Books are from market-channel sockets, trades from the activity stream and the Data API.
// Disagreements between stream and REST cause a recovery.

import type { StopTimer } from '../../clock.ts'
import type { VenueEvent } from '../../events.ts'
import type { HttpClient } from '../../fetch.ts'
import type { NativeMarketId, OutcomeId } from '../../ids.ts'
import type { MarketFees } from '../../market/fees.ts'
import { type FrameTap, feedReporter, latest } from '../socket-feed.ts'
import type {
  FeedHealth,
  Readable,
  TradesRange,
  TradesRead,
  VenueFeed,
  VenueParts,
  WatchedMarket,
} from '../venue.ts'
import type { VenueCounters } from '../venue-counters.ts'
import { BookAudit } from './book/audit.ts'
import { type BookConnection, BookConnections } from './book/connections.ts'
import { apartMs, ResyncQueue } from './book/resync.ts'
import { type MarketTrack, Tracks } from './book/tracks.ts'
import { ClosingTimes } from './closing-times.ts'
import type { DataApi } from './data-api.ts'
import { PolymarketMap } from './map.ts'
import { TradeFeed } from './trades/trade-feed.ts'
import type { FollowedWallets } from './wallets/followed-wallets.ts'

interface PolymarketFeedParts {
  readonly venue: VenueParts
  readonly counters: VenueCounters
  readonly clob: HttpClient
  readonly data: DataApi
  readonly marketWs: string
  readonly rtdsWs: string
  readonly onFees: (market: NativeMarketId, fees: MarketFees) => void
  readonly pollers: readonly { start(): void; stop(): Promise<void> }[]
  readonly clients: readonly HttpClient[]
  readonly options: PolymarketFeedOptions
}

/** The defaults suit the real venue. Tests use shorter times. */
export interface PolymarketFeedOptions {
  readonly tap?: FrameTap
  /** Maximum tokens per socket. Each market has two tokens. */
  readonly assetsPerSocketMax?: number
  readonly bookNoDataAfterMs?: number
  readonly tradesNoDataAfterMs?: number
  readonly auditEveryMs?: number
}

const ASSETS_PER_SOCKET_MAX = 400
const BOOK_NO_DATA_AFTER_MS = 10_000
const TRADES_NO_DATA_AFTER_MS = 15_000
const AUDIT_EVERY_MS = 60_000
const SWEEP_MS = 250
const TICK_BOOK_WAIT_MS = 1_000
/** After this many snapshot requests without a response, the book is read over REST. */
const UNANSWERED_BEFORE_REST = 3
const SILENCE_PROBES = 5
/** Delay between a market's announced close and the next catalogue request. */
const CLOSE_GRACE_MS = 2_000
export class PolymarketFeed implements VenueFeed {
  readonly #parts: PolymarketFeedParts
  readonly #counters: VenueCounters
  readonly #tracks = new Tracks()
  readonly #closingTimes = new ClosingTimes()
  readonly #map: PolymarketMap
  readonly #connections: BookConnections
  readonly #resyncs: ResyncQueue
  readonly #audit: BookAudit
  readonly #trades: TradeFeed
  readonly #aborter = new AbortController()
  #stopTimers: StopTimer[] = []
  #isStopped = false
  #isAuditing = false

  constructor(parts: PolymarketFeedParts) {
    this.#parts = parts
    const { venue, options, counters } = parts
    const { clock } = venue
    const { tap } = options
    this.#counters = counters
    const emit = (event: VenueEvent) => this.#emit(event)
    this.#map = new PolymarketMap({
      tracks: this.#tracks,
      emit,
      onRejected: (reason, track) => {
        counters.rejected(reason, track?.nativeId ?? '')
        if (track !== null) this.#lost([track], reason)
      },
      onBook: (track, isInOrder) => this.#gotBook(track, isInOrder),
      onLastTrade: (trade, receivedAtMs) => this.#trades.lastTrade(trade, receivedAtMs),
      onTick: (track) => this.#connections.expectBook(track, TICK_BOOK_WAIT_MS),
      onFees: parts.onFees,
    })
    this.#connections = new BookConnections({
      venue,
      url: parts.marketWs,
      tap,
      counters,
      tracks: this.#tracks,
      map: this.#map,
      emit,
      onLost: (tracks, reason) => this.#lost(tracks, reason),
      onSilence: (connection) => void this.#checkSilence(connection),
      assetsPerSocketMax: options.assetsPerSocketMax ?? ASSETS_PER_SOCKET_MAX,
      noDataAfterMs: options.bookNoDataAfterMs ?? BOOK_NO_DATA_AFTER_MS,
    })
    this.#resyncs = new ResyncQueue(clock, (tracks) => this.#requestSnapshots(tracks))
    const isUp = (track: MarketTrack) => this.#connections.isUp(track)
    this.#audit = new BookAudit({
      ...{ clock, clob: parts.clob, tracks: this.#tracks, isUp },
      onContradicted: (track) => counters.drift.note('book.audit', 'other sizes', track.nativeId),
    })
    this.#trades = new TradeFeed({
      venue,
      data: parts.data,
      url: parts.rtdsWs,
      tap,
      counters,
      emit,
      noDataAfterMs: options.tradesNoDataAfterMs ?? TRADES_NO_DATA_AFTER_MS,
      isStreamed: (token) => {
        const track = this.#tracks.byToken(token)
        return track !== undefined && this.#connections.isUp(track)
      },
      signal: this.#aborter.signal,
    })
  }

  start(): void {
    if (this.#stopTimers.length > 0 || this.#isStopped) return
    const { clock } = this.#parts.venue
    const auditEveryMs = this.#parts.options.auditEveryMs ?? AUDIT_EVERY_MS
    this.#stopTimers.push(clock.every(SWEEP_MS, () => this.#sweep()))
    this.#stopTimers.push(clock.every(auditEveryMs, () => void this.#runAudit()))
    for (const each of [this.#connections, this.#trades, ...this.#parts.pollers]) each.start()
  }

  async stop(): Promise<void> {
    const { pollers, clients } = this.#parts
    this.#isStopped = true
    this.#aborter.abort()
    for (const stop of this.#stopTimers) stop()
    this.#stopTimers = []
    this.#resyncs.stop()
    const stopping = [this.#connections, this.#trades, ...pollers].map((each) => each.stop())
    for (const client of clients) client.stop()
    await Promise.all(stopping)
  }

  watch(markets: readonly WatchedMarket[]): void {
    const nowMs = this.#parts.venue.clock.nowMs()
    for (const market of markets) {
      const { nativeId, closeAtMs } = market
      if (this.#tracks.add(market) === null || closeAtMs === null || closeAtMs <= nowMs) continue
      this.#closingTimes.add(nativeId, closeAtMs)
    }
  }

  unwatch(ids: readonly NativeMarketId[]): void {
    this.uncover(ids)
    for (const id of ids) {
      const closeAtMs = this.#tracks.remove(id)?.closeAtMs ?? null
      if (closeAtMs !== null) this.#closingTimes.remove(id, closeAtMs)
    }
  }

  cover(ids: readonly NativeMarketId[]): void {
    const added = ids.flatMap((id) => this.#tracks.cover(id) ?? [])
    if (added.length > 0) this.#connections.add(added)
  }

  uncover(ids: readonly NativeMarketId[]): void {
    const removed = ids.flatMap((id) => this.#tracks.uncover(id) ?? [])
    if (removed.length === 0) return
    this.#connections.remove(removed)
    for (const track of removed) {
      this.#resyncs.settle(track)
      track.clear()
    }
  }

  resync(outcomes: readonly OutcomeId[]): void {
    for (const track of this.#coveredOf(outcomes)) {
      // A snapshot that is queued or awaited is not requested twice.
      if (track.isSubscribed && track.snapshotDueAtMs === null) this.#resyncs.request(track)
    }
  }

  read(what: Readable): void {
    this.#connections.pause(what === 'nothing')
    this.#trades.pause(what !== 'all')
  }

  reconnect(reason: string): void {
    this.#connections.reconnect(reason)
  }

  fetchTrades(range: TradesRange): Promise<TradesRead> {
    return this.#trades.backFill.fetch(range)
  }

  get followed(): FollowedWallets {
    return this.#trades.followed
  }

  health(): FeedHealth {
    const { source, socket } = this.#trades
    const sockets = [socket, ...Array.from(this.#connections.all(), (each) => each.socket)]
    // A closed activity socket is not an outage if trades come from another source.
    const isWanted = source === 'activity' || socket.isOpen
    return {
      connectionsOpen: this.#connections.deliveringCount + (socket.isOpen ? 1 : 0),
      connectionsWanted: this.#connections.wantedCount + (isWanted ? 1 : 0),
      lastDataAtMs: latest(sockets.map((each) => each.lastDataAtMs)),
      lastSignAtMs: latest(sockets.map((each) => each.lastSignAtMs)),
      bookDelayMs: 0,
      tradesSource: source,
    }
  }

  readBooks(outcomes: readonly OutcomeId[]): void {
    const tracks = this.#coveredOf(outcomes)
    if (tracks.length > 0) void this.#readBooks(tracks)
  }

  #coveredOf(outcomes: readonly OutcomeId[]): readonly MarketTrack[] {
    const tracks = outcomes.flatMap((outcome) => this.#tracks.byToken(outcome) ?? [])
    return tracks.filter((track) => this.#tracks.covered.has(track))
  }

  #emit(event: VenueEvent): void {
    if (this.#isStopped) return
    this.#parts.venue.emit(event)
    const isBack = event.kind === 'feedUp' && event.stream === 'books'
    if (isBack && event.sinceMs !== null) this.#trades.marketChannelUp(event.sinceMs)
  }

  #gotBook(track: MarketTrack, isInOrder: boolean): void {
    // If a message after this snapshot is lost, the book becomes suspect at once.
    track.gapAllowedAtMs = 0
    if (!isInOrder) return
    this.#connections.noteBook(track)
    track.unansweredCount = 0
    this.#resyncs.settle(track)
  }

  #lost(tracks: readonly MarketTrack[], reason: string): void {
    const { clock } = this.#parts.venue
    const monotonicMs = clock.monotonicMs()
    for (const track of tracks) {
      if (!this.#tracks.covered.has(track)) continue
      this.#resyncs.request(track)
      if (track.gapAllowedAtMs > monotonicMs) continue
      track.gapAllowedAtMs = monotonicMs + apartMs(track.unansweredCount)
      this.#emitGap(track.connection, [track], reason)
    }
  }

  #emitGap(connection: number, tracks: readonly MarketTrack[], reason: string): void {
    const parts = { clock: this.#parts.venue.clock, emit: (event: VenueEvent) => this.#emit(event) }
    const of = { venue: 'a', stream: 'books', connection } as const
    const outcomes = tracks.map((track) => track.first)
    feedReporter(parts, of)('feedGap', reason, null, outcomes)
  }

  /** Subscribes again, because the venue then sends snapshots. If no snapshots arrive, the books are read over REST. */
  #requestSnapshots(tracks: readonly MarketTrack[]): void {
    this.#connections.resubscribe(tracks)
    const unanswered = tracks.filter((track) => track.unansweredCount >= UNANSWERED_BEFORE_REST)
    if (unanswered.length > 0) void this.#readBooks(unanswered)
  }

  async #readBooks(tracks: readonly MarketTrack[]): Promise<void> {
    const signal = this.#aborter.signal
    try {
      const books = await this.#audit.books(tracks, signal)
      const nowMs = this.#parts.venue.clock.nowMs()
      for (const book of books.values()) this.#map.mapBook(book, nowMs, false)
    } catch (error) {
      if (!signal.aborted) this.#counters.trouble('books_not_read', { detail: String(error) })
    }
  }

  #sweep(): void {
    for (const track of this.#connections.takeOverdue()) this.#resyncs.request(track)
    const nowMs = this.#parts.venue.clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    for (const market of this.#closingTimes.takeDue(nowMs - CLOSE_GRACE_MS)) {
      this.#emit({ kind: 'marketSeen', venue: 'a', ...times, market })
    }
  }

  async #runAudit(): Promise<void> {
    if (this.#isAuditing) return
    this.#isAuditing = true
    const signal = this.#aborter.signal
    try {
      const behind = await this.#audit.behind(this.#audit.choose(), signal)
      for (const track of behind)
        this.#counters.trouble('book_behind_rest', { detail: track.nativeId })
      this.#lost(behind, 'the book differs from REST')
    } catch (error) {
      if (!signal.aborted) this.#counters.trouble('audit_failed', { detail: String(error) })
    } finally {
      this.#isAuditing = false
    }
  }

  async #checkSilence(connection: BookConnection): Promise<void> {
    if (connection.isSilenceChecked) return
    connection.isSilenceChecked = true
    const signal = this.#aborter.signal
    const dataAtMs = connection.socket.lastDataAtMs
    try {
      const probes = this.#audit.busiest(connection.tracks, SILENCE_PROBES)
      const behind = probes.length === 0 ? [] : await this.#audit.behind(probes, signal)
      if (behind.length === 0 || connection.socket.lastDataAtMs !== dataAtMs) return
      this.#emitGap(connection.number, [...connection.tracks], 'silent while REST moves')
      connection.socket.reconnect('silent while REST moves')
    } catch (error) {
      if (!signal.aborted) this.#counters.trouble('silence_check_failed', { detail: String(error) })
    } finally {
      connection.isSilenceChecked = false
    }
  }
}
