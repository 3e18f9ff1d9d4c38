// Connections to receivers. They stay open for the next POST to the same origin, up to a maximum number. No proxy is
// used, and TLS is always verified.

import { Agent as HttpAgent } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'

/** Maximum idle connections to all receivers. Further idle connections are closed. */
const IDLE_SOCKETS_MAX = 256
/** Idle connections are closed after this time. Most receivers close them later. */
const IDLE_MS = 4_000
/** Timeout per address if a name has several. Node's default of 250 ms is too short for distant receivers. */
const ADDRESS_MS = 1_000

/** Node separates connections by host, port and TLS, so origins never share a connection. */
export class ReceiverAgents {
  readonly #pooled: { readonly http: HttpAgent; readonly https: HttpsAgent }
  readonly #fresh: { readonly http: HttpAgent; readonly https: HttpsAgent }

  /** `ca`: certificate authorities in PEM that replace the built-in ones. */
  constructor(parts: { readonly lookup: LookupFunction; readonly ca: string | null }) {
    const common: AgentOptions = {
      lookup: parts.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      // Set explicitly, because an environment variable could disable it.
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

  /** `isFresh`: use a new connection and close it afterwards. */
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

/** Lets an agent retain an idle connection only if `hasCapacity`. */
function pooled<Pooled extends HttpAgent>(agent: Pooled, hasCapacity: () => boolean): Pooled {
  const keepSocketAlive = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => hasCapacity() && keepSocketAlive(socket)
  return agent
}
