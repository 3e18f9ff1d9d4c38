// One POST: connects, checks the peer's address, sends the request, reads the status and discards the body.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock, StopTimer } from '../clock.ts'
import {
  AnswerHead,
  type CallPhase,
  failure,
  failureOf,
  isCutOff,
  readRetryAfter,
} from './call-outcome.ts'
import { RefusedError } from './guarded-lookup.ts'
import type { PostOutcome, PostRequest } from './post.ts'
import { isPublicAddress } from './public-address.ts'
import type { ReceiverAgents } from './receiver-agents.ts'

const CONNECT_MS = 5_000
/** Time limit from the start to the status. */
const TOTAL_MS = 15_000
/** Time limit of the remaining response after the status. */
const BODY_MS = 1_000
const ANSWER_BYTES_MAX = 65_536
const HEADER_BYTES_MAX = 16_384

interface CallParts {
  readonly agents: ReceiverAgents
  readonly clock: Clock
  readonly allowsPrivate: boolean
  /** Called once. */
  readonly onEnd: (outcome: PostOutcome) => void
}

type Answered = Extract<PostOutcome, { readonly kind: 'answered' }>

/** The caller must call `start`. */
export class Call {
  readonly #parts: CallParts
  readonly #url: URL
  readonly #post: PostRequest
  readonly #timers: StopTimer[] = []
  #stopConnectTimer: StopTimer = () => undefined
  #request: ClientRequest | null = null
  #phase: CallPhase = 'connecting'
  #answer: Answered | null = null
  #head: AnswerHead | null = null
  #isEnded = false

  /** `url` must be a result of `readTargetUrl`. */
  constructor(url: string, post: PostRequest, parts: CallParts) {
    this.#url = new URL(url)
    this.#post = post
    this.#parts = parts
  }

  start(): void {
    const { clock } = this.#parts
    this.#stopConnectTimer = clock.after(CONNECT_MS, () =>
      this.#end(failure('timeout', `no connection within ${CONNECT_MS / 1_000} s`)),
    )
    this.#timers.push(
      this.#stopConnectTimer,
      clock.after(TOTAL_MS, () =>
        this.#end(this.#answer ?? failure('timeout', `no answer within ${TOTAL_MS / 1_000} s`)),
      ),
    )
    this.#try(false)
  }

  abort(): void {
    this.#end(this.#answer ?? failure('aborted', 'ended before an answer'))
  }

  #try(isFresh: boolean): void {
    const { body, headers } = this.#post
    const make = this.#url.protocol === 'https:' ? httpsRequest : httpRequest
    try {
      const request = make(this.#url, {
        method: 'POST',
        agent: this.#parts.agents.of(this.#url.protocol, isFresh),
        headers: { ...headers, 'content-length': String(body.byteLength) },
        maxHeaderSize: HEADER_BYTES_MAX,
        insecureHTTPParser: false,
      })
      this.#request = request
      request.once('socket', (socket) => this.#onSocket(request, socket))
      request.once('response', (response) => this.#onResponse(response))
      request.on('error', (error) => this.#onError(request, error))
      // `close` is also emitted if the peer switched protocols or closed without an error.
      request.on('close', () => this.#onError(request, new Error('closed')))
    } catch {
      // Node throws if HTTP does not allow a request header. The outcome is reported in a later tick, like every
      // outcome.
      setImmediate(() => this.#end(failure('network', 'the request could not be made')))
    }
  }

  /** Nothing is sent before the address was checked. */
  #onSocket(request: ClientRequest, socket: Socket): void {
    if (this.#isEnded) return void request.destroy()
    if (!socket.connecting) return this.#send(request, socket)
    const isTls = this.#url.protocol === 'https:'
    // This listener runs before the listener that begins the TLS handshake, so a forbidden address does not even
    // receive a handshake.
    socket.prependOnceListener('connect', () => {
      if (!this.#isAllowedAddress(socket)) return this.#refuse()
      this.#phase = 'securing'
      if (!isTls) this.#send(request, socket)
    })
    if (isTls) socket.once('secureConnect', () => this.#send(request, socket))
  }

  #send(request: ClientRequest, socket: Socket): void {
    if (this.#isEnded) return
    if (!this.#isAllowedAddress(socket)) return this.#refuse()
    this.#stopConnectTimer()
    this.#phase = 'sent'
    request.end(this.#post.body)
  }

  #isAllowedAddress(socket: Socket): boolean {
    return this.#parts.allowsPrivate || isPublicAddress(socket.remoteAddress ?? '')
  }

  #refuse(): void {
    const refused = new RefusedError('the connection led to an address that is not public')
    this.#end(failureOf(refused, this.#phase))
  }

  #onResponse(response: IncomingMessage): void {
    const { clock } = this.#parts
    const answer: Answered = {
      kind: 'answered',
      status: response.statusCode ?? 0,
      retryAfterMs: readRetryAfter(response.headers['retry-after'], clock.nowMs()),
    }
    const head = new AnswerHead(response.headers)
    this.#answer = answer
    this.#head = head
    let byteCount = 0
    response.on('error', () => this.#end(answer))
    response.on('data', (chunk: Buffer) => {
      head.add(chunk)
      byteCount += chunk.length
      if (byteCount >= ANSWER_BYTES_MAX) this.#end(answer)
    })
    response.on('end', () => this.#end(answer, true))
    response.on('close', () => this.#end(answer))
    this.#timers.push(clock.after(BODY_MS, () => this.#end(answer)))
  }

  #onError(request: ClientRequest, error: Error): void {
    // The error is from a replaced connection of this call, or the call has ended.
    if (request !== this.#request || this.#isEnded) return
    if (this.#answer !== null) return this.#end(this.#answer)
    // The receiver closed a reused idle connection, most likely before it read the request. Tries once more.
    if (request.reusedSocket && isCutOff(error)) {
      this.#phase = 'connecting'
      return this.#try(true)
    }
    this.#end(failureOf(error, this.#phase))
  }

  /** `isComplete`: the response was read to its end, so the connection can be reused. */
  #end(outcome: PostOutcome, isComplete = false): void {
    if (this.#isEnded) return
    this.#isEnded = true
    for (const stop of this.#timers) stop()
    const request = this.#request
    // A request without a socket is destroyed when it gets one. Otherwise a socket whose address was not checked would
    // be pooled.
    const mayServeAgain = isComplete && request?.writableFinished === true
    if (!mayServeAgain && request !== null && request.socket !== null) request.destroy()
    const answer = this.#head?.get()
    const hasAnswer = outcome.kind === 'answered' && answer !== undefined
    this.#parts.onEnd(hasAnswer ? { ...outcome, answer } : outcome)
  }
}
