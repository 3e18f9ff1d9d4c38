// Webhook receivers on plain sockets, which may violate HTTP. They use no timers.

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'

/** A connection without a handler stays open without a response. */
export interface Behaviour {
  /** Called before any byte is read. */
  readonly onConnection?: (socket: Socket) => void
  /** `requests` is the number of complete requests of this receiver so far. */
  readonly onRequest?: (socket: Socket, requests: number) => void
  /** Default: 127.0.0.1. */
  readonly host?: string
  /** Default: no TLS. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** The test must close it. */
export class Receiver {
  readonly requests: string[] = []
  connectionCount = 0
  /** Includes bytes of incomplete requests. */
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

  /** Listens on a free port. Rejects if the host cannot be bound. */
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

/** Exceeds any wait on the slowest machine. */
const WAIT_MS_MAX = 300_000

/** Runs event-loop ticks until the condition holds. Rejects after the maximum wait. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`condition not met: ${what}`)
    await nextTurn()
  }
}
