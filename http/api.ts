// The REST API on one screen: every route, by the file that answers it. Each line of those files is
// method, path, schema, handler. Not for: the life of a request (handle.ts) or the stream (ws/).

import { Type } from '@sinclair/typebox'
import type { EngineView } from '../actors/views.ts'
import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import type { Metrics } from '../engine/metrics.ts'
import { type Route, route } from './route.ts'
import { accountRoutes } from './routes/accounts.ts'
import { marketRoutes } from './routes/markets.ts'
import { statusRoutes } from './routes/status.ts'
import { tradeRoutes } from './routes/trades.ts'

/** What the routes need of the house. */
export interface ApiParts {
  readonly engine: EngineView
  readonly clock: Clock
  readonly metrics: Metrics
  readonly isMetricsPublic: boolean
}

/** All routes, in the order of the specification document. */
export function api(parts: ApiParts): readonly Route[] {
  const { engine } = parts
  return [
    ...statusRoutes(parts), //              /health  /metrics
    ...marketRoutes(parts), //              /v1/markets  /search  /{market_id}  …/price  …/orderbook
    ...tradeRoutes(engine.catalog), //      /v1/markets/{market_id}/trades
    ...accountRoutes(engine.accounts), //   /v1/auth/signup  /login  /me  /v1/keys
    streamHint,
  ]
}

/** A plain GET of the stream's path, which upgrades do not reach. */
const streamHint: Route = route({ method: 'GET', pattern: '/v1/ws' }, Type.Object({}), () => {
  throw new EngineError('BAD_REQUEST', 'this path speaks WebSocket: connect with an upgrade')
})
