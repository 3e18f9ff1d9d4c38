// One WebSocket from its opening to its end: frames to values, and a watchdog, since a connection
// that went silent looks like a quiet one. Ends exactly once, and says nothing afterwards.

import type { ClientClock, SocketConstructor, SocketLike, StopTimer } from './ambient.ts'
import type { End } from './back-off.ts'

/** Until the server says how often it beats. */
const FIRST_BEAT_MS = 5000
/** The watchdog looks twice a beat, and gives up after this many silent looks: 2.5 beats. */
const MISSED_CHECKS_MAX = 5
const REFUSED = /Unexpected server response: (\d{3})/

interface ClientSocketParts {
  readonly url: string
  readonly WebSocket: SocketConstructor
  readonly clock: ClientClock
  /** The messages of a binary frame. */
  readonly decode: (bytes: Uint8Array) => readonly unknown[]
  readonly onValue: (value: unknown) => void
  /** A frame that could not be decoded. */
  readonly onDamage: (reason: string) => void
  /** Twice a beat, while the connection lives. */
  readonly onBeat: () => void
  readonly onEnd: (end: End) => void
}

/** A connection. */
export class ClientSocket {
  readonly #parts: ClientSocketParts
  readonly #socket: SocketLike
  #isOver = false
  #hasReceived = false
  #missedChecks = 0
  #checkPeriodMs = FIRST_BEAT_MS / 2
  #cancelCheck: StopTimer
  #status: number | null = null

  constructor(parts: ClientSocketParts) {
    this.#parts = parts
    const socket = new parts.WebSocket(parts.url)
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', (event) => this.#receive(event.data))
    socket.addEventListener('error', (event) => {
      const status = REFUSED.exec(event.message ?? '')?.[1]
      if (status !== undefined) this.#status = Number(status)
    })
    socket.addEventListener('close', ({ code, reason }) => this.#end(code, reason))
    this.#cancelCheck = parts.clock.after(this.#checkPeriodMs, () => this.#check())
  }

  /** The server's beat, which sets the watchdog. */
  setBeat(seconds: number): void {
    this.#checkPeriodMs = (seconds * 1000) / 2
  }

  send(text: string): void {
    if (this.#isOver) return
    try {
      this.#socket.send(text)
    } catch {
      this.cut('the socket refused a command')
    }
  }

  /** Gives the connection up, as if the transport had cut it. */
  cut(reason: string): void {
    if (this.#isOver) return
    this.#drop()
    this.#parts.onEnd({ code: 1006, reason, status: null })
  }

  /** Ends for good, without a word to the client. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelCheck()
    this.#socket.close(1000)
  }

  #receive(data: unknown): void {
    if (this.#isOver) return
    this.#hasReceived = true
    let values: readonly unknown[]
    try {
      if (typeof data === 'string') values = messagesOf(JSON.parse(data))
      else if (data instanceof ArrayBuffer) values = this.#parts.decode(new Uint8Array(data))
      else if (data instanceof Uint8Array) values = this.#parts.decode(data)
      else return this.#parts.onDamage('a frame is neither text nor bytes')
    } catch {
      return this.#parts.onDamage('a frame could not be decoded')
    }
    for (const value of values) {
      // What one message leads to may be the end of this connection.
      if (this.#isOver) return
      this.#parts.onValue(value)
    }
  }

  #check(): void {
    if (this.#isOver) return
    this.#missedChecks = this.#hasReceived ? 0 : this.#missedChecks + 1
    this.#hasReceived = false
    if (this.#missedChecks >= MISSED_CHECKS_MAX) return this.cut('silent for 2.5 heartbeats')
    this.#cancelCheck = this.#parts.clock.after(this.#checkPeriodMs, () => this.#check())
    this.#parts.onBeat()
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelCheck()
    this.#parts.onEnd({ code, reason, status: this.#status })
  }

  /** Nothing of this socket is read any more; its peer may be dead, so nothing waits for it. */
  #drop(): void {
    this.#isOver = true
    this.#cancelCheck()
    if (this.#socket.terminate !== undefined) this.#socket.terminate()
    else this.#socket.close()
  }
}

/** A server that does not batch sends a message a frame, whatever it was asked for. */
function messagesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
