// WebSocket connections of the simulated venues, with the faults that affect one connection (silence, disconnect).

import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock, StopTimer } from '../../clock.ts'
import { isRecord } from '../../json-record.ts'
import type { Log } from '../../process/log.ts'
import type { Faults } from './faults.ts'
import type { UpgradeHandler } from './rest.ts'

const SILENCE_MS = 20_000
/** A client with more unread data is disconnected, because the data would exhaust memory. */
const BUFFERED_BYTES_MAX = 64 * 1_048_576
const FRAME_BYTES_MAX = 16 * 1_048_576

export interface Conversation {
  receive(text: string): void
  /** Called once a second, after the faults of that second were drawn. */
  tick(): void
  closed(): void
}

interface SocketGroupOptions {
  readonly faults: Faults
  readonly clock: Clock
  readonly log: Log
  readonly open: (socket: SimSocket) => Conversation
  /** Interval of ping frames, in whole seconds. A connection without a pong for `pongLimitMs` is closed. */
  readonly ping?: {
    readonly periodSeconds: number
    readonly body: string
    readonly pongLimitMs: number
  }
}

export class SocketGroup {
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES_MAX,
  })
  readonly #members = new Map<SimSocket, Conversation>()
  readonly #options: SocketGroupOptions
  readonly #stopTicking: StopTimer
  #seconds = 0

  constructor(options: SocketGroupOptions) {
    this.#options = options
    this.#stopTicking = options.clock.every(1000, () => this.#tick())
  }

  get count(): number {
    return this.#members.size
  }

  readonly accept: UpgradeHandler = (request, raw, head) => {
    this.#server.handleUpgrade(request, raw, head, (ws) => this.#join(ws, raw))
  }

  stop(): void {
    this.#stopTicking()
    for (const socket of this.#members.keys()) socket.cut()
    this.#server.close()
  }

  #join(ws: WebSocket, raw: Duplex): void {
    const socket = new SimSocket({ ws, raw, ...this.#options })
    const conversation = this.#options.open(socket)
    this.#members.set(socket, conversation)
    ws.on('message', (data, isBinary) => conversation.receive(isBinary ? '' : String(data)))
    // After broken frames and resets `ws` itself closes the socket. A 'close' event follows.
    ws.on('error', () => {})
    ws.on('close', () => {
      this.#members.delete(socket)
      conversation.closed()
    })
  }

  #tick(): void {
    this.#seconds += 1
    const { faults, ping } = this.#options
    for (const [socket, conversation] of this.#members) {
      if (faults.strikes('disconnect')) {
        socket.cut()
        continue
      }
      if (faults.strikes('silence')) socket.silence(SILENCE_MS)
      if (ping !== undefined && this.#seconds % ping.periodSeconds === 0) socket.ping(ping)
      conversation.tick()
    }
  }
}

export class SimSocket {
  readonly id = randomUUID()
  readonly #ws: WebSocket
  readonly #raw: Duplex
  readonly #clock: Clock
  readonly #log: Log
  readonly #changes: Faults['changes']
  #silencedUntilMs = Number.NEGATIVE_INFINITY
  #pongMs: number
  #isCorked = false

  constructor(parts: { ws: WebSocket; raw: Duplex; clock: Clock; log: Log; faults: Faults }) {
    this.#ws = parts.ws
    this.#raw = parts.raw
    this.#clock = parts.clock
    this.#log = parts.log
    this.#changes = parts.faults.changes
    this.#pongMs = parts.clock.monotonicMs()
    parts.ws.on('pong', () => {
      this.#pongMs = this.#clock.monotonicMs()
    })
  }

  get isSilenced(): boolean {
    return this.#clock.monotonicMs() < this.#silencedUntilMs
  }

  /** Market data is lost while the connection is silent. */
  send(frame: string | Buffer): void {
    if (!this.isSilenced) this.reply(frame)
  }

  /** Sends an answer such as PONG, even while the connection is silent. */
  reply(frame: string | Buffer): void {
    const ws = this.#ws
    if (ws.readyState !== ws.OPEN) return
    // All frames of one event-loop tick are written with one system call.
    if (!this.#isCorked) {
      // Checked only once per tick, because the first books of many markets are large even for a fast client.
      if (ws.bufferedAmount > BUFFERED_BYTES_MAX) {
        this.#log.warn({ bufferedBytes: ws.bufferedAmount }, 'simulated venue cut a slow reader')
        this.cut()
        return
      }
      this.#isCorked = true
      this.#raw.cork()
      queueMicrotask(() => {
        this.#isCorked = false
        this.#raw.uncork()
      })
    }
    for (const sent of this.#changes.editFrame(frame)) ws.send(sent, { binary: false })
  }

  ping({ body, pongLimitMs }: { readonly body: string; readonly pongLimitMs: number }): void {
    if (this.#clock.monotonicMs() - this.#pongMs > pongLimitMs) this.cut()
    else if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping(body)
  }

  /** Drops market data for this time. The socket stays open. */
  silence(durationMs: number): void {
    this.#silencedUntilMs = this.#clock.monotonicMs() + durationMs
  }

  /** Closes the TCP connection without a close frame. */
  cut(): void {
    this.#ws.terminate()
  }
}

/** Null: the text is not a JSON object. */
export function parseRecord(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
