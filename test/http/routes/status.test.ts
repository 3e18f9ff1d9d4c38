import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { timeMs } from '../../../engine/units.ts'
import type { Market } from '../../../http/dashboard/records.ts'
import { statsSchema } from '../../../http/routes/status.ts'
import { HealthSchema } from '../../../http/schemas.ts'
import { RawConnection, requestBytes } from '../../support/clients/raw-http.ts'
import { successfulBodyOf } from '../../support/clients/successful-body.ts'
import { quietDrift } from '../../support/fakes/quiet-drift.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

let server: ApiServer
before(async () => {
  server = await openApiServer()
})
after(() => server.stop())

test('serves health without a key and without counting the request, and reports degraded when a component is degraded', async () => {
  const { engine } = server
  const used = engine.accounts.usedBy('127.0.0.1')
  const health = async () => {
    const got = await server.get('/health', { headers: {} })
    assert.equal(got.status, 200)
    assert.ok(Value.Check(HealthSchema, got.body), got.text)
    return got.body
  }
  assert.equal((await health()).status, 'ok')
  const [first] = engine.venueViews
  assert.ok(first !== undefined)
  for (const state of ['stale', 'down'] as const) {
    engine.venueViews[0] = { ...first, state }
    const { status, exchanges, protocols } = await health()
    assert.equal(status, 'degraded')
    assert.deepEqual(exchanges, { venue_a: false, venue_b: true })
    assert.deepEqual(protocols, { venue_a: 'polymarket', venue_b: 'kalshi' })
  }
  engine.venueViews[0] = first
  engine.isHealthy = false
  assert.equal((await health()).database, false)
  engine.isHealthy = true
  engine.catalog.isLoaded = false
  const { status, cache } = await health()
  assert.deepEqual({ status, cache }, { status: 'degraded', cache: false })
  engine.catalog.isLoaded = true
  assert.equal(engine.accounts.usedBy('127.0.0.1'), used)
})

test('lists unknown venue data in health under the configured venue name', async () => {
  const { engine } = server
  const [first] = engine.venueViews
  assert.ok(first !== undefined)
  const drift = quietDrift()
  drift.note('gamma.version', 'v3\u0000\u202e', '<script>"\ud800')
  drift.note('gamma.version', 'v3\u0000\u202e', 'another')
  drift.note('data.row', 'new', '', 'notice')
  engine.venueViews[0] = { ...first, drift: drift.entries() }
  const got = await server.get('/health', { headers: {} })
  assert.ok(Value.Check(HealthSchema, got.body), got.text)
  const { firstMs } = drift.entries()[0] ?? { firstMs: 0 }
  const times = { first: Math.floor(firstMs / 1_000), last: Math.floor(firstMs / 1_000) }
  const version = { kind: 'gamma.version', name: 'v3 ', weight: 'loss', count: 2 }
  const row = { kind: 'data.row', name: 'new', weight: 'notice', count: 1 }
  assert.deepEqual(got.body.drift, {
    venue_a: [
      { ...version, ...times, sample: '<script>" ' },
      { ...row, ...times, sample: '' },
    ],
    venue_b: [],
  })
  engine.venueViews[0] = first
})

test('serves metrics to requests from the same machine', async () => {
  const got = await server.get('/metrics', { headers: {} })
  assert.equal(got.status, 200)
  assert.match(got.text, /http_answers_total\{status="200"\} \d+/)
})

test('refuses metrics to clients behind a proxy, and forbids foreign origins to read metrics', async () => {
  const proxied = await openApiServer({ trustedProxies: ['127.0.0.1'] })
  try {
    for (const one of [server, proxied]) {
      for (const name of [
        'X-Forwarded-For',
        'Forwarded',
        'X-Real-IP',
        'X-Forwarded-Proto',
        'Via',
        'CF-Connecting-IP',
        'X-Forwarded',
        'Forwarded-For',
        'X-Original-Forwarded-For',
        'CDN-Loop',
      ]) {
        for (const value of ['127.0.0.1', '']) {
          const got = await one.get('/metrics', { headers: { [name]: value } })
          assert.equal(got.status, 404, `${name}: ${value}`)
        }
      }
      for (const init of [{}, { method: 'OPTIONS' }, { method: 'POST' }]) {
        const got = await one.get('/metrics', {
          headers: { origin: 'https://else.example' },
          ...init,
        })
        for (const name of got.headers.keys())
          assert.doesNotMatch(name, /^access-control-allow-origin/)
      }
      const health = await one.get('/health', { headers: { origin: 'https://else.example' } })
      assert.equal(health.headers.get('access-control-allow-origin'), '*')
    }
  } finally {
    await proxied.stop()
  }
})

test('serves metrics for loopback host names and METRICS_HOSTS, and for IP addresses when metrics are public', async () => {
  const hosts = ['localhost:8080', '127.0.0.1', '[::1]:1', 'Metrics.Example:8080', '192.0.2.7:8080']
  const answeredBy = async (set: Parameters<typeof openApiServer>[0]) => {
    const own = await openApiServer(set)
    try {
      const statuses: (number | undefined)[] = []
      for (const host of [
        ...hosts,
        '[2001:db8::1]',
        'rebound.example',
        '192.0.2.7.rebound.example',
      ]) {
        const connection = new RawConnection(own.port)
        const request = Buffer.from(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        statuses.push((await connection.exchange(request))?.status)
        connection.close()
      }
      return statuses
    } finally {
      await own.stop()
    }
  }
  const [yes, no] = [200, 404]
  assert.deepEqual(await answeredBy({}), [yes, yes, yes, no, no, no, no, no])
  const metricsHosts = ['metrics.example']
  assert.deepEqual(await answeredBy({ metricsHosts }), [yes, yes, yes, yes, no, no, no, no])
  const all = await answeredBy({ metricsHosts, isMetricsPublic: true })
  assert.deepEqual(all, [yes, yes, yes, yes, yes, yes, no, no])
})

test('treats a client that sends a PROXY protocol header as remote', async () => {
  const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
  const addresses = Buffer.from('cb0071077f000001d431232800', 'hex').subarray(0, 12)
  const preamble = Buffer.concat([signature, Buffer.from([0x21, 0x11, 0, 12]), addresses])
  const connection = new RawConnection(server.port)
  const request = requestBytes({ method: 'GET', target: '/metrics' })
  const answer = await connection.exchange(Buffer.concat([preamble, request]))
  connection.close()
  assert.ok(answer === null || answer.status === 404, `${answer?.status}`)
})

test('counts stored data in statistics under the configured venue names', async () => {
  const { engine } = server
  const schema = statsSchema(engine.catalog.names)
  const empty = await successfulBodyOf(server, schema, '/v1/stats')
  assert.deepEqual(empty.markets, {
    total: 0,
    venue_a: 0,
    venue_b: 0,
    open: 0,
    closed: 0,
    resolved: 0,
  })
  const unknown = { covered_markets: null, open_markets: null, policy: null }
  const noTrades = { first_trade_ms: null, last_trade_ms: null }
  const none = { ...noTrades, lag_ms: 5, delay_ms: 2, stale: false, ...unknown }
  assert.deepEqual(empty.coverage, { venue_a: none, venue_b: none })
  const rain = engine.add('Rain')
  const snow = engine.add('Snow', { venue: 'b' })
  engine.add('Wind', { status: 'closed' })
  engine.add('Hail', { status: 'resolved' })
  rain.trade({ timeMs: timeMs(1_000) })
  rain.trade({ timeMs: timeMs(9_000) })
  engine.matches.put(rain, snow)
  const [first, second] = engine.venueViews
  assert.ok(first !== undefined && second !== undefined)
  engine.venueViews[1] = { ...second, state: 'stale', lagMs: null }
  engine.bookFigures = { a: { covered: 1, open: 2, policy: 'top:1' } }
  const { timestamp_ms, ...stats } = await successfulBodyOf(server, schema, '/v1/stats')
  engine.venueViews[1] = second
  engine.bookFigures = {}
  assert.ok(timestamp_ms > 0)
  const feed = { delay_ms: 2 }
  assert.deepEqual(stats, {
    data: 'live',
    markets: { total: 4, venue_a: 3, venue_b: 1, open: 2, closed: 1, resolved: 1 },
    events: engine.catalog.eventCount(),
    trades: 2,
    orderbook_snapshots: 0,
    wallets: 0,
    matches: { total: 1, high_confidence: 1 },
    coverage: {
      venue_a: {
        ...{ first_trade_ms: 1_000, last_trade_ms: 9_000, ...feed, lag_ms: 5, stale: false },
        ...{ covered_markets: 1, open_markets: 2, policy: 'top:1' },
      },
      venue_b: { ...noTrades, ...feed, lag_ms: null, stale: true, ...unknown },
    },
    database_bytes: engine.databaseBytes,
    tape: null,
  })
})

test('reports the state of the tape in statistics', async () => {
  const { engine } = server
  const times = { oldestMs: timeMs(3), newestMs: null }
  engine.tape = {
    status: () => ({ state: 'disk_full', bytes: 5, hours: 2, lostRows: 7, ...times }),
  }
  const schema = statsSchema(engine.catalog.names)
  const { tape } = await successfulBodyOf(server, schema, '/v1/stats')
  engine.tape = undefined
  const expected = { state: 'disk_full', bytes: 5, hours: 2, lost_rows: 7 }
  assert.deepEqual(tape, { ...expected, oldest_ms: 3, newest_ms: null })
})

test('reports internal delays in health and statistics', async () => {
  const { engine } = server
  const { delay_ms, exchanges } = await successfulBodyOf(server, HealthSchema, '/health')
  assert.equal(delay_ms, engine.delayMs())
  assert.deepEqual(Object.keys(exchanges), ['venue_a', 'venue_b'])
  const { coverage } = await successfulBodyOf(
    server,
    statsSchema(engine.catalog.names),
    '/v1/stats',
  )
  assert.deepEqual(
    Object.values(coverage).map((row) => row.delay_ms),
    engine.venueViews.map(({ delayMs }) => delayMs),
  )
})

test('states the origin of the data, and leaves out addresses of simulated markets', async (t) => {
  const { engine } = server
  t.after(() => {
    engine.data = 'live'
  })
  const market = engine.add('origin')
  market.summary = { ...market.summary, url: 'https://example.com/origin' }
  const urlOf = async (name: string) => {
    const { text } = await server.get(`/v1/markets/${engine.add(name, market.summary).ref.id}`)
    const { platforms }: Market = JSON.parse(text)
    return platforms[0]?.url
  }
  for (const [data, url] of [
    ['live', 'https://example.com/origin'],
    ['replay', 'https://example.com/origin'],
    ['simulated', null],
  ] as const) {
    engine.data = data
    const [health, stats] = [await server.get('/health'), await server.get('/v1/stats')]
    assert.deepEqual([health.body.data, stats.body.data], [data, data])
    assert.equal(await urlOf(`${data} market`), url)
  }
})
