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
  readonly #pooled: { readonly http: HttpAgent; readonly https: HttpsAgent }
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
    const pooledOptions = { ...common, keepAlive: true, timeout: IDLE_MS }
    const hasCapacity = () => this.idleCount < IDLE_SOCKETS_MAX
    this.#pooled = {
      http: new PooledHttpAgent(pooledOptions, hasCapacity),
      https: new PooledHttpsAgent(pooledOptions, hasCapacity),
    }
    this.#fresh = { http: new HttpAgent(common), https: new HttpsAgent(common) }
  }

  /** `isFresh`: on a connection of its own, closed afterwards. */
  of(protocol: string, isFresh: boolean): HttpAgent {
    const agents = isFresh ? this.#fresh : this.#pooled
    return protocol === 'https:' ? agents.https : agents.http
  }

  get idleCount(): number {
    let count = 0
    for (const { freeSockets } of [this.#pooled.http, this.#pooled.https]) {
      for (const name in freeSockets) count += freeSockets[name]?.length ?? 0
    }
    return count
  }

  /** Closes every connection. */
  stop(): void {
    for (const { http, https } of [this.#pooled, this.#fresh]) {
      http.destroy()
      https.destroy()
    }
  }
}

class PooledHttpAgent extends HttpAgent {
  readonly #hasCapacity: () => boolean

  constructor(options: AgentOptions, hasCapacity: () => boolean) {
    super(options)
    this.#hasCapacity = hasCapacity
  }

  override keepSocketAlive(socket: Duplex): unknown {
    return this.#hasCapacity() && super.keepSocketAlive(socket)
  }
}

class PooledHttpsAgent extends HttpsAgent {
  readonly #hasCapacity: () => boolean

  constructor(options: AgentOptions, hasCapacity: () => boolean) {
    super(options)
    this.#hasCapacity = hasCapacity
  }

  override keepSocketAlive(socket: Duplex): unknown {
    return this.#hasCapacity() && super.keepSocketAlive(socket)
  }
}
