// REST server of both simulated venues. It uses node:http, so that it shares no code with the server of the product.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../process/log.ts'
import type { RestAnswer } from './changes.ts'
import type { Faults } from './faults.ts'

export interface RestRequest {
  /** Method in upper case. HEAD arrives as GET. */
  readonly method: string
  /** Path as received, without the query. Venue b's signatures include it. */
  readonly path: string
  /** The `{name}` segments of the route's pattern, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type { RestAnswer }

type RestHandler = (request: RestRequest) => RestAnswer
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Answers that a venue may override. */
export interface RestHooks {
  /** Runs before every route (signatures, rate limits). If it returns an answer, the route does not run. */
  readonly guard?: (request: RestRequest) => RestAnswer | null
  readonly notFound?: (request: RestRequest) => RestAnswer
  readonly methodNotAllowed?: (request: RestRequest) => RestAnswer
  readonly rateLimited?: () => RestAnswer
}

interface RestOptions {
  readonly faults: Faults
  readonly log: Log
  readonly hooks?: RestHooks
  /** Maximum size of a request body in bytes. A larger one is answered with 413. Default: 1 MiB. */
  readonly bodyBytesMax?: number
}

/** A handler throws this error to refuse a request. */
export class Refusal extends Error {
  readonly answer: RestAnswer

  constructor(answer: RestAnswer) {
    super(answer.body)
    this.answer = answer
  }
}

export function json(value: unknown, status = 200): RestAnswer {
  return jsonText(JSON.stringify(value), status)
}

export function jsonText(body: string, status = 200): RestAnswer {
  return { status, body, contentType: 'application/json; charset=utf-8' }
}

export function plainText(body: string, status = 200): RestAnswer {
  return { status, body, contentType: 'text/plain; charset=utf-8' }
}

const HTML_502: RestAnswer = {
  status: 502,
  contentType: 'text/html; charset=UTF-8',
  body:
    '<!DOCTYPE html>\n<html lang="en-US">\n<head><title>502: Bad gateway</title></head>\n' +
    '<body><h1>Bad gateway <span>Error code 502</span></h1><p>cloudflare</p></body>\n</html>\n',
}

/** One listener with its routes. A literal path segment takes precedence over a `{name}` segment. */
export class RestServer {
  readonly #routes: Route[] = []
  readonly #upgrades = new Map<string, UpgradeHandler>()
  readonly #server: Server
  readonly #faults: Faults
  readonly #log: Log
  readonly #hooks: RestHooks
  readonly #bodyBytesMax: number

  constructor(options: RestOptions) {
    this.#faults = options.faults
    this.#log = options.log
    this.#hooks = options.hooks ?? {}
    this.#bodyBytesMax = options.bodyBytesMax ?? 1_048_576
    this.#server = createServer((request, response) => this.#receive(request, response))
    // Longer than clients keep idle connections open, so that the server never closes a connection that a client
    // reuses.
    this.#server.keepAliveTimeout = 120_000
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
    // Disconnects clients that do not send HTTP. Invalid input must not end the process.
    this.#server.on('clientError', (_error, socket) => socket.destroy())
  }

  route(method: string, pattern: string, handler: RestHandler): void {
    this.#routes.push({ method, segments: pattern.split('/').slice(1), handler })
  }

  get(pattern: string, handler: RestHandler): void {
    this.route('GET', pattern, handler)
  }

  post(pattern: string, handler: RestHandler): void {
    this.route('POST', pattern, handler)
  }

  /** The path `*` is for all paths without their own handler. */
  upgrade(path: string, handler: UpgradeHandler): void {
    this.#upgrades.set(path, handler)
  }

  /** Resolves to the port. Port 0 selects any free port. Rejects if the port is in use. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        const address = this.#server.address()
        resolve(address !== null && typeof address === 'object' ? address.port : port)
      })
    })
  }

  /** Stops listening and closes every HTTP connection. Upgraded sockets are closed by their handlers. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  #receive(incoming: IncomingMessage, response: ServerResponse): void {
    incoming.on('error', () => response.destroy())
    response.on('error', () => response.destroy())
    const chunks: Buffer[] = []
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      // The rest of a body above the limit is read and discarded, because the client must receive the 413.
      if (bytes <= this.#bodyBytesMax) chunks.push(chunk)
    })
    incoming.on('end', () => {
      if (bytes > this.#bodyBytesMax) {
        send(response, json({ error: 'body too large' }, 413))
      } else {
        const body = bytes === 0 ? '' : Buffer.concat(chunks).toString('utf8')
        send(response, this.#answer(incoming, body))
      }
    })
  }

  #answer(incoming: IncomingMessage, body: string): RestAnswer {
    const url = incoming.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
    const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? 'GET')
    const found = this.#find(method, path)
    const params = found === null || found === 'method' ? {} : found.params
    const request = { method, path, params, query, headers: incoming.headers, body }
    const { changes } = this.#faults
    try {
      // Faults, changes and rate limits do not apply to the simulator's own paths.
      if (path.startsWith('/sim/')) return this.#routed(found, request)
      changes.editRequest(path, query)
      return changes.editAnswer(path, this.#refusal(request) ?? this.#routed(found, request))
    } catch (error) {
      this.#log.error({ err: error, path }, 'simulated venue failed to answer')
      return json({ error: 'internal server error' }, 500)
    }
  }

  #routed(found: Found | 'method' | null, request: RestRequest): RestAnswer {
    if (found === null) return (this.#hooks.notFound ?? notFound)(request)
    if (found === 'method') return (this.#hooks.methodNotAllowed ?? methodNotAllowed)(request)
    try {
      return found.handler(request)
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      throw error
    }
  }

  #refusal(request: RestRequest): RestAnswer | null {
    if (this.#faults.strikes('html')) return HTML_502
    const limited = this.#hooks.rateLimited ?? rateLimited
    if (this.#faults.strikes('rate_limit')) return limited()
    if (this.#faults.strikes('rate_limit_retry_after')) {
      const answer = limited()
      return { ...answer, headers: { ...answer.headers, 'retry-after': '1' } }
    }
    return this.#hooks.guard?.(request) ?? null
  }

  #find(method: string, path: string): Found | 'method' | null {
    const parts = path.split('/').slice(1)
    if (parts.length > 1 && parts.at(-1) === '') parts.pop()
    let best: Found | null = null
    let hasPath = false
    for (const route of this.#routes) {
      const match = matchRoute(route, parts)
      if (match === null) continue
      hasPath = true
      if (route.method !== method) continue
      if (best === null || match.literalCount > best.literalCount) best = match
    }
    if (best !== null) return best
    return hasPath ? 'method' : null
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const handler = this.#upgrades.get(path) ?? this.#upgrades.get('*')
    if (handler === undefined) {
      refuseUpgrade(socket, json({ error: 'not found' }, 404))
      return
    }
    handler(request, socket, head)
  }
}

/** Answers a WebSocket upgrade with plain HTTP (401, 404 …) and closes the socket. */
export function refuseUpgrade(socket: Duplex, answer: RestAnswer): void {
  const reason = answer.status === 401 ? 'Unauthorized' : 'Refused'
  const head = [
    `HTTP/1.1 ${answer.status} ${reason}`,
    'connection: close',
    `content-type: ${answer.contentType}`,
    `content-length: ${Buffer.byteLength(answer.body)}`,
  ]
  for (const [name, value] of Object.entries(answer.headers ?? {})) head.push(`${name}: ${value}`)
  socket.end(`${head.join('\r\n')}\r\n\r\n${answer.body}`)
}

/** A token bucket on the monotonic clock with a burst of `capacity`, refilled at `perSecond`. */
export class SimTokenBucket {
  readonly #clock: Clock
  readonly #capacity: number
  readonly #perSecond: number
  #tokens: number
  #filledMs: number

  constructor(options: { clock: Clock; capacity: number; perSecond: number }) {
    this.#clock = options.clock
    this.#capacity = options.capacity
    this.#perSecond = options.perSecond
    this.#tokens = options.capacity
    this.#filledMs = options.clock.monotonicMs()
  }

  /** Takes `cost` tokens and returns true. If there are too few, takes none and returns false. */
  take(cost = 1): boolean {
    const nowMs = this.#clock.monotonicMs()
    const gained = ((nowMs - this.#filledMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#capacity, this.#tokens + gained)
    this.#filledMs = nowMs
    if (this.#tokens < cost) return false
    this.#tokens -= cost
    return true
  }
}

interface Route {
  readonly method: string
  readonly segments: readonly string[]
  readonly handler: RestHandler
}

interface Found {
  readonly handler: RestHandler
  readonly params: Readonly<Record<string, string>>
  readonly literalCount: number
}

function matchRoute(route: Route, parts: readonly string[]): Found | null {
  if (route.segments.length !== parts.length) return null
  const params: Record<string, string> = {}
  let literalCount = 0
  for (const [position, segment] of route.segments.entries()) {
    const part = parts[position] ?? ''
    if (segment.startsWith('{')) {
      const value = decode(part)
      if (value === null || value === '') return null
      params[segment.slice(1, -1)] = value
    } else if (segment === part) {
      literalCount += 1
    } else {
      return null
    }
  }
  return { handler: route.handler, params, literalCount }
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

function send(response: ServerResponse, answer: RestAnswer): void {
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    ...answer.headers,
  })
  response.end(answer.body)
}

const notFound = (): RestAnswer => json({ error: 'not found' }, 404)
const methodNotAllowed = (): RestAnswer => json({ error: 'method not allowed' }, 405)
const rateLimited = (): RestAnswer => json({ error: 'too many requests' }, 429)
