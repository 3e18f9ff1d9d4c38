// Writes all HTTP responses. uWebSockets.js does not escape CR and LF (response splitting), so header values are
// sanitized here.

import type { HttpResponse } from 'uWebSockets.js'
import { createHash, type Hash } from 'node:crypto'
import type { Quota } from '../../actors/views.ts'
import { EngineError, type ErrorCode, errorCatalogue } from '../../engine/errors.ts'
import { addressFileBytesPerMinute } from '../../engine/limits.ts'
import type { BodySource, StreamedAnswers } from './streamed.ts'
import type { UnsentAnswers } from './unsent.ts'

export interface Answer {
  readonly status: number
  /** Text or UTF-8 bytes. Null: no body. */
  readonly body: string | Uint8Array | null
  readonly contentType: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** `Retry-After` of 429 and 503 in whole seconds. Null: derived from the quota or the error code. */
  readonly retryAfterSeconds: number | null
  readonly etag?: string
  /** `Cache-Control`. Default: `no-store`, or private with revalidation if the answer has an ETag. */
  readonly caching?: string
  /** Coding of the body. Default: none. */
  readonly coding?: 'br' | 'gzip' | 'identity'
  /** The body is an immutable file, whose bytes many answers share. They count against the address's file quota. */
  readonly isFile?: boolean
  /** Produces the body, in place of `body`, while the client reads. It is closed if the answer is not sent. */
  readonly stream?: BodySource
}

/** Properties of a response that do not depend on the handler's answer. */
interface Frame {
  readonly quota: Quota
  readonly nowSeconds: number
  readonly allowedOrigin: string | null
  readonly isHead: boolean
  /** True if the answer varies by `Accept-Encoding`. */
  readonly varies: boolean
  /** Close the connection after the response, for example because the body was not read. */
  readonly closes: boolean
  /** True during the library's handler call, in which the library corks all writes. */
  readonly isCorked: boolean
  readonly unsent: UnsentAnswers
  /** Required for streamed answers. */
  readonly streams?: StreamedAnswers
  /** The account or address that unsent bytes count against. */
  readonly holder: string
  /** Name of the answering process in a cluster. Default: none. */
  readonly servedBy?: string | null
}

/** Length of the window of every quota. */
const WINDOW_SECONDS = 60
export const JSON_TYPE = 'application/json; charset=utf-8'
const NO_HEADERS: Answer['headers'] = []
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Data-Start, X-Data-Complete, X-Data-Incomplete, X-Data-As-Of, X-Unknown-Parameters, ETag'

/**
 * The server closes idle connections after about 11 s. A shorter announced timeout keeps clients from using a
 * connection that is about to close.
 */
const FIXED_HEADERS = '\r\nX-Content-Type-Options: nosniff\r\nKeep-Alive: timeout=8'
/** The allowed origin must be appended. */
const ORIGIN_HEADERS = `\r\nAccess-Control-Expose-Headers: ${EXPOSED}\r\nAccess-Control-Allow-Origin: `

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  204: '204 No Content',
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  413: '413 Payload Too Large',
  422: '422 Unprocessable Entity',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

function answerOf(status: number, body: Answer['body'], contentType: string): Answer {
  return { status, body, contentType, headers: NO_HEADERS, retryAfterSeconds: null }
}

export function json(value: unknown, status = 200): Answer {
  return jsonText(JSON.stringify(value), status)
}

export function jsonText(body: string, status = 200): Answer {
  return answerOf(status, body, JSON_TYPE)
}

/** A JSON answer with an ETag, so that repeated requests can get 304. */
export function namedJson(body: string | Uint8Array, etag = etagOf(body)): Answer {
  return { ...answerOf(200, body, JSON_TYPE), etag }
}

/** An answer whose body is produced while the client reads. */
export function streamed(
  stream: BodySource,
  contentType: string,
  coding: 'gzip' | 'identity' = 'identity',
): Answer {
  const coded = coding === 'gzip' ? { coding } : {}
  return { ...answerOf(200, null, contentType), stream, ...coded }
}

export function plainText(body: string, contentType: string): Answer {
  return answerOf(200, body, contentType)
}

/** Allocates outside Node's buffer pool, where a short text would retain 8 KiB. */
export function utf8(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

export const fileRefusals = {
  429: `the address has had ${addressFileBytesPerMinute / 2 ** 20} MiB of files within a minute`,
}

export function file(text: string, contentType: string, caching: string): Answer {
  const body = Buffer.from(text)
  return { ...answerOf(200, body, contentType), isFile: true, etag: etagOf(text), caching }
}

export function page(text: string, contentType: string, policy: string): Answer {
  const policed = withHeader(
    file(text, contentType, REVALIDATED),
    'Content-Security-Policy',
    policy,
  )
  return withHeader(policed, 'Referrer-Policy', 'no-referrer')
}

export function fileOf(files: ReadonlyMap<string, Answer>, name: string): Answer {
  const answer = files.get(name)
  if (answer === undefined) throw new EngineError('NOT_FOUND', 'no such file')
  return answer
}

/** Files by name. The content under a name never changes. */
export function immutableFiles(
  files: ReadonlyMap<string, { readonly text: string; readonly contentType: string }>,
): ReadonlyMap<string, Answer> {
  const answers = [...files].map(([name, { text, contentType }]) => {
    return [name, file(text, contentType, IMMUTABLE)] as const
  })
  return new Map(answers)
}

/** `Cache-Control` for content that never changes under its URL. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
/** `Cache-Control` for content that may change with the version of the service. */
export const REVALIDATED = 'no-cache'

/** A 302 redirect to a relative address. The body names the target for clients that do not follow redirects. */
export function redirect(address: string): Answer {
  const answer = plainText(`See ${address}\n`, 'text/plain; charset=utf-8')
  return withHeader({ ...answer, status: 302 }, 'Location', address)
}

export function nothing(headers: Answer['headers'] = NO_HEADERS): Answer {
  return { ...answerOf(204, null, ''), headers }
}

/** `{"detail": …}` with the status that belongs to the error code. */
export function failure(code: ErrorCode, detail: string): Answer {
  return json({ detail }, errorCatalogue[code].status)
}

export function refusal(error: EngineError): Answer {
  return retryAfter(json({ detail: error.detail }, error.status), error.retryAfterSeconds)
}

/** The same answer with `Retry-After`. Null: derived from the quota. */
export function retryAfter(answer: Answer, seconds: number | null): Answer {
  return { ...answer, retryAfterSeconds: seconds }
}

export function withHeader(answer: Answer, name: string, value: string): Answer {
  return { ...answer, headers: [...answer.headers, [name, value]] }
}

/** The response must be neither aborted nor answered. The caller must not access the response afterwards. */
export function writeAnswer(res: HttpResponse, answer: Answer, frame: Frame): void {
  if (frame.isCorked) write(res, answer, frame)
  else res.cork(() => write(res, answer, frame))
}

/** For answers up to this size that close their connection, the library copies the unsent bytes. */
const CLOSING_BYTES_MAX = 65_536

function write(res: HttpResponse, answer: Answer, frame: Frame): void {
  // Write the complete head in one call, since separate calls are slow. The library does not escape status and header
  // values.
  res.writeStatus(headText(answer, frame))
  const { body, stream } = answer
  if (stream !== undefined && !frame.isHead && frame.streams !== undefined) {
    if (frame.closes) res.writeHeader('Connection', 'close')
    return frame.streams.send(res, stream)
  }
  stream?.close()
  if (body === null || frame.isHead) {
    // Never pass a length to the library, not even undefined before `closes`. The library would treat the answer as
    // unfinished and close the connection at its next request.
    if (frame.closes) res.writeHeader('Connection', 'close')
    if (body !== null) res.writeHeader('Content-Length', String(Buffer.byteLength(body)))
    res.endWithoutBody()
    return
  }
  if (frame.closes) {
    if (body.length <= CLOSING_BYTES_MAX) {
      res.end(body, true)
      return
    }
    res.writeHeader('Connection', 'close')
  }
  // With a length of 0 the library treats the chunk as the complete body.
  const [, isOver] = res.tryEnd(body, 0)
  if (isOver) return
  const sentCount = res.getWriteOffset()
  const full = typeof body === 'string' ? Buffer.from(body) : body
  const rest = { bytes: full.subarray(sentCount), sentCount, length: full.length }
  frame.unsent.hold(res, { ...rest, isShared: answer.isFile === true, holder: frame.holder })
}

/** User input enters only through `headerValue`. The text has no trailing line break. */
function headText(answer: Answer, frame: Frame): string {
  const { status, contentType, etag, headers } = answer
  const { limit, remaining, resetSeconds } = frame.quota
  let text = STATUS_LINES[status] ?? `${status} Status`
  if (contentType !== '') text += `\r\nContent-Type: ${contentType}`
  text += `\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${resetSeconds}`
  if (status === 429 || status === 503) text += `\r\nRetry-After: ${secondsToWait(answer, frame)}`
  text += FIXED_HEADERS
  if (typeof frame.servedBy === 'string') text += `\r\nX-Served-By: ${headerValue(frame.servedBy)}`
  text += `\r\nCache-Control: ${answer.caching ?? (etag === undefined ? 'no-store' : 'private, no-cache')}`
  if (etag !== undefined) text += `\r\nETag: ${etag}`
  if (answer.coding !== undefined) text += `\r\nContent-Encoding: ${answer.coding}`
  const isOfOrigin = frame.allowedOrigin !== null && frame.allowedOrigin !== '*'
  if (frame.varies) text += `\r\nVary: Accept-Encoding${isOfOrigin ? ', Origin' : ''}`
  else if (isOfOrigin) text += '\r\nVary: Origin'
  if (frame.allowedOrigin !== null) text += `${ORIGIN_HEADERS}${headerValue(frame.allowedOrigin)}`
  for (const [name, value] of headers) text += `\r\n${name}: ${headerValue(value)}`
  return text
}

/** The answer's own value, else one second if the server is busy, else the rest of the quota's window. */
function secondsToWait(answer: Answer, { quota, nowSeconds }: Frame): number {
  // `resetSeconds` is rounded up and `nowSeconds` down, so a new window would yield 61 s.
  const left = Math.min(WINDOW_SECONDS, quota.resetSeconds - nowSeconds)
  const seconds = answer.status === 503 ? 1 : left
  return Math.max(1, answer.retryAfterSeconds ?? seconds)
}

/** Replaces all characters except printable ASCII by `?`, so that no value can start a new header. */
export function headerValue(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}

// All ETags are weak (RFC 9110, 8.8.1), since an ETag identifies the content in any coding. Comparison is weak too
// (13.1.2).

/** Length of 96 bits in base64url. */
const CHARACTERS = 16

/** A weak ETag: `W/"…"`. */
export function etagOf(content: string | Uint8Array): string {
  return etagFrom(newHash().update(content))
}

/** A hash for `etagFrom`. Update it with the body. */
export function newHash(): Hash {
  return createHash('sha1')
}

export function etagFrom(hash: Hash): string {
  return `W/"${hash.digest('base64url').slice(0, CHARACTERS)}"`
}

const OPAQUE = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** The header '' matches no ETag, and `*` matches every ETag. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false
  if (ifNoneMatch.trim() === '*') return true
  const wanted = etag.slice('W/'.length)
  for (const [, opaque] of ifNoneMatch.matchAll(OPAQUE)) if (opaque === wanted) return true
  return false
}
