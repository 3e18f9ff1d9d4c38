import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import { createServer as createListener } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { createServer } from '../../http/server.ts'
import { refusedUpgrade, StreamClient } from '../support/clients/stream-client.ts'
import { FakeEngine } from '../support/fakes/engine.ts'
import { type ApiServer, openApiServer, PUBLIC_ONLY } from '../support/rigs/api-server.ts'

let apiServer: ApiServer
before(async () => {
  apiServer = await openApiServer()
  apiServer.engine.add('one')
})
after(() => apiServer.stop())

describe('API server', () => {
  test('accepts URLs and headers far longer than the default of the HTTP library', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(78, '7')).join(',')
    const got = await apiServer.get(`/v1/markets?token_ids=${ids}&limit=1`)
    assert.equal(got.status, 200)
    assert.equal(got.headers.get('x-unknown-parameters'), 'token_ids')
    const large = await apiServer.get('/health', { headers: { 'x-large': 'x'.repeat(16_384) } })
    assert.equal(large.status, 200)
  })

  test('names HOST and PORT in the error when the port is in use', async () => {
    const holder = createListener()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    const address = holder.address()
    assert.ok(typeof address === 'object' && address !== null)
    const engine = new FakeEngine(systemClock)
    const options = {
      engine,
      publisher: engine.publisher,
      clock: systemClock,
      log: silentLog,
      metrics: engine.metrics,
      host: '127.0.0.1',
      corsOrigins: ['*'],
      trustedProxies: [],
      isMetricsPublic: false,
      webhookPolicy: PUBLIC_ONLY,
    }
    const pattern = /HOST=127\.0\.0\.1 PORT=\d+: the port is in use/
    await assert.rejects(createServer({ ...options, port: address.port }), pattern)
    await assert.rejects(
      createServer({ ...options, port: apiServer.port }),
      pattern,
      'a port of another API server is refused too',
    )
    await new Promise((resolve) => holder.close(resolve))
  })

  test('closes every stream with 1001 and accepts no new connections when the server drains', async () => {
    const own = await openApiServer()
    const one = await StreamClient.open(own.port)
    const two = await StreamClient.open(own.port)
    const draining = own.server.drain()
    assert.deepEqual(await one.closed, { code: 1001, reason: 'going away' })
    assert.deepEqual(await two.closed, { code: 1001, reason: 'going away' })
    await draining
    await assert.rejects(fetch(`${own.origin}/health`))
    await own.stop()
  })
})

describe('draining of the API server', () => {
  test('sends Connection: close to a client with many REST requests, and answers each request', async () => {
    const own = await openApiServer()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      new Promise<string>((resolve, reject) => {
        const sent = get(`${own.origin}/health`, { agent }, (answer) => {
          answer.resume()
          answer.on('end', () => resolve(answer.headers.connection ?? ''))
        })
        sent.on('error', reject)
      })
    assert.notEqual(await ask(), 'close')
    const draining = own.server.drain()
    assert.equal(await ask(), 'close')
    await draining
    await own.stop()
  })
})

describe('response headers of the API server', () => {
  test('sends rate-limit headers with every status, including refused WebSocket upgrades', async () => {
    // `get` asserts the three rate-limit headers of each answer.
    const post = (body: string) => ({ method: 'POST', body })
    const seen = new Map<number, string>()
    for (const [path, init] of [
      ['/health', { headers: {} }],
      ['/v1/markets', undefined],
      ['/v1/markets', { headers: {} }],
      ['/v1/markets?limit=0', undefined],
      ['/v1/markets?offset=3&cursor=x', undefined],
      ['/v1/markets/none', undefined],
      ['/v1/markets', post('{}')],
      ['/v1/auth/signup', post('x'.repeat(20_000))],
      ['/v1/markets', { method: 'OPTIONS' }],
      ['/v1/auth/signup', post('{"email":"new@example.com","password":"long enough"}')],
    ] as const) {
      const got = await apiServer.get(path, init)
      seen.set(got.status, path)
      if (got.status >= 400 && got.status !== 422) assert.equal(typeof got.body.detail, 'string')
    }
    assert.deepEqual([...seen.keys()].sort(), [200, 201, 204, 400, 401, 404, 405, 413, 422])
    const refused = await refusedUpgrade(apiServer.port, 'api_key=no')
    assert.equal(refused.status, 401)
    assert.match(refused.headers['x-ratelimit-limit'] ?? '', /^\d+$/)
  })

  test('sends nosniff with JSON, and no-store with account responses', async () => {
    const got = await apiServer.get('/v1/markets')
    assert.equal(got.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(got.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(got.headers.get('cache-control'), 'private, no-cache')
    const me = await apiServer.get('/v1/auth/me')
    assert.equal(me.headers.get('cache-control'), 'no-store')
  })

  test('answers a GET of the stream path without WebSocket headers with 426 and the missing headers, with or without a key', async () => {
    for (const headers of [{}, { 'x-api-key': 'ann-key' }, { 'x-api-key': 'nobody' }]) {
      const got = await apiServer.get('/v1/ws?api_key=ann-key', { headers })
      assert.equal(got.status, 426)
      assert.equal(got.headers.get('upgrade'), 'websocket')
      assert.deepEqual(got.body, {
        detail:
          'this path speaks WebSocket: the request lacks `Upgrade: websocket`, ' +
          '`Sec-WebSocket-Version: 13`, `Sec-WebSocket-Key` of 16 bytes in base64',
      })
    }
    assert.equal((await apiServer.get('/v1/ws', { method: 'HEAD' })).status, 426)
    assert.equal((await apiServer.get('/v1/ws', { method: 'POST' })).status, 405)
  })
})
