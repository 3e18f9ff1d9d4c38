// Handles a request: route, credentials, quota, validation, handler, reply. uWebSockets.js aborts the process if a
// handler throws or returns without an answer or abort handler. A rejected promise would leave the socket open forever.
// Access to an aborted response throws.

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { AccountsView, Caller, Quota } from '../../actors/views.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import {
  bodyBytesMax,
  refusedRequestsPerSecondMax,
  requestDeadlineMs,
} from '../../engine/limits.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import { toSeconds } from '../../engine/units.ts'
import { parseQuery } from '../validation/query.ts'
import { type DashboardRequest, dashboardRequest, type Identity, identify } from './auth.ts'
import { Codings, isCodable } from './coding.ts'
import {
  type Forward,
  forwardedAnswer,
  forwardedHeaders,
  forwardTarget,
  unanswered,
} from './forwarding.ts'
import type { RequestHead } from './head.ts'
import { Bursts, WindowCounts } from './load-limits.ts'
import type { PeerAddresses } from './peer-address.ts'
import {
  type Answer,
  failure,
  matchesEtag,
  nothing,
  refusal,
  retryAfter,
  withHeader,
  writeAnswer,
} from './reply.ts'
import type { Access, RequestFacts, Route } from './route.ts'
import type { Match, RouteMatch, Router } from './router.ts'
import { StreamedAnswers } from './streamed.ts'
import { HandlerTimes, RequestTurns } from './time-slices.ts'
import type { UnsentAnswers } from './unsent.ts'

interface HandlerParts {
  readonly router: Router
  readonly accounts: AccountsView
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly corsOrigins: readonly string[]
  readonly peers: PeerAddresses
  /** One instance, which each request overwrites. */
  readonly head: RequestHead
  readonly unsent: UnsentAnswers
  /** While `isCrowded`, answers to unknown callers and 429 answers close their connections. */
  readonly connections?: { readonly isCrowded: boolean }
  /** Null: this process answers all requests. */
  readonly forward?: Forward | null
  readonly servedBy?: string | null
}

export class RequestHandler {
  readonly parts: HandlerParts
  readonly samples = new LogSampler()
  readonly #times: HandlerTimes
  readonly #bursts = new Bursts()
  readonly turns: RequestTurns
  /** Refused requests per second by account or address. Above a limit, refusals close their connections. */
  readonly refusals: WindowCounts
  readonly codings: Codings
  readonly streams: StreamedAnswers
  readonly #answered = new Map<number, Count>()
  inFlightCount = 0
  /** While true, every answer closes its connection. */
  isDraining = false
  /** Time of the last answer. Its connection may stay open for another 11 s. */
  answeredAtMs: number = Number.NEGATIVE_INFINITY

  constructor(parts: HandlerParts) {
    this.parts = parts
    this.refusals = new WindowCounts(parts.clock, 1_000)
    this.codings = new Codings(parts.clock)
    this.streams = new StreamedAnswers(parts)
    this.turns = new RequestTurns(parts.clock)
    this.#times = new HandlerTimes(parts)
    parts.metrics.gauge(
      'http_requests_in_flight',
      'Requests not yet answered.',
      () => this.inFlightCount,
    )
  }

  readonly handle = (res: HttpResponse, req: HttpRequest): void => {
    if (!this.#bursts.admits(() => this.#addressOf(res, req))) {
      res.close()
      return
    }
    this.#times.begin()
    const exchange = new Exchange(this, res)
    try {
      exchange.begin(req)
    } catch (error) {
      exchange.fail(error)
    }
    exchange.leaveHandler()
    this.turns.noteHandled(this.#times.end())
  }

  #addressOf(res: HttpResponse, req: HttpRequest): string {
    const { head, peers } = this.parts
    head.read(req)
    return peers.of(res, head)
  }

  /** Runs work after an await and measures how long the work blocks the event loop. */
  resume(work: () => void): void {
    if (this.#times.isInTick) return work()
    this.#times.begin()
    try {
      work()
    } finally {
      this.#times.end()
    }
  }

  countAnswer(status: number): void {
    let count = this.#answered.get(status)
    if (count === undefined) {
      const labels = { status: String(status) }
      count = this.parts.metrics.count('http_answers_total', 'HTTP answers by status.', labels)
      this.#answered.set(status, count)
    }
    count.inc()
  }
}

/** The `Access-Control-Allow-Origin` value for a request's origin, or null. */
export function allowedOrigin(corsOrigins: readonly string[], origin: string): string | null {
  if (corsOrigins.length === 0) return null
  if (corsOrigins.includes('*')) return '*'
  return origin !== '' && corsOrigins.includes(origin) ? origin : null
}

/** Data requests of an authenticated caller do not need the address. */
function needsAddress(match: Match, { caller }: Identity, { fault }: RequestHead): boolean {
  if (caller === null || match.kind !== 'route' || fault !== null) return true
  return match.route.access === 'public' || !match.route.isCounted
}

class Exchange implements RequestFacts {
  readonly #handler: RequestHandler
  readonly #res: HttpResponse
  #req: HttpRequest | null = null
  /** The request was answered or aborted. Do not access the response any more. */
  #isOver = false
  #isInHandler = true
  #isHead = false
  #isBodiless = false
  #isPrivate = false
  #varies = false
  #acceptEncoding = ''
  #ifNoneMatch = ''
  #closes = false
  caller: Caller | null = null
  /** Null if path or method do not exist. */
  #match: RouteMatch | null = null
  #queryText: string | undefined
  address = ''
  /** Set together with `address`. */
  isLocal = false
  dashboard: DashboardRequest | null = null
  #allowedOrigin: string | null = null
  #quota: Quota | null = null
  /** The account actor counts sign-ins, so their quota is read when the request is answered. */
  #isSignIn = false
  #path = ''
  #stopDeadline: StopTimer | null = null
  #abort: AbortController | null = null
  #awaitsBody = false
  /** Headers for a handler that runs after the body. */
  #headers: ReadonlyMap<string, string> | null = null

  constructor(handler: RequestHandler, res: HttpResponse) {
    this.#handler = handler
    this.#res = res
    handler.inFlightCount += 1
  }

  leaveHandler(): void {
    this.#isInHandler = false
    this.#req = null
    if (!this.#isOver) this.#res.onAborted(() => this.#finish())
  }

  /** Reads everything that is needed later. `req` is invalid after the first await. */
  begin(req: HttpRequest): void {
    const { turns } = this.#handler
    const { router, accounts, corsOrigins, peers, head } = this.#handler.parts
    const method = req.getCaseSensitiveMethod()
    this.#path = req.getUrl()
    this.#queryText = req.getQuery()
    this.#isHead = method === 'HEAD'
    this.#isBodiless = this.#isHead || method === 'OPTIONS'
    head.read(req)
    this.#acceptEncoding = head.acceptEncoding
    this.#ifNoneMatch = head.ifNoneMatch
    const match = router.match(method, this.#path)
    if (match.kind === 'route') this.#match = match
    if (match.isCrossOrigin) this.#allowedOrigin = allowedOrigin(corsOrigins, head.origin)
    const body = match.kind === 'route' && match.route.hasBody ? collectBody(this.#res) : null
    if (head.isDashboard) this.dashboard = dashboardRequest(head)
    const cookieToken = this.dashboard?.token ?? ''
    const identity = identify(accounts, head, prefersToken(match), cookieToken)
    this.caller = identity.caller
    if (this.#isBodiless || needsAddress(match, identity, head)) {
      this.address = peers.of(this.#res, head)
      this.isLocal = peers.isLocal(this.#res, head)
    }
    if (head.fault !== null) return this.#refuse(head.fault)
    if (this.#forward(req, body)) return
    this.#req = req
    const { bodyHeaders = [] } = this.#match?.route ?? {}
    if (bodyHeaders.length > 0) {
      this.#headers = new Map(bodyHeaders.map((name) => [name, req.getHeader(name)]))
    }
    const early = this.#admit(match, identity)
    if (early !== null && this.#isFlood(identity)) this.#cut()
    else if (early !== null) this.answer(early)
    else if (body !== null) this.#runAfter(body)
    else if (turns.mustWait && this.#match?.route.access === 'caller') this.#waitForTurn()
    else this.#settle(this.#run(NO_BODY))
  }

  #waitForTurn(): void {
    const run = () => {
      if (!this.#isOver) this.#runLate(NO_BODY)
    }
    const refuse = () => {
      const options = { retryAfterSeconds: 1 }
      this.fail(new EngineError('UNAVAILABLE', 'too many requests are waiting', options))
    }
    this.#startDeadline()
    this.#handler.turns.add(this.requester(), { run, refuse })
  }

  async #runAfter(body: Promise<Uint8Array | null>): Promise<void> {
    this.#startDeadline()
    try {
      this.#runLate(await this.#read(body))
    } catch (error) {
      this.fail(error)
    }
  }

  /** Runs the handler after a wait, during which the credential may have been revoked. */
  #runLate(body: Uint8Array): void {
    this.#handler.resume(() => {
      try {
        if (this.#isStillGood()) this.#settle(this.#run(body))
        else this.answer(failure('UNAUTHORIZED', 'missing or invalid credential'))
      } catch (error) {
        this.fail(error)
      }
    })
  }

  /** Forwards a request if another process must answer it. That process identifies the caller and counts the request. */
  #forward(req: HttpRequest, body: Promise<Uint8Array | null> | null): boolean {
    const { forward = null, servedBy = null, peers, head } = this.#handler.parts
    if (forward === null || this.#match === null) return false
    const { route } = this.#match
    const target = forwardTarget(route, this.#queryText, servedBy)
    if (target === null) return false
    this.address = peers.of(this.#res, head)
    this.#isPrivate = route.isPrivate
    const path = this.#queryText === undefined ? this.#path : `${this.#path}?${this.#queryText}`
    const headers = forwardedHeaders(req, this.address)
    const request = { method: route.method, path, headers, ...target }
    this.#startDeadline()
    const forwarded = async (): Promise<void> => {
      const bytes = body === null ? NO_BODY : await this.#read(body)
      const given = await forward({ ...request, body: bytes }).catch((error: unknown) => {
        throw unanswered(error)
      })
      const { answer, quota } = forwardedAnswer(given)
      this.#quota = quota
      this.#handler.resume(() => this.answer(answer))
    }
    forwarded().catch((error: unknown) => this.fail(error))
    return true
  }

  #isStillGood(): boolean {
    const { caller } = this
    if (caller === null || this.#match?.route.access === 'public') return true
    return this.#handler.parts.accounts.isValid(caller)
  }

  /** Reads the body, then starts a new deadline for the answer. */
  async #read(body: Promise<Uint8Array | null>): Promise<Uint8Array> {
    this.#awaitsBody = true
    const bytes = await body
    this.#awaitsBody = false
    this.#stopDeadline?.()
    this.#stopDeadline = null
    this.#startDeadline()
    if (bytes !== null) return bytes
    this.#closes = true
    throw new EngineError('BODY_TOO_LARGE', `a body may have ${bodyBytesMax} bytes`)
  }

  /**
   * Rejects a request that another HTTP parser may read differently (request smuggling). Closes the connection, because
   * following bytes may belong to another client. Answers in a later tick: the library handles the rest of the segment
   * after an answer. Uses the address's quota, since the credential may be another client's.
   */
  #refuse(fault: string): void {
    this.#closes = true
    const quota = this.#handler.parts.accounts.takeAddressRequest(this.address)
    this.#quota = quota
    setImmediate(() => {
      // The library would continue to read after an answer without a body, despite `Connection: close`.
      if (this.#isHead) this.#cut()
      else this.answer(quota.isAllowed ? failure('BAD_REQUEST', fault) : tooMany(quota))
    })
  }

  /**
   * Counts the request against its quota. Checks in the order of README.md: 429 of the address, 404 and 405, 401, 403,
   * 429 of the account. Null: run the handler.
   */
  #admit(match: Match, identity: Identity): Answer | null {
    const { accounts } = this.#handler.parts
    const { caller } = identity
    if (match.kind === 'route' && !match.route.isCounted) {
      this.#quota = accounts.peekAddress(this.address)
      return null
    }
    if (match.kind === 'route' && match.route.budget === 'signIn') {
      this.#isSignIn = true
      return null
    }
    const quota = this.#take(match, identity)
    this.#quota = quota
    if (caller === null && !quota.isAllowed) return tooMany(quota)
    if (match.kind === 'missing') return failure('NOT_FOUND', 'no such path')
    if (match.kind === 'malformed') {
      return failure('BAD_REQUEST', 'the path has malformed percent-encoding')
    }
    if (match.kind === 'wrongMethod') {
      const detail = `this path takes ${match.allow}`
      return withHeader(failure('METHOD_NOT_ALLOWED', detail), 'Allow', match.allow)
    }
    if (match.kind === 'options') return preflight(match.allow)
    this.#isPrivate = match.route.isPrivate
    const refused = unauthorized(match.route.access, identity) ?? forbidden(match.route, identity)
    if (refused !== null) return refused
    return quota.isAllowed ? null : tooMany(quota)
  }

  /** True if the account or address had too many refusals in this second. */
  #isFlood({ caller }: Identity): boolean {
    if (this.#quota?.isAllowed !== false) return false
    const count = this.#handler.refusals.add(caller?.accountId ?? this.address)
    return count > refusedRequestsPerSecondMax
  }

  #take(match: Match, { caller, isTokenHolder, isDashboard }: Identity): Quota {
    const { accounts } = this.#handler.parts
    if (caller === null) return accounts.takeAddressRequest(this.address)
    if (isDashboard) return accounts.takeDashboardRequest(caller.accountId)
    const isManagement = match.kind === 'route' && match.route.budget === 'management'
    return isManagement && isTokenHolder
      ? accounts.takeManagementRequest(caller.accountId)
      : accounts.takeAccountRequest(caller.accountId)
  }

  #run(body: Uint8Array): Answer | Promise<Answer> {
    if (this.#match === null) throw new Error('the request has no matched route')
    const raw = parseQuery(this.#queryText)
    if (raw === null) return failure('BAD_REQUEST', 'the query has malformed percent-encoding')
    return this.#match.route.respond(this, raw, body)
  }

  #settle(answer: Answer | Promise<Answer>): void {
    if (!(answer instanceof Promise)) return this.answer(answer)
    this.#startDeadline()
    answer.then(
      (late) => this.#handler.resume(() => this.answer(late)),
      (error) => this.fail(error),
    )
  }

  /** Does nothing if the request was already answered or aborted. */
  answer(given: Answer): void {
    if (this.#isOver) return given.stream?.close()
    const negotiated = this.#negotiate(given)
    if (!(negotiated instanceof Promise)) return this.#send(negotiated)
    this.#startDeadline()
    negotiated.then(
      (late) => this.#handler.resume(() => this.#send(late)),
      (error) => this.fail(error),
    )
  }

  #send(given: Answer): void {
    if (this.#isOver) return
    const { accounts, clock, unsent, servedBy = null } = this.#handler.parts
    const quota = this.#isSignIn
      ? accounts.peekSignIn(this.address)
      : (this.#quota ?? accounts.peekAddress(this.address))
    const nowMs = clock.nowMs()
    const nowSeconds = toSeconds(nowMs)
    const answer = this.#countBytes(given, nowSeconds)
    if (answer === null) {
      given.stream?.close()
      return this.#cut()
    }
    this.#handler.answeredAtMs = nowMs
    this.#finish()
    this.#handler.countAnswer(answer.status)
    writeAnswer(this.#res, answer, {
      quota,
      nowSeconds,
      allowedOrigin: this.#allowedOrigin,
      isHead: this.#isHead,
      varies: this.#varies,
      closes: this.#closes || this.#handler.isDraining || this.#isUnwelcome(answer.status),
      isCorked: this.#isInHandler,
      ...{ unsent, streams: this.#handler.streams },
      holder: this.caller?.accountId ?? this.address,
      servedBy,
    })
  }

  #isUnwelcome(status: number): boolean {
    const { connections } = this.#handler.parts
    return connections?.isCrowded === true && (this.caller === null || status === 429)
  }

  /** Compresses the answer, or returns 304 if `If-None-Match` matches. */
  #negotiate(given: Answer): Answer | Promise<Answer> {
    const { etag, status } = given
    this.#varies = !this.#isPrivate && isCodable(given)
    if (!this.#varies && etag === undefined) return given
    if (etag !== undefined && status === 200 && matchesEtag(this.#ifNoneMatch, etag)) {
      return { ...given, status: 304, body: null }
    }
    if (!this.#varies || this.#acceptEncoding === '') return given
    return this.#handler.codings.coded(given, this.#acceptEncoding)
  }

  /**
   * Counts answers without a body, and files, against the address's byte quota. The library buffers them and does not
   * report whether the client reads them. Null: close the connection, since a refusal would exceed the quota too.
   */
  #countBytes(answer: Answer, nowSeconds: number): Answer | null {
    if (answer.isFile !== true && !this.#isBodiless) return answer
    const byteCount = this.#isBodiless ? 0 : (answer.body?.length ?? 0)
    const quota = this.#handler.parts.accounts.takeAddressFile(this.address, byteCount)
    if (quota.isAllowed) return answer
    if (this.#isBodiless) return null
    const detail = `at most ${quota.limit} bytes of files a minute`
    return retryAfter(failure('RATE_LIMITED', detail), quota.resetSeconds - nowSeconds)
  }

  #cut(): void {
    if (this.#isOver) return
    this.#finish()
    this.#res.close()
  }

  /** Answers an EngineError with its status. Any other error is a bug: it gets 500 and a sampled log line. */
  fail(error: unknown): void {
    try {
      if (error instanceof EngineError) return this.answer(refusal(error))
      const { isWritten, count } = this.#handler.samples.admit(this.#path)
      if (isWritten) {
        this.#handler.parts.log.error({ err: error, path: this.#path, count }, 'a request failed')
      }
      this.answer(failure('INTERNAL', 'internal error'))
    } catch (second) {
      this.#handler.parts.log.error({ err: second }, 'an answer could not be written')
    }
  }

  // Getters that return functions can be destructured by handlers. Requests that do not use them allocate nothing.

  get path(): (name: string) => string {
    return (name) => {
      const value = this.#match?.params.get(name)
      if (value === undefined) throw new Error(`the pattern has no {${name}}`)
      return value
    }
  }

  get header(): (name: string) => string {
    return (name) => {
      const known = this.#headers?.get(name)
      if (known !== undefined) return known
      if (this.#req === null) throw new Error('headers can be read only before the first await')
      return this.#req.getHeader(name)
    }
  }

  get requester(): () => Requester {
    return () => {
      if (this.address === '') {
        if (this.#req === null)
          throw new Error('the address can be read only before the first await')
        const { peers, head } = this.#handler.parts
        this.address = peers.of(this.#res, head)
      }
      return this.caller === null ? [this.address] : [this.caller.accountId, this.address]
    }
  }

  /** Created on first use, since most answers are complete before a client can disconnect. */
  get signal(): () => AbortSignal {
    return () => {
      this.#abort ??= new AbortController()
      if (this.#isOver) this.#abort.abort()
      return this.#abort.signal
    }
  }

  #startDeadline(): void {
    if (this.#stopDeadline !== null || this.#isOver) return
    this.#stopDeadline = this.#handler.parts.clock.after(requestDeadlineMs, () => {
      if (!this.#awaitsBody) {
        return this.fail(new EngineError('TIMED_OUT', 'the answer was not ready in time'))
      }
      // The client did not send its body in time. The rest of the body is not read.
      this.#closes = true
      this.answer(failure('BAD_REQUEST', 'the body did not arrive in time'))
    })
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.inFlightCount -= 1
    this.#stopDeadline?.()
    this.#abort?.abort()
  }
}

const NO_BODY = new Uint8Array(0)

/**
 * Resolves with null as soon as the body exceeds `bodyBytesMax`. Never resolves if the peer disconnects. The library
 * has no limit of its own, and it detaches each chunk after the callback returns.
 */
function collectBody(res: HttpResponse): Promise<Uint8Array | null> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = []
    let bytes = 0
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength
      if (bytes > bodyBytesMax) {
        chunks = []
        return resolve(null)
      }
      chunks.push(Buffer.from(new Uint8Array(chunk)))
      if (isLast) resolve(Buffer.concat(chunks))
    })
  })
}

function prefersToken(match: Match): boolean {
  return (
    match.kind === 'route' &&
    (match.route.access === 'token' || match.route.budget === 'management')
  )
}

function forbidden({ scope }: Route, { caller }: Identity): Answer | null {
  if (caller === null || caller.scopes.includes(scope)) return null
  return failure('FORBIDDEN', `this key lacks the scope \`${scope}\``)
}

function unauthorized(access: Access, identity: Identity): Answer | null {
  if (access === 'public' || access === 'upgrade') return null
  if (access === 'token') {
    if (identity.isTokenHolder) return null
    return failure('UNAUTHORIZED', 'this path needs `Authorization: Bearer` with a login token')
  }
  if (identity.caller !== null) return null
  return failure('UNAUTHORIZED', 'missing or invalid API key')
}

export function tooMany(quota: Quota): Answer {
  return failure('RATE_LIMITED', `at most ${quota.limit} requests a minute`)
}

function preflight(allow: string): Answer {
  return nothing([
    ['Allow', allow],
    ['Access-Control-Allow-Methods', allow],
    ['Access-Control-Allow-Headers', 'X-API-Key, Authorization, Content-Type'],
    ['Access-Control-Max-Age', '600'],
  ])
}
