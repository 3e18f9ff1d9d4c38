// The market-channel sockets. Both tokens of a market use the same socket, so that their messages arrive in order.

import type { VenueEvent } from '../../../events.ts'
import { addTo } from '../../../grouping.ts'
import { isRecord } from '../../../json-record.ts'
import { takeFirst } from '../../../take-first.ts'
import type { TimeMs } from '../../../units.ts'
import { ConnectQueue } from '../../connect-queue.ts'
import type { DriftNotes } from '../../drift/row-checks.ts'
import { type FrameTap, feedReporter, type RawFrame, SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import type { PolymarketMap } from '../map.ts'
import type { BookMessage, MarketMessage, PriceChangeMessage } from '../messages.ts'
import { type ParseRejection, parseFrame, tokensOf } from '../parse.ts'
import { noteRequested } from './resync.ts'
import type { MarketTrack, Tracks } from './tracks.ts'

/** A connection counts as silent if nothing arrives within this time after a snapshot was requested. */
const UNRESPONSIVE_AFTER_MS = 12_000
const REPLACE_APART_MS = 60_000
/** A snapshot is requested again if it does not arrive within this time after the venue began to answer. */
const SNAPSHOT_WAIT_MS = 5_000
/**
 * After this many consecutive messages about unknown tokens, all books of the connection are suspect. The venue may
 * have changed its token ids.
 */
const UNKNOWN_TOKENS_MIN = 3
const UNKNOWN_TOKEN = 'messages about unknown tokens'
const BOOK_KINDS: ReadonlySet<string> = new Set([
  'book',
  'priceChange',
  'oldPriceChange',
  'tickSize',
])

interface ConnectionParts {
  readonly venue: VenueParts
  readonly url: string
  readonly tap: FrameTap | undefined
  readonly counters: VenueCounters
  readonly tracks: Tracks
  readonly map: PolymarketMap
  readonly emit: (event: VenueEvent) => void
  /** Called when a frame could not be parsed. The books of these markets may have missed a change. */
  readonly onLost: (tracks: readonly MarketTrack[], reason: string) => void
  readonly onSilence: (connection: BookConnection) => void
  readonly assetsPerSocketMax: number
  readonly noDataAfterMs: number
}

export interface BookConnection {
  /** Starts at 1. Number 0 is the activity stream. */
  readonly number: number
  readonly socket: SocketFeed
  readonly tracks: Set<MarketTrack>
  isUp: boolean
  lostSinceMs: TimeMs | null
  isSilenceChecked: boolean
  /** Markets whose subscription must be sent, in order of priority. */
  readonly queue: Set<MarketTrack>
  readonly awaited: Set<MarketTrack>
  /** Monotonic time of the first command since the last data. Null if data arrived since. */
  requestedAtMs: number | null
  isBegun: boolean
  /**
   * Before this monotonic time the connection does not count as wanted, because it was added while all other
   * connections delivered. Its first data ends this period.
   */
  wantedAtMs: number
  /** Monotonic time before which the connection is not replaced again for being unresponsive. */
  replaceAllowedAtMs: number
  unknownCount: number
}

const PING_EVERY_MS = 10_000
const DEAD_AFTER_MS = 30_000
/**
 * Maximum markets per command, and snapshots requested at once per connection. The venue omits snapshots of further
 * tokens.
 */
const MARKETS_PER_COMMAND = 50
/**
 * At most 20 connection attempts a second, and 16 sockets that wait for first books. The venue refuses many attempts at
 * once with 429.
 */
const CONNECT_LIMITS = {
  apartMs: 50,
  unansweredMax: 16,
  answerWaitMs: 10_000,
  refusedWaitMs: 5_000,
}
/** A new connection is not reported as missing for this time if all other connections deliver data. */
const ADDED_GRACE_MS = 10_000

export class BookConnections {
  readonly #parts: ConnectionParts
  readonly #connections = new Map<number, BookConnection>()
  readonly #spare = new Set<BookConnection>()
  readonly #connectQueue: ConnectQueue
  #nextNumber = 1
  /** Number of the connection that receives new_market and market_resolved, which concern the whole venue. */
  #customNumber = 0
  #hasDelivered = false
  #isStarted = false
  #isPaused = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#connectQueue = new ConnectQueue(parts.venue.clock, CONNECT_LIMITS)
  }

  get wantedCount(): number {
    const nowMs = this.#parts.venue.clock.monotonicMs()
    let count = 0
    for (const { wantedAtMs } of this.#connections.values()) if (wantedAtMs <= nowMs) count += 1
    return count
  }

  get deliveringCount(): number {
    let count = 0
    for (const { socket } of this.#connections.values()) if (socket.isDelivering) count += 1
    return count
  }

  all(): IterableIterator<BookConnection> {
    return this.#connections.values()
  }

  isUp(track: MarketTrack): boolean {
    return track.isSubscribed && this.#connections.get(track.connection)?.socket.isOpen === true
  }

  start(): void {
    this.#isStarted = true
    for (const { socket } of this.#connections.values()) socket.start()
  }

  async stop(): Promise<void> {
    this.#isStarted = false
    const connections = [...this.#connections.values()]
    this.#connections.clear()
    this.#spare.clear()
    this.#connectQueue.stop()
    await Promise.all(connections.map(({ socket }) => socket.stop()))
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    for (const { socket } of this.#connections.values()) socket.pause(isPaused)
  }

  reconnect(reason: string): void {
    for (const { socket } of this.#connections.values()) socket.reconnect(reason)
  }

  add(tracks: readonly MarketTrack[]): void {
    const marketsMax = Math.max(1, Math.floor(this.#parts.assetsPerSocketMax / 2))
    const isComplete = this.#hasDelivered && this.deliveringCount === this.wantedCount
    const wantedAtMs = isComplete
      ? this.#parts.venue.clock.monotonicMs() + ADDED_GRACE_MS
      : Number.NEGATIVE_INFINITY
    const changed = new Set<BookConnection>()
    for (const track of tracks) {
      const connection = this.#withCapacity() ?? this.#make(wantedAtMs)
      track.connection = connection.number
      connection.tracks.add(track)
      if (connection.tracks.size >= marketsMax) this.#spare.delete(connection)
      if (connection.socket.isOpen) connection.queue.add(track)
      changed.add(connection)
    }
    for (const connection of changed) {
      if (this.#isStarted) connection.socket.start()
      this.#sendNext(connection)
    }
  }

  remove(tracks: readonly MarketTrack[]): void {
    for (const [connection, list] of this.#byConnection(tracks)) {
      for (const track of list) {
        connection.tracks.delete(track)
        connection.queue.delete(track)
        connection.awaited.delete(track)
      }
      if (connection.tracks.size > 0) {
        this.#spare.add(connection)
        this.#unsubscribe(connection, list)
        this.#sendNext(connection)
        continue
      }
      this.#connections.delete(connection.number)
      this.#spare.delete(connection)
      void connection.socket.stop()
      if (connection.number === this.#customNumber) this.#moveCustom()
    }
  }

  /**
   * Requests snapshots by subscribing again. The venue answers each subscription with a snapshot. A closed socket
   * subscribes to all its markets when it opens.
   */
  resubscribe(tracks: readonly MarketTrack[]): void {
    for (const [connection, list] of this.#byConnection(tracks)) {
      if (!connection.socket.isOpen) continue
      for (const track of list) connection.queue.add(track)
      this.#sendNext(connection)
    }
  }

  /** Expects a snapshot that the venue sends by itself. */
  expectBook(track: MarketTrack, waitMs: number): void {
    const connection = this.#connections.get(track.connection)
    track.snapshotDueAtMs = this.#parts.venue.clock.monotonicMs() + waitMs
    connection?.awaited.add(track)
  }

  noteBook(track: MarketTrack): void {
    track.snapshotDueAtMs = null
    this.#connections.get(track.connection)?.awaited.delete(track)
  }

  /** Returns the markets whose snapshot is overdue, and replaces silent sockets. */
  takeOverdue(): readonly MarketTrack[] {
    const nowMs = this.#parts.venue.clock.monotonicMs()
    const overdue: MarketTrack[] = []
    for (const connection of this.#connections.values()) {
      const { socket, awaited } = connection
      // A snapshot may have arrived but not be read yet.
      if (!socket.isOpen || socket.isPaused || socket.lateSinceMs !== null) continue
      const isSilent = nowMs - (connection.requestedAtMs ?? nowMs) >= UNRESPONSIVE_AFTER_MS
      if (isSilent && this.#mayReplace(connection, nowMs)) {
        connection.replaceAllowedAtMs = nowMs + REPLACE_APART_MS
        socket.reconnect('requested books did not arrive')
        continue
      }
      if (isSilent) connection.requestedAtMs = null
      for (const track of awaited) {
        const dueAtMs = track.snapshotDueAtMs ?? nowMs
        if (dueAtMs > nowMs && !(isSilent && dueAtMs === Number.POSITIVE_INFINITY)) continue
        track.snapshotDueAtMs = null
        awaited.delete(track)
        overdue.push(track)
      }
      this.#sendNext(connection)
    }
    return overdue
  }

  /**
   * A socket that has delivered is replaced only if it awaits a book that it had before. Each socket is replaced at
   * most once a minute, because the venue may have no book for any of its markets.
   */
  #mayReplace({ replaceAllowedAtMs, socket, awaited }: BookConnection, nowMs: number): boolean {
    if (replaceAllowedAtMs > nowMs) return false
    return !socket.isDelivering || Array.from(awaited).some(({ lastTimeMs }) => lastTimeMs > 0)
  }

  #byConnection(tracks: readonly MarketTrack[]): Map<BookConnection, MarketTrack[]> {
    const lists = new Map<BookConnection, MarketTrack[]>()
    for (const track of tracks) {
      const connection = this.#connections.get(track.connection)
      if (connection !== undefined) addTo(lists, connection, track)
    }
    return lists
  }

  #withCapacity(): BookConnection | null {
    for (const connection of this.#spare) if (connection.socket.isOpen) return connection
    const [first] = this.#spare
    return first ?? null
  }

  #make(wantedAtMs: number): BookConnection {
    const number = this.#nextNumber
    this.#nextNumber += 1
    const { venue, tap, url, noDataAfterMs, counters } = this.#parts
    const socket = new SocketFeed({
      ...{ ...venue, tap, noDataAfterMs, drift: counters.drift },
      connectQueue: this.#connectQueue,
      venue: 'a',
      stream: 'books',
      connection: number,
      url: () => url,
      onOpen: () => this.#opened(connection),
      onFrame: (frame) => this.#received(connection, frame),
      onDown: (reason) => this.#down(connection, reason),
      onSilence: () => this.#parts.onSilence(connection),
      pingText: 'PING',
      pingEveryMs: PING_EVERY_MS,
      deadAfterMs: DEAD_AFTER_MS,
    })
    const connection: BookConnection = {
      number,
      socket,
      tracks: new Set(),
      isUp: false,
      lostSinceMs: null,
      isSilenceChecked: false,
      queue: new Set(),
      awaited: new Set(),
      requestedAtMs: null,
      isBegun: false,
      wantedAtMs,
      replaceAllowedAtMs: 0,
      unknownCount: 0,
    }
    this.#connections.set(number, connection)
    this.#spare.add(connection)
    socket.pause(this.#isPaused)
    if (this.#customNumber === 0) this.#customNumber = number
    return connection
  }

  #opened(connection: BookConnection): void {
    for (const track of connection.tracks) {
      track.unansweredCount = 0
      connection.queue.add(track)
    }
    connection.isUp = false
    connection.isBegun = false
    this.#sendNext(connection)
  }

  /** Reports the connection as up at its first data. An open socket alone does not prove that data will arrive. */
  #noteUp(connection: BookConnection): void {
    const sinceMs = connection.lostSinceMs
    this.#hasDelivered = true
    connection.isUp = true
    connection.wantedAtMs = Number.NEGATIVE_INFINITY
    connection.lostSinceMs = null
    this.#report('feedUp', connection, 'connected', sinceMs)
  }

  #down(connection: BookConnection, reason: string): void {
    const { clock } = this.#parts.venue
    connection.lostSinceMs ??= connection.socket.lastDataAtMs ?? clock.nowMs()
    for (const track of connection.tracks) {
      track.isSubscribed = false
      track.snapshotDueAtMs = null
    }
    connection.queue.clear()
    connection.awaited.clear()
    connection.requestedAtMs = null
    this.#report('feedDown', connection, reason, connection.lostSinceMs)
  }

  #report(kind: 'feedUp' | 'feedDown', of: BookConnection, reason: string, sinceMs: TimeMs | null) {
    const { emit, venue } = this.#parts
    const outcomes = Array.from(of.tracks, (track) => track.first)
    const parts = { clock: venue.clock, emit }
    const about = { venue: 'a', stream: 'books', connection: of.number } as const
    feedReporter(parts, about)(kind, reason, sinceMs, outcomes)
  }

  #sendNext(connection: BookConnection): void {
    const { queue, awaited, socket } = connection
    if (!socket.isOpen) return
    if (queue.size > 0) {
      const capacity = MARKETS_PER_COMMAND - awaited.size
      if (capacity < Math.min(queue.size, MARKETS_PER_COMMAND / 2)) return
      const batch = takeFirst(queue, capacity)
      this.#unsubscribe(connection, batch)
      this.#subscribe(connection, batch)
    }
    const isAnswered = queue.size === 0 && connection.requestedAtMs === null
    if (isAnswered) this.#connectQueue.settle(connection.number)
  }

  #subscribe(connection: BookConnection, tracks: readonly MarketTrack[]): void {
    const nowMs = this.#parts.venue.clock.monotonicMs()
    const isCustom = connection.number === this.#customNumber
    const isSent = this.#send(connection, tracks, {
      ...(connection.isBegun ? { operation: 'subscribe' } : { type: 'market' }),
      ...(isCustom ? { custom_feature_enabled: true } : {}),
    })
    if (!isSent) return
    connection.isBegun = true
    connection.requestedAtMs ??= nowMs
    for (const track of tracks) {
      noteRequested(track, nowMs)
      connection.awaited.add(track)
    }
  }

  #unsubscribe(connection: BookConnection, tracks: readonly MarketTrack[]): void {
    const subscribed = tracks.filter((track) => track.isSubscribed)
    for (let from = 0; from < subscribed.length; from += MARKETS_PER_COMMAND) {
      const batch = subscribed.slice(from, from + MARKETS_PER_COMMAND)
      if (!this.#send(connection, batch, { operation: 'unsubscribe' })) return
    }
  }

  /** Sends a command for both tokens of each market. Reconnects the socket if the command cannot be sent. */
  #send(
    { socket }: BookConnection,
    tracks: readonly MarketTrack[],
    command: Record<string, string | boolean>,
  ): boolean {
    const assets = tracks.flatMap((track) => [track.first, track.second])
    if (socket.send(JSON.stringify({ assets_ids: assets, ...command }))) return true
    if (socket.isOpen) socket.reconnect('a command could not be sent')
    return false
  }

  #moveCustom(): void {
    const [next] = this.#connections.values()
    this.#customNumber = next?.number ?? 0
    const track = [...(next?.tracks ?? [])].find(({ isSubscribed }) => isSubscribed)
    // The first command of a connection has the flag.
    if (next === undefined || track === undefined) return
    // `custom_feature_enabled` applies to the whole connection. A repeated subscription to a known token sets it.
    next.socket.send(
      JSON.stringify({
        assets_ids: [track.first],
        operation: 'subscribe',
        custom_feature_enabled: true,
      }),
    )
  }

  #received(connection: BookConnection, frame: RawFrame): 'data' | 'sign' {
    const { counters, map } = this.#parts
    const parsed = parseFrame(frame.text, () => {
      counters.drift.note('ws.asset_id', 'hexadecimal', frame.text, 'notice')
    })
    if (parsed.kind === 'sign') return 'sign'
    if (parsed.kind === 'notice') {
      counters.ignored('notice')
      return 'sign'
    }
    if (!connection.isUp) this.#noteUp(connection)
    this.#noteAnswer(connection)
    for (const message of parsed.messages) {
      if (message.kind !== 'rejected') {
        if (message.kind === 'book') this.#noteVersion(message.body, counters.drift)
        const result = map.map(message, frame.receivedAtMs)
        if (message.kind === 'priceChange') this.#noteLacking(message.body, frame.text)
        if (result === 'mapped') counters.mapped(message.kind)
        else if (result !== 'rejected') counters.ignored(result)
        if (result === 'unwatched') this.#unwatched(connection, message, frame.text)
        else if (BOOK_KINDS.has(message.kind)) connection.unknownCount = 0
        continue
      }
      counters.rejected(message.reason, frame.text, message.of ?? null)
      if (message.unknownType !== undefined) {
        counters.drift.note('ws.event_type', message.unknownType, frame.text)
      }
      this.#lost(connection, message)
    }
    this.#sendNext(connection)
    return 'data'
  }

  #noteAnswer(connection: BookConnection): void {
    if (connection.requestedAtMs === null) return
    connection.requestedAtMs = null
    const dueAtMs = this.#parts.venue.clock.monotonicMs() + SNAPSHOT_WAIT_MS
    for (const track of connection.awaited) {
      if (track.snapshotDueAtMs === Number.POSITIVE_INFINITY) track.snapshotDueAtMs = dueAtMs
    }
  }

  /**
   * Reports which books a malformed message may concern: the books of its known tokens and market, or else all books of
   * the connection.
   */
  #lost(connection: BookConnection, { tokens, isOfBook, market, reason }: ParseRejection): void {
    const { tracks, onLost } = this.#parts
    const lost = new Set<MarketTrack>()
    const named = market === null ? undefined : tracks.byMarket(conditionId(market))
    if (isOfBook && named !== undefined) lost.add(named)
    for (const token of tokens) {
      const track = tracks.byToken(token)
      if (track !== undefined) lost.add(track)
    }
    if (lost.size > 0) onLost([...lost], reason)
    else if (isOfBook && tokens.length === 0) onLost([...connection.tracks], reason)
    else if (isOfBook && tokens.some((token) => tracks.isUnknown(token))) {
      this.#noteUnknownToken(connection, undefined)
    }
  }

  #unwatched(connection: BookConnection, message: MarketMessage, text: string): void {
    const { tracks, counters } = this.#parts
    const body: unknown = 'body' in message ? message.body : null
    if (!isRecord(body)) return
    const tokens = tokensOf(body)
    if (!tokens.some((token) => tracks.isUnknown(token))) return
    counters.drift.note('ws.asset_id', 'not subscribed', text)
    const { market } = body
    const isNamed = typeof market === 'string'
    this.#noteUnknownToken(connection, isNamed ? tracks.byMarket(conditionId(market)) : undefined)
  }

  /**
   * Marks the market as suspect. Without a market, marks all markets of the connection after UNKNOWN_TOKENS_MIN
   * messages.
   */
  #noteUnknownToken(connection: BookConnection, track: MarketTrack | undefined): void {
    const { onLost } = this.#parts
    if (track !== undefined) return onLost([track], UNKNOWN_TOKEN)
    connection.unknownCount += 1
    if (connection.unknownCount >= UNKNOWN_TOKENS_MIN) onLost([...connection.tracks], UNKNOWN_TOKEN)
  }

  /** Records missing best prices and hashes. Without them only the comparison with REST (audit.ts) finds lost messages. */
  #noteLacking({ price_changes: [entry] }: PriceChangeMessage, text: string): void {
    if (entry === undefined) return
    const { drift } = this.#parts.counters
    const hasTop = entry.best_bid !== undefined && entry.best_ask !== undefined
    if (!hasTop) drift.note('ws.price_change', 'best prices missing', text)
    if (entry.hash === undefined) drift.note('ws.price_change', 'hash missing', text)
  }

  /** Records unknown book versions. Books of protocol v1 have no version. */
  #noteVersion({ version, asset_id: token }: BookMessage, drift: DriftNotes): void {
    if (version === undefined || version === 'v1' || version === 'v2') return
    drift.note('ws.book_version', version, token)
  }
}
