// The market-channel sockets: which markets are on which, what is sent on opening, and what their
// frames become. Both tokens of a market are always on one socket, so that its messages are in order.

import type { VenueEvent } from '../../../events.ts'
import { isRecord } from '../../../json-record.ts'
import type { TimeMs } from '../../../units.ts'
import type { DriftNotes } from '../../drift/drift-notes.ts'
import { type FrameTap, feedEvent, type RawFrame, SocketFeed } from '../../socket-feed.ts'
import type { VenueParts } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import type { PolymarketMap } from '../map.ts'
import type { BookMessage, MarketMessage, PriceChangeMessage } from '../messages.ts'
import { type ParseRejection, parseFrame, tokensOf } from '../parse.ts'
import { noteRequested } from './resync.ts'
import type { MarketTrack, Tracks } from './tracks.ts'

/** No data for so long while books are asked for in vain. */
const UNRESPONSIVE_AFTER_MS = 5_000
const REPLACE_APART_MS = 60_000
/** So many messages about unknown tokens, and none about the connection's own: it may be theirs under other ids. */
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
  readonly tap: FrameTap | null
  readonly counters: VenueCounters
  readonly tracks: Tracks
  readonly map: PolymarketMap
  readonly emit: (event: VenueEvent) => void
  /** A frame named these markets and could not be read. */
  readonly onLost: (tracks: readonly MarketTrack[], reason: string) => void
  readonly onSilence: (connection: BookConnection) => void
  readonly assetsPerSocketMax: number
  readonly noDataAfterMs: number
}

/** One socket and its markets. */
export interface BookConnection {
  /** From 1; 0 is the activity stream. */
  readonly number: number
  readonly socket: SocketFeed
  readonly tracks: Set<MarketTrack>
  /** `feedUp` has been emitted since it opened. */
  isUp: boolean
  /** From when on messages may be missing; null while it is up. */
  lostSinceMs: TimeMs | null
  isSilenceChecked: boolean
  /** Monotonic time before which it is not replaced for being deaf again. */
  replaceAllowedAtMs: number
  /** Messages about tokens that nobody subscribed to, since the last about one of its own. */
  unknownCount: number
}

const PING_EVERY_MS = 10_000
const DEAD_AFTER_MS = 30_000
/** Tokens named in one command: beyond some size the venue leaves snapshots out. */
const ASSETS_PER_COMMAND = 100
/** Sockets opened together follow each other by this much. */
const OPEN_APART_MS = 25

/** All market-channel sockets of the venue. */
export class BookConnections {
  readonly #parts: ConnectionParts
  readonly #connections = new Map<number, BookConnection>()
  #nextNumber = 1
  /** The connection that gets new_market and market_resolved: one is enough. */
  #customNumber = 0
  #isStarted = false
  #isPaused = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  get wantedCount(): number {
    return this.#connections.size
  }

  /** Those that have delivered data since they opened. */
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

  /** Reads no socket while this is so. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    for (const { socket } of this.#connections.values()) socket.pause(isPaused)
  }

  /** Drops every connection and what waits on it; new ones begin with snapshots. */
  reconnect(reason: string): void {
    for (const { socket } of this.#connections.values()) socket.reconnect(reason)
  }

  /** Puts markets on sockets with room, new ones if need be, and subscribes where one is open. */
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
      const list = added.get(connection)
      if (list === undefined) added.set(connection, [track])
      else list.push(track)
    }
    for (const [connection, list] of added) {
      if (connection.socket.isOpen) this.#send(connection, list, 'subscribe')
    }
  }

  /** Unsubscribes; a socket without markets is closed. */
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

  /** Asks for snapshots: the venue sends one for each token that is subscribed anew. */
  resubscribe(tracks: readonly MarketTrack[]): void {
    for (const [connection, list] of this.#byConnection(tracks)) {
      this.#send(connection, list, 'unsubscribe')
      this.#send(connection, list, 'subscribe')
    }
  }

  /**
   * A socket that answers heartbeats but sends no book it is asked for, nor anything else, is deaf:
   * a new one replaces it. At most once a minute, since a market without a book never answers.
   */
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
      if (connection === undefined) continue
      const list = lists.get(connection)
      if (list === undefined) lists.set(connection, [track])
      else list.push(track)
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
    const { clock, random, log, metrics } = this.#parts.venue
    const number = this.#nextNumber
    this.#nextNumber += 1
    const { tap, url, noDataAfterMs } = this.#parts
    const socket = new SocketFeed({
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
      noDataAfterMs,
      deadAfterMs: DEAD_AFTER_MS,
      ...(tap === null ? {} : { tap }),
      drift: this.#parts.counters.drift,
      clock,
      random,
      log,
      metrics,
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

  /** The first data of an open socket: before it nothing says that anything will come. */
  #noteUp(connection: BookConnection): void {
    const sinceMs = connection.lostSinceMs
    connection.isUp = true
    connection.lostSinceMs = null
    this.#emitFeedEvent('feedUp', connection, { reason: 'connected', sinceMs })
  }

  #down(connection: BookConnection, reason: string): void {
    const { clock } = this.#parts.venue
    connection.lostSinceMs ??= connection.socket.lastDataAtMs ?? clock.nowMs()
    for (const track of connection.tracks) track.snapshotDueAtMs = null
    this.#emitFeedEvent('feedDown', connection, { reason, sinceMs: connection.lostSinceMs })
  }

  /** Tells of all markets of a connection at once. */
  #emitFeedEvent(
    kind: 'feedUp' | 'feedDown',
    connection: BookConnection,
    { reason, sinceMs }: { reason: string; sinceMs: TimeMs | null },
  ): void {
    this.#parts.emit(
      feedEvent(this.#parts.venue.clock.nowMs(), {
        kind,
        venue: 'a',
        stream: 'books',
        connection: connection.number,
        outcomes: Array.from(connection.tracks, (track) => track.first),
        reason,
        sinceMs,
      }),
    )
  }

  /** Sends commands for both tokens of each market; a refused command costs the connection. */
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
    // The flag belongs to the connection; naming a known token again only sets it.
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

  /** A message could not be read: the markets that it names have lost it, or any of the connection's when it names none. */
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

  /** Tokens that were never subscribed to are named, and what their messages may have been of is suspect. */
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

  /** Its market is suspect where that is watched; else all of the connection's, once these get nothing meanwhile. */
  #noteUnknownToken(connection: BookConnection, track: MarketTrack | undefined): void {
    const { onLost } = this.#parts
    if (track !== undefined) return onLost([track], UNKNOWN_TOKEN)
    connection.unknownCount += 1
    if (connection.unknownCount >= UNKNOWN_TOKENS_MIN) onLost([...connection.tracks], UNKNOWN_TOKEN)
  }

  /** Without these a lost message shows only where the book is read over REST (audit.ts). */
  #noteLacking({ price_changes: [entry] }: PriceChangeMessage, text: string): void {
    if (entry === undefined) return
    const { drift } = this.#parts.counters
    const hasTop = entry.best_bid !== undefined && entry.best_ask !== undefined
    if (!hasTop) drift.note('ws.price_change', 'best prices missing', text)
    if (entry.hash === undefined) drift.note('ws.price_change', 'hash missing', text)
  }

  /** A book has a version since there are two protocols; those of the first have none. */
  #noteVersion({ version, asset_id: token }: BookMessage, drift: DriftNotes): void {
    if (version === undefined || version === 'v1' || version === 'v2') return
    drift.note('ws.book_version', version, token)
  }
}
