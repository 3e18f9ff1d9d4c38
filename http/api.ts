import type { EngineView } from '../actors/views.ts'
import type { Clock } from '../engine/clock.ts'
import type { Metrics } from '../engine/process/metrics.ts'
import type { CallPolicy } from '../engine/webhooks/post.ts'
import { AnswerCache } from './records/fact-cache.ts'
import { MarketRecords } from './records/markets.ts'
import type { Route } from './request/route.ts'
import { accountRoutes } from './routes/accounts.ts'
import { arbitrageRoutes } from './routes/arbitrage.ts'
import { bookHistoryRoutes } from './routes/book-history.ts'
import { candleRoutes } from './routes/candles.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { documentRoutes } from './routes/documents.ts'
import { eventRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/export.ts'
import { marketRoutes } from './routes/markets.ts'
import { matchRoutes } from './routes/matches.ts'
import { type McpView, mcpRoutes } from './routes/mcp.ts'
import { nativeRoutes } from './routes/native.ts'
import { nativeTradeRoutes } from './routes/native-trades.ts'
import { orderbookRoutes } from './routes/orderbooks.ts'
import { priceRoutes } from './routes/prices.ts'
import { replayRoutes } from './routes/replay.ts'
import { sportsRoutes } from './routes/sports.ts'
import { statusRoutes } from './routes/status.ts'
import { streamRoutes } from './routes/stream.ts'
import { tradeRoutes } from './routes/trades.ts'
import { walletRoutes } from './routes/wallets.ts'
import { watchlistRoutes } from './routes/watchlist.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { whaleRoutes } from './routes/whales.ts'
import type { EventDescriptor } from './webhooks/types/event-type.ts'
import { EVENTS } from './webhooks/types/event-types.ts'
import type { Channel } from './ws/channels/channel.ts'
import { CHANNELS } from './ws/channels/channels.ts'
import { Tickets } from './ws/session/tickets.ts'

export interface ApiParts {
  readonly engine: EngineView
  readonly clock: Clock
  readonly metrics: Metrics
  readonly isMetricsPublic: boolean
  /** Additional hosts, in lower case, that may read `/metrics`. Loopback hosts always may. Default: none. */
  readonly metricsHosts?: readonly string[]
  /** Decides which addresses webhooks may call. */
  readonly webhookPolicy: CallPolicy
  /** Default: false. If true, a dashboard page on this machine opens the local account without a password. */
  readonly opensLocalAccount?: boolean
  /** Builds the specification documents at start instead of at their first request. */
  readonly buildsDocuments?: boolean
  /** Tickets that open streams. Several API servers may share them. Default: a new set. */
  readonly tickets?: Tickets
  /** Default: none, so that `/mcp` does not exist. */
  readonly mcp?: McpView
  /** Default: the built-in channel table. */
  readonly channels?: readonly Channel[]
  /** Default: the built-in event table. */
  readonly eventTypes?: readonly EventDescriptor[]
  /** Name of this process in responses and list cursors. Set only in a cluster. */
  readonly servedBy?: string | null
}

export function api(parts: ApiParts): readonly Route[] {
  const { engine, clock, channels = CHANNELS, eventTypes = EVENTS } = parts
  const { catalog, version } = engine
  const records = new MarketRecords(engine.matches, undefined, () => engine.data !== 'simulated')
  const answers = new AnswerCache()
  const shared = { engine, catalog, clock, records, answers, issuer: parts.servedBy ?? null }
  const { names } = catalog
  const webhooks = {
    ...{ webhooks: engine.webhooks, catalog, policy: parts.webhookPolicy },
    types: eventTypes,
  }
  const routes = [
    ...marketRoutes(shared), //                 /v1/markets  /search  /{market_id}
    ...priceRoutes(shared), //                  /v1/markets/{market_id}/price  /v1/prices
    ...orderbookRoutes(shared), //              /v1/markets/{market_id}/orderbook  /v1/orderbooks
    ...bookHistoryRoutes(shared), //            /v1/markets/{market_id}/orderbook/history
    ...tradeRoutes(shared), //                  /v1/markets/{market_id}/trades
    ...replayRoutes(shared), //                 /v1/replay
    ...candleRoutes(shared), //                 /v1/markets/{market_id}/candles
    ...eventRoutes(shared), //                  /v1/events  /{slug}
    ...matchRoutes({ ...shared, names }), //                  /v1/matching-markets  /sports/{sport}
    ...arbitrageRoutes(shared), //              /v1/arbitrage  /history  /{id}  /quote  /v1/markets/{market_id}/arbitrage
    ...sportsRoutes(shared), //                 /v1/sports/{sport}
    ...walletRoutes(shared), //                 /v1/wallets  /{address}  /trades  /positions  /pnl  /activity
    ...nativeRoutes(shared), //                 /v1/venue_a/markets  /{condition_id}  /v1/venue_b/…
    ...nativeTradeRoutes(shared), //            /v1/venue_a/trades  /v1/venue_b/trades
    ...whaleRoutes(shared), //                  /v1/whales  /trades  /v1/markets/{market_id}/whales
    ...exportRoutes({ engine, clock, names }), //              /v1/export  /{venue}/{table}/{date}/{file}
    ...webhookRoutes(webhooks), //              /v1/webhooks  /{webhook_id}  /test  /rotate-secret  /deliveries
    ...accountRoutes(engine.accounts, clock, parts.opensLocalAccount ?? false), //  /v1/auth/signup  /login  /me  /session  /v1/keys
    ...watchlistRoutes({ accounts: engine.accounts, catalog }), //  /v1/watchlist  /{market_id}
    ...statusRoutes(parts), //                  /health  /metrics  /v1/stats
    ...streamRoutes(parts.tickets ?? new Tickets(clock)), //  /v1/ws  /ticket
    ...mcpRoutes(parts.mcp), //                  /mcp
    ...dashboardRoutes(), //                    /  /dashboard  /dashboard/{asset}
  ]
  const facts = { version, names, channels, eventTypes }
  return [...routes, ...documentRoutes(routes, facts, parts.buildsDocuments ?? false)]
}
