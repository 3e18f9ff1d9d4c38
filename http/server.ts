// The uWebSockets.js app: serves the REST API and the stream, drains and stops.

import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { createServer as createProbe } from 'node:net'
import type { EngineView } from '../actors/views.ts'
import { type Clock, pause } from '../engine/clock.ts'
import type { Log } from '../engine/process/log.ts'
import { descriptorsMax } from '../engine/process/runtime.ts'
import type { Publisher } from '../engine/publisher.ts'
import { type ApiParts, api } from './api.ts'
import type { Forward } from './request/forwarding.ts'
import { RequestHandler } from './request/handle.ts'
import { RequestHead } from './request/head.ts'
import { Connections, connectionsMaxOf } from './request/load-limits.ts'
import { PeerAddresses } from './request/peer-address.ts'
import { Router } from './request/router.ts'
import { UnsentAnswers } from './request/unsent.ts'
import { CHANNELS } from './ws/channels/channels.ts'
import { closeCodes } from './ws/close-codes.ts'
import { Hub } from './ws/hub.ts'
import { Tickets } from './ws/session/tickets.ts'
import { streamBehavior } from './ws/session/upgrade.ts'

/** LIBUS_LISTEN_EXCLUSIVE_PORT of the library. Without it, a second server could share the port unnoticed. */
const LISTEN_EXCLUSIVE_PORT = 1

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    /** An overload that is missing from the library's types. */
    listen(
      host: string,
      port: number,
      options: number,
      callback: (socket: us_listen_socket | false) => void,
    ): TemplatedApp
    /**
     * Missing from the library's types. The library passes 1 when a connection opens, and -1 when a connection closes
     * that is not a stream.
     */
    filter(onConnection: (res: HttpResponse, difference: number) => void): TemplatedApp
  }
}

export interface Server {
  readonly port: number
  readonly hub: Hub
  /**
   * Switches to another engine on the same port. Closes every stream with 4012. The caller must register the new hub as
   * a watcher immediately, since clients reconnect at once.
   */
  replace(engine: EngineView, publisher: Publisher): Promise<void>
  /** Stops listening, closes all streams with 1001 over up to 5 s, and waits at most 10 s for the other connections. */
  drain(): Promise<void>
  /** Closes the remaining connections. */
  stop(): Promise<void>
}

interface ServerOptions extends ApiParts {
  readonly publisher: Publisher
  readonly log: Log
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly corsOrigins: readonly string[]
  /** Proxies whose forwarding headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** Gateway only: forwards requests that its mirror cannot answer. */
  readonly forward?: Forward | null
  /** Maximum open connections. Default: derived from the process's limit of file descriptors. */
  readonly connectionsMax?: number
}

/** A gateway closes its streams more slowly, since their clients reconnect to other busy gateways. */
const DRAIN = {
  alone: { spreadMs: 5_000, msMax: 10_000, endsMin: 50 },
  gateway: { spreadMs: 10_000, msMax: 12_000, endsMin: 1 },
}
const DRAIN_TICK_MS = 25
/** Maximum time for closing streams before a replacement. Connections with unsent data may close later. */
const REPLACE_MS_MAX = 500
/**
 * For these ticks (200 ms), answers tell active REST clients to close their connections. Skipped without active
 * clients.
 */
const DRAIN_TICKS_BUSY = 8
const KEEP_ALIVE_MS = 11_000
const HEADER_BYTES_MAX = '32768'

/** Builds the API server on an engine and listens. The caller must register the hub as a watcher immediately. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { clock, log, metrics, corsOrigins } = options
  const peers = new PeerAddresses(options.trustedProxies)
  // The library reads this variable once, when it loads. Its default of 4,096 bytes for URL and headers is too small
  // for 100 token ids. The import below is dynamic, because a static import would run before this line.
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
  const build = builder({ ...options, tickets }, app, shared)
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
        if (hub.endSome(hub.count, closeCodes.renewed) === 0) break
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

/** Builds the routes and the stream of an engine. */
function builder(
  options: ServerOptions,
  app: TemplatedApp,
  shared: Omit<ConstructorParameters<typeof RequestHandler>[0], 'router' | 'accounts' | 'metrics'>,
) {
  const { clock, log, metrics, channels = CHANNELS, forward = null, servedBy = null } = options
  return (engine: EngineView, publisher: Publisher) => {
    const { accounts } = engine
    const router = new Router(api({ ...options, engine }))
    const requests = new RequestHandler({ ...shared, metrics, accounts, router, forward, servedBy })
    const hub = new Hub({ engine, publisher, clock, log, metrics, topics: app, channels })
    return { hub, requests }
  }
}

async function endStreams(parts: {
  hub: Hub
  clock: Clock
  ticksMin: number
  /**
   * `spreadMs`: time over which streams are closed. `msMax`: time after which the remaining streams are left open.
   * `endsMin`: minimum streams closed per tick.
   */
  pace: { spreadMs: number; msMax: number; endsMin: number }
  inFlightCount: () => number
}): Promise<void> {
  const { hub, clock, ticksMin, pace, inFlightCount } = parts
  const ends = Math.ceil((hub.count * DRAIN_TICK_MS) / pace.spreadMs)
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
 * Explains why listening failed, by a short-lived Node listener, since the library does not report the reason. Call it
 * only after a failure: the listener would accept clients and disconnect them.
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
