import assert from 'node:assert/strict'
import { request as begin, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { loadConfig } from '../../../engine/config.ts'
import { dashboardRequestsPerMinute } from '../../../engine/limits.ts'
import { DashboardSessionSchema } from '../../../http/schemas.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

const { accounts, clock } = openQuickAccounts()
let apiServer: ApiServer
before(async () => {
  await accounts.openLocalAccount(null)
  apiServer = await openApiServer({ clock, accounts, opensLocalAccount: true })
})
after(() => apiServer.stop())

type Headers = Readonly<Record<string, string>>

/** Sends exactly these headers, including Host and Cookie. */
async function sendRequest(
  method: string,
  path: string,
  headers: Headers = {},
  { body, port = apiServer.port }: { body?: object; port?: number } = {},
) {
  const answered = new Promise<Awaited<ReturnType<typeof read>>>((resolve, reject) => {
    const sent = begin({ host: '127.0.0.1', port, method, path, headers, agent: false })
    sent.on('response', (response) => read(response).then(resolve, reject))
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
  return answered

  async function read(response: IncomingMessage) {
    const content = await text(response)
    const { 'set-cookie': cookies = [] } = response.headers
    const parsed = content.startsWith('{') ? JSON.parse(content) : {}
    return { status: response.statusCode, headers: response.headers, cookies, body: parsed }
  }
}

const isPublished = (body: unknown): boolean => Value.Check(DashboardSessionSchema, body)

const OURS = { 'x-dashboard': '1' }
/** The Cookie header that a browser sends after this `Set-Cookie`. */
const pairOf = (cookies: string | readonly string[]): string =>
  String([cookies].flat()[0]).split(';')[0] ?? ''

let accountCount = 0
async function newAccount(headers: Headers = {}) {
  accountCount += 1
  clock.advance(60_000)
  const user = { email: `d${accountCount}@example.com`, password: 'correct horse' }
  const made = await sendRequest('POST', '/v1/auth/signup', { ...OURS, ...headers }, { body: user })
  assert.equal(made.status, 201)
  const account = made.body.user.id
  return {
    user,
    account,
    token: made.body.access_token,
    set: String(made.cookies),
    cookie: pairOf(made.cookies),
  }
}

describe('dashboard session cookie', () => {
  test('sets an HttpOnly and SameSite session cookie when the dashboard logs in, and adds Secure over TLS', async () => {
    const name = `twinbook${apiServer.port}`
    const { set, token, user } = await newAccount()
    const attributes = 'Path=/; Max-Age=86400; HttpOnly; SameSite=Strict'
    assert.equal(set, `${name}=${token}; ${attributes}`)
    const secure = await newAccount({
      origin: 'https://127.0.0.1',
      'sec-fetch-site': 'same-origin',
    })
    assert.equal(secure.set, `__Host-${name}=${secure.token}; ${attributes}; Secure`)
    const again = await sendRequest('POST', '/v1/auth/login', OURS, { body: user })
    assert.equal(pairOf(again.cookies), `${name}=${again.body.access_token}`)
    const behind = { ...OURS, host: 'twinbook.example' }
    const named = await sendRequest('POST', '/v1/auth/login', behind, { body: user })
    assert.match(String(named.cookies), /^twinbook=/, 'a host without a port')
    const elsewhere: readonly Headers[] = [
      {},
      { ...OURS, origin: 'https://elsewhere.example' },
      { ...OURS, 'sec-fetch-site': 'same-site' },
      { origin: apiServer.origin },
    ]
    for (const headers of elsewhere) {
      const { status, cookies } = await sendRequest('POST', '/v1/auth/login', headers, {
        body: user,
      })
      assert.deepEqual([status, cookies], [200, []], JSON.stringify(headers))
    }
  })

  test('accepts a request with the session cookie when the request has the dashboard’s origin and custom header', async () => {
    const { cookie } = await newAccount()
    const status = async (headers: Headers) =>
      (await sendRequest('GET', '/v1/auth/me', { cookie, ...headers })).status
    const overTls = {
      'sec-fetch-site': 'same-origin',
      origin: 'https://a.name.that.a.proxy.replaced',
    }
    const good: readonly Headers[] = [
      OURS,
      { ...OURS, origin: apiServer.origin },
      { ...OURS, ...overTls, cookie: `__Host-${cookie}` },
      { ...OURS, cookie: `theme=dark; ${cookie}; other=1` },
    ]
    for (const headers of good) assert.equal(await status(headers), 200, JSON.stringify(headers))
    const bad: readonly Headers[] = [
      {},
      // A page without TLS could have set this cookie, which lacks the prefix `__Host-`.
      { ...OURS, ...overTls },
      { ...OURS, 'x-forwarded-proto': 'https' },
      { ...OURS, 'sec-fetch-site': 'same-origin', host: 'twinbook.example' },
      { origin: apiServer.origin, 'sec-fetch-site': 'same-origin' },
      { ...OURS, origin: 'https://elsewhere.example' },
      { ...OURS, origin: 'http://127.0.0.1:1' },
      { ...OURS, origin: 'null' },
      { ...OURS, 'sec-fetch-site': 'same-site' },
      { ...OURS, 'sec-fetch-site': 'cross-site', origin: apiServer.origin },
      { ...OURS, 'sec-fetch-site': 'none' },
      { ...OURS, cookie: '' },
      { ...OURS, cookie: `${cookie}x` },
      { ...OURS, cookie: cookie.replace('=', '2=') },
    ]
    for (const headers of bad) assert.equal(await status(headers), 401, JSON.stringify(headers))
    const preflight = await sendRequest('OPTIONS', '/v1/auth/me', { origin: 'http://127.0.0.1:1' })
    const allowed = String(preflight.headers['access-control-allow-headers'])
    assert.match(allowed, /authorization/i)
    assert.doesNotMatch(allowed, /x-dashboard|\*/i)
    assert.equal(preflight.headers['access-control-allow-credentials'], undefined)
    const handshake = {
      ...{ ...OURS, cookie, origin: apiServer.origin, connection: 'Upgrade', upgrade: 'websocket' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    }
    assert.equal(
      (await sendRequest('GET', '/v1/ws', handshake)).status,
      401,
      'a cookie does not open a stream',
    )
  })

  test('uses a key or token in a request instead of the session cookie, and leaves the session unchanged', async () => {
    const [one, other] = [await newAccount(), await newAccount()]
    const { key } = await accounts.createKey(one.account, 'bot')
    const cookie = { ...OURS, cookie: other.cookie }
    const bearer = { ...cookie, authorization: `Bearer ${one.token}` }
    for (const headers of [{ ...cookie, 'x-api-key': key }, bearer]) {
      const { body } = await sendRequest('GET', '/v1/auth/me', headers)
      assert.equal(body.user.email, one.user.email)
    }
    assert.equal(
      (await sendRequest('GET', '/v1/keys', { ...cookie, 'x-api-key': key })).status,
      401,
    )
    assert.equal(
      (await sendRequest('GET', '/v1/auth/me', { ...cookie, 'x-api-key': 'pmk_no' })).status,
      401,
    )
  })

  test('counts dashboard requests against one rate limit, and requests with the account’s API keys against another', async () => {
    const { cookie, account } = await newAccount()
    const { key } = await accounts.createKey(account, 'bot')
    const page = { ...OURS, cookie }
    const limitsOf = async (headers: Headers, path = '/v1/markets?limit=1') => {
      const { status, headers: answerHeaders } = await sendRequest('GET', path, headers)
      return [
        status,
        Number(answerHeaders['x-ratelimit-limit']),
        Number(answerHeaders['x-ratelimit-remaining']),
      ]
    }
    assert.deepEqual(await limitsOf(page), [
      200,
      dashboardRequestsPerMinute,
      dashboardRequestsPerMinute - 1,
    ])
    assert.deepEqual(await limitsOf({ 'x-api-key': key }), [200, 60, 59])
    for (let count = 0; count < 60; count += 1) accounts.takeAccountRequest(account)
    assert.deepEqual(await limitsOf({ 'x-api-key': key }), [429, 60, 0])
    assert.deepEqual(await limitsOf(page, '/v1/keys'), [
      ...[200, dashboardRequestsPerMinute, dashboardRequestsPerMinute - 2],
    ])
    for (let count = 0; count < dashboardRequestsPerMinute; count += 1) {
      accounts.takeDashboardRequest(account)
    }
    assert.deepEqual(await limitsOf(page), [429, dashboardRequestsPerMinute, 0])
  })

  test('ends one session on log-out, and all sessions of the account on “log out everywhere”', async () => {
    const { user, cookie, account, token } = await newAccount()
    const { key } = await accounts.createKey(account, 'bot')
    const page = { ...OURS, cookie }
    const session = await sendRequest('GET', '/v1/auth/session', page)
    assert.equal(isPublished(session.body), true, JSON.stringify(session.body))
    assert.deepEqual([session.body.user.email, session.body.user.has_password], [user.email, true])
    for (const headers of [{}, { cookie }, { 'x-api-key': key }, OURS]) {
      assert.equal((await sendRequest('GET', '/v1/auth/session', headers)).body.user, null)
    }
    const out = await sendRequest('POST', '/v1/auth/logout', page)
    assert.equal(out.status, 204)
    assert.match(
      String(out.cookies),
      /^twinbook\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    )
    const isGood = async (bearer: string) =>
      (await sendRequest('GET', '/v1/auth/me', { authorization: `Bearer ${bearer}` })).status ===
      200
    assert.equal(await isGood(token), false)
    const { body: over } = await sendRequest('GET', '/v1/auth/session', page)
    assert.deepEqual([over.user, over.has_ended, session.body.has_ended], [null, true, false])
    const [first, second] = [
      await sendRequest('POST', '/v1/auth/login', OURS, { body: user }),
      await sendRequest('POST', '/v1/auth/login', {}, { body: user }),
    ]
    const again = { ...OURS, cookie: pairOf(first.cookies) }
    assert.equal(await isGood(second.body.access_token), true)
    assert.equal((await sendRequest('POST', '/v1/auth/logout?everywhere=true', again)).status, 204)
    assert.equal(await isGood(second.body.access_token), false)
    assert.equal(await isGood(first.body.access_token), false)
    assert.equal((await sendRequest('GET', '/v1/auth/me', { 'x-api-key': key })).status, 200)
  })

  test('opens the local account without a password when the request comes from the dashboard on the same machine', async () => {
    clock.advance(60_000)
    const open = async (headers: Headers, port = apiServer.port) => {
      clock.advance(60_000)
      const offered = await sendRequest('GET', '/v1/auth/session', headers, { port })
      const { status, body, cookies } = await sendRequest('POST', '/v1/auth/session', headers, {
        port,
      })
      assert.equal(status, 200)
      assert.equal(isPublished(body), true, JSON.stringify(body))
      const isIn = body.user !== null
      assert.deepEqual([offered.body.local_account, cookies.length], [isIn, isIn ? 1 : 0])
      return { isIn, body, cookies }
    }
    const { body, cookies } = await open(OURS)
    assert.deepEqual(Object.keys(body.user).sort(), [
      ...['created_at', 'email', 'has_password', 'id', 'tier'],
    ])
    assert.deepEqual([body.user.email, body.user.has_password], ['local@localhost', false])
    const page = { ...OURS, cookie: pairOf(cookies) }
    assert.equal((await sendRequest('GET', '/v1/markets?limit=1', page)).status, 200)
    const names = [
      'localhost',
      `localhost:${apiServer.port}`,
      '127.0.0.1',
      '[::1]:1',
      'LocalHost:9',
    ]
    for (const host of names) assert.equal((await open({ ...OURS, host })).isIn, true, host)
    const refused: readonly Headers[] = [
      {},
      { ...OURS, host: 'rebound.example' },
      { ...OURS, host: `127.0.0.1.rebound.example:${apiServer.port}` },
      { ...OURS, host: 'localhost.rebound.example' },
      { ...OURS, 'x-forwarded-for': '127.0.0.1' },
      { ...OURS, 'x-forwarded-proto': 'https' },
      { ...OURS, via: '1.1 proxy' },
      { ...OURS, origin: 'http://127.0.0.1:1' },
      { ...OURS, 'sec-fetch-site': 'cross-site' },
      { ...OURS, 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of refused) {
      assert.equal((await open(headers)).isIn, false, JSON.stringify(headers))
    }
    const closed = await openApiServer({ clock, accounts })
    try {
      assert.equal((await open(OURS, closed.port)).isIn, false, 'not configured')
    } finally {
      await closed.stop()
    }
    const record = accounts.directory.findByEmail('local@localhost')
    assert.ok(record !== null)
    await accounts.directory.disable(record)
    assert.equal((await sendRequest('POST', '/v1/auth/session', OURS)).body.user, null, 'disabled')
  })

  test('allows log-in without a password when the host is a loopback address and no proxy is trusted', () => {
    const isOpen = (env: Readonly<Record<string, string>>) => loadConfig(env).opensLocalAccount
    for (const env of [{}, { HOST: 'localhost' }, { HOST: '::1' }, { HOST: '127.0.0.2' }]) {
      assert.equal(isOpen(env), true, JSON.stringify(env))
    }
    const closed: readonly Readonly<Record<string, string>>[] = [
      { HOST: '0.0.0.0' },
      { HOST: '::' },
      { HOST: '192.168.1.4' },
      { HOST: '127.0.0.1.example' },
      { TRUSTED_PROXIES: '127.0.0.1' },
      { DEMO_KEY: 'off' },
      { NODE_ENV: 'production' },
    ]
    for (const env of closed) assert.equal(isOpen(env), false, JSON.stringify(env))
  })
})
