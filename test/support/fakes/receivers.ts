// Webhook receivers on bare loopback sockets, which may violate the protocol. Each records its data and number of
// connections; none uses time.

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'

/** A receiver's behaviour; an unhandled connection stays open and silent. */
export interface Behaviour {
  /** On a new connection, before anything is read. */
  readonly onConnection?: (socket: Socket) => void
  /** On a complete request; `requests` counts them on this receiver, from 1. */
  readonly onRequest?: (socket: Socket, requests: number) => void
  /** Listening host; default: 127.0.0.1. */
  readonly host?: string
  /** Uses TLS with this key and certificate. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** One listening receiver; close it at the end of the test. */
export class Receiver {
  readonly requests: string[] = []
  connectionCount = 0
  /** Bytes received, as part of a request or not. */
  byteCount = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(behaviour: Behaviour) {
    const { tls } = behaviour
    const accept = (socket: Socket) => this.#accept(socket, behaviour)
    this.#server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept)
    if (tls !== undefined) {
      this.#server.on('connection', (socket: Socket) => this.#track(socket))
      this.#server.on('tlsClientError', () => {})
    }
  }

  /** Listens on a free port; rejects if the host cannot be bound. */
  static async open(behaviour: Behaviour = {}, port = 0): Promise<Receiver> {
    const receiver = new Receiver(behaviour)
    receiver.#server.listen(port, behaviour.host ?? '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  get openCount(): number {
    return this.#sockets.size
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #track(socket: Socket): void {
    this.connectionCount += 1
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #accept(socket: Socket, { onConnection, onRequest, tls }: Behaviour): void {
    if (tls === undefined) this.#track(socket)
    else socket.on('error', () => {})
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      this.byteCount += chunk.length
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (head < 0 || text.length < head + 4 + length) return
      this.requests.push(text)
      text = ''
      onRequest?.(socket, this.requests.length)
    })
    onConnection?.(socket)
  }
}

/** Longer than any wait on the slowest machine. */
const IN_VAIN_MS = 300_000

/** Waits, tick by tick, until the condition holds; rejects if it never does. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + IN_VAIN_MS
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`waited in vain: ${what}`)
    await nextTurn()
  }
}
