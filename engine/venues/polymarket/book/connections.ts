// The market-channel sockets. Both tokens of a market use the same socket, so that their messages arrive in order.

import type { VenueEvent } from '../../../events.ts'
import { addTo } from '../../../grouping.ts'
import { isRecord } from '../../../json-record.ts'
import type { TimeMs } from '../../../units.ts'
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

/** A connection is replaced if a snapshot request is pending and no data arrived for this long. */
const UNRESPONSIVE_AFTER_MS = 5_000
const REPLACE_APART_MS = 60_000
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
  /** Whether `feedUp` has been emitted since the socket opened. */
  isUp: boolean
  lostSinceMs: TimeMs | null
  isSilenceChecked: boolean
  /** Monotonic time before which the connection is not replaced again for being unresponsive. */
  replaceAllowedAtMs: number
  /** Number of consecutive messages about unknown tokens. */
  unknownCount: number
}

const PING_EVERY_MS = 10_000
const DEAD_AFTER_MS = 30_000
/** Maximum tokens per command. The venue omits snapshots for larger commands. */
const ASSETS_PER_COMMAND = 100
/** Delay between two sockets that are opened at the same time. */
const OPEN_APART_MS = 25

export class BookConnections {
  readonly #parts: ConnectionParts
  readonly #connections = new Map<number, BookConnection>()
  #nextNumber = 1
  /** Number of the connection that receives new_market and market_resolved, which concern the whole venue. */
  #customNumber = 0
  #isStarted = false
  #isPaused = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  get wantedCount(): number {
    return this.#connections.size
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
    return this.#connections.get(track.connection)?.socket.isOpen === true
  }

  start(): void {
    this.#isStarted = true
    let delayMs = 0
    for (const connection of this.#connections.values()) {
      this.#startLater(connection, delayMs)
      delayMs += OPEN_APART_MS
    }
  }

  async stop(): Promise<void> {
    this.#isStarted = false
    const connections = [...this.#connections.values()]
    this.#connections.clear()
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
    const added = new Map<BookConnection, MarketTrack[]>()
    let opening = 0
    for (const track of tracks) {
      let connection = this.#withCapacity(marketsMax)
      if (connection === null) {
        connection = this.#make()
        if (this.#isStarted) this.#startLater(connection, opening++ * OPEN_APART_MS)
      }
      track.connection = connection.number
      connection.tracks.add(track)
      addTo(added, connection, track)
    }
    for (const [connection, list] of added) {
      if (connection.socket.isOpen) this.#send(connection, list, 'subscribe')
    }
  }

  remove(tracks: readonly MarketTrack[]): void {
    for (const [connection, list] of this.#byConnection(tracks)) {
      for (const track of list) connection.tracks.delete(track)
      if (connection.tracks.size > 0) {
        this.#send(connection, list, 'unsubscribe')
        continue
      }
      this.#connections.delete(connection.number)
      void connection.socket.stop()
      if (connection.number === this.#customNumber) this.#moveCustom()
    }
  }

  /** Requests snapshots by subscribing again. The venue answers each subscription with a snapshot. */
  resubscribe(tracks: readonly MarketTrack[]): void {
    for (const [connection, list] of this.#byConnection(tracks)) {
      this.#send(connection, list, 'unsubscribe')
      this.#send(connection, list, 'subscribe')
    }
  }

  /** Replaces a socket that receives only heartbeats, but at most once a minute, because the market may have no book. */
  replaceIfUnresponsive(track: MarketTrack): void {
    const connection = this.#connections.get(track.connection)
    if (connection?.socket.isOpen !== true) return
    const { clock } = this.#parts.venue
    const monotonicMs = clock.monotonicMs()
    const sinceDataMs = clock.nowMs() - (connection.socket.lastDataAtMs ?? 0)
    if (sinceDataMs < UNRESPONSIVE_AFTER_MS || connection.replaceAllowedAtMs > monotonicMs) return
    connection.replaceAllowedAtMs = monotonicMs + REPLACE_APART_MS
    connection.socket.reconnect('asked for books in vain')
  }

  #byConnection(tracks: readonly MarketTrack[]): Map<BookConnection, MarketTrack[]> {
    const lists = new Map<BookConnection, MarketTrack[]>()
    for (const track of tracks) {
      const connection = this.#connections.get(track.connection)
      if (connection !== undefined) addTo(lists, connection, track)
    }
    return lists
  }

  #withCapacity(marketsMax: number): BookConnection | null {
    for (const connection of this.#connections.values()) {
      if (connection.tracks.size < marketsMax) return connection
    }
    return null
  }

  #make(): BookConnection {
    const number = this.#nextNumber
    this.#nextNumber += 1
    const { venue, tap, url, noDataAfterMs, counters } = this.#parts
    const socket = new SocketFeed({
      ...{ ...venue, tap, noDataAfterMs, drift: counters.drift },
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
      replaceAllowedAtMs: 0,
      unknownCount: 0,
    }
    this.#connections.set(number, connection)
    socket.pause(this.#isPaused)
    if (this.#customNumber === 0) this.#customNumber = number
    return connection
  }

  #startLater(connection: BookConnection, delayMs: number): void {
    if (delayMs === 0) connection.socket.start()
    else {
      this.#parts.venue.clock.after(delayMs, () => {
        if (this.#connections.get(connection.number) === connection) connection.socket.start()
      })
    }
  }

  #opened(connection: BookConnection): void {
    for (const track of connection.tracks) {
      track.unansweredCount = 0
      track.resyncAllowedAtMs = 0
    }
    this.#send(connection, [...connection.tracks], 'first')
    connection.isUp = false
  }

  /** Reports the connection as up at its first data. An open socket alone does not prove that data will arrive. */
  #noteUp(connection: BookConnection): void {
    const sinceMs = connection.lostSinceMs
    connection.isUp = true
    connection.lostSinceMs = null
    this.#report('feedUp', connection, 'connected', sinceMs)
  }

  #down(connection: BookConnection, reason: string): void {
    const { clock } = this.#parts.venue
    connection.lostSinceMs ??= connection.socket.lastDataAtMs ?? clock.nowMs()
    for (const track of connection.tracks) track.snapshotDueAtMs = null
    this.#report('feedDown', connection, reason, connection.lostSinceMs)
  }

  #report(kind: 'feedUp' | 'feedDown', of: BookConnection, reason: string, sinceMs: TimeMs | null) {
    const { emit, venue } = this.#parts
    const outcomes = Array.from(of.tracks, (track) => track.first)
    const parts = { clock: venue.clock, emit }
    const about = { venue: 'a', stream: 'books', connection: of.number } as const
    feedReporter(parts, about)(kind, reason, sinceMs, outcomes)
  }

  /** Sends commands for both tokens of each market. Reconnects the socket if a command cannot be sent. */
  #send(
    connection: BookConnection,
    tracks: readonly MarketTrack[],
    command: 'first' | 'subscribe' | 'unsubscribe',
  ): void {
    const nowMs = this.#parts.venue.clock.monotonicMs()
    const isCustom = connection.number === this.#customNumber && command !== 'unsubscribe'
    let head: object = command === 'first' ? { type: 'market' } : { operation: command }
    for (let from = 0; from < tracks.length; from += ASSETS_PER_COMMAND / 2) {
      const batch = tracks.slice(from, from + ASSETS_PER_COMMAND / 2)
      if (command !== 'unsubscribe') for (const track of batch) this.#noteSubscribed(track, nowMs)
      const text = JSON.stringify({
        assets_ids: batch.flatMap((track) => [track.first, track.second]),
        ...head,
        ...(isCustom ? { custom_feature_enabled: true } : {}),
      })
      if (!connection.socket.send(text)) {
        if (connection.socket.isOpen) connection.socket.reconnect('a command could not be sent')
        return
      }
      if (command === 'first') head = { operation: 'subscribe' }
    }
  }

  #noteSubscribed(track: MarketTrack, nowMs: number): void {
    if (track.resyncAllowedAtMs <= nowMs) noteRequested(track, nowMs)
    else track.reset()
  }

  #moveCustom(): void {
    const next = this.#connections.values().next().value
    this.#customNumber = next?.number ?? 0
    const track = next?.tracks.values().next().value
    if (next === undefined || track === undefined || !next.socket.isOpen) return
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
    return 'data'
  }

  /**
   * Reports which books a malformed message may concern. If it names no known token or market, all books of the
   * connection.
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
