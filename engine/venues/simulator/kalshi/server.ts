// The simulated venue b on one port: Kalshi's REST API under /trade-api/v2 and its stream at /trade-api/ws/v2.

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
import { SocketGroup } from '../sim-socket.ts'
import { addAccountRoutes, READ_TOKENS, READ_TOKENS_MAX, REQUEST_COST } from './account.ts'
import { KalshiKeys, unauthorized } from './auth.ts'
import { addCandleRoutes } from './candles.ts'
import { addExchangeRoutes, type SimHalts } from './exchange.ts'
import { methodNotAllowed, notFound, tooManyRequests } from './paging.ts'
import { KalshiRest } from './rest.ts'
import { SimKalshiStream } from './stream.ts'
import { KalshiConnection } from './ws.ts'

const REST_PREFIX = '/trade-api/v2'
const STREAM_PATH = '/trade-api/ws/v2'
/** Routes on which each requested item costs as much as a request. */
const BATCH_PARAMETERS: Readonly<Record<string, string>> = {
  [`${REST_PREFIX}/markets/orderbooks`]: 'tickers',
}

interface KalshiServerOptions {
  readonly world: World
  readonly faults: Faults
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  readonly port: number
  readonly keys: ReadonlyMap<string, string>
  readonly halts: SimHalts
}

/** Resolves when the venue listens. Rejects if the port is in use. */
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
  addAccountRoutes(rest, REST_PREFIX, keys)
  addCandleRoutes(rest, REST_PREFIX, world)
  addExchangeRoutes(rest, REST_PREFIX, { nowMs: () => world.nowMs(), halts })

  const sockets = new SocketGroup({
    ...{ clock, faults, log },
    ping: { periodSeconds: 10, body: 'heartbeat', pongLimitMs: 30_000 },
    open: (socket) => new KalshiConnection({ world, stream, faults, clock, socket }),
  })
  rest.upgrade(STREAM_PATH, (request, raw, head) => {
    const { headers } = request
    const caller = keys.caller({ method: 'GET', path: STREAM_PATH, headers })
    if (caller.kind === 'key') {
      sockets.accept(request, raw, head)
    } else {
      const reason = caller.kind === 'refused' ? caller.reason : 'MISSING_HEADERS'
      refuseUpgrade(raw, unauthorized(reason))
    }
  })
  const stopTicks = clock.every(1_000, () => {
    stream.tick()
    halts.draw(world.nowMs())
  })
  const stop = async (): Promise<void> => {
    stopTicks()
    stream.stop()
    sockets.stop()
    await rest.stop()
  }
  try {
    return { port: await rest.listen(options.host, options.port), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function guard(keys: KalshiKeys, clock: Clock): (request: RestRequest) => RestAnswer | null {
  const buckets = new Map<string, SimTokenBucket>()
  return (request) => {
    const caller = keys.caller(request)
    if (caller.kind === 'refused') return unauthorized(caller.reason)
    const name = caller.kind === 'key' ? `key ${caller.keyId}` : 'anonymous'
    let bucket = buckets.get(name)
    if (bucket === undefined) {
      bucket = new SimTokenBucket({ clock, capacity: READ_TOKENS_MAX, perSecond: READ_TOKENS })
      buckets.set(name, bucket)
    }
    return bucket.take(itemCount(request) * REQUEST_COST) ? null : tooManyRequests()
  }
}

function itemCount({ path, query }: RestRequest): number {
  const parameter = BATCH_PARAMETERS[path]
  return parameter === undefined ? 1 : Math.max(1, query.getAll(parameter).length)
}
