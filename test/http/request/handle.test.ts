import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { pino } from 'pino'
import { EngineError } from '../../../engine/errors.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { RequestHandler } from '../../../http/request/handle.ts'
import { RequestHead } from '../../../http/request/head.ts'
import { PeerAddresses } from '../../../http/request/peer-address.ts'
import { headerValue, json } from '../../../http/request/reply.ts'
import { bodyRoute, type Route, route } from '../../../http/request/route.ts'
import { Router } from '../../../http/request/router.ts'
import { UnsentAnswers } from '../../../http/request/unsent.ts'
import { FakeAccounts } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openAppWithErrorHandler } from '../../support/rigs/app-with-error-handler.ts'

const clock = new ManualClock()
const accounts = new FakeAccounts(clock)
accounts.make('ann', { requestsPerMinute: 1_000_000 })
const metrics = new Metrics()
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
let release: () => void = () => {}
const None = Type.Object({})
const rules = { group: 'System', summary: 'For this test', answer: null, access: 'public' } as const

/** Two megabytes: more than a socket accepts at once. */
const LONG_TEXT = JSON.stringify({ text: 'é’'.repeat(400_000) })

const ROUTES: readonly Route[] = [
  route('GET /throws', rules, () => {
    throw new Error('secret inside')
  }),
  route('GET /rejects', rules, async () => {
    throw new Error('secret inside')
  }),
  route('GET /throws-later', rules, async () => {
    await Promise.resolve()
    throw new EngineError('UNAVAILABLE', 'the queue is full')
  }),
  route('GET /locked', rules, () => {
    throw new EngineError('RATE_LIMITED', 'wait', { retryAfterSeconds: 7 })
  }),
  route('GET /bytes', rules, () => ({ ...json({}), body: Buffer.from(LONG_TEXT) })),
  route('GET /holds', rules, () => {
    clock.advance(12)
    return json({})
  }),
  bodyRoute('POST /holds-later', { ...rules, body: { schema: None, className: 'Body' } }, () => {
    clock.advance(70)
    return json({})
  }),
  route('GET /never', rules, () => new Promise(() => {})),
  route('GET /slow', rules, async () => {
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return json({ ok: true })
  }),
  route('GET /header', rules, () => ({
    ...json({}),
    headers: [['X-Odd', 'a\r\nSet-Cookie: b\u{1f600}']],
  })),
  bodyRoute(
    'POST /body',
    { ...rules, body: { schema: Type.Object({ text: Type.String() }), className: 'Body' } },
    (_, body) => json({ length: body.text.length }),
  ),
  route('GET /private/{id}', { ...rules, access: 'caller' }, ({ path }) =>
    json({ id: path('id') }),
  ),
  route('GET /data/{id}', { ...rules, access: 'caller' }, ({ path }) => {
    clock.advance(5)
    return json({ id: path('id') })
  }),
]

const requests = new RequestHandler({
  router: new Router(ROUTES),
  accounts,
  clock,
  log,
  metrics,
  corsOrigins: ['https://good.example'],
  head: new RequestHead(),
  peers: new PeerAddresses([]),
  unsent: new UnsentAnswers({ clock, metrics }),
})
let origin = ''
let port = 0
let closeAll: () => void = () => {}

before(async () => {
  const app = await openAppWithErrorHandler(requests)
  port = app.port
  origin = `http://127.0.0.1:${port}`
  closeAll = app.close
})
after(() => closeAll())

/** Resolves with all received text when the peer closes or `until` was received. */
function raw(text: string, until: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1')
      if (answer.includes(until)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

describe('handling of a REST request', () => {
  test('answers 500 without details when a handler throws or its promise rejects', async () => {
    for (const path of ['/throws', '/rejects', '/throws']) {
      const response = await fetch(origin + path)
      assert.equal(response.status, 500)
      assert.deepEqual(await response.json(), { detail: 'internal error' })
      assert.match(response.headers.get('x-ratelimit-limit') ?? '', /^\d+$/)
    }
    assert.equal(requests.inFlightCount, 0)
  })

  test('answers with the status of a refusal that a handler returns', async () => {
    const response = await fetch(`${origin}/throws-later`)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '1')
    assert.deepEqual(await response.json(), { detail: 'the queue is full' })
  })

  test('answers 503 at the deadline when a handler has not finished', async () => {
    const pending = fetch(`${origin}/never`)
    while (clock.timerCount === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(4_999)
    assert.equal(requests.inFlightCount, 1)
    clock.advance(1)
    const response = await pending
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '5')
    assert.match(await response.text(), /not ready in time/)
    assert.equal(clock.timerCount, 0)
  })

  test('answers 400 and disconnects when a request body does not arrive in time', async () => {
    const answer = raw('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"te', 'never')
    while (clock.timerCount === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(5_000)
    assert.match(await answer, /^HTTP\/1\.1 400 [\s\S]*the body did not arrive in time/)
    assert.equal(clock.timerCount, 0)
    assert.equal(requests.inFlightCount, 0)
  })

  test('sends the Retry-After of a refusal instead of the time until the rate limit resets', async () => {
    const response = await fetch(`${origin}/locked`)
    assert.equal(response.status, 429)
    assert.equal(response.headers.get('retry-after'), '7')
  })

  test('continues to serve when a client disconnects before the response', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    while (requests.inFlightCount === 0) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    while (requests.inFlightCount > 0) await new Promise((resolve) => setImmediate(resolve))
    release()
    assert.equal((await fetch(`${origin}/private/1`)).status, 401)
    assert.equal(clock.timerCount, 0, 'its deadline was stopped')
  })

  test('measures how long a handler blocks the event loop before and after an await', async () => {
    const largest = async () => {
      const text = await metrics.registry.metrics()
      return Number(/^http_handler_sync_max_ms (\d+)$/m.exec(text)?.[1])
    }
    assert.equal((await fetch(`${origin}/holds`)).status, 200)
    assert.equal(await largest(), 12)
    const response = await fetch(`${origin}/holds-later`, { method: 'POST', body: '{}' })
    assert.equal(response.status, 200)
    assert.equal(await largest(), 70)
  })

  test('replaces line breaks and other unsafe characters in header values', async () => {
    const response = await fetch(`${origin}/header`)
    assert.equal(response.headers.get('x-odd'), 'a??Set-Cookie: b??')
    assert.equal(response.headers.get('set-cookie'), null)
    assert.equal(headerValue('\0\x7fé'), '???')
  })

  test('reads a request body up to the size limit, and refuses larger bodies', async () => {
    const post = (body: string) => fetch(`${origin}/body`, { method: 'POST', body })
    const most = JSON.stringify({ text: 'x'.repeat(16_384 - 11) })
    assert.equal(Buffer.byteLength(most), 16_384)
    assert.deepEqual(await (await post(most)).json(), { length: 16_373 })
    const refused = await post(`${most} `)
    assert.equal(refused.status, 413)
    assert.match(refused.headers.get('x-ratelimit-reset') ?? '', /^\d+$/)
    const huge = await raw(
      `POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n${'y'.repeat(200_000)}`,
      '}',
    )
    assert.match(huge, /^HTTP\/1\.1 413 /)
    assert.equal((await post('')).status, 422)
    assert.equal(requests.inFlightCount, 0)
  })

  test('sends response bytes unchanged when the handler reuses its buffer at once', async () => {
    const headers = { 'accept-encoding': 'identity' }
    const [one, other] = await Promise.all([1, 2].map(() => fetch(`${origin}/bytes`, { headers })))
    assert.equal(await one?.text(), LONG_TEXT)
    assert.equal(await other?.text(), LONG_TEXT)
    const head = await fetch(`${origin}/bytes`, { method: 'HEAD', headers })
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(LONG_TEXT)))
    assert.equal(await head.text(), '')
  })

  test('answers HEAD with the headers of GET and no body, and answers OPTIONS without a key', async () => {
    const head = await fetch(`${origin}/private/1`, {
      method: 'HEAD',
      headers: { 'x-api-key': 'ann-key' },
    })
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('content-length'), '10')
    assert.equal(await head.text(), '')
    const options = await fetch(`${origin}/private/1`, { method: 'OPTIONS' })
    assert.equal(options.status, 204)
    assert.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS')
    assert.match(options.headers.get('access-control-allow-headers') ?? '', /X-API-Key/)
  })

  test('answers 405 with Allow for a wrong method, and 404 for an unknown path, before checking keys', async () => {
    const wrong = await fetch(`${origin}/private/1`, { method: 'POST', body: '{}' })
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS')
    assert.equal((await fetch(`${origin}/private`)).status, 404)
    assert.equal((await fetch(`${origin}/private/1/`)).status, 404)
    assert.equal((await fetch(`${origin}/private/%zz`)).status, 400)
    assert.equal((await fetch(`${origin}/body?x=%zz`, { method: 'POST', body: '{}' })).status, 400)
  })

  test('returns Access-Control-Allow-Origin to an allowed origin, and omits the header for all other origins', async () => {
    const ask = (from: string) => fetch(`${origin}/private/1`, { headers: { origin: from } })
    const good = await ask('https://good.example')
    assert.equal(good.headers.get('access-control-allow-origin'), 'https://good.example')
    assert.match(good.headers.get('access-control-expose-headers') ?? '', /X-RateLimit-Remaining/)
    assert.equal(good.headers.get('vary'), 'Origin')
    const other = await ask('https://bad.example')
    assert.equal(other.headers.get('access-control-allow-origin'), null)
  })
})

describe('data requests that wait in the queue', () => {
  const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ann-key\r\n\r\n`
  const idsIn = (answers: string) => [...answers.matchAll(/"id":"(\d)"/g)].map(([, id]) => id)

  test('answers pipelined requests in order when no request has to wait', async () => {
    const text = ['1', '2', '3'].map((id) => one(`/private/${id}`)).join('')
    assert.deepEqual(idsIn(await raw(text, '"id":"3"')), ['1', '2', '3'])
  })

  test('answers a pipelined request after the request waited in the queue', async () => {
    assert.deepEqual(idsIn(await raw(one('/data/1') + one('/data/2'), '"id":"2"')), ['1', '2'])
  })

  test('closes the connection when a pipelined request arrives behind a request that waits in the queue', async () => {
    const text = ['1', '2', '3'].map((id) => one(`/data/${id}`)).join('')
    const answered = idsIn(await raw(text, '"id":"3"'))
    assert.ok(!answered.includes('2') && !answered.includes('3'), answered.join())
  })
})

describe('order of refusals of a request', () => {
  test('answers 429 for the rate limit of an address before 404, 405 and 401, with all headers', async () => {
    const used = accounts.usedBy('127.0.0.1')
    const before = await fetch(`${origin}/nowhere`)
    assert.equal(before.status, 404)
    assert.equal(accounts.usedBy('127.0.0.1'), used + 1, 'a 404 is counted')
    accounts.addressLimit = used + 1
    for (const [path, method] of [
      ['/nowhere', 'GET'],
      ['/private/1', 'DELETE'],
      ['/private/1', 'GET'],
    ] as const) {
      const response = await fetch(origin + path, { method })
      assert.equal(response.status, 429)
      assert.ok(Number(response.headers.get('retry-after')) >= 1)
      assert.equal(response.headers.get('x-ratelimit-remaining'), '0')
    }
    const withKey = await fetch(`${origin}/private/1`, { headers: { 'x-api-key': 'ann-key' } })
    assert.equal(withKey.status, 200, 'a valid key counts against its account')
    accounts.addressLimit = 1_000_000
  })

  test('answers 404 and 405 before 429 for the rate limit of an account', async () => {
    accounts.make('poor', { requestsPerMinute: 1 })
    const ask = (path: string, method = 'GET') =>
      fetch(origin + path, { method, headers: { 'x-api-key': 'poor-key' } })
    assert.equal((await ask('/private/1')).status, 200)
    const refused = await ask('/private/1')
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('x-ratelimit-limit'), '1')
    assert.equal((await ask('/nowhere')).status, 404)
    assert.equal((await ask('/private/1', 'PATCH')).status, 405)
  })

  test('closes a connection that sends too many requests after 200 refusals in a second, and answers other clients', async () => {
    accounts.make('flood', { requestsPerMinute: 1 })
    clock.advance(1_000)
    const one = 'GET /private/1 HTTP/1.1\r\nHost: x\r\nX-API-Key: flood-key\r\n\r\n'
    const last = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'
    const refusedIn = (answers: string) => answers.split('HTTP/1.1 429').length - 1
    assert.equal(refusedIn(await raw(one.repeat(900) + last, 'HTTP/1.1 404')), 200)
    assert.equal(refusedIn(await raw(one + last, 'HTTP/1.1 404')), 0)
    const bystander = await fetch(`${origin}/private/1`, { headers: { 'x-api-key': 'ann-key' } })
    assert.equal(bystander.status, 200)
    clock.advance(1_000)
    assert.equal(refusedIn(await raw(one + last, 'HTTP/1.1 404')), 1, 'in the next second')
  })

  test('accepts a valid key or login token on a protected route, and refuses invalid credentials', async () => {
    const ask = (headers: Record<string, string>) => fetch(`${origin}/private/7`, { headers })
    assert.equal((await ask({ 'x-api-key': 'ann-key' })).status, 200)
    assert.equal((await ask({ authorization: 'Bearer ann-token' })).status, 200)
    assert.equal((await ask({ authorization: 'bearer  ann-token' })).status, 200)
    assert.equal((await ask({ 'x-api-key': 'no', authorization: 'Bearer ann-token' })).status, 200)
    for (const authorization of ['', 'Bearer', 'Bearer no', 'Basic ann-token', 'ann-token']) {
      assert.equal((await ask({ authorization })).status, 401, authorization)
    }
  })

  test('writes no credentials to log lines or error bodies', async () => {
    const secrets = ['ann-key', 'ann-token', 'query-key']
    for (const path of ['/throws', '/rejects', '/nowhere', '/private/%zz']) {
      const response = await fetch(`${origin}${path}?api_key=query-key`, {
        headers: { 'x-api-key': 'ann-key', authorization: 'Bearer ann-token' },
      })
      const text = await response.text()
      assert.ok(!secrets.some((secret) => text.includes(secret)), text)
    }
    assert.ok(logged.length > 0)
    for (const line of logged) assert.ok(!secrets.some((secret) => line.includes(secret)), line)
  })
})
