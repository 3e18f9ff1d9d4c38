// WebSocket connections of a simulated Polymarket channel: accept, batched writes, slow readers, and the faults per
// connection (silence, disconnect).

import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Clock, StopTimer } from '../../../clock.ts'
import type { Log } from '../../../process/log.ts'
import type { Faults } from '../faults.ts'
import type { World } from '../model.ts'
import type { UpgradeHandler } from '../rest.ts'

const SILENCE_MS = 20_000
/** A reader with a larger backlog is disconnected, because its unread data would exhaust memory. */
export const BUFFERED_BYTES_MAX = 64 * 1_048_576

const FRAME_BYTES_MAX = 16 * 1_048_576
const TEXT = { binary: false }

/** Handles a connection's messages. One instance per connection. */
export interface Conversation {
  receive(text: string): void
  /** Called once a second, after the faults of that second. */
  tick(): void
  closed(): void
}

/** Parts of a channel. */
export interface ChannelOptions {
  readonly world: World
  readonly faults: Faults
  readonly clock: Clock
  readonly log: Log
}

interface SocketGroupOptions extends Omit<ChannelOptions, 'world'> {
  readonly open: (socket: SimSocket) => Conversation
  /** Period of protocol ping frames in whole seconds; 0 for none. Missing pongs have no consequence. */
  readonly pingPeriodSeconds: number
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

  /** For RestServer.upgrade. */
  readonly accept: UpgradeHandler = (request, raw, head) => {
    this.#server.handleUpgrade(request, raw, head, (ws) => this.#join(ws, raw))
  }

  /** Terminates every connection and refuses new ones. */
  stop(): void {
    this.#stopTicking()
    for (const socket of this.#members.keys()) socket.cut()
    this.#server.close()
  }

  #join(ws: WebSocket, raw: Duplex): void {
    const socket = new SimSocket({ ws, raw, ...this.#options })
    const conversation = this.#options.open(socket)
    this.#members.set(socket, conversation)
    ws.on('message', (data, isBinary) => {
      if (!isBinary) conversation.receive(textOf(data))
    })
    // On broken frames and resets `ws` closes the socket itself, and 'close' follows.
    ws.on('error', () => {})
    ws.on('close', () => {
      this.#members.delete(socket)
      conversation.closed()
    })
  }

  #tick(): void {
    this.#seconds += 1
    const { faults, pingPeriodSeconds } = this.#options
    const isPingTime = pingPeriodSeconds > 0 && this.#seconds % pingPeriodSeconds === 0
    for (const [socket, conversation] of this.#members) {
      if (faults.strikes('disconnect')) {
        socket.cut()
        continue
      }
      if (faults.strikes('silence')) socket.silence(SILENCE_MS)
      if (isPingTime) socket.ping()
      conversation.tick()
    }
  }
}

export class SimSocket {
  /** Included in RTDS envelopes. */
  readonly id = randomUUID()
  readonly #ws: WebSocket
  readonly #raw: Duplex
  readonly #clock: Clock
  readonly #log: Log
  readonly #changes: Faults['changes']
  #silencedUntilMs = 0
  #isCorked = false

  constructor(parts: { ws: WebSocket; raw: Duplex; clock: Clock; log: Log; faults: Faults }) {
    this.#ws = parts.ws
    this.#raw = parts.raw
    this.#clock = parts.clock
    this.#log = parts.log
    this.#changes = parts.faults.changes
  }

  /** Sends market data. It is lost while the connection is silenced. */
  send(frame: string | Buffer): void {
    if (this.#silencedUntilMs > 0) {
      if (this.#clock.monotonicMs() < this.#silencedUntilMs) return
      this.#silencedUntilMs = 0
    }
    this.reply(frame)
  }

  /** Sends a control answer (PONG …), also while silenced. */
  reply(frame: string | Buffer): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    if (this.#ws.bufferedAmount > BUFFERED_BYTES_MAX) {
      this.#log.warn(
        { bufferedBytes: this.#ws.bufferedAmount },
        'simulated venue cut a slow reader',
      )
      this.cut()
      return
    }
    // All frames of one event-loop tick leave in one system call, which is most of the cost at 20,000 a second.
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#raw.cork()
      queueMicrotask(() => {
        this.#isCorked = false
        this.#raw.uncork()
      })
    }
    for (const sent of this.#changes.editFrame(frame)) this.#ws.send(sent, TEXT)
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping()
  }

  /** Drops data for this duration while the socket stays open. */
  silence(durationMs: number): void {
    this.#silencedUntilMs = this.#clock.monotonicMs() + durationMs
  }

  /** Closes the connection without a close frame. */
  cut(): void {
    this.#ws.terminate()
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}
