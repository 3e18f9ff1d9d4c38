// HTTP client for venue APIs, with a time limit, a size limit, retries and one error type. It follows no redirects.

import { once } from 'node:events'
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { type Clock, pause } from './clock.ts'
import { onAbort } from './on-abort.ts'
import type { Log } from './process/log.ts'
import type { Count, Metrics } from './process/metrics.ts'
import type { Random } from './random.ts'
import { yieldToEventLoop } from './time-slices.ts'

/**
 * Why a call failed, after its retries.
 * - 'status': the response was not 2xx.
 * - 'timeout': the time limit passed.
 * - 'network': no complete response arrived.
 * - 'body': the body was not JSON, or too long.
 * - 'aborted': the caller or `stop()` ended the call, or too many calls were waiting.
 */
type FetchFailure = 'status' | 'timeout' | 'network' | 'body' | 'aborted'

export class FetchError extends Error {
  readonly kind: FetchFailure
  readonly status?: number
  /** The delay that a 429 or 503 requested, in ms. */
  readonly retryAfterMs?: number
  readonly unreachableHost?: string

  constructor(
    kind: FetchFailure,
    message: string,
    {
      cause,
      ...more
    }: Pick<FetchError, 'status' | 'retryAfterMs' | 'unreachableHost' | 'cause'> = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'FetchError'
    this.kind = kind
    Object.assign(this, more)
  }
}

/** Limits the request rate. Called before each attempt of a call. */
export interface RequestLimiter {
  /** `items`: see CallOptions. `path` is without the query. */
  take(signal?: AbortSignal, items?: number, path?: string): Promise<void>
}

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Statuses that the caller handles, such as 404 for an unknown profile. `odd` is not called for these statuses. */
  readonly expected?: readonly number[]
  /** Receives the status and headers of each response, before its body. */
  readonly onHead?: (status: number, headers: IncomingHttpHeaders) => void
  /** Whether `odd` is called for unexpected responses. Default true. */
  readonly isWatched?: boolean
  /** Requested items that count like one request each for the host's rate limit. Default 1. */
  readonly items?: number
  readonly retries?: number
}

export interface AnswerWatch {
  /**
   * Reports an unexpected response. `path` has no query. `sample` is the beginning of the body, or the value of the
   * unexpected header.
   */
  odd(path: string, what: string, sample: string): void
  /** Called for each response to a call with `expected` statuses. `isRefused` is true for these statuses, false for 2xx. */
  expected?(path: string, isRefused: boolean): void
}

export interface HttpClientOptions {
  /** Scheme, host and a path prefix: `https://host/trade-api/v2`. */
  readonly baseUrl: string
  /** The host's name in metrics, from a small fixed set. */
  readonly name?: string
  /** Headers that are created for each attempt, such as signatures that contain a time. `path` is without the query. */
  readonly headers?: (method: string, path: string) => Record<string, string>
  readonly limiter?: RequestLimiter
  readonly watch?: AnswerWatch
  /** For one attempt, from sending to the last byte. */
  readonly timeoutMs: number
  /** Maximum body size after decompression. */
  readonly bodyBytesMax: number
  readonly retries: number
  /** First delay after a 429 without Retry-After. It applies to all calls and doubles with each failure of a call. */
  readonly busyWaitMs?: number
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
}

const BACKOFF_FIRST_MS = 250
const BACKOFF_MAX_MS = 10_000
const RETRY_AFTER_MAX_MS = 30_000
const SOCKETS_MAX = 16
/** A larger body is parsed in a separate event-loop tick. */
const INLINE_PARSE_BYTES_MAX = 16_384

interface Attempt {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly body: string | null
  readonly options: CallOptions
}

/** Sends requests to one host and parses the JSON responses. Rejects only with FetchError. */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #base: URL
  readonly #agent: HttpAgent | HttpsAgent
  readonly #stopping = new AbortController()
  readonly #requests: Count
  readonly #retried: Count
  /** No call starts before this time. Set after a 429 or 503, because the host limits the client and not a single call. */
  #heldUntilMonotonicMs = 0

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.#base = new URL(options.baseUrl)
    const agentOptions = { keepAlive: true, maxSockets: SOCKETS_MAX }
    const isTls = this.#base.protocol === 'https:'
    this.#agent = isTls ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions)
    const labels = { host: options.name ?? 'other' }
    this.#requests = options.metrics.count('fetch_requests_total', 'HTTP attempts', labels)
    this.#retried = options.metrics.count('fetch_retries_total', 'HTTP attempts repeated', labels)
  }

  /** `path` begins with / and is appended to the base URL. Array values become repeated keys. */
  getJson(path: string, query: Query = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#call({ method: 'GET', url: this.#url(path, query), body: null, options })
  }

  /** Sends a POST with a JSON body. The request must be idempotent, because it is retried like a GET. */
  postJson(path: string, body: unknown, options: CallOptions = {}): Promise<unknown> {
    const text = JSON.stringify(body)
    return this.#call({ method: 'POST', url: this.#url(path, {}), body: text, options })
  }

  stop(): void {
    this.#stopping.abort()
    this.#agent.destroy()
  }

  #url(path: string, query: Query): URL {
    const url = new URL(this.#base.href.replace(/\/$/, '') + path)
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue
      if (typeof value === 'object') for (const item of value) url.searchParams.append(name, item)
      else url.searchParams.set(name, String(value))
    }
    return url
  }

  /** The call ends when the caller's signal or the client's signal aborts. No listener remains on either signal. */
  async #call(attempt: Attempt): Promise<unknown> {
    const ending = new AbortController()
    const end = () => ending.abort()
    const given = attempt.options.signal
    // AbortSignal.any is unsuitable: its result remains registered with the caller's signal as long as that signal
    // exists.
    const ignore = [given, this.#stopping.signal].map((signal) =>
      signal === undefined ? null : onAbort(signal, end),
    )
    try {
      return await this.#repeated(attempt, ending.signal)
    } finally {
      for (const off of ignore) off?.()
    }
  }

  async #repeated(attempt: Attempt, signal: AbortSignal): Promise<unknown> {
    const { clock, log, name } = this.#options
    const retries = attempt.options.retries ?? this.#options.retries
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#attempt(attempt, signal)
      } catch (cause) {
        const error = toFetchError(cause)
        if (failures >= retries || !isTransient(error)) throw error
        const delayMs = this.#delayMs(failures, error)
        log.debug(
          { host: name, path: attempt.url.pathname, failure: error.message, delayMs },
          'retry',
        )
        this.#retried.inc()
        await pause(clock, delayMs, signal)
      }
    }
  }

  #delayMs(failures: number, error: FetchError): number {
    const ceilingMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** failures)
    // Half of the delay is fixed and half is jitter, because an immediate retry seldom succeeds.
    const jitteredMs = (ceilingMs / 2) * (1 + this.#options.random.next())
    const waitMs = error.retryAfterMs ?? this.#busyWaitMs(failures, error)
    if (waitMs === undefined) return jitteredMs
    const requestedMs = Math.min(RETRY_AFTER_MAX_MS, waitMs)
    const heldUntilMs = this.#options.clock.monotonicMs() + requestedMs
    this.#heldUntilMonotonicMs = Math.max(this.#heldUntilMonotonicMs, heldUntilMs)
    return requestedMs
  }

  #busyWaitMs(failures: number, { status }: FetchError): number | undefined {
    const { busyWaitMs, random } = this.#options
    if (busyWaitMs === undefined || status !== 429) return undefined
    return busyWaitMs * 2 ** failures * (1 + random.next() / 2)
  }

  async #attempt(attempt: Attempt, signal: AbortSignal): Promise<unknown> {
    const { clock, limiter } = this.#options
    const heldMs = this.#heldUntilMonotonicMs - clock.monotonicMs()
    if (heldMs > 0) await pause(clock, heldMs, signal)
    if (signal.aborted) throw new FetchError('aborted', 'aborted before it was sent')
    if (limiter !== undefined) {
      try {
        await limiter.take(signal, attempt.options.items, attempt.url.pathname)
      } catch (cause) {
        throw new FetchError('aborted', 'ended while waiting for the rate limit', { cause })
      }
    }
    this.#requests.inc()
    const bytes = await this.#exchange(attempt, signal)
    const isLarge = bytes.length > INLINE_PARSE_BYTES_MAX
    if (isLarge) await yieldToEventLoop()
    const answer = this.#parsed(bytes, attempt)
    if (isLarge) await yieldToEventLoop()
    if (signal.aborted) throw new FetchError('aborted', 'aborted by the caller')
    return answer
  }

  #parsed(bytes: Buffer, attempt: Attempt): unknown {
    const text = bytes.toString('utf8')
    try {
      return JSON.parse(text)
    } catch (cause) {
      const sample = text.slice(0, 80)
      this.#watchOf(attempt)?.odd(attempt.url.pathname, oddityOfBody(text), sample)
      throw new FetchError('body', `not JSON: ${sample}`, { cause })
    }
  }

  #watchOf({ options }: Attempt): AnswerWatch | undefined {
    return options.isWatched === false ? undefined : this.#options.watch
  }

  async #exchange(attempt: Attempt, signal: AbortSignal): Promise<Buffer> {
    const { clock, timeoutMs } = this.#options
    const { host: unreachableHost } = attempt.url
    const ending = new AbortController()
    const ignore = onAbort(signal, () =>
      ending.abort(new FetchError('aborted', 'aborted by the caller')),
    )
    const stopTimer = clock.after(timeoutMs, () => {
      const message = `no complete response within ${timeoutMs} ms`
      ending.abort(new FetchError('timeout', message, { unreachableHost }))
    })
    try {
      const response = await this.#send(attempt, ending.signal)
      return await this.#read(response, attempt)
    } catch (cause) {
      if (ending.signal.aborted) throw ending.signal.reason
      if (cause instanceof FetchError) throw cause
      throw new FetchError('network', messageOf(cause), { unreachableHost, cause })
    } finally {
      stopTimer()
      ignore()
    }
  }

  async #send(attempt: Attempt, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, url, body } = attempt
    const posted = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body ?? '')),
    }
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip, br, deflate',
      ...(body === null ? {} : posted),
      ...this.#options.headers?.(method, url.pathname),
    }
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = start(url, { method, agent: this.#agent, headers, signal })
    // Without a listener, the error would be an uncaught exception. The reader of the response also throws errors after
    // the headers.
    request.on('error', () => undefined)
    request.end(body ?? undefined)
    const [response] = await once(request, 'response')
    return response
  }

  async #read(response: IncomingMessage, attempt: Attempt): Promise<Buffer> {
    const { bodyBytesMax } = this.#options
    const { url, options } = attempt
    const watch = this.#watchOf(attempt)
    const status = response.statusCode ?? 0
    options.onHead?.(status, response.headers)
    if (status < 200 || status > 299) throw await this.#refusal(response, status, attempt)
    if ((options.expected ?? []).length > 0) watch?.expected?.(url.pathname, false)
    for (const name of ENDING_HEADERS) {
      const value = response.headers[name]
      if (value !== undefined) watch?.odd(url.pathname, name, String(value))
    }
    const decoder = decoderFor(response.headers['content-encoding'])
    const chunks: Buffer[] = []
    let byteCount = 0
    try {
      // `for await` throws the errors of both streams.
      for await (const chunk of decoder === null
        ? response
        : pipeline(response, decoder, () => {})) {
        byteCount += chunk.length
        if (byteCount > bodyBytesMax) {
          throw new FetchError('body', `longer than ${bodyBytesMax} bytes`, { status })
        }
        chunks.push(chunk)
      }
    } catch (cause) {
      throw toFetchError(cause)
    }
    return Buffer.concat(chunks, byteCount)
  }

  async #refusal(response: IncomingMessage, status: number, attempt: Attempt): Promise<FetchError> {
    const { clock, busyWaitMs } = this.#options
    const { url, options } = attempt
    const watch = this.#watchOf(attempt)
    const { 'retry-after': wait, location } = response.headers
    const retryAfterMs = parseRetryAfter(wait)
    const stopTimer = clock.after(REFUSAL_WAIT_MS, () => response.destroy())
    let bodyText = ''
    try {
      for await (const chunk of response) {
        bodyText = chunk.toString('utf8', 0, REFUSAL_BYTES_MAX)
        break
      }
    } catch {
      // An error while reading the body is ignored. The status is sufficient.
    }
    stopTimer()
    const hasWait = retryAfterMs !== null || busyWaitMs !== undefined
    const what = oddityOfStatus(status, bodyText, hasWait)
    // An HTML page comes from a proxy and not from the API. Its status is unrelated to the requested resource.
    const isExpected = options.expected?.includes(status) === true && !isMarkup(bodyText)
    if (isExpected) watch?.expected?.(url.pathname, true)
    else if (what !== null) watch?.odd(url.pathname, what, location ?? bodyText)
    const more = retryAfterMs === null ? { status } : { status, retryAfterMs }
    return new FetchError('status', `status ${status}${reasonIn(bodyText)}`, more)
  }
}

export type JsonReader = Pick<HttpClient, 'getJson'>

/** Sends a GET. Resolves to `undefined` if the response is 404. */
export async function getIfFound(
  http: JsonReader,
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await http.getJson(path, query, { signal, expected: [404] })
  } catch (error) {
    if (error instanceof FetchError && error.status === 404) return undefined
    throw error
  }
}

/** Whether a retry may help. A 'body' failure without a status is a body that is not JSON, such as a proxy's HTML page. */
function isTransient(error: FetchError): boolean {
  switch (error.kind) {
    case 'network':
    case 'timeout':
      return true
    case 'status':
      return error.status === 429 || (error.status ?? 0) >= 500
    case 'body':
      return error.status === undefined
    case 'aborted':
      return false
  }
}

function toFetchError(cause: unknown): FetchError {
  if (cause instanceof FetchError) return cause
  return new FetchError('network', messageOf(cause), { cause })
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : 'unknown')

/** Headers that announce the end of an endpoint (RFC 8594, RFC 9745). */
const ENDING_HEADERS = ['deprecation', 'sunset'] as const
const REFUSAL_WAIT_MS = 1_000
const REFUSAL_BYTES_MAX = 2_048

/** Describes an unexpected non-2xx response. Null for a transient failure, which is retried. */
function oddityOfStatus(status: number, bodyText: string, hasRetryAfter: boolean): string | null {
  if (status === 429) return hasRetryAfter ? null : 'status 429 without retry-after'
  if (status >= 500) return null
  if (isMarkup(bodyText)) return `status ${status} html`
  const parameter = /"parameter"\s*:\s*"(\w{1,30})"/.exec(bodyText)?.[1]
  return parameter === undefined ? `status ${status}` : `status ${status} ${parameter}`
}

function oddityOfBody(text: string): string {
  const trimmed = text.trimStart()
  if (trimmed === '') return 'empty'
  return isMarkup(trimmed) ? 'html' : 'not json'
}

const isMarkup = (text: string): boolean => text.trimStart().startsWith('<')

/** The reason in the venue's JSON error, after a colon. Empty if the body has no reason. */
function reasonIn(bodyText: string): string {
  const reason = /"(?:error|message|code)"\s*:\s*"([^"]{1,120})"/.exec(bodyText)?.[1]
  return reason === undefined ? '' : `: ${reason}`
}

/** Parses seconds. Dates are ignored: venues send none, and they would require synchronised clocks. */
function parseRetryAfter(header: string | undefined): number | null {
  if (header === undefined || !/^\d{1,9}(\.\d+)?$/.test(header)) return null
  return Math.ceil(Number(header) * 1_000)
}

function decoderFor(encoding: string | undefined) {
  switch (encoding) {
    case 'gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'deflate':
      return createInflate()
    default:
      return null
  }
}
