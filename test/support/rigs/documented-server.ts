// An API server in which every route has data. The clock does not move, so equal requests get equal responses.

import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { type TimeMs, timeMs, usdMicros } from '../../../engine/units.ts'
import { api } from '../../../http/api.ts'
import { isListed, openapi } from '../../../http/documents/openapi.ts'
import type { JsonObject } from '../../../http/documents/schemas-of.ts'
import type { Route } from '../../../http/request/route.ts'
import type { McpView } from '../../../http/routes/mcp.ts'
import { createServer } from '../../../http/server.ts'
import { FakeEngine, type FakeMarket } from '../fakes/engine.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { fakeTape } from '../fakes/tape.ts'
import { level, NAMES, NOON } from '../worlds/builders.ts'
import { opportunity, pastOpportunity } from '../worlds/opportunities.ts'

export interface DocumentedServer {
  readonly engine: FakeEngine
  readonly port: number
  readonly origin: string
  /** A second set of the running server's routes. */
  readonly allRoutes: readonly Route[]
  readonly routes: readonly Route[]
  readonly document: JsonObject
  stop(): Promise<void>
}

/** An account with a higher quota than any test uses. */
export const ACCOUNT = 'richsecret51c7'
/** An account without quota: every counted request is refused. */
export const POOR_ACCOUNT = 'poorsecret51c7'
/** An account of the tier `free`. */
export const FREE_ACCOUNT = 'freesecret51c7'

/** An account's key is `<name>-key` and its token is `<name>-token`. */
export async function openDocumentedServer({
  mcp,
}: {
  readonly mcp?: McpView
} = {}): Promise<DocumentedServer> {
  const clock = new ManualClock(NOON)
  const engine = new FakeEngine(clock)
  engine.accounts.make(ACCOUNT, {
    tier: 'enterprise',
    requestsPerMinute: 2_147_483_647,
    socketsMax: 9,
  })
  engine.accounts.make(POOR_ACCOUNT, { requestsPerMinute: 0 })
  engine.accounts.make(FREE_ACCOUNT, { tier: 'free', requestsPerMinute: 2_147_483_647 })
  engine.accounts.make('local', { requestsPerMinute: 0 })
  Object.assign(engine, fakeTape(clock.nowMs()))
  engine.accounts.addressLimit = 2_147_483_647
  engine.webhooks.countMax = 2_147_483_647
  const webhookPolicy = { allowsHttp: false, allowsPrivate: false }
  const parts = { engine, clock, isMetricsPublic: false, webhookPolicy, opensLocalAccount: true }
  const server = await createServer({
    ...parts,
    ...(mcp === undefined ? {} : { mcp }),
    metrics: engine.metrics,
    publisher: engine.publisher,
    log: silentLog,
    host: '127.0.0.1',
    port: 0,
    corsOrigins: ['*'],
    trustedProxies: [],
  })
  engine.register(server)
  populate(engine, clock.nowMs())
  const routes = api({ ...parts, metrics: new Metrics() })
  return {
    engine,
    port: server.port,
    origin: `http://127.0.0.1:${server.port}`,
    allRoutes: routes,
    routes: routes.filter(isListed),
    document: openapi(routes, { version: engine.version, names: NAMES }),
    stop: () => server.stop(),
  }
}

function populate(engine: FakeEngine, nowMs: TimeMs): void {
  const first: FakeMarket[] = []
  for (const venue of ['a', 'b'] as const) {
    for (let index = 0; index < 12; index += 1) {
      const market = engine.add(`${venue}${index}`, {
        venue,
        volume24h: usdMicros((index + 1) * 1_000_000),
        status: index % 5 === 4 ? 'closed' : 'open',
      })
      if (index > 2) continue
      if (index === 0) first.push(market)
      market.replace(
        [level(0.4, 100), level(0.39, 50)],
        [level(0.42, 80), level(0.45, 10)],
        'first',
      )
      market.reprice(410_000)
      market.keepBook()
      for (let count = 0; count < 30; count += 1) {
        market.trade({
          timeMs: timeMs(nowMs - 60_000 * (1 + (count >> 1))),
          side: count % 3 === 0 ? 'sell' : 'buy',
        })
      }
    }
  }
  engine.addEvent('a0')
  const [one, other] = first
  if (one === undefined || other === undefined) return
  engine.matches.put(one, other)
  engine.arbitrage.open = [opportunity([one.ref, other.ref], { id: 'k3f9c2-1' })]
  engine.arbitrage.table.put(pastOpportunity(-60_000))
  engine.sports.put(
    { sport: 'nfl', date: engine.sports.today(), game: 'nfl-den-hou-2026-11-20' },
    one,
    other,
  )
}
