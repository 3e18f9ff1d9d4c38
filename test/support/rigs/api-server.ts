// Starts an API server over a fake engine on a free port. Checks the rate-limit headers of every JSON response.

import assert from 'node:assert/strict'
import type { Accounts } from '../../../actors/accounts/accounts.ts'
import { type Clock, systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import type { CallPolicy } from '../../../engine/webhooks/post.ts'
import { createServer, type Server } from '../../../http/server.ts'
import type { Channel } from '../../../http/ws/channels/channel.ts'
import { CHANNELS } from '../../../http/ws/channels/channels.ts'
import { FakeEngine } from '../fakes/engine.ts'

/** Tests call `stop` in `after`, because Node 20 has no `await using`. */
export interface ApiServer {
  readonly engine: FakeEngine
  readonly server: Server
  readonly port: number
  readonly origin: string
  get(path: string, init?: RequestInit): Promise<ReceivedResponse>
  stop(): Promise<void>
}

export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** null if there is no body. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The default policy: webhooks may call public HTTPS addresses only. */
export const PUBLIC_ONLY: CallPolicy = { allowsHttp: false, allowsPrivate: false }

/** The account `ann` has the tier pro and a high quota. */
export async function openApiServer(
  set: {
    clock?: Clock
    names?: VenueTable
    isMetricsPublic?: boolean
    metricsHosts?: readonly string[]
    webhookPolicy?: CallPolicy
    opensLocalAccount?: boolean
    corsOrigins?: readonly string[]
    trustedProxies?: readonly string[]
    channels?: readonly Channel[]
    connectionsMax?: number
    accounts?: Accounts
    /** Called before the server listens. */
    before?: (engine: FakeEngine) => void
  } = {},
): Promise<ApiServer> {
  const clock = set.clock ?? systemClock
  const engine = new FakeEngine(clock, set.names)
  engine.accounts.make('ann', { tier: 'pro', requestsPerMinute: 100_000, socketsMax: 50 })
  if (set.accounts !== undefined) {
    Object.defineProperty(engine, 'accounts', { value: set.accounts })
  }
  set.before?.(engine)
  const server = await createServer({
    engine,
    publisher: engine.publisher,
    clock,
    log: silentLog,
    metrics: engine.metrics,
    host: '127.0.0.1',
    port: 0,
    corsOrigins: set.corsOrigins ?? ['*'],
    trustedProxies: set.trustedProxies ?? [],
    isMetricsPublic: set.isMetricsPublic ?? false,
    metricsHosts: set.metricsHosts ?? [],
    webhookPolicy: set.webhookPolicy ?? PUBLIC_ONLY,
    opensLocalAccount: set.opensLocalAccount ?? false,
    channels: set.channels ?? CHANNELS,
    ...(set.connectionsMax === undefined ? {} : { connectionsMax: set.connectionsMax }),
  })
  engine.register(server)
  const origin = `http://127.0.0.1:${server.port}`
  return {
    engine,
    server,
    port: server.port,
    origin,
    // Compressed answers would take a large part of a test's time.
    get: (path, init) =>
      request(origin + path, {
        headers: { 'x-api-key': 'ann-key', 'accept-encoding': 'identity' },
        ...init,
      }),
    stop: () => server.stop(),
  }
}

async function request(url: string, init: RequestInit): Promise<ReceivedResponse> {
  const response = await fetch(url, init)
  const text = await response.text()
  for (const name of ['limit', 'remaining', 'reset']) {
    const value = response.headers.get(`x-ratelimit-${name}`)
    assert.match(value ?? 'absent', /^\d+$/, `x-ratelimit-${name} of ${response.status} ${url}`)
  }
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const body = isJson && text !== '' ? JSON.parse(text) : {}
  // A cursor is random text, which may contain `NaN`.
  assert.ok(!/(?<![\w-])(?:NaN|undefined)(?![\w-])/.test(text), text)
  return { status: response.status, headers: response.headers, text, body }
}
