// The only file that writes to an HTTP response. Every answer of ours leaves through `writeAnswer`:
// status and headers in one piece, then the body, in one cork.
// Header values are sanitised here, because uWebSockets.js writes CR and LF raw (response splitting).

import type { HttpResponse } from 'uWebSockets.js'
import type { Quota } from '../../actors/views.ts'
import { type EngineError, type ErrorCode, errorCatalogue } from '../../engine/errors.ts'
import { addressFileBytesPerMinute } from '../../engine/limits.ts'
import { etagOf } from './etag.ts'
import type { UnsentAnswers } from './unsent.ts'

/** What a handler wants said. */
export interface Answer {
  readonly status: number
  /** Finished text, or its UTF-8; null for none (204). */
  readonly body: string | Uint8Array | null
  readonly contentType: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** For 429 and 503: when to come back, in whole seconds; null: as the quota, or the code, says. */
  readonly retryAfterSeconds: number | null
  /** Called once the body was taken over; never for an answer that found its client gone. */
  readonly whenTaken?: () => void
  /** The body's name (etag.ts), by which it can be asked for again. */
  readonly etag?: string
  /** How caches may keep it; unless said, not at all, or with an etag its client alone, asking each time. */
  readonly caching?: string
  /** What the body is coded in; unless said, nothing. */
  readonly coding?: 'br' | 'gzip' | 'identity'
  /** The body is bytes that never change, of a file that many answers give; it counts by its bytes. */
  readonly isFile?: boolean
}

/** What the wrapper adds to an answer. */
interface Frame {
  readonly quota: Quota
  readonly nowSeconds: number
  /** The `Access-Control-Allow-Origin` value; null: none. */
  readonly allowedOrigin: string | null
  readonly isHead: boolean
  /** Other clients may be sent the same answer in another coding. */
  readonly varies: boolean
  /** Close the connection afterwards (a body that we refused to read). */
  readonly closes: boolean
  /** Written within the library's own call of the handler, where all is corked already. */
  readonly isCorked: boolean
  /** Takes over what the socket does not take at once. */
  readonly unsent: UnsentAnswers
  /** The account or address that this counts against. */
  readonly holder: string
  /** In a cluster: the name of the process that answers; unless given, it is not said. */
  readonly servedBy?: string | null
}

/** Of every quota (actors/accounts/quotas.ts). */
const WINDOW_SECONDS = 60
export const JSON_TYPE = 'application/json; charset=utf-8'
const NO_HEADERS: Answer['headers'] = []
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Data-Start, X-Data-Complete, X-Data-Incomplete, X-Data-As-Of, X-Unknown-Parameters, ETag'

/** Our side drops idle connections after about 11 s; telling clients less avoids the race. */
const FIXED_HEADERS = '\r\nX-Content-Type-Options: nosniff\r\nKeep-Alive: timeout=8'
/** The origin itself follows. */
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
  413: '413 Payload Too Large',
  422: '422 Unprocessable Entity',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

/** An answer from a value that JSON can carry. */
export function json(value: unknown, status = 200): Answer {
  return jsonText(JSON.stringify(value), status)
}

/** An answer from finished JSON text. */
export function jsonText(body: string, status = 200): Answer {
  return { status, body, contentType: JSON_TYPE, headers: NO_HEADERS, retryAfterSeconds: null }
}

/** The same with an ETag, so that a client that has it is answered by 304. */
export function namedJson(body: string, etag = etagOf(body)): Answer {
  // Spread from `jsonText`, the object took a twentieth of a request's time.
  return {
    status: 200,
    body,
    contentType: JSON_TYPE,
    headers: NO_HEADERS,
    retryAfterSeconds: null,
    etag,
  }
}

/** An answer from finished JSON as UTF-8, of which a copy is taken before `whenTaken`. */
export function jsonBytes(body: Uint8Array, whenTaken: () => void, etag?: string): Answer {
  return {
    status: 200,
    body,
    contentType: JSON_TYPE,
    headers: NO_HEADERS,
    retryAfterSeconds: null,
    whenTaken,
    ...(etag === undefined ? {} : { etag }),
  }
}

/** An answer that is not JSON. */
export function plainText(body: string, contentType: string): Answer {
  return { status: 200, body, contentType, headers: NO_HEADERS, retryAfterSeconds: null }
}

/** For the specification document. */
export const fileRefusals = {
  429: `the address has had ${addressFileBytesPerMinute / 2 ** 20} MiB of files within a minute`,
}

/** A document, script or page: text that never changes while the service runs. */
export function file(text: string, contentType: string, caching: string): Answer {
  return {
    status: 200,
    body: Buffer.from(text),
    contentType,
    headers: NO_HEADERS,
    retryAfterSeconds: null,
    isFile: true,
    etag: etagOf(text),
    caching,
  }
}

/** Never to change under its name. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
/** To be asked for each time: another version of the service may say something else. */
export const REVALIDATED = 'no-cache'

/** 304, for a client that has the answer already. */
export function notModified(answer: Answer): Answer {
  return { ...answer, status: 304, body: null }
}

/** 302 to an address, from that of the request; a client that does not follow reads where to go. */
export function redirect(address: string): Answer {
  const answer = plainText(`See ${address}\n`, 'text/plain; charset=utf-8')
  return withHeader({ ...answer, status: 302 }, 'Location', address)
}

/** 204. */
export function nothing(headers: Answer['headers'] = NO_HEADERS): Answer {
  return { status: 204, body: null, contentType: '', headers, retryAfterSeconds: null }
}

/** `{"detail": …}` with the status of a code from the catalogue. */
export function failure(code: ErrorCode, detail: string): Answer {
  return json({ detail }, errorCatalogue[code].status)
}

/** The answer to a refusal that an owner raised. */
export function refusal(error: EngineError): Answer {
  return retryAfter(json({ detail: error.detail }, error.status), error.retryAfterSeconds)
}

/** The same answer with a time to come back; null leaves it to the quota. */
export function retryAfter(answer: Answer, seconds: number | null): Answer {
  return { ...answer, retryAfterSeconds: seconds }
}

/** The same answer with one more header. */
export function withHeader(answer: Answer, name: string, value: string): Answer {
  return { ...answer, headers: [...answer.headers, [name, value]] }
}

/** Writes and ends a response that is neither aborted nor answered; the caller may not touch it any more. */
export function writeAnswer(res: HttpResponse, answer: Answer, frame: Frame): void {
  if (frame.isCorked) write(res, answer, frame)
  else res.cork(() => write(res, answer, frame))
  // What the socket did not take has been copied.
  answer.whenTaken?.()
}

/** Answers up to so many bytes that end their connection are copied by the library. */
const CLOSING_BYTES_MAX = 65_536

function write(res: HttpResponse, answer: Answer, frame: Frame): void {
  // The library writes status and header values as they are, so the head goes in one call: nine of them were
  // a tenth of what a request took.
  res.writeStatus(headText(answer, frame))
  const { body } = answer
  if (body === null || frame.isHead) {
    // The library is never given a length: with one (undefined too, in front of `closes`) it counts the
    // answer as unfinished, and ends the connection at its next request without a word.
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
  // With 0 the library takes the chunk for all there is.
  const [, isOver] = res.tryEnd(body, 0)
  if (!isOver) holdRest(res, answer, body, frame)
}

function holdRest(
  res: HttpResponse,
  { isFile: isShared = false }: Answer,
  body: string | Uint8Array,
  { unsent, holder }: Frame,
): void {
  const sentCount = res.getWriteOffset()
  const full = typeof body === 'string' ? Buffer.from(body) : body
  const rest = full.subarray(sentCount)
  // A text's bytes are ours alone; those of an answer may be used again once it was taken.
  const bytes = isShared || typeof body === 'string' ? rest : Buffer.from(rest)
  unsent.hold(res, { bytes, sentCount, length: full.length, isShared, holder })
}

/** Status and headers, without a line's end after the last. Nothing of a user's is in it but through `headerValue`. */
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

/** What the refusing rule says; else a busy server's second, or what is left of the quota's window. */
function secondsToWait(answer: Answer, { quota, nowSeconds }: Frame): number {
  // The window's end is rounded up and the present down: a fresh window would ask for 61 s.
  const left = Math.min(WINDOW_SECONDS, quota.resetSeconds - nowSeconds)
  const seconds = answer.status === 503 ? 1 : left
  return Math.max(1, answer.retryAfterSeconds ?? seconds)
}

/** Printable ASCII only; anything else becomes `?`, so that no value can begin a new header. */
export function headerValue(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
