// Connections to receivers: kept alive for the next POST to the same origin, with a bounded number of idle
// ones. Never through a proxy. TLS is always verified.

import { Agent as HttpAgent } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'

/** Idle connections of all receivers together. Beyond it, a connection that becomes idle is closed. */
const IDLE_SOCKETS_MAX = 256
/** Idle connections are closed after this. Most receivers close them later (5 s or more). */
const IDLE_MS = 4_000
/** Timeout per address when a name has several. Node's 250 ms are too short for distant receivers. */
const ADDRESS_MS = 1_000

/** The agents of one caller. Node keys connections by host, port and TLS, so origins share none. */
export class ReceiverAgents {
  readonly #pooled: { readonly http: HttpAgent; readonly https: HttpsAgent }
  readonly #fresh: { readonly http: HttpAgent; readonly https: HttpsAgent }

  /** `ca`: certificate authorities that replace the built-in ones, PEM. */
  constructor(parts: { readonly lookup: LookupFunction; readonly ca: string | null }) {
    const common: AgentOptions = {
      lookup: parts.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      // Set explicitly, so that the environment cannot disable it.
      rejectUnauthorized: true,
      ...(parts.ca === null ? {} : { ca: parts.ca }),
    }
    const pooledOptions = { ...common, keepAlive: true, timeout: IDLE_MS }
    const hasCapacity = () => this.idleCount < IDLE_SOCKETS_MAX
    this.#pooled = {
      http: pooled(new HttpAgent(pooledOptions), hasCapacity),
      https: pooled(new HttpsAgent(pooledOptions), hasCapacity),
    }
    this.#fresh = { http: new HttpAgent(common), https: new HttpsAgent(common) }
  }

  /** `isFresh`: uses a new connection, which is closed afterwards. */
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

  stop(): void {
    for (const { http, https } of [this.#pooled, this.#fresh]) {
      http.destroy()
      https.destroy()
    }
  }
}

/** Makes an agent keep a connection that becomes idle only if `hasCapacity`. */
function pooled<Pooled extends HttpAgent>(agent: Pooled, hasCapacity: () => boolean): Pooled {
  const keepSocketAlive = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => hasCapacity() && keepSocketAlive(socket)
  return agent
}
