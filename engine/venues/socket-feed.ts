// A WebSocket client that reconnects automatically. While reading is paused, TCP flow control stops the venue,
// including its pings. If the venue closes the connection because of a pause, the connection counts as lost since the
// start of the pause.

import { type RawData, WebSocket } from 'ws'
import type { Clock, StopTimer } from '../clock.ts'
import type { FeedEvent, VenueEvent } from '../events.ts'
import type { OutcomeId, VenueKey } from '../ids.ts'
import { readCharsPerTickMax } from '../limits.ts'
import type { Log } from '../process/log.ts'
import type { Count, Metrics } from '../process/metrics.ts'
import type { Random } from '../random.ts'
import { type TimeMs, timeMs } from '../units.ts'
import type { ConnectQueue } from './connect-queue.ts'
import type { DriftNotes } from './drift/row-checks.ts'

export interface RawFrame {
  /** Number of the connection within its venue, constant across reconnects. */
  readonly connection: number
  readonly receivedAtMs: TimeMs
  readonly text: string
}

/** Receives every frame before it is parsed, for recordings. Must return quickly. */
export type FrameTap = (frame: RawFrame, venue: VenueKey, stream: string) => void

/** Emits an event about a connection with local time, because the venue states none. */
type FeedReporter = (
  kind: FeedEvent['kind'],
  reason: string,
  sinceMs: TimeMs | null,
  /** The outcomes of the connection. Default: all outcomes of the venue. */
  outcomes?: readonly OutcomeId[],
) => void

export function feedReporter(
  { clock, emit }: { readonly clock: Clock; readonly emit: (event: VenueEvent) => void },
  of: Pick<FeedEvent, 'venue' | 'stream' | 'connection'>,
): FeedReporter {
  return (kind, reason, sinceMs, outcomes = []) => {
    const nowMs = clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    emit({ ...of, ...times, kind, reason, sinceMs, outcomes })
  }
}

/** The latest time. Null if all are null. */
export function latest(times: readonly (TimeMs | null)[]): TimeMs | null {
  let last: TimeMs | null = null
  for (const time of times) if (time !== null && (last === null || time > last)) last = time
  return last
}

export interface SocketOptions {
  readonly venue: VenueKey
  /** Name of the socket in metrics, logs and recordings, from a fixed set. */
  readonly stream: string
  readonly connection: number
  /** Called before each connection attempt, because a URL may be signed or change. */
  readonly url: () => string
  readonly headers?: () => Record<string, string>
  readonly onOpen: (socket: SocketFeed) => void
  /** Returns 'sign' for a heartbeat, otherwise 'data'. A heartbeat keeps the socket alive but does not end a silence. */
  readonly onFrame: (frame: RawFrame) => 'data' | 'sign'
  /** Called when an open socket is lost. Not called for failed connection attempts. */
  readonly onDown: (reason: string) => void
  readonly onSilence?: () => void
  /** The venue's heartbeat text, sent every `pingEveryMs`. If absent, protocol pings are sent. */
  readonly pingText?: string
  readonly pingEveryMs?: number
  readonly noDataAfterMs: number
  /** The socket reconnects after this time without any frame, ping or pong. */
  readonly deadAfterMs: number
  /**
   * Decides when each connection attempt begins. The caller settles the attempt when the venue has answered. If absent,
   * attempts begin at once.
   */
  readonly connectQueue?: ConnectQueue
  readonly tap?: FrameTap | undefined
  readonly drift?: DriftNotes
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
}

const BACKOFF_FIRST_MS = 250
const BACKOFF_MAX_MS = 30_000
/** Minimum lifetime of a connection after which the back-off starts from its minimum again. */
const LIFE_GOOD_MS = 30_000
const HANDSHAKE_MS = 10_000
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024
/** Maximum size of the outgoing buffer. Above the maximum `send` returns false, and the caller must reconnect or wait. */
const OUTGOING_BYTES_MAX = 8 * 1024 * 1024
/** If a liveness check is delayed by more than this, the process was blocked and read nothing. */
const STALL_MS = 1_000
/** For this time after a pause or a block, received frames may be late. */
const CATCH_UP_MS = 10_000

export class SocketFeed {
  readonly #options: SocketOptions
  readonly #frames: Count
  readonly #bytes: Count
  readonly #opens: Count
  readonly #losses: Count
  readonly #failedAttempts: Count
  readonly #bugs: Count
  #isStarted = false
  #socket: WebSocket | null = null
  #stopTimers: StopTimer[] = []
  #stopRetry: StopTimer | null = null
  #isOpen = false
  #hasData = false
  #openedAtMonotonicMs = 0
  #consecutiveFailures = 0
  #lastDataAtMs: TimeMs | null = null
  #lastSignAtMs: TimeMs | null = null
  #lastDataMonotonicMs = 0
  #lastSignMonotonicMs = 0
  #silenceCount = 0
  #isPaused = false
  #tickChars = 0
  #checkedAtMonotonicMs = 0
  #lateSinceMs: TimeMs | null = null
  #lateUntilMonotonicMs = 0

  constructor(options: SocketOptions) {
    this.#options = options
    const { metrics, venue, stream } = options
    const labels = { venue, stream }
    this.#frames = metrics.count('venue_frames_total', 'Frames received', labels)
    this.#bytes = metrics.count('venue_frame_chars_total', 'Characters received', labels)
    this.#opens = metrics.count('venue_socket_opens_total', 'Sockets opened', labels)
    this.#losses = metrics.count('venue_socket_losses_total', 'Open sockets lost', labels)
    this.#failedAttempts = metrics.count(
      'venue_socket_failed_attempts_total',
      'Connection attempts that did not open',
      labels,
    )
    this.#bugs = metrics.count('venue_socket_bugs_total', 'Exceptions in socket callbacks', labels)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether the open socket has received data. A socket may answer heartbeats without delivering data. */
  get isDelivering(): boolean {
    return this.#isOpen && this.#hasData
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Wall-clock time of the last data frame. Null before the first. */
  get lastDataAtMs(): TimeMs | null {
    return this.#lastDataAtMs
  }

  /** Wall-clock time of the last frame, ping or pong. Null before the first. */
  get lastSignAtMs(): TimeMs | null {
    return this.#lastSignAtMs
  }

  /** Start of the last pause or block of the process, while frames may still be late because of it. Null otherwise. */
  get lateSinceMs(): TimeMs | null {
    return this.#lateSinceMs
  }

  /** Data that was already read is still delivered. A pause does not count as silence. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) {
      this.#lateSinceMs ??= this.#options.clock.nowMs()
      this.#socket?.pause()
      return
    }
    const nowMs = this.#options.clock.monotonicMs()
    this.#lateUntilMonotonicMs = nowMs + CATCH_UP_MS
    this.#lastDataMonotonicMs = nowMs
    this.#lastSignMonotonicMs = nowMs
    this.#silenceCount = 0
    this.#socket?.resume()
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#requestConnect()
  }

  /** Closes the socket permanently. Resolves when it is closed. No callback is called afterwards. */
  stop(): Promise<void> {
    this.#isStarted = false
    this.#stopRetry?.()
    this.#stopRetry = null
    const { connectQueue, connection } = this.#options
    connectQueue?.settle(connection)
    const socket = this.#detach()
    if (socket === null || socket.readyState === WebSocket.CLOSED) return Promise.resolve()
    return new Promise((resolve) => {
      socket.once('close', () => resolve())
      discard(socket)
    })
  }

  /** Returns false, without sending, if the socket is not open or its outgoing buffer is full. */
  send(text: string): boolean {
    const socket = this.#socket
    if (socket === null || !this.#isOpen || socket.bufferedAmount > OUTGOING_BYTES_MAX) return false
    socket.send(text)
    return true
  }

  reconnect(reason: string): void {
    if (!this.#isStarted || this.#socket === null) return
    this.#lose(reason)
  }

  #requestConnect(): void {
    const { connectQueue, connection } = this.#options
    this.#stopRetry = null
    if (connectQueue === undefined) return this.#connect()
    let isDue = false
    const stop = connectQueue.request(connection, () => {
      isDue = true
      this.#connect()
    })
    if (!isDue) this.#stopRetry = stop
  }

  #connect(): void {
    this.#stopRetry = null
    const { url, headers, clock } = this.#options
    let socket: WebSocket
    try {
      socket = new WebSocket(url(), {
        headers: headers?.() ?? {},
        maxPayload: PAYLOAD_BYTES_MAX,
        perMessageDeflate: false,
        // An invalid character then affects one message, which the parser counts, and not the connection.
        skipUTF8Validation: true,
      })
    } catch (error) {
      this.#failedAttempts.inc()
      this.#options.log.error({ err: error }, 'socket could not be created')
      this.#retryLater()
      return
    }
    this.#socket = socket
    const isPresent = () => this.#socket === socket
    socket.on('open', () => isPresent() && this.#opened(socket))
    socket.on('message', (data) => isPresent() && this.#received(data))
    socket.on('ping', () => isPresent() && this.#noteSign())
    socket.on('pong', () => isPresent() && this.#noteSign())
    socket.on('error', (error) => isPresent() && this.#lose(error.message))
    socket.on('close', (code) => isPresent() && this.#lose(`closed with ${code}`))
    this.#stopTimers.push(
      clock.after(HANDSHAKE_MS, () => {
        if (isPresent() && !this.#isOpen) this.#lose('handshake timed out')
      }),
    )
  }

  #opened(socket: WebSocket): void {
    const { clock, pingEveryMs, pingText, noDataAfterMs, deadAfterMs } = this.#options
    this.#opens.inc()
    this.#isOpen = true
    this.#hasData = false
    this.#openedAtMonotonicMs = clock.monotonicMs()
    this.#lastDataMonotonicMs = this.#openedAtMonotonicMs
    this.#lastSignMonotonicMs = this.#openedAtMonotonicMs
    this.#silenceCount = 0
    this.#checkedAtMonotonicMs = this.#openedAtMonotonicMs
    const checkEveryMs = Math.max(50, Math.min(1_000, Math.min(noDataAfterMs, deadAfterMs) / 4))
    this.#stopTimers.push(clock.every(checkEveryMs, () => this.#checkLife(checkEveryMs)))
    if (pingEveryMs !== undefined) {
      const ping = () => (pingText === undefined ? socket.ping() : this.send(pingText))
      this.#stopTimers.push(clock.every(pingEveryMs, ping))
    }
    this.#lateSinceMs = null
    this.#guard(() => this.#options.onOpen(this))
    if (this.#isPaused) socket.pause()
  }

  #received(data: RawData): void {
    const { clock, connection, tap, venue, stream, onFrame } = this.#options
    const frame: RawFrame = { connection, receivedAtMs: clock.nowMs(), text: textOf(data) }
    this.#frames.inc()
    this.#bytes.inc(frame.text.length)
    this.#pauseAfter(frame.text.length)
    this.#noteSign()
    try {
      tap?.(frame, venue, stream)
      if (onFrame(frame) === 'sign') return
    } catch (error) {
      this.#noteBug(error)
    }
    this.#hasData = true
    this.#lastDataAtMs = frame.receivedAtMs
    this.#lastDataMonotonicMs = this.#lastSignMonotonicMs
    this.#silenceCount = 0
  }

  #pauseAfter(chars: number): void {
    if (this.#tickChars === 0) {
      setImmediate(() => {
        if (this.#tickChars > readCharsPerTickMax && !this.#isPaused) this.#socket?.resume()
        this.#tickChars = 0
      })
    }
    const before = this.#tickChars
    this.#tickChars += Math.max(chars, 1)
    if (before <= readCharsPerTickMax && this.#tickChars > readCharsPerTickMax)
      this.#socket?.pause()
  }

  #noteSign(): void {
    this.#lastSignAtMs = this.#options.clock.nowMs()
    this.#lastSignMonotonicMs = this.#options.clock.monotonicMs()
  }

  #checkLife(everyMs: number): void {
    const { clock, noDataAfterMs, deadAfterMs, onSilence } = this.#options
    const nowMs = clock.monotonicMs()
    this.#noteStall(nowMs, everyMs)
    if (this.#isPaused) return
    if (nowMs - this.#lastSignMonotonicMs >= deadAfterMs) {
      this.#lose('no frame, ping or pong')
      return
    }
    const periods = Math.floor((nowMs - this.#lastDataMonotonicMs) / noDataAfterMs)
    if (periods <= this.#silenceCount) return
    this.#silenceCount = periods
    if (onSilence !== undefined) this.#guard(onSilence)
  }

  /** After a block, timers run before the sockets are read. A late check therefore precedes the queued data. */
  #noteStall(nowMs: number, everyMs: number): void {
    const lateMs = nowMs - this.#checkedAtMonotonicMs - everyMs
    this.#checkedAtMonotonicMs = nowMs
    if (lateMs >= STALL_MS) {
      this.#lateSinceMs ??= timeMs(this.#options.clock.nowMs() - Math.ceil(lateMs + everyMs))
      this.#lateUntilMonotonicMs = nowMs + CATCH_UP_MS
    } else if (!this.#isPaused && nowMs >= this.#lateUntilMonotonicMs) this.#lateSinceMs = null
  }

  #lose(reason: string): void {
    const { clock, log, onDown, stream, connection, connectQueue } = this.#options
    const wasOpen = this.#isOpen
    const lifeMs = wasOpen ? clock.monotonicMs() - this.#openedAtMonotonicMs : 0
    const socket = this.#detach()
    if (socket !== null) discard(socket)
    if (lifeMs >= LIFE_GOOD_MS) this.#consecutiveFailures = 0
    const counted = wasOpen ? this.#losses : this.#failedAttempts
    counted.inc()
    if (wasOpen) log.warn({ stream, connection, reason, lifeMs: Math.round(lifeMs) }, 'socket lost')
    else log.warn({ stream, reason, unreachableHost: hostOf(socket) }, 'no connection')
    const refused = /server response: ([1-4]\d\d)/.exec(reason)?.[1]
    if (refused === '429') connectQueue?.noteRefused()
    else if (refused !== undefined) {
      this.#options.drift?.note('ws.upgrade', `${stream} ${refused}`, hostOf(socket))
    }
    connectQueue?.settle(connection)
    if (wasOpen) this.#guard(() => onDown(reason))
    this.#retryLater()
  }

  /** The delay has full jitter, so that clients that lost their connections together do not reconnect together. */
  #retryLater(): void {
    if (!this.#isStarted || this.#stopRetry !== null || this.#socket !== null) return
    const exponent = Math.min(this.#consecutiveFailures, 20)
    const ceilingMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** exponent)
    this.#consecutiveFailures += 1
    const delayMs = this.#options.random.next() * ceilingMs
    this.#stopRetry = this.#options.clock.after(delayMs, () => this.#requestConnect())
  }

  #detach(): WebSocket | null {
    const socket = this.#socket
    this.#socket = null
    this.#isOpen = false
    for (const stop of this.#stopTimers) stop()
    this.#stopTimers = []
    return socket
  }

  #guard(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#noteBug(error)
    }
  }

  /** A bug in a callback may cost a message but must not end the process. */
  #noteBug(error: unknown): void {
    this.#bugs.inc()
    this.#options.log.error({ err: error, stream: this.#options.stream }, 'socket callback threw')
  }
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8')
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)).toString('utf8')
}

/** Path and query are omitted, because they may contain a signature. */
function hostOf(socket: WebSocket | null): string {
  return socket === null ? 'unknown' : new URL(socket.url).host
}

/** Sends a close frame if possible and drops the connection at once. Later errors are ignored. */
function discard(socket: WebSocket): void {
  socket.on('error', () => {})
  if (socket.readyState === WebSocket.OPEN) socket.close(1000)
  socket.terminate()
}
