// The handshake of the stream. Refusals are HTTP answers with the rate headers. The connection slot is taken in the
// tick of the upgrade, so that simultaneous handshakes cannot exceed the limit.

import type {
  HttpRequest,
  HttpResponse,
  us_socket_context_t,
  WebSocketBehavior,
} from 'uWebSockets.js'
import { randomBytes } from 'node:crypto'
import type { AccountsView, Caller, Quota, ReplaySlot } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import { EngineError } from '../../../engine/errors.ts'
import { frameBytesMax, socketBufferBytesMax, socketIdleSeconds } from '../../../engine/limits.ts'
import type { Log } from '../../../engine/process/log.ts'
import { toSeconds } from '../../../engine/units.ts'
import { identify } from '../../request/auth.ts'
import { allowedOrigin, tooMany } from '../../request/handle.ts'
import type { RequestHead } from '../../request/head.ts'
import type { PeerAddresses } from '../../request/peer-address.ts'
import {
  type Answer,
  failure,
  json,
  refusal,
  retryAfter,
  writeAnswer,
} from '../../request/reply.ts'
import type { UnsentAnswers } from '../../request/unsent.ts'
import { echo } from '../../validation/problems.ts'
import { parseQuery } from '../../validation/query.ts'
import { closeCodes } from '../close-codes.ts'
import type { BatchedSocket } from '../fan-out/batches.ts'
import { FORM_OF, type Form } from '../fan-out/channel-variants.ts'
import type { Hub } from '../hub.ts'
import { type ReplayRequest, readReplayRequest } from '../replay/replay-request.ts'
import { ReplaySession } from '../replay/replay-session.ts'
import { Session } from './session.ts'
import type { Tickets } from './tickets.ts'
import { upgradeRequired } from './upgrade-required.ts'

/** `Retry-After` for an account without a free connection slot. */
const SLOT_RETRY_SECONDS = 5

const BATCH_VALUES: readonly string[] = ['off', 'on']

interface Holder {
  readonly id: string
  readonly caller: Caller
  readonly form: Form
  readonly isBatched: boolean
  release(): void
  /** Null: the connection is live. */
  readonly replay: (Omit<ReplayRequest, 'replays'> & { readonly slot: ReplaySlot }) | null
  session: Session | ReplaySession | null
  batched: BatchedSocket | null
}

interface UpgradeParts {
  readonly hub: Hub
  readonly accounts: AccountsView
  readonly clock: Clock
  readonly log: Log
  readonly corsOrigins: readonly string[]
  readonly peers: PeerAddresses
  readonly head: RequestHead
  readonly unsent: UnsentAnswers
  readonly tickets: Tickets
  isDraining(): boolean
}

/** The library's handlers for `/v1/ws`. No handler throws. `dropped` must not access the socket. */
export function streamBehavior(parts: UpgradeParts): WebSocketBehavior<Holder> {
  const { log } = parts
  const guard = (action: () => void): void => {
    try {
      action()
    } catch (error) {
      log.error({ err: error }, 'a stream handler failed')
    }
  }
  return {
    maxPayloadLength: frameBytesMax,
    maxBackpressure: socketBufferBytesMax,
    // If true, the library could send later messages before it closes. The client could not detect this gap.
    closeOnBackpressureLimit: false,
    idleTimeout: socketIdleSeconds,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => new Handshake(parts, res).begin(req, context),
    open: (ws) =>
      guard(() => {
        const holder = ws.getUserData()
        const { hub } = parts
        const { id, caller, form } = holder
        if (holder.isBatched) holder.batched = hub.batches.open(ws, form)
        const encoder = hub.encoder(form)
        const shared = { id, caller, encoder, ws: holder.batched ?? ws, hub }
        if (holder.replay === null) {
          const session = new Session(shared)
          holder.session = session
          hub.add(session)
        } else {
          const session = new ReplaySession({ ...shared, ...holder.replay })
          holder.session = session
          hub.addReplay(session)
        }
        holder.session.open()
      }),
    message: (ws, message, isBinary) =>
      guard(() => {
        const { session } = ws.getUserData()
        try {
          session?.receive(new Uint8Array(message), isBinary)
        } catch (error) {
          // The client would wait forever for the answer to its command.
          session?.end(closeCodes.internal)
          throw error
        }
      }),
    ping: (ws) => guard(() => ws.getUserData().session?.receivePing()),
    // This handler only sets a flag and calls setImmediate. Any other work in it crashes the process.
    dropped: (ws) => ws.getUserData().session?.break(),
    drain: (ws) =>
      guard(() => {
        const { session } = ws.getUserData()
        if (session?.hasWork === true) parts.hub.advance(session)
      }),
    close: (ws) =>
      guard(() => {
        const holder = ws.getUserData()
        holder.release()
        holder.batched?.leave()
        if (holder.session instanceof Session) parts.hub.remove(holder.session)
        else if (holder.session !== null) parts.hub.removeReplay(holder.session)
      }),
  }
}

class Handshake {
  readonly #parts: UpgradeParts
  readonly #res: HttpResponse
  #isOver = false
  #closes = false
  #quota: Quota | null = null
  /** The request for the ticket was counted, so the handshake is not. */
  #isPaid = false
  #origin: string | null = null

  constructor(parts: UpgradeParts, res: HttpResponse) {
    this.#parts = parts
    this.#res = res
    res.onAborted(() => {
      this.#isOver = true
    })
  }

  /** Never throws. */
  begin(req: HttpRequest, context: us_socket_context_t): void {
    try {
      this.#begin(req, context)
    } catch (error) {
      this.#fail(error)
    }
  }

  #begin(req: HttpRequest, context: us_socket_context_t): void {
    const { accounts, corsOrigins, head } = this.#parts
    head.read(req)
    this.#origin = allowedOrigin(corsOrigins, head.origin)
    const keys = {
      key: req.getHeader('sec-websocket-key'),
      protocol: oneProtocol(req.getHeader('sec-websocket-protocol')),
      extensions: req.getHeader('sec-websocket-extensions'),
    }
    const query = parseQuery(req.getQuery())
    const last = (name: string): string => query?.get(name)?.at(-1) ?? ''
    const token = last('access_token')
    const credentials = {
      key: last('api_key') || head.key,
      authorization: token === '' ? head.authorization : `Bearer ${token}`,
    }
    const encoding = last('encoding') || 'json'
    const batch = last('batch') || 'off'
    const ticket = last('ticket')
    const caller =
      ticket === ''
        ? identify(accounts, credentials, false).caller
        : this.#parts.tickets.take(ticket, accounts)
    this.#isPaid = ticket !== '' && caller !== null
    const form = encoding === 'json' || encoding === 'msgpack' ? FORM_OF[encoding] : null
    const fault = head.fault ?? (head.hasBody ? 'a handshake has no body' : null)
    if (fault !== null) return this.#refuse(fault)
    const isNone = upgradeRequired((name) => req.getHeader(name))
    const refused =
      query === null
        ? failure('BAD_REQUEST', 'the query has malformed percent-encoding')
        : this.#refusal(caller, isNone)
    if (refused !== null) this.#answer(refused)
    else if (form === null) this.#answer(notAmong('encoding', Object.keys(FORM_OF), encoding))
    else if (!BATCH_VALUES.includes(batch)) this.#answer(notAmong('batch', BATCH_VALUES, batch))
    else if (caller !== null) {
      const { clock, hub } = this.#parts
      const nowMs = clock.nowMs()
      const replay = readReplayRequest(query ?? new Map(), { engine: hub.engine, caller, nowMs })
      if (replay !== null && 'status' in replay) this.#answer(replay)
      else this.#upgrade({ caller, form, isBatched: batch === 'on', replay }, keys, context)
    }
  }

  /** The address that an attempt without a caller counts against. Can be read only during the library's call. */
  get #address(): string {
    const { peers, head } = this.#parts
    return peers.of(this.#res, head)
  }

  /** Rejects a request that another HTTP parser may read differently, like handle.ts. */
  #refuse(fault: string): void {
    this.#closes = true
    const quota = this.#parts.accounts.takeAddressRequest(this.#address)
    this.#quota = quota
    setImmediate(() =>
      this.#answer(quota.isAllowed ? failure('BAD_REQUEST', fault) : tooMany(quota)),
    )
  }

  /** Counts the attempt as one request. Returns the refusal, or null if the attempt is accepted. */
  #refusal(caller: Caller | null, isNone: Answer | null): Answer | null {
    if (this.#isOver) return null
    const { accounts } = this.#parts
    let quota: Quota
    if (this.#isPaid) quota = accounts.peekAddress(this.#address)
    else if (caller === null) quota = accounts.takeAddressRequest(this.#address)
    else quota = accounts.takeAccountRequest(caller.accountId)
    this.#quota = quota
    if (!quota.isAllowed) return tooMany(quota)
    if (isNone !== null) return isNone
    if (caller === null) return failure('UNAUTHORIZED', 'missing or invalid API key')
    if (this.#parts.isDraining()) return failure('UNAVAILABLE', 'shutting down; come back soon')
    return null
  }

  #upgrade(
    {
      caller,
      form,
      isBatched,
      replay,
    }: { caller: Caller; form: Form; isBatched: boolean; replay: ReplayRequest | null },
    keys: { key: string; protocol: string; extensions: string },
    context: us_socket_context_t,
  ): void {
    if (this.#isOver) return
    const slot = this.#parts.accounts.openSocket(caller)
    if (slot === null) {
      const detail = `at most ${caller.socketsMax} connections at a time`
      return this.#answer(retryAfter(failure('RATE_LIMITED', detail), SLOT_RETRY_SECONDS))
    }
    const reserved = replay === null ? null : reserve(replay, caller)
    if (reserved !== null && 'status' in reserved) {
      slot.release()
      return this.#answer(reserved)
    }
    let isHeld = true
    const holder: Holder = {
      id: `c_${randomBytes(9).toString('base64url')}`,
      caller,
      form,
      isBatched,
      replay: reserved,
      session: null,
      batched: null,
      release: () => {
        if (!isHeld) return
        isHeld = false
        slot.release()
        reserved?.slot.release()
      },
    }
    this.#isOver = true
    try {
      // Upgrade in the tick of the request, never after an await. uWebSockets.js may silently close a socket that is
      // upgraded later (see access-token.ts).
      this.#res.upgrade<Holder>(holder, keys.key, keys.protocol, keys.extensions, context)
    } catch (error) {
      holder.release()
      throw error
    }
  }

  #answer(answer: Answer): void {
    if (this.#isOver) return
    this.#isOver = true
    const { accounts, clock } = this.#parts
    writeAnswer(this.#res, answer, {
      quota: this.#quota ?? accounts.peekAddress(this.#address),
      nowSeconds: toSeconds(clock.nowMs()),
      allowedOrigin: this.#origin,
      isHead: false,
      varies: false,
      closes: this.#closes,
      isCorked: false,
      unsent: this.#parts.unsent,
      // No holder, since a refusal has only a few hundred bytes.
      holder: '',
    })
  }

  #fail(error: unknown): void {
    this.#parts.log.error({ err: error }, 'a handshake failed')
    try {
      this.#answer(failure('INTERNAL', 'internal error'))
    } catch (second) {
      this.#parts.log.error({ err: second }, 'a refusal could not be written')
    }
  }
}

/** The refusal if too many replays run. */
function reserve(
  { period, speed, replays }: ReplayRequest,
  { accountId }: Caller,
): Holder['replay'] | Answer {
  try {
    return { period, speed, slot: replays.reserve(accountId) }
  } catch (error) {
    if (error instanceof EngineError) return refusal(error)
    throw error
  }
}

function notAmong(name: string, values: readonly string[], input: string): Answer {
  const expected = values.map((value) => `'${value}'`).join(' or ')
  const problem = {
    type: 'enum',
    loc: ['query', name],
    msg: `Input should be ${expected}`,
    input: echo(input),
    ctx: { expected },
  }
  return json({ detail: [problem] }, 422)
}

/** The first offered protocol. Without this choice the library would echo the whole list. */
function oneProtocol(offered: string): string {
  const first = offered.split(',')[0]?.trim() ?? ''
  return /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(first) ? first : ''
}
