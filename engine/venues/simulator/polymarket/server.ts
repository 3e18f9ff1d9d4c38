// The simulated venue a. Four listeners (Gamma, CLOB with the market channel, Data API, RTDS) serve one simulated
// world.

import type { Clock } from '../../../clock.ts'
import type { Log } from '../../../process/log.ts'
import type { Faults } from '../faults.ts'
import type { World } from '../model.ts'
import {
  json,
  plainText,
  type RestHooks,
  type RestRequest,
  RestServer,
  SimTokenBucket,
} from '../rest.ts'
import type { WalletLedgers } from '../world/wallet-ledgers.ts'
import { addClobRoutes } from './clob.ts'
import { DataV2, unknownPath } from './envelope.ts'
import { addGammaRoutes } from './gamma.ts'
import { addMarketFigures } from './market-figures.ts'
import { MarketChannel } from './market-ws.ts'
import { addPriceHistory } from './past-prices.ts'
import { Rtds } from './rtds.ts'
import { addTrades } from './trade-routes.ts'
import { addWalletRoutes } from './wallet-routes.ts'

interface PolymarketPorts {
  readonly gamma: number
  readonly clob: number
  readonly data: number
  readonly rtds: number
}

interface PolymarketServerOptions {
  readonly world: World
  readonly wallets: WalletLedgers
  readonly faults: Faults
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  /** Port 0 selects any free port. */
  readonly ports: PolymarketPorts
  readonly state: (query: URLSearchParams) => unknown
  /** Whether requests above the venue's rate limits get 429. Default: true. */
  readonly isRateLimited?: boolean
  readonly activityEndsS?: number | null
}

export interface PolymarketServer {
  readonly ports: PolymarketPorts
  readonly connectionCounts: () => { readonly market: number; readonly rtds: number }
  stop(): Promise<void>
}

/** Rejects if a port is in use, and then leaves no listener open. */
export async function startPolymarketServer(
  options: PolymarketServerOptions,
): Promise<PolymarketServer> {
  const { world, wallets, faults, clock, log, host } = options
  const listener = (limits: readonly RateLimit[]) => {
    const isLimited = options.isRateLimited ?? true
    return new RestServer({ faults, log, hooks: hooksWith(isLimited ? limits : [], clock) })
  }
  const gamma = listener(GAMMA_LIMITS)
  const clob = listener(CLOB_LIMITS)
  const data = listener(DATA_LIMITS)
  const rtds = listener([])
  const market = new MarketChannel({ world, faults, clock, log })
  const activityEndsS = options.activityEndsS ?? null
  const activity = new Rtds({ world, faults, clock, log }, activityEndsS)
  addGammaRoutes(gamma, { world, wallets, state: options.state })
  addClobRoutes(clob, { world, clock, faults })
  const dataV2 = new DataV2(data, { faults, nowMs: () => world.nowMs() })
  for (const add of [addTrades, addMarketFigures, addWalletRoutes, addPriceHistory]) {
    add(dataV2, { world, wallets, faults })
  }
  for (const path of RETIRED_PATHS.flatMap((name) => [`/${name}`, `/v1/${name}`])) {
    data.get(path, () => (faults.strikes('v1_retired') ? RETIRED : NOT_FOUND))
  }
  clob.upgrade('/ws/market', market.sockets.accept)
  rtds.upgrade('*', activity.sockets.accept)
  const stop = async () => {
    market.stop()
    activity.stop()
    await Promise.all([gamma, clob, data, rtds].map((server) => server.stop()))
  }
  try {
    const ports = {
      gamma: await gamma.listen(host, options.ports.gamma),
      clob: await clob.listen(host, options.ports.clob),
      data: await data.listen(host, options.ports.data),
      rtds: await rtds.listen(host, options.ports.rtds),
    }
    const connectionCounts = () => ({
      market: market.sockets.count,
      rtds: activity.sockets.count,
    })
    return { ports, connectionCounts, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Paths of Data API v1, also available under `/v1`. The venue still serves `/v1/accounting/snapshot`. */
const RETIRED_PATHS = [
  ...['trades', 'activity', 'positions', 'closed-positions', 'market-positions', 'value', 'traded'],
  ...['oi', 'holders', 'live-volume', 'leaderboard', 'builders/leaderboard', 'builders/volume'],
]
const NOT_FOUND = json({ error: 'not found' }, 404)
const RETIRED = json({ error: 'this version of the API has been retired, use /v2' }, 410)

/**
 * Maximum number of requests in ten seconds on paths with these prefixes. Without `paths`, the limit is for all paths
 * (engine/venues/polymarket/README.md, Limits).
 */
interface RateLimit {
  readonly paths: readonly string[]
  readonly requests: number
}

const WINDOW_S = 10
const GAMMA_LIMITS: readonly RateLimit[] = [
  { paths: [], requests: 4_000 },
  { paths: ['/events'], requests: 500 },
  { paths: ['/markets'], requests: 300 },
  { paths: ['/events', '/markets'], requests: 900 },
  { paths: ['/tags'], requests: 200 },
  { paths: ['/public-search'], requests: 350 },
]
const CLOB_LIMITS: readonly RateLimit[] = [
  { paths: [], requests: 9_000 },
  ...['/book', '/price', '/midpoint'].map((path) => ({ paths: [path], requests: 1_500 })),
  ...['/books', '/prices', '/midpoints'].map((path) => ({ paths: [path], requests: 500 })),
  { paths: ['/prices-history'], requests: 1_000 },
  { paths: ['/tick-size'], requests: 200 },
]
const DATA_LIMITS: readonly RateLimit[] = [
  { paths: [], requests: 800 },
  { paths: ['/v2/trades'], requests: 300 },
  { paths: ['/v2/positions'], requests: 200 },
  { paths: ['/v2/activity'], requests: 200 },
]

function hooksWith(limits: readonly RateLimit[], clock: Clock): RestHooks {
  const buckets = limits.map((limit) => ({
    paths: limit.paths,
    bucket: new SimTokenBucket({
      clock,
      capacity: limit.requests,
      perSecond: limit.requests / WINDOW_S,
    }),
  }))
  const rateLimited = () => json({ error: 'Too Many Requests' }, 429)
  return {
    guard: (request) => {
      for (const { paths, bucket } of buckets) {
        if (covers(paths, request) && !bucket.take()) return rateLimited()
      }
      return null
    },
    rateLimited,
    notFound: ({ path }) => {
      return isV2(path) ? unknownPath(404, path) : NOT_FOUND
    },
    methodNotAllowed: ({ path }) => {
      return isV2(path) ? unknownPath(405, path) : plainText('Method Not Allowed', 405)
    },
  }
}

const isV2 = (path: string): boolean => path.startsWith('/v2/')

// A prefix consists of complete path segments: `/book` does not include `/books`.
function covers(paths: readonly string[], request: RestRequest): boolean {
  if (paths.length === 0) return true
  return paths.some((path) => request.path === path || request.path.startsWith(`${path}/`))
}
