// A proxy to a venue’s Data API and Gamma. It can hide the history of wallets, or everything before a time.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Memory = 'complete' | 'partial' | 'empty'

/** Paths of the Data API that return the data of one wallet. */
const LISTS: ReadonlySet<string> = new Set(['/v2/activity', '/v2/trades', '/v2/positions'])
const NOTHING = {
  data: [],
  pagination: { limit: 100, offset: 0, has_more: false, next_cursor: null },
}

export class LossyVenue {
  memory: Memory = 'complete'
  /** Unix seconds of the first event that it returns in mode `partial`. */
  historyFromS = 0
  /** Number of requests about wallets from whose answers it hid data. */
  hiddenCount = 0
  readonly #servers: Server[] = []

  /** Resolves with the addresses of both servers. */
  async start(real: { readonly data: string; readonly gamma: string }) {
    return { data: await this.#listen(real.data), gamma: await this.#listen(real.gamma) }
  }

  async #listen(real: string): Promise<string> {
    const server = createServer((request, response) => {
      this.#answer(real, request, response).catch(() => response.writeHead(502).end())
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  async #answer(real: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', real)
    const existing = this.memory === 'complete' ? null : this.#ownAnswer(url)
    if (existing !== null) {
      this.hiddenCount += 1
      response.writeHead(existing.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(existing.body))
      return
    }
    const answer = await fetch(url)
    const type = answer.headers.get('content-type') ?? 'application/json'
    response.writeHead(answer.status, { 'content-type': type })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }

  /** null: the request is forwarded to the venue. */
  #ownAnswer(url: URL): { readonly status: number; readonly body: unknown } | null {
    if (url.pathname === '/public-profile') return { status: 404, body: { error: 'not found' } }
    if (!url.searchParams.has('user')) return null
    if (url.pathname === '/v2/user-stats') return { status: 200, body: { data: null } }
    if (!LISTS.has(url.pathname)) return null
    const isHistory = url.pathname === '/v2/activity'
    if (this.memory === 'empty' || !isHistory) return { status: 200, body: NOTHING }
    const start = Math.max(Number(url.searchParams.get('start') ?? 0), this.historyFromS)
    url.searchParams.set('start', String(start))
    return null
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
