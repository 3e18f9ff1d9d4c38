// Process of one of the two servers with which the rest bench compares ours. The command line selects the server.
// `limit` is a bare uWebSockets.js app that writes our headers and one constant body per route. `fastify` serves the
// hot routes with typical code: a hook looks up the key, counts the request and sets the headers, and the handler looks
// up the market. Its responses are prepared texts.

import Fastify, { type FastifyInstance } from 'fastify'
import { openBareApp } from '../bare-app.ts'
import { processorMicros, serve } from '../in-child.ts'

/** A route that both servers serve, with `:market_id` in place of the market. */
export interface ServedRoute {
  readonly pattern: string
  /** One of our responses with typical size. The limit sends it for every request of the route. */
  readonly constant: string
  /** Prepared responses by market, for fastify. Empty for a list, because fastify does not serve lists. */
  readonly byMarket: Readonly<Record<string, string>>
}

interface Opening {
  readonly apiKey: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly routes: readonly ServedRoute[]
}

const HOST = '127.0.0.1'
const KEY_HEADER = 'x-api-key'
const MINUTE_MS = 60_000

async function limit({ headers, routes }: Opening): Promise<number> {
  const { app, listen } = await openBareApp()
  for (const { pattern, constant } of routes) {
    app.get(pattern, (res, req) => {
      req.getHeader(KEY_HEADER)
      res.cork(() => {
        for (const [name, value] of headers) res.writeHeader(name, value)
        res.end(constant)
      })
    })
  }
  return listen()
}

interface Account {
  readonly requestsPerMinute: number
  windowEndsAtMs: number
  usedCount: number
}

async function fastify({ apiKey, headers, routes }: Opening): Promise<number> {
  // Node itself writes `Keep-Alive`.
  const own = (name: string) => name === 'keep-alive' || name.startsWith('x-ratelimit-')
  const fixed = Object.fromEntries(headers.filter(([name]) => !own(name)))
  const account: Account = { requestsPerMinute: 1_000_000_000, windowEndsAtMs: 0, usedCount: 0 }
  const accounts = new Map([[apiKey, account]])
  const app = Fastify({ logger: false })
  app.addHook('onRequest', (request, reply, done) => {
    const key = request.headers[KEY_HEADER]
    const caller = typeof key === 'string' ? accounts.get(key) : undefined
    if (caller === undefined) {
      reply.code(401).send({ detail: 'missing or invalid API key' })
      return
    }
    const nowMs = Date.now()
    if (nowMs >= caller.windowEndsAtMs) {
      caller.windowEndsAtMs = nowMs + MINUTE_MS
      caller.usedCount = 0
    }
    caller.usedCount += 1
    reply.headers({
      ...fixed,
      'x-ratelimit-limit': caller.requestsPerMinute,
      'x-ratelimit-remaining': caller.requestsPerMinute - caller.usedCount,
      'x-ratelimit-reset': Math.ceil(caller.windowEndsAtMs / 1_000),
    })
    if (caller.usedCount > caller.requestsPerMinute) {
      reply.code(429).send({ detail: 'rate limit exceeded' })
      return
    }
    done()
  })
  for (const { pattern, byMarket } of routes) {
    if (Object.keys(byMarket).length > 0) serveMarkets(app, pattern, byMarket)
  }
  await app.listen({ host: HOST, port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('cannot listen')
  return address.port
}

function serveMarkets(
  app: FastifyInstance,
  pattern: string,
  byMarket: ServedRoute['byMarket'],
): void {
  const answers = new Map(Object.entries(byMarket))
  app.get<{ Params: { market_id: string } }>(pattern, (request, reply) => {
    const text = answers.get(request.params.market_id)
    if (text === undefined) reply.code(404).send({ detail: 'no such market' })
    else reply.send(text)
  })
}

export const api = serve({
  open: process.argv[2] === 'limit' ? limit : fastify,
  processorMicros,
})
