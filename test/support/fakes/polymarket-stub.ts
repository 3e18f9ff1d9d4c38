// A stub of venue a on loopback. Tests answer REST requests and send the messages of the streams.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { PolymarketUrls } from '../../../engine/config.ts'

export interface StubRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** A number is a status with an HTML body. A list for a path below `/v2` is sent as the only page. */
export type StubRest = (request: StubRequest) => unknown

export interface StubSocket {
  readonly path: string
  readonly socket: WebSocket
  /** Received texts, including heartbeats. */
  readonly received: string[]
}

/** One server for REST and sockets. Sockets connect to `/ws/market` and `/rtds`. */
export class PolymarketStub {
  readonly sockets: StubSocket[] = []
  readonly requests: StubRequest[] = []
  rest: StubRest = () => []
  /** Status with which handshakes are refused; null: they are accepted. */
  upgradeRefusal: number | null = null
  onText: (socket: StubSocket, text: string) => void = () => {}
  readonly #http: Server
  readonly #ws = new WebSocketServer({ noServer: true })
  #waiting: { isMet: () => boolean; resolve: () => void }[] = []

  constructor() {
    this.#http = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://stub')
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const body: unknown = text === '' ? null : JSON.parse(text)
        const seen = { path: url.pathname, query: url.searchParams, body }
        this.requests.push(seen)
        const answer = this.rest(seen)
        if (typeof answer === 'number') response.writeHead(answer).end('<html>no</html>')
        else response.writeHead(200).end(JSON.stringify(enveloped(url.pathname, answer)))
        this.poke()
      })
    })
    this.#http.on('upgrade', (request, raw, head) => {
      if (this.upgradeRefusal !== null) {
        raw.end(`HTTP/1.1 ${this.upgradeRefusal} No\r\nconnection: close\r\n\r\n`)
        return
      }
      this.#ws.handleUpgrade(request, raw, head, (socket) => {
        const path = new URL(request.url ?? '/', 'http://stub').pathname
        const held: StubSocket = { path, socket, received: [] }
        this.sockets.push(held)
        socket.on('message', (data) => {
          held.received.push(data.toString())
          this.onText(held, data.toString())
          this.poke()
        })
        this.poke()
      })
    })
  }

  async start(): Promise<PolymarketUrls> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve))
    const { port } = this.#http.address() as AddressInfo
    const rest = `http://127.0.0.1:${port}`
    const ws = `ws://127.0.0.1:${port}`
    return {
      gamma: rest,
      clob: rest,
      data: rest,
      marketWs: `${ws}/ws/market`,
      rtdsWs: `${ws}/rtds`,
    }
  }

  async stop(): Promise<void> {
    for (const { socket } of this.sockets) socket.terminate()
    this.#ws.close()
    this.#http.closeAllConnections()
    await new Promise<void>((resolve) => this.#http.close(() => resolve()))
  }

  /** Checks the condition after every request, text, handshake and call of `poke`. */
  until(isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ isMet, resolve }))
  }

  poke(): void {
    const met = this.#waiting.filter(({ isMet }) => isMet())
    this.#waiting = this.#waiting.filter((waiting) => !met.includes(waiting))
    for (const { resolve } of met) resolve()
  }
}

function enveloped(path: string, answer: unknown): unknown {
  if (!path.startsWith('/v2/') || !Array.isArray(answer)) return answer
  const pagination = { limit: answer.length, offset: 0, has_more: false, next_cursor: null }
  return { data: answer, pagination }
}
