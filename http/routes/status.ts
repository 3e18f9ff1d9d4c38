// Service status and database statistics. Requests to /health and /metrics are not counted.

import { isIP } from 'node:net'
import { Type } from '@sinclair/typebox'
import {
  type ClusterView,
  type EngineView,
  TAPE_STATES,
  type VenueView,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { MemberStatus } from '../../engine/cluster/members.ts'
import { DATA_SOURCES } from '../../engine/data-source.ts'
import { EngineError } from '../../engine/errors.ts'
import type { TradesSource } from '../../engine/events.ts'
import type { MarketStatus } from '../../engine/market/market.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import { toSeconds } from '../../engine/units.ts'
import { LOOPBACK_HOST } from '../request/peer-address.ts'
import { json, plainText } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { byPlatform, choice, HealthSchema, nullable } from '../schemas.ts'

const Count = Type.Integer({ minimum: 0 })

/** Venues are keyed by their configured names. */
export function statsSchema(names: EngineView['catalog']['names']) {
  const coverage = Type.Object({
    first_trade_ms: nullable(Type.Integer()),
    last_trade_ms: nullable(Type.Integer()),
    lag_ms: nullable(Type.Integer({ description: 'from the venue to us, of late' })),
    delay_ms: nullable(
      Type.Integer({
        description: 'the longest that anything waited within us during the last two seconds',
      }),
    ),
    stale: Type.Boolean({
      description: 'the feed is down or silent past its limit, or its books come too late',
    }),
    covered_markets: nullable(Type.Integer({ minimum: 0 })),
    open_markets: nullable(Type.Integer({ minimum: 0 })),
    policy: nullable(Type.String()),
  })
  return Type.Object({
    data: choice(DATA_SOURCES),
    markets: Type.Object({
      total: Count,
      ...byPlatform(names, () => Count).properties,
      open: Count,
      closed: Count,
      resolved: Count,
    }),
    events: Count,
    trades: Count,
    orderbook_snapshots: Count,
    wallets: Count,
    matches: Type.Object({ total: Count, high_confidence: Count }),
    coverage: byPlatform(names, () => coverage),
    database_bytes: Count,
    tape: nullable(
      Type.Object({
        state: Type.Union(TAPE_STATES.map((state) => Type.Literal(state))),
        bytes: Count,
        hours: Count,
        oldest_ms: nullable(Type.Integer()),
        newest_ms: nullable(Type.Integer()),
        lost_rows: Count,
      }),
    ),
    timestamp_ms: Type.Integer(),
  })
}

export function statusRoutes(parts: {
  engine: EngineView
  clock: Clock
  metrics: Metrics
  isMetricsPublic: boolean
  metricsHosts?: readonly string[]
}): readonly Route[] {
  const { engine, clock, metrics, isMetricsPublic, metricsHosts = [] } = parts
  // Rejects other domain names. A web page can make its own domain resolve to this machine (DNS rebinding) but cannot
  // control an IP address in `Host`.
  const isMetricsHost = (host: string): boolean => {
    const name = host.replace(/:\d*$/, '').toLowerCase()
    if (LOOPBACK_HOST.test(host) || metricsHosts.includes(name)) return true
    return isMetricsPublic && isIP(name.replace(/^\[|\]$/g, '')) !== 0
  }
  const open = { access: 'public', isCounted: false } as const
  const { registry } = metrics
  return [
    route(
      'GET /health',
      { group: 'System', summary: 'State of the service', answer: HealthSchema, ...open },
      () => json(healthRecord(engine)),
    ),
    route(
      'GET /metrics',
      {
        group: 'System',
        summary: 'Figures for Prometheus',
        answer: null,
        contentTypes: ['text/plain'],
        refusals: {
          404: 'asked from another machine or through a proxy while METRICS_PUBLIC is off, or by a Host that is not in METRICS_HOSTS',
        },
        ...open,
        isCrossOrigin: false,
      },
      async ({ isLocal, header }) => {
        const isOpen = (isMetricsPublic || isLocal) && isMetricsHost(header('host'))
        if (!isOpen) throw new EngineError('NOT_FOUND', 'no such path')
        return plainText(await registry.metrics(), registry.contentType)
      },
    ),
    route(
      'GET /v1/stats',
      {
        group: 'System',
        summary: 'What the database holds',
        answer: statsSchema(engine.catalog.names),
      },
      () => json(statsRecord(engine, clock.nowMs())),
    ),
  ]
}

function statsRecord(engine: EngineView, nowMs: number) {
  const { catalog, matches } = engine
  const counts = Object.values(catalog.counts())
  const sum = (status: MarketStatus) => counts.reduce((total, of) => total + of[status], 0)
  const ofVenues = counts.map((of) => of.open + of.closed + of.resolved)
  const { keys, platforms } = catalog.names
  const { trades, snapshots, databaseBytes, coverage, books } = engine.stats()
  return {
    data: engine.data,
    markets: {
      total: ofVenues.reduce((total, count) => total + count, 0),
      ...Object.fromEntries(platforms.map((name, index) => [name, ofVenues[index]])),
      open: sum('open'),
      closed: sum('closed'),
      resolved: sum('resolved'),
    },
    events: catalog.eventCount(),
    trades,
    orderbook_snapshots: snapshots,
    wallets: engine.wallets.count,
    matches: { total: matches.total, high_confidence: matches.highCount },
    coverage: Object.fromEntries(
      keys.map((venue) => {
        const feed = engine.venues().find((view) => view.venue === venue)
        const record = {
          first_trade_ms: coverage[venue]?.oldestMs ?? null,
          last_trade_ms: coverage[venue]?.newestMs ?? null,
          lag_ms: feed?.lagMs ?? null,
          delay_ms: feed?.delayMs ?? null,
          stale: feed?.state !== 'live',
          covered_markets: books[venue]?.covered ?? null,
          open_markets: books[venue]?.open ?? null,
          policy: books[venue]?.policy ?? null,
        }
        return [catalog.names.platform(venue), record]
      }),
    ),
    database_bytes: databaseBytes,
    tape: tapeRecord(engine),
    timestamp_ms: nowMs,
  }
}

function tapeRecord({ tape }: EngineView) {
  if (tape === undefined) return null
  const { state, bytes, hours, oldestMs, newestMs, lostRows } = tape.status()
  return { state, bytes, hours, oldest_ms: oldestMs, newest_ms: newestMs, lost_rows: lostRows }
}

/** Degraded if any part is degraded. */
function healthRecord(engine: EngineView) {
  const exchanges: Record<string, boolean> = {}
  const feeds: Record<string, object> = {}
  for (const { platform, state, reason, staleBooks } of engine.venues()) {
    exchanges[platform] = state === 'live'
    feeds[platform] = { state, reason, stale_books: staleBooks }
  }
  const database = engine.isStorageHealthy()
  const cache = engine.catalog.isLoaded
  const isWell = database && cache && Object.values(exchanges).every((isLive) => isLive)
  return {
    status: isWell ? 'ok' : 'degraded',
    version: engine.version,
    data: engine.data,
    database,
    cache,
    exchanges,
    feeds,
    protocols: Object.fromEntries(
      engine
        .venues()
        .map(({ platform, venue }) => [platform, engine.catalog.names.of(venue).protocol]),
    ),
    delay_ms: engine.delayMs(),
    uptime_s: Math.floor(engine.uptimeSeconds()),
    trades_source: sourcesOf(engine),
    drift: Object.fromEntries(engine.venues().map((view) => [view.platform, driftRecords(view)])),
    ...clusterRecord(engine.cluster?.()),
  }
}

function clusterRecord(view: ClusterView | undefined) {
  if (view === undefined) return {}
  const { role, name, link, lagBatches, lagMs, isConnected, leader, members } = view
  const silentMs = (member: MemberStatus) => ({ silent_ms: member.lastSeenAgoMs })
  const lag = (of: Pick<MemberStatus, 'lagBatches' | 'lagMs'>) => {
    return { lag_batches: of.lagBatches, lag_ms: of.lagMs }
  }
  return {
    cluster: {
      ...{ role, name, log: link, ...lag({ lagBatches, lagMs }), is_heard: isConnected },
      lease: leader && { holder: leader.name, term: leader.term, ...silentMs(leader) },
      members: members.map((one) => {
        return { role: one.role, name: one.name, ...lag(one), ...silentMs(one) }
      }),
    },
  }
}

function sourcesOf(engine: EngineView) {
  const sources: Record<string, TradesSource> = {}
  for (const { platform, tradesSource } of engine.venues()) {
    if (tradesSource !== null) sources[platform] = tradesSource
  }
  return sources
}

/** Schema drift of a venue. Texts of the venue are truncated and stripped of control characters. */
function driftRecords({ drift }: VenueView) {
  return drift.map(({ kind, name, weight, firstMs, lastMs, count, sample }) => ({
    ...{ kind, name, weight, count, sample },
    first: toSeconds(firstMs),
    last: toSeconds(lastMs),
  }))
}
