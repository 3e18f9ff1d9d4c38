// In a cluster: which routes a gateway answers from its mirror (hot), and how the others go to the engine whole and come back
// (cold). The engine identifies, counts and refuses what is forwarded, so that a request is counted once.

import type { HttpRequest } from 'uWebSockets.js'
import type { Quota } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { issuerOf } from './cursor.ts'
import type { Answer } from './reply.ts'
import type { Route } from './route.ts'

/** A request as its client sent it. */
export interface ForwardedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The gateway whose list it continues; null: it is the engine's to answer. */
  readonly gateway: string | null
}

export interface ForwardedAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Has the engine or another gateway answer; rejects when it does not in time. */
export type Forward = (request: ForwardedRequest) => Promise<ForwardedAnswer>

/**
 * The routes under /v1 that a mirror answers, each with the queries that it does; all others are forwarded. What is not under
 * /v1 (documents, pages, health) is each process's own.
 */
const LOCAL_ROUTES: Readonly<Record<string, RegExp | 'any'>> = {
  'GET /v1/markets': 'any',
  'GET /v1/markets/search': 'any',
  'GET /v1/markets/{market_id}': 'any',
  'GET /v1/matching-markets': 'any',
  'GET /v1/matching-markets/sports/{sport}': 'any',
  'GET /v1/sports/{sport}': 'any',
  'GET /v1/stats': 'any',
  'GET /v1/events': 'any',
  'GET /v1/events/{slug}': 'any',
  // A past second is the engine's.
  'GET /v1/markets/{market_id}/price': /^(outcome=[^&]*)?$/,
  'GET /v1/prices': 'any',
  // The engine may have to read a book over REST first.
  'GET /v1/markets/{market_id}/orderbook': /^(?!.*consolidated)/,
  'GET /v1/orderbooks': 'any',
  'GET /v1/ws': 'any',
  'POST /v1/ws/ticket': 'any',
}

/** Who answers a request instead of the gateway that got it; `gateway` null: the engine. Null: it answers itself. */
export function forwardTarget(
  { method, pattern }: Pick<Route, 'method' | 'pattern'>,
  query: string | undefined,
  self: string | null,
): Pick<ForwardedRequest, 'gateway'> | null {
  if (!pattern.startsWith('/v1/')) return null
  const queries = LOCAL_ROUTES[`${method} ${pattern}`]
  const isLocal = queries === 'any' || queries?.test(query ?? '') === true
  if (!isLocal) return { gateway: null }
  const issuer = query === undefined ? null : issuerOf(query)
  return issuer === null || issuer === self ? null : { gateway: issuer }
}

/** Of one connection alone, or written anew on the way. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
  'accept-encoding',
  'if-none-match',
  'forwarded',
  'x-forwarded-for',
])

/** The headers to forward; `address`: what the request counts against. */
export function forwardedHeaders(req: HttpRequest, address: string): Record<string, string> {
  const headers: Record<string, string> = {}
  req.forEach((name, value) => {
    if (NOT_FORWARDED.has(name)) return
    const before = headers[name]
    // Of a repeated credential the first line counts, as everywhere; of a cookie all are one list.
    if (before === undefined) headers[name] = value
    else if (name === 'cookie') headers[name] = `${before}; ${value}`
  })
  headers['x-forwarded-for'] = address.replace(/\/64$/, '')
  return headers
}

/** Written by the gateway for every answer, its own or not. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'date',
  'uwebsockets',
  'vary',
  'etag',
  'cache-control',
  'retry-after',
  'x-content-type-options',
  'x-served-by',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'access-control-allow-origin',
  'access-control-expose-headers',
])

/** What the engine answered, and the quota that it took it from. */
export function forwardedAnswer({ status, headers, body }: ForwardedAnswer): {
  readonly answer: Answer
  readonly quota: Quota
} {
  const { etag, 'cache-control': caching, 'retry-after': after } = headers
  const others = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name))
  const integer = (name: string): number => Math.max(0, Math.trunc(Number(headers[name] ?? 0)) || 0)
  return {
    answer: {
      status,
      body: status === 204 || status === 304 ? null : body,
      contentType: headers['content-type'] ?? '',
      headers: others.map(([name, value]) => [headerName(name), value]),
      retryAfterSeconds: after === undefined ? null : integer('retry-after'),
      ...(etag === undefined ? {} : { etag }),
      ...(caching === undefined || caching === 'no-store' ? {} : { caching }),
    },
    quota: {
      isAllowed: true,
      limit: integer('x-ratelimit-limit'),
      remaining: integer('x-ratelimit-remaining'),
      resetSeconds: integer('x-ratelimit-reset'),
    },
  }
}

/** As the engine writes it: `x-data-start` is `X-Data-Start`. */
function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase())
}

/** Seconds after which a client may ask again when the engine did not answer. */
const RETRY_SECONDS = 2

/** The refusal of a request that nobody answered. */
export function unanswered(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause
  const options = { cause, retryAfterSeconds: RETRY_SECONDS }
  return new EngineError('UNAVAILABLE', 'the engine did not answer, try again soon', options)
}
