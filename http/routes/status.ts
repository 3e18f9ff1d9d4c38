// How the service is: /health for anybody, /metrics for those on this machine. Neither is counted.
// Upholds STATUS1 and STATUS2.

import { Type } from '@sinclair/typebox'
import type { EngineView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Metrics } from '../../engine/metrics.ts'
import { json, plainText } from '../reply.ts'
import { type Route, route } from '../route.ts'

/** The routes without a key. */
export function statusRoutes(parts: {
  engine: EngineView
  metrics: Metrics
  isMetricsPublic: boolean
}): readonly Route[] {
  const { engine, metrics, isMetricsPublic } = parts
  const open = { access: 'public', isCounted: false } as const
  const { registry } = metrics
  return [
    route({ method: 'GET', pattern: '/health', ...open }, Type.Object({}), () =>
      json(healthRecord(engine)),
    ),
    route({ method: 'GET', pattern: '/metrics', ...open }, Type.Object({}), async ({ address }) => {
      if (!isMetricsPublic && !isLoopback(address))
        throw new EngineError('NOT_FOUND', 'no such path')
      return plainText(await registry.metrics(), registry.contentType)
    }),
  ]
}

/** The health record: degraded when any part is not as it should be. */
export function healthRecord(engine: EngineView) {
  const exchanges: Record<string, boolean> = {}
  for (const { platform, state } of engine.venues()) exchanges[platform] = state === 'live'
  const database = engine.isStorageHealthy()
  const cache = engine.catalog.isLoaded
  const isWell = database && cache && Object.values(exchanges).every((isLive) => isLive)
  return {
    status: isWell ? 'ok' : 'degraded',
    version: engine.version,
    database,
    cache,
    exchanges,
    uptime_s: Math.floor(engine.uptimeSeconds()),
  }
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '0000:0000:0000:0000:0000:0000:0000:0001'
}
