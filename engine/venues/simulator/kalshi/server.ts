// The simulated venue b on one port: Kalshi's REST under /trade-api/v2 and its stream at /trade-api/ws/v2. Wires
// guards, upgrade, heartbeat and stop.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../../clock.ts'
import type { Log } from '../../../process/log.ts'
import type { Faults } from '../faults.ts'
import type { World } from '../model.ts'
import {
  type RestAnswer,
  type RestRequest,
  RestServer,
  refuseUpgrade,
  SimTokenBucket,
} from '../rest.ts'
import { KalshiKeys, unauthorized } from './auth.ts'
import { addCandleRoutes } from './candle-routes.ts'
import { addExchangeRoutes } from './exchange.ts'
import type { SimHalts } from './halts.ts'
import { methodNotAllowed, notFound, tooManyRequests } from './paging.ts'
import { KalshiRest } from './rest.ts'
import { SimKalshiStream } from './stream.ts'
import { KalshiConnection } from './ws.ts'

const REST_PREFIX = '/trade-api/v2'
const STREAM_PATH = '/trade-api/ws/v2'
/** The Basic tier: 200 tokens a second, a burst of two seconds' worth, 10 tokens a request. */
const TOKENS_PER_SECOND = 200
const TOKENS_MAX = 400
const TOKENS_PER_REQUEST = 10
const PING_PERIOD_MS = 10_000
const PONG_LIMIT_MS = 30_000
/** A subscribe command may name every market of a large world. */
const COMMAND_BYTES_MAX = 16 * 1024 * 1024

interface KalshiServerOptions {
  readonly world: World
  readonly faults: Faults
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Key id → public key PEM. */
  readonly keys: ReadonlyMap<string, string>
  readonly halts: SimHalts
}

/** Starts the venue. Resolves when it listens; rejects if the port is in use. */
export async function startKalshiServer(
  options: KalshiServerOptions,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { world, faults, clock, log, halts } = options
  const keys = new KalshiKeys(options.keys)
  const stream = new SimKalshiStream({ world, clock, faults })
  const rest = new RestServer({
    faults,
    log,
    hooks: { guard: guard(keys, clock), notFound, methodNotAllowed, rateLimited: tooManyRequests },
  })
  new KalshiRest({ world, stream }).add(rest, REST_PREFIX)
  addCandleRoutes(rest, REST_PREFIX, world)
  addExchangeRoutes(rest, REST_PREFIX, { nowMs: () => world.nowMs(), halts })

  const connections = new Set<KalshiConnection>()
  const sockets = new WebSocketServer({ noServer: true, maxPayload: COMMAND_BYTES_MAX })
  const open = (socket: WebSocket, raw: Duplex) => {
    const connection = new KalshiConnection({ world, stream, faults, clock, socket, raw })
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
  }
  rest.upgrade(STREAM_PATH, (request: IncomingMessage, raw, head) => {
    const { headers } = request
    const caller = keys.caller({ method: 'GET', path: STREAM_PATH, headers })
    if (caller.kind === 'key') {
      sockets.handleUpgrade(request, raw, head, (socket) => open(socket, raw))
    } else {
      const reason = caller.kind === 'refused' ? caller.reason : 'MISSING_HEADERS'
      refuseUpgrade(raw, unauthorized(reason))
    }
  })
  const stopHeartbeat = clock.every(PING_PERIOD_MS, () => {
    for (const connection of connections) connection.heartbeat(PONG_LIMIT_MS)
  })
  const stopTicks = clock.every(1_000, () => {
    for (const connection of connections) connection.tick()
    stream.tick()
    halts.draw(world.nowMs())
  })
  const stop = async (): Promise<void> => {
    stopHeartbeat()
    stopTicks()
    stream.stop()
    for (const connection of connections) connection.close()
    sockets.close()
    await rest.stop()
  }
  try {
    return { port: await rest.listen(options.host, options.port), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Validates signature headers, if any, then the caller's token bucket. Anonymous callers share one bucket. */
function guard(keys: KalshiKeys, clock: Clock): (request: RestRequest) => RestAnswer | null {
  const buckets = new Map<string, SimTokenBucket>()
  return (request) => {
    const caller = keys.caller(request)
    if (caller.kind === 'refused') return unauthorized(caller.reason)
    const name = caller.kind === 'key' ? `key ${caller.keyId}` : 'anonymous'
    let bucket = buckets.get(name)
    if (bucket === undefined) {
      bucket = new SimTokenBucket({ clock, capacity: TOKENS_MAX, perSecond: TOKENS_PER_SECOND })
      buckets.set(name, bucket)
    }
    return bucket.take(TOKENS_PER_REQUEST) ? null : tooManyRequests()
  }
}
