import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { StreamClient } from '../../support/clients/stream-client.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'
import {
  type ApiServer,
  openApiServer,
  type ReceivedResponse,
} from '../../support/rigs/api-server.ts'

const { accounts, clock } = openQuickAccounts()
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock, accounts })
})
after(() => server.stop())

type Headers = Readonly<Record<string, string>>
const PASSWORD = 'correct horse'
const send = (
  method: string,
  path: string,
  headers: Headers,
  body?: unknown,
): Promise<ReceivedResponse> =>
  server.get(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const withKey = (key: string): Headers => ({ 'x-api-key': key })
const HOOK = {
  url: 'https://hooks.example.com/services/s3cret?x=1',
  event_types: ['trade.created'],
}

let accountCount = 0
/** The account has a key for each scope. A new minute of the rate limit begins. */
async function newAccount() {
  accountCount += 1
  clock.advance(60_000)
  const email = `p${accountCount}@example.com`
  const { caller, accessToken: token } = await accounts.signUp({
    ...{ email, password: PASSWORD, address: 'elsewhere' },
  })
  const reader = await accounts.createKey(caller.accountId, 'reads')
  const writer = await accounts.createKey(caller.accountId, 'writes', ['webhooks'])
  return { caller, email, token, reader: reader.key, key: writer.key, keyId: writer.view.id }
}

function limitOf({ headers }: ReceivedResponse): number {
  return Number(headers.get('x-ratelimit-limit'))
}

describe('account management', () => {
  test('accepts a login token for keys and webhooks after an API key of the account has used up its rate limit', async () => {
    const { email, token, key, keyId } = await newAccount()
    const made = await send('POST', '/v1/webhooks', withKey(key), HOOK)
    assert.equal(made.status, 201, made.text)
    const hook = `/v1/webhooks/${made.body.id}`
    for (let left = 1; left > 0; ) {
      const { headers } = await send('GET', '/v1/markets?limit=1', withKey(key))
      left = Number(headers.get('x-ratelimit-remaining'))
    }
    const spent = await send('GET', '/v1/auth/me', withKey(key))
    assert.deepEqual([spent.status, limitOf(spent)], [429, 60], 'the key has used up its minute')
    // A request with a key and a token is limited like a request with the token only.
    const both = { ...withKey(key), ...bearer(token) }
    let remaining = 60
    for (const [status, method, path, body] of [
      [200, 'GET', '/v1/auth/me'],
      [200, 'GET', '/v1/keys'],
      [201, 'POST', '/v1/keys', { label: 'next' }],
      [200, 'GET', '/v1/webhooks'],
      [200, 'PATCH', hook, { active: false }],
      [200, 'POST', `${hook}/rotate-secret`, {}],
      [204, 'DELETE', hook],
      [204, 'DELETE', `/v1/keys/${keyId}`],
      [401, 'POST', '/v1/auth/password', { current_password: 'x', new_password: PASSWORD }],
      [204, 'POST', '/v1/auth/logout'],
    ] as const) {
      const got = await send(method, path, both, body)
      remaining -= 1
      assert.equal(got.status, status, `${method} ${path}: ${got.text}`)
      assert.deepEqual(
        [limitOf(got), Number(got.headers.get('x-ratelimit-remaining'))],
        [60, remaining],
      )
    }
    for (const path of ['/v1/auth/login', '/v1/auth/signup'] as const) {
      const user = { email: path.endsWith('login') ? email : `new-${email}`, password: PASSWORD }
      const got = await send('POST', path, withKey(key), user)
      assert.ok(got.status < 300, got.text)
      assert.equal(limitOf(got), 20, 'the attempts of the address')
    }
    const { status, text } = await send('GET', '/v1/keys', both)
    assert.equal(status, 401, text)
  })

  test('limits account management requests per login token, separately from the limits of API keys', async () => {
    const { email, token, reader } = await newAccount()
    // Uses up the rate limit of the address with requests without a valid credential.
    for (let count = 0; count < 600; count += 1) {
      await send('GET', '/v1/keys', count % 2 === 0 ? {} : bearer('x'))
    }
    assert.equal((await send('GET', '/v1/keys', {})).status, 429)
    for (let count = 0; count < 60; count += 1) {
      assert.equal((await send('GET', '/v1/keys', bearer(token))).status, 200)
    }
    const refused = await send('GET', '/v1/keys', bearer(token))
    assert.deepEqual([refused.status, limitOf(refused)], [429, 60])
    assert.equal((await send('GET', '/v1/markets?limit=1', withKey(reader))).status, 200)
    const user = { email, password: PASSWORD }
    assert.equal((await send('POST', '/v1/auth/login', {}, user)).status, 200)
  })
})

describe('permissions of an API key', () => {
  test('accepts an API key as `Authorization: Bearer` on every route that accepts keys', async () => {
    const { reader, token } = await newAccount()
    for (const path of ['/v1/markets?limit=1', '/v1/auth/me', '/v1/webhooks']) {
      assert.equal((await send('GET', path, bearer(reader))).status, 200, path)
    }
    // A valid credential in one header suffices.
    const mixed = { ...withKey('pmk_wrong'), ...bearer(reader) }
    assert.equal((await send('GET', '/v1/markets?limit=1', mixed)).status, 200)
    assert.equal((await send('GET', '/v1/keys', bearer(reader))).status, 401)
    assert.equal((await send('GET', '/v1/markets', bearer(`${reader.slice(0, -1)}!`))).status, 401)
    assert.equal((await send('GET', '/v1/markets', withKey(token))).status, 401)
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/ws`, { headers: bearer(reader) })
    const opened = await new Promise((resolve) => {
      socket.once('open', () => resolve('open'))
      socket.once('error', resolve)
    })
    socket.terminate()
    assert.equal(opened, 'open')
  })

  test('hides secrets in webhook URLs from a key without the `webhooks` scope, and refuses webhook changes by the key', async () => {
    const { reader, key, token } = await newAccount()
    const made = await send('POST', '/v1/webhooks', withKey(key), HOOK)
    const hook = `/v1/webhooks/${made.body.id}`
    for (const [method, path, body] of [
      ['POST', '/v1/webhooks', HOOK],
      ['PATCH', hook, { active: false }],
      ['POST', `${hook}/test`],
      ['POST', `${hook}/rotate-secret`, {}],
      ['POST', `${hook}/deliveries/dlv_1/retry`],
      ['DELETE', hook],
    ] as const) {
      const got = await send(method, path, withKey(reader), body)
      assert.equal(got.status, 403, `${method} ${path}: ${got.text}`)
      assert.match(String(got.body.detail), /lacks the scope `webhooks`/)
    }
    for (const path of ['/v1/webhooks', hook, `${hook}/deliveries`]) {
      const got = await send('GET', path, withKey(reader))
      assert.equal(got.status, 200, got.text)
      assert.ok(!/s3cret|x=1|whsec_/.test(got.text), got.text)
    }
    const shown = await send('GET', hook, withKey(reader))
    assert.equal(shown.body.url, 'https://hooks.example.com/…')
    for (const credential of [withKey(key), bearer(token)]) {
      assert.equal((await send('GET', hook, credential)).body.url, HOOK.url)
    }
    assert.equal((await send('DELETE', hook, withKey(key))).status, 204)
  })

  test('refuses an invalid webhook id before searching for the webhook', async () => {
    const { key } = await newAccount()
    for (const id of ['not_valid!', 'wh_', 'wh_a-b', `wh_${'a'.repeat(65)}`, '%00']) {
      const got = await send('DELETE', `/v1/webhooks/${id}`, withKey(key))
      assert.equal(got.status, 422, `${id}: ${got.text}`)
      assert.match(got.text, /"loc":\["path","webhook_id"\]/)
    }
    assert.equal((await send('DELETE', '/v1/webhooks/wh_none', withKey(key))).status, 404)
  })

  test('creates an API key with read permission by default, and returns the permissions of the key', async () => {
    const { token } = await newAccount()
    const make = (scopes?: unknown) =>
      send('POST', '/v1/keys', bearer(token), {
        label: 'one',
        ...(scopes === undefined ? {} : { scopes }),
      })
    for (const [scopes, given] of [
      [undefined, ['read']],
      [['read'], ['read']],
      [['webhooks'], ['read', 'webhooks']],
      [
        ['webhooks', 'read', 'webhooks'],
        ['read', 'webhooks'],
      ],
    ] as const) {
      const got = await make(scopes)
      assert.deepEqual([got.status, got.body.scopes], [201, given])
    }
    for (const scopes of [[], ['write'], 'read', [5], null, Array(17).fill('read')]) {
      assert.equal((await make(scopes)).status, 422, JSON.stringify(scopes))
    }
    const { keys } = (await send('GET', '/v1/keys', bearer(token))).body
    assert.ok(Array.isArray(keys) && keys.every(({ scopes }) => scopes.includes('read')))
  })
})

describe('revoked keys and ended tokens', () => {
  /** Opens one stream with the token and one with the key. */
  async function streams(token: string, key: string) {
    const byToken = await StreamClient.open(server.port, `access_token=${token}`)
    const byKey = await StreamClient.open(server.port, `api_key=${key}`)
    const continues = async () => {
      byKey.send({ action: 'ping', id: 1 })
      await byKey.next((message) => message.type === 'pong')
      byKey.socket.terminate()
    }
    return { ended: byToken.closed.then(({ code }) => code), keys: byKey.closed, continues }
  }

  test('ends the login token that logs out and the streams of the token, even if several log-outs run concurrently', async () => {
    const { email, token, reader } = await newAccount()
    const user = { email, password: PASSWORD }
    const other = String((await send('POST', '/v1/auth/login', {}, user)).body.access_token)
    const { ended, continues } = await streams(token, reader)
    const out = () => send('POST', '/v1/auth/logout', bearer(token))
    const both = (await Promise.all([out(), out()])).map(({ status }) => status)
    assert.deepEqual(both.sort(), [204, 401])
    assert.equal(await ended, 4010)
    await continues()
    assert.equal((await send('GET', '/v1/auth/me', bearer(token))).status, 401)
    await assert.rejects(StreamClient.open(server.port, `access_token=${token}`))
    assert.equal((await send('GET', '/v1/auth/me', bearer(other))).status, 200)
    assert.equal(
      (await send('POST', '/v1/auth/logout', withKey(reader))).status,
      401,
      'a key cannot log out',
    )
  })

  test('returns a new session after a password change, ends all older login tokens, and leaves keys valid', async () => {
    const { email, token, reader } = await newAccount()
    const change = (current_password: unknown, new_password: unknown, by = token) =>
      send('POST', '/v1/auth/password', bearer(by), { current_password, new_password })
    for (const [current, next, status] of [
      ['hunter2hunter2', 'a good one', 401],
      [PASSWORD, 'hunter2', 422],
      [PASSWORD, 'é'.repeat(513), 422],
      [5, 'hunter2hunter2', 422],
    ] as const) {
      const got = await change(current, next)
      assert.equal(got.status, status, got.text)
      assert.ok(!/hunter|correct|éé/.test(got.text), got.text)
    }
    const { ended, continues } = await streams(token, reader)
    const changed = await change(PASSWORD, 'battery staple')
    assert.equal(changed.status, 200, changed.text)
    assert.equal(await ended, 4010)
    await continues()
    assert.equal((await send('GET', '/v1/auth/me', bearer(token))).status, 401)
    const next = bearer(String(changed.body.access_token))
    assert.equal((await send('GET', '/v1/auth/me', next)).status, 200)
    assert.equal((await send('GET', '/v1/markets?limit=1', withKey(reader))).status, 200)
    const logIn = (password: string) => send('POST', '/v1/auth/login', {}, { email, password })
    assert.deepEqual(
      [(await logIn(PASSWORD)).status, (await logIn('battery staple')).status],
      [401, 200],
    )
  })

  test('ends all keys, tokens and streams of a deleted account, and allows a new account with the same e-mail address', async () => {
    const { email, token, reader } = await newAccount()
    const { ended, keys } = await streams(token, reader)
    const remove = (password: unknown) =>
      send(
        'DELETE',
        '/v1/auth/me',
        bearer(token),
        password === undefined ? undefined : { password },
      )
    assert.deepEqual(
      [(await remove('wrong')).status, (await remove(undefined)).status, (await remove(5)).status],
      [401, 422, 422],
    )
    const twice = await Promise.all([remove(PASSWORD), remove(PASSWORD)])
    assert.deepEqual(twice.map(({ status }) => status).sort(), [204, 401])
    const backupsUntil = Math.floor(clock.nowMs() / 1_000) + 25 * 3_600
    const removed = twice.find(({ status }) => status === 204)
    assert.equal(removed?.headers.get('x-backups-until'), String(backupsUntil))
    assert.deepEqual([await ended, (await keys).code], [4010, 4010])
    for (const headers of [bearer(token), withKey(reader)]) {
      assert.equal((await send('GET', '/v1/auth/me', headers)).status, 401)
    }
    const again = { email, password: PASSWORD }
    assert.equal((await send('POST', '/v1/auth/signup', {}, again)).status, 201)
  })

  test('refuses a request when its key is revoked after the headers and before the body arrive', async () => {
    const { caller, token, key, keyId } = await newAccount()
    const body = JSON.stringify(HOOK)
    const begin = (credential: string) => {
      const socket = connect(server.port, '127.0.0.1')
      let answer = ''
      socket.on('data', (bytes) => {
        answer += bytes.toString('latin1')
      })
      const head = [`POST /v1/webhooks HTTP/1.1`, 'Host: x', credential, 'Connection: close']
      socket.write(
        `${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
      )
      const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(answer)))
      return async () => {
        socket.write(body.slice(9))
        const status = Number((await Promise.race([closed, answered(socket)])).slice(9, 12))
        socket.destroy()
        return status
      }
    }
    const answered = (socket: ReturnType<typeof connect>) =>
      new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
    const ends = [begin(`X-API-Key: ${key}`), begin(`Authorization: Bearer ${token}`)]
    // Answers to later requests show that the server has read both heads.
    for (let tick = 0; tick < 3; tick += 1) await send('GET', '/v1/markets?limit=1', withKey(key))
    await accounts.revokeKey(caller.accountId, keyId)
    await accounts.logOut(caller)
    for (const end of ends) assert.equal(await end(), 401)
    assert.deepEqual(server.engine.webhooks.list(caller.accountId), [])
  })
})
