// The uWebSockets.js app: mounts the REST API and the stream, listens, drains, stops.

import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { createServer as createProbe } from 'node:net'
import type { EngineView } from '../actors/views.ts'
import { type Clock, pause } from '../engine/clock.ts'
import type { Log } from '../engine/process/log.ts'
import type { Metrics } from '../engine/process/metrics.ts'
import { descriptorsMax } from '../engine/process/runtime.ts'
import type { Publisher } from '../engine/publisher.ts'
import type { CallPolicy } from '../engine/webhooks/post.ts'
import { api } from './api.ts'
import { Connections, connectionsMaxOf } from './request/connections.ts'
import type { Forward } from './request/forwarding.ts'
import { RequestHandler } from './request/handle.ts'
import { RequestHead } from './request/head.ts'
import { PeerAddresses } from './request/peer-address.ts'
import { Router } from './request/router.ts'
import { UnsentAnswers } from './request/unsent.ts'
import type { EventDescriptor } from './webhooks/types/event-type.ts'
import { EVENTS } from './webhooks/types/event-types.ts'
import type { Channel } from './ws/channels/channel.ts'
import { CHANNELS } from './ws/channels/channels.ts'
import { closeCodes } from './ws/close-codes.ts'
import { Hub } from './ws/hub.ts'
import { Tickets } from './ws/session/tickets.ts'
import { streamBehavior } from './ws/session/upgrade.ts'

/** The library's LIBUS_LISTEN_EXCLUSIVE_PORT: without it another server could share the port silently. */
const LISTEN_EXCLUSIVE_PORT = 1

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    /** As the library has it, and its types have not: a host with options. */
    listen(
      host: string,
      port: number,
      options: number,
      callback: (socket: us_listen_socket | false) => void,
    ): TemplatedApp
    /** Likewise: called as a connection begins (1), and as one ends that did not become a stream (-1). */
    filter(onConnection: (res: HttpResponse, difference: number) => void): TemplatedApp
  }
}

/** A listening server. */
export interface Server {
  readonly port: number
  /** That of the engine of the moment. */
  readonly hub: Hub
  /**
   * Goes on over another engine on the same port: every stream is ended with 4012, and comes back at once, before the new engine
   * answers. The caller registers the new hub as a watcher at once.
   */
  replace(engine: EngineView, publisher: Publisher): Promise<void>
  /** Stops listening, closes every stream with 1001 over up to 5 s, and waits for the rest, at most 10 s. */
  drain(): Promise<void>
  /** Cuts what is left. */
  stop(): Promise<void>
}

interface ServerOptions {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly corsOrigins: readonly string[]
  /** Proxies whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[]
  readonly isMetricsPublic: boolean
  /** Hosts by which `/metrics` answers besides those of loopback, in lower case; none unless given. */
  readonly metricsHosts?: readonly string[]
  /** Where webhooks may point to. */
  readonly webhookPolicy: CallPolicy
  /** The dashboard opens the local account without a password for a page on this machine; unless said, it does not. */
  readonly opensLocalAccount?: boolean
  /** The channels of the stream; those of the table unless given. */
  readonly channels?: readonly Channel[]
  /** What webhooks may be sent; the types of the table unless given. */
  readonly eventTypes?: readonly EventDescriptor[]
  /** In a gateway: has the engine answer what its mirror cannot; unless given, this process answers all. */
  readonly forward?: Forward | null
  /** In a gateway: tickets that the other gateways know of; unless given, those of this process. */
  readonly tickets?: Tickets
  /** In a cluster: names this process in every answer. */
  readonly servedBy?: string | null
  /** Connections open at once; what the process has file descriptors for unless given. */
  readonly connectionsMax?: number
}

/** A gateway's streams end more slowly: their clients come to others, which are busy already. */
const DRAIN = {
  alone: { spreadMs: 5_000, msMax: 10_000, endsMin: 50 },
  gateway: { spreadMs: 10_000, msMax: 12_000, endsMin: 1 },
}
const DRAIN_TICK_MS = 25
/** Who has not taken what is unsent by then ends later, and keeps nobody waiting. */
const REPLACE_MS_MAX = 500
/** 200 ms in which busy clients of REST are answered that their connection ends; without any, none. */
const DRAIN_TICKS_BUSY = 8
const KEEP_ALIVE_MS = 11_000
const HEADER_BYTES_MAX = '32768'

/** Builds the face on an engine and listens; the caller registers the hub as a watcher at once. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { clock, log, metrics, corsOrigins } = options
  const peers = new PeerAddresses(options.trustedProxies)
  // The library reads this once, when it loads, and its default of 4,096 bytes for URL and headers
  // is too small for 100 token ids. So it is set here, and the import is dynamic: a static one
  // would be hoisted above this line.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = HEADER_BYTES_MAX
  const uws = await import('uWebSockets.js')
  const app = uws.App()
  const unsent = new UnsentAnswers({ clock, metrics })
  const tickets = options.tickets ?? new Tickets(clock)
  const { connectionsMax: max = connectionsMaxOf(descriptorsMax()) } = options
  const connections = new Connections({ clock, metrics, max })
  const onConnection = (res: HttpResponse, difference: number): void => {
    if (difference < 0) connections.closed()
    else if (!connections.opened(peers.ofConnection(res))) res.close()
  }
  app.filter(onConnection)
  const shared = { clock, log, corsOrigins, peers, unsent, connections, head: new RequestHead() }
  const build = (engine: EngineView, publisher: Publisher) =>
    createApiServer({ ...options, engine, publisher }, { app, tickets, shared })
  let apiServer = build(options.engine, options.publisher)
  let isDraining = false
  const stream = streamBehavior({
    ...{ ...shared, accounts: options.engine.accounts },
    ...{ tickets, isDraining: () => isDraining },
    get hub() {
      return apiServer.hub
    },
  })
  app.ws('/v1/ws', {
    ...stream,
    close(ws, code, message) {
      connections.closed()
      stream.close?.(ws, code, message)
    },
  })
  app.any('/*', (res, req) => apiServer.requests.handle(res, req))
  let listening: us_listen_socket | null = await listen(app, options)
  const port = uws.us_socket_local_port(listening)
  const closeListener = (): void => {
    if (listening !== null) uws.us_listen_socket_close(listening)
    listening = null
  }
  return {
    port,
    get hub() {
      return apiServer.hub
    },
    async replace(engine, publisher) {
      isDraining = true
      const { hub } = apiServer
      for (let tick = 0; tick < REPLACE_MS_MAX / DRAIN_TICK_MS; tick += 1) {
        if (hub.endSome(hub.sessions.size, closeCodes.renewed) === 0) break
        await pause(clock, DRAIN_TICK_MS)
      }
      hub.stop()
      apiServer = build(engine, publisher)
      isDraining = false
    },
    async drain() {
      isDraining = true
      const { hub, requests } = apiServer
      requests.isDraining = true
      closeListener()
      const isBusy = clock.nowMs() - requests.answeredAtMs < KEEP_ALIVE_MS
      const ticksMin = isBusy ? DRAIN_TICKS_BUSY : 0
      await endStreams({
        hub,
        clock,
        ticksMin,
        pace: (options.forward ?? null) === null ? DRAIN.alone : DRAIN.gateway,
        inFlightCount: () => requests.inFlightCount + unsent.count,
      })
    },
    async stop() {
      isDraining = true
      closeListener()
      apiServer.hub.stop()
      app.close()
    },
  }
}

/** The routes and the stream over an engine. */
function createApiServer(
  options: ServerOptions,
  parts: {
    readonly app: TemplatedApp
    readonly tickets: Tickets
    readonly shared: Omit<
      ConstructorParameters<typeof RequestHandler>[0],
      'router' | 'accounts' | 'metrics'
    >
  },
) {
  const { engine, publisher, clock, log, metrics, channels = CHANNELS } = options
  const { eventTypes = EVENTS, opensLocalAccount = false } = options
  const { isMetricsPublic, metricsHosts = [], webhookPolicy } = options
  const { forward = null, servedBy = null } = options
  const { app, tickets, shared } = parts
  const hub = new Hub({ engine, publisher, clock, log, metrics, topics: app, channels })
  const routes = api({
    ...{ engine, clock, tickets, metrics, isMetricsPublic, metricsHosts, webhookPolicy },
    ...{ opensLocalAccount, channels, eventTypes, servedBy },
  })
  const { accounts } = engine
  const named = { forward, servedBy }
  const requests = new RequestHandler({
    ...shared,
    ...named,
    accounts,
    metrics,
    router: new Router(routes),
  })
  return { hub, requests }
}

async function endStreams(parts: {
  hub: Hub
  clock: Clock
  ticksMin: number
  /** Milliseconds over which streams end, and until those that did not are left; streams ended per tick, at least. */
  pace: { spreadMs: number; msMax: number; endsMin: number }
  inFlightCount: () => number
}): Promise<void> {
  const { hub, clock, ticksMin, pace, inFlightCount } = parts
  const ends = Math.ceil((hub.sessions.size * DRAIN_TICK_MS) / pace.spreadMs)
  const perTick = Math.max(pace.endsMin, ends)
  for (let tick = 0; tick < pace.msMax / DRAIN_TICK_MS; tick += 1) {
    const left = hub.endSome(perTick, closeCodes.goingAway)
    if (left === 0 && inFlightCount() === 0 && tick >= ticksMin) return
    await pause(clock, DRAIN_TICK_MS)
  }
}

function listen(app: TemplatedApp, { host, port }: ServerOptions): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket !== false) return resolve(socket)
      reasonNotFree(host, port).then((why) => reject(new Error(cannotListen(host, port, why))))
    })
  })
}

/**
 * The library gives no reason when it cannot listen; a short-lived listener of Node's does. It is asked afterwards
 * only: clients that wait for a start would be taken by it, and cut off.
 */
function reasonNotFree(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createProbe()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    probe.listen({ host, port, exclusive: true }, () =>
      probe.close(() => resolve('the library could not')),
    )
  })
}

function cannotListen(host: string, port: number, reason: string): string {
  const hint = reason === 'EADDRINUSE' ? 'the port is in use' : reason
  return `cannot listen on HOST=${host} PORT=${port}: ${hint}; set HOST and PORT to a free address`
}
