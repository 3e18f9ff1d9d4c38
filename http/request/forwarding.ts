// Defines which routes a gateway answers from its mirror. The gateway forwards all other requests to the engine. The
// engine authenticates and counts forwarded requests, so that each request is counted once.

import type { HttpRequest } from 'uWebSockets.js'
import type { Quota } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { issuerOf } from './cursor.ts'
import type { Answer } from './reply.ts'
import type { Route } from './route.ts'

export interface ForwardedRequest {
  readonly method: string
  /** Includes the query string. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The gateway that issued the request's list cursor. Null: forward to the engine. */
  readonly gateway: string | null
}

export interface ForwardedAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Forwards a request to the engine or to another gateway. Rejects if no answer arrives in time. */
export type Forward = (request: ForwardedRequest) => Promise<ForwardedAnswer>

/**
 * Routes under /v1 that a gateway answers from its mirror, with a pattern of the accepted queries. Each process answers
 * paths outside /v1 (documents, pages, health).
 */
const LOCAL_ROUTES: Readonly<Record<string, RegExp | 'any'>> = {
  'GET /v1/markets': 'any',
  'GET /v1/markets/search': 'any',
  'GET /v1/markets/{market_id}': 'any',
  'GET /v1/matching-markets': 'any',
  'GET /v1/matching-markets/sports/{sport}': 'any',
  'GET /v1/sports/{sport}': 'any',
  'GET /v1/stats': 'any',
  // A streamed answer cannot be forwarded. A gateway refuses it.
  'GET /v1/replay': 'any',
  'GET /v1/export': 'any',
  'GET /v1/export/{venue}/{table}/{date}/{file}': 'any',
  'GET /v1/events': 'any',
  'GET /v1/events/{slug}': 'any',
  // Only the engine has past prices.
  'GET /v1/markets/{market_id}/price': /^(outcome=[^&]*)?$/,
  'GET /v1/prices': 'any',
  // The engine may have to request a book by REST.
  'GET /v1/markets/{market_id}/orderbook': /^(?!.*consolidated)/,
  'GET /v1/orderbooks': 'any',
  'GET /v1/ws': 'any',
  'POST /v1/ws/ticket': 'any',
}

/** The returned `gateway` is null if the engine answers. Returns null if the current process answers. */
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

/** `address` is the address whose quota the request counts against. */
export function forwardedHeaders(req: HttpRequest, address: string): Record<string, string> {
  const headers: Record<string, string> = {}
  req.forEach((name, value) => {
    if (NOT_FORWARDED.has(name)) return
    const before = headers[name]
    // The first line of a repeated credential counts, as in head.ts. All lines of `Cookie` are joined.
    if (before === undefined) headers[name] = value
    else if (name === 'cookie') headers[name] = `${before}; ${value}`
  })
  headers['x-forwarded-for'] = address.replace(/\/64$/, '')
  return headers
}

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

/** `quota` is the quota that the other process counted the request against. */
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

function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase())
}

/** `Retry-After` in seconds if no process answered. */
const RETRY_SECONDS = 2

export function unanswered(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause
  const options = { cause, retryAfterSeconds: RETRY_SECONDS }
  return new EngineError('UNAVAILABLE', 'the engine did not answer, try again soon', options)
}
