// A WebSocket from open to close. Cuts a connection that is silent for 2.5 heartbeats. Calls `onEnd` once, as the last
// callback.

import type { ClientClock, SocketConstructor, SocketLike, StopTimer } from './ambient.ts'
import type { End } from './back-off.ts'

/** Heartbeat period until the server announces its own. */
const FIRST_BEAT_MS = 5000
/** Checks without received data until the connection is cut. There are two checks per heartbeat. */
const MISSED_CHECKS_MAX = 5
const REFUSED = /Unexpected server response: (\d{3})/

interface ClientSocketParts {
  readonly url: string
  readonly WebSocket: SocketConstructor
  readonly clock: ClientClock
  readonly decode: (bytes: Uint8Array) => readonly unknown[]
  readonly onValue: (value: unknown) => void
  readonly onDamage: (reason: string) => void
  readonly onBeat: () => void
  readonly onEnd: (end: End) => void
}

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

  /** Ends the connection as if the transport had failed. */
  cut(reason: string): void {
    if (this.#isOver) return
    this.#drop()
    this.#parts.onEnd({ code: 1006, reason, status: null })
  }

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
      // The previous message may have closed this connection.
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

  /**
   * Ignores all later events of this socket. Does not wait for the peer's close frame, since the peer may be
   * unreachable.
   */
  #drop(): void {
    this.#isOver = true
    this.#cancelCheck()
    if (this.#socket.terminate !== undefined) this.#socket.terminate()
    else this.#socket.close()
  }
}

/** A server without support for batches sends one message per frame even if the client requested batches. */
function messagesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
