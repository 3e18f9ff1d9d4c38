import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import type { AccountWatcher } from '../../../../actors/accounts/directory.ts'
import { accountId } from '../../../../engine/ids.ts'
import { RawConnection } from '../../../support/clients/raw-http.ts'
import { refusedUpgrade, StreamClient } from '../../../support/clients/stream-client.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'

let apiServer: ApiServer
before(async () => {
  apiServer = await openApiServer()
  apiServer.engine.accounts.make('bob')
})
after(() => apiServer.stop())

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

const socketsOf = (name: string): number =>
  [...apiServer.engine.accounts.accounts.values()].find(({ caller }) =>
    caller.email.startsWith(name),
  )?.socketCount ?? -1

describe('handshake of the stream', () => {
  test('sends the connection’s limits and the states of the venues when a client connects', async () => {
    const client = await StreamClient.open(apiServer.port)
    const [greeting] = client.messages
    assert.match(String(greeting?.connection_id), /^c_[\w-]{12}$/)
    assert.equal(greeting?.heartbeat_s, 5)
    assert.deepEqual(greeting?.limits, {
      subscriptions: 1000,
      commands_per_s: 20,
      message_bytes: 16384,
    })
    assert.equal((await client.ofType('status')).platform, 'venue_a')
    assert.equal((await client.ofType('status')).platform, 'venue_b')
    await client.close()
  })

  test('answers 401 for an invalid key and 422 or 400 for an invalid encoding, with rate-limit headers', async () => {
    for (const [query, status] of [
      ['', 401],
      ['api_key=', 401],
      ['api_key=nope', 401],
      ['access_token=nope', 401],
      ['api_key=ann-key&encoding=xml', 422],
      ['api_key=ann-key&batch=yes', 422],
      ['api_key=ann-key&x=%zz', 400],
    ] as const) {
      const refused = await refusedUpgrade(apiServer.port, query)
      // The malformed percent-encoding makes the key unreadable, so the account is unknown.
      assert.equal(refused.status, status, query)
      for (const name of ['limit', 'remaining', 'reset']) {
        assert.match(refused.headers[`x-ratelimit-${name}`] ?? '', /^\d+$/)
      }
    }
  })

  test('opens the stream with a login token, or with a key in a header', async () => {
    const byToken = await StreamClient.open(apiServer.port, 'access_token=ann-token')
    await byToken.close()
    const headers = { 'x-api-key': 'ann-key' }
    const byHeader = new WebSocket(`ws://127.0.0.1:${apiServer.port}/v1/ws`, { headers })
    await once(byHeader, 'message')
    byHeader.terminate()
  })

  test('accepts exactly two of 50 simultaneous handshakes when the limit is two streams, and frees both slots afterwards', async () => {
    apiServer.engine.accounts.make('free', { requestsPerMinute: 1000 })
    for (let round = 0; round < 3; round += 1) {
      const attempts = Array.from({ length: 50 }, async () => {
        const socket = new WebSocket(`ws://127.0.0.1:${apiServer.port}/v1/ws?api_key=free-key`)
        socket.on('error', () => {})
        const status = await Promise.race([
          once(socket, 'open').then(() => 101),
          once(socket, 'unexpected-response').then(([, response]) => {
            // The header is a fixed wait, because a slot may become free at any time.
            assert.equal(response.headers['retry-after'], '5')
            return response.statusCode
          }),
        ])
        return { socket, status }
      })
      const results = await Promise.all(attempts)
      assert.equal(results.filter(({ status }) => status === 101).length, 2)
      assert.equal(results.filter(({ status }) => status === 429).length, 48)
      for (const { socket } of results) socket.terminate()
      await until(() => socketsOf('free') === 0)
    }
  })

  test('frees the stream slot of a client that disconnects during its handshake', async () => {
    for (let round = 0; round < 20; round += 1) {
      const socket = connect(apiServer.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(
        'GET /v1/ws?access_token=ann-token HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n' +
          'Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
          'Sec-WebSocket-Version: 13\r\n\r\n',
      )
      if (round % 2 === 0) await once(socket, 'connect')
      socket.destroy()
    }
    const last = await StreamClient.open(apiServer.port)
    await last.close()
    await until(() => socketsOf('ann') === 0)
    assert.equal(apiServer.server.hub.sessions.size, 0)
  })

  test('counts a WebSocket upgrade as one request, and answers 429 beyond the rate limit', async () => {
    apiServer.engine.accounts.make('few', { requestsPerMinute: 2, socketsMax: 9 })
    await (await StreamClient.open(apiServer.port, 'api_key=few-key')).close()
    await (await StreamClient.open(apiServer.port, 'api_key=few-key')).close()
    const refused = await refusedUpgrade(apiServer.port, 'api_key=few-key')
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['x-ratelimit-limit'], '2')
  })

  test('answers an incomplete handshake with 426 and the missing header before checking keys', async () => {
    const key = 'dGhlIHNhbXBsZSBub25jZQ=='
    const complete = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': key,
    }
    const noUpgrade = /lacks `Upgrade: websocket`$/
    const noVersion = /lacks `Sec-WebSocket-Version: 13`$/
    const noKey = /lacks `Sec-WebSocket-Key` of 16 bytes in base64$/
    const cases: readonly (readonly [Record<string, string | null>, number, RegExp?])[] = [
      [{}, 101],
      [{ Upgrade: 'h2c, WebSocket' }, 101],
      // The library accepts any key of 24 characters and does not require `Connection`.
      [{ 'Sec-WebSocket-Key': 'x'.repeat(24) }, 101],
      [{ Connection: null }, 101],
      [{ Connection: 'keep-alive' }, 101],
      [{ Upgrade: null }, 426, noUpgrade],
      [{ Upgrade: 'h2c' }, 426, noUpgrade],
      [{ 'Sec-WebSocket-Version': null }, 426, noVersion],
      [{ 'Sec-WebSocket-Version': '8' }, 426, noVersion],
      [{ 'Sec-WebSocket-Version': '13, 8' }, 426, noVersion],
      [{ 'Sec-WebSocket-Key': null }, 426, noKey],
      [{ 'Sec-WebSocket-Key': 'short' }, 426, noKey],
      [{ 'Sec-WebSocket-Key': `${key}=` }, 426, noKey],
      [
        { Upgrade: null, 'Sec-WebSocket-Key': null },
        426,
        /`Upgrade: websocket`, `Sec-WebSocket-Key`/,
      ],
    ]
    for (const apiKey of ['ann-key', 'nobody']) {
      for (const [changed, status, detail] of cases) {
        const given = Object.entries<string | null>({ ...complete, ...changed })
        const headers = given.flatMap(([name, value]) =>
          value === null ? [] : [[name, value] as const],
        )
        const shown = JSON.stringify(changed)
        const connection = new RawConnection(apiServer.port)
        const request = { method: 'GET', target: `/v1/ws?api_key=${apiKey}`, headers }
        const answer = await connection.exchange(request)
        connection.close()
        assert.ok(answer !== null)
        const { headers: answered, body } = answer
        assert.equal(answer.status, status === 101 && apiKey === 'nobody' ? 401 : status, shown)
        if (detail === undefined) continue
        assert.match(body, /^{"detail":"/)
        assert.match(JSON.parse(body).detail, detail, shown)
        assert.equal(answered.get('upgrade'), 'websocket')
        assert.equal(answered.get('sec-websocket-version'), '13')
        assert.match(answered.get('x-ratelimit-remaining') ?? '', /^\d+$/)
      }
    }
  })

  test('selects one of the WebSocket subprotocols that the client offers', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${apiServer.port}/v1/ws?api_key=ann-key`, [
      'one',
      'two',
    ])
    await once(socket, 'open')
    assert.equal(socket.protocol, 'one')
    socket.terminate()
  })

  test('closes the connections of a key with 4010 before the revocation of the key is answered', async () => {
    const mine = await StreamClient.open(apiServer.port)
    const other = await StreamClient.open(apiServer.port, 'api_key=bob-key')
    const listed = await apiServer.get('/v1/keys', {
      headers: { authorization: 'Bearer ann-token' },
    })
    const keys = listed.body.keys
    assert.ok(Array.isArray(keys))
    const deleted = await apiServer.get(`/v1/keys/${keys[0].id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer ann-token' },
    })
    assert.equal(deleted.status, 204)
    assert.deepEqual(await mine.closed, { code: 4010, reason: 'key revoked' })
    await other.ask({ action: 'ping', id: 1 }, 'pong')
    await other.close()
  })

  test('closes all connections of a removed account, and the newest connections of an account above a lowered limit', async () => {
    apiServer.engine.accounts.make('carl', { socketsMax: 9 })
    const id = accountId('acc_carl')
    const open = (how: string) => StreamClient.open(apiServer.port, how)
    const mine = [
      await open('api_key=carl-key'),
      await open('access_token=carl-token'),
      await open('api_key=carl-key'),
    ] as const
    const other = await open('api_key=bob-key')
    const notify = (how: (watcher: AccountWatcher) => void) => {
      for (const watcher of apiServer.engine.accounts.watchers) how(watcher)
    }
    notify((each) => each.onLimits?.(id, { requestsPerMinute: 60, socketsMax: 2 }))
    assert.deepEqual(await mine[2].closed, { code: 4009, reason: 'connection limit' })
    for (const stays of [mine[0], mine[1], other])
      await stays.ask({ action: 'ping', id: 1 }, 'pong')
    notify((each) => each.onAccountDeactivated?.(id, 'disabled'))
    for (const client of [mine[0], mine[1]]) {
      assert.deepEqual(await client.closed, { code: 4010, reason: 'key revoked' })
    }
    await other.ask({ action: 'ping', id: 2 }, 'pong')
    await other.close()
  })

  test('closes a connection with 4011 when a command causes an internal error', async () => {
    const encoder = apiServer.server.hub.encoder('j')
    const client = await StreamClient.open(apiServer.port, 'api_key=bob-key')
    const { reply } = encoder
    encoder.reply = () => {
      throw new Error('cannot be written')
    }
    try {
      client.send({ action: 'nope' })
      assert.equal((await client.closed).code, 4011)
    } finally {
      encoder.reply = reply
    }
  })
})
