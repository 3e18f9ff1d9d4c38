// The connections to receivers: kept alive for the next post to the same origin, a bounded number of
// them idle, never through a proxy, TLS always verified.

import { Agent as HttpAgent } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'

/** Idle connections of all receivers together; with more, one that falls idle is closed. */
const IDLE_SOCKETS_MAX = 256
/** Idle connections are closed after this: before most receivers do, which give 5 s and more. */
const IDLE_MS = 4_000
/** One address's time when a name has several; Node's 250 ms are too few around the world. */
const ADDRESS_MS = 1_000

/** The agents of one caller. Node names connections by host, port and TLS: origins share none. */
export class ReceiverAgents {
  readonly #kept: { readonly http: HttpAgent; readonly https: HttpsAgent }
  readonly #fresh: { readonly http: HttpAgent; readonly https: HttpsAgent }

  /** `ca`: certificate authorities trusted instead of the built-in ones, PEM. */
  constructor(parts: { readonly lookup: LookupFunction; readonly ca: string | null }) {
    const common: AgentOptions = {
      lookup: parts.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      // Said here, the environment cannot turn it off.
      rejectUnauthorized: true,
      ...(parts.ca === null ? {} : { ca: parts.ca }),
    }
    const kept = { ...common, keepAlive: true, timeout: IDLE_MS }
    const hasRoom = () => this.idleCount < IDLE_SOCKETS_MAX
    this.#kept = { http: new KeptHttp(kept, hasRoom), https: new KeptHttps(kept, hasRoom) }
    this.#fresh = { http: new HttpAgent(common), https: new HttpsAgent(common) }
  }

  /** `isFresh`: on a connection of its own, closed afterwards. */
  of(protocol: string, isFresh: boolean): HttpAgent {
    const agents = isFresh ? this.#fresh : this.#kept
    return protocol === 'https:' ? agents.https : agents.http
  }

  get idleCount(): number {
    let count = 0
    for (const { freeSockets } of [this.#kept.http, this.#kept.https]) {
      for (const name in freeSockets) count += freeSockets[name]?.length ?? 0
    }
    return count
  }

  /** Closes every connection. */
  stop(): void {
    for (const { http, https } of [this.#kept, this.#fresh]) {
      http.destroy()
      https.destroy()
    }
  }
}

class KeptHttp extends HttpAgent {
  readonly #hasRoom: () => boolean

  constructor(options: AgentOptions, hasRoom: () => boolean) {
    super(options)
    this.#hasRoom = hasRoom
  }

  override keepSocketAlive(socket: Duplex): unknown {
    return this.#hasRoom() && super.keepSocketAlive(socket)
  }
}

class KeptHttps extends HttpsAgent {
  readonly #hasRoom: () => boolean

  constructor(options: AgentOptions, hasRoom: () => boolean) {
    super(options)
    this.#hasRoom = hasRoom
  }

  override keepSocketAlive(socket: Duplex): unknown {
    return this.#hasRoom() && super.keepSocketAlive(socket)
  }
}
