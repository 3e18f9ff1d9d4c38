import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { StreamClient } from '../../support/clients/stream-client.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

const isLong = process.env.TEST_LONG === '1'
const CLIENTS = isLong ? 100 : 8
const ROUNDS = isLong ? 50 : 2

const { accounts, clock } = openQuickAccounts()
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock, accounts })
})
after(() => server.stop())

let accountCount = 0
async function newAccount() {
  accountCount += 1
  clock.advance(60_000)
  const email = `p${accountCount}@example.com`
  const session = await accounts.signUp({ email, password: 'correct horse', address: 'x' })
  const id = session.caller.accountId
  const record = () => {
    const found = accounts.directory.find(id)
    assert.ok(found !== null)
    return found
  }
  await accounts.directory.setTier(record(), {
    tier: 'enterprise',
    requestsPerMinute: null,
    socketsMax: null,
  })
  const { key, view } = await accounts.createKey(id, 'one')
  const token = session.accessToken
  return { id, key, keyId: view.id, token, record }
}

/** Sends requests until `isOver`, and at least three more afterwards. Counts answers before and after the revocation. */
async function sendContinuously(
  headers: Record<string, string>,
  state: { isRevoked: boolean; isOver: boolean },
) {
  const counts = { before: 0, after: 0, afterRefused: 0 }
  while (!state.isOver || counts.after < 3) {
    const isAfter = state.isRevoked
    const { status } = await server.get('/v1/markets?limit=1', { headers })
    if (isAfter) {
      counts.after += 1
      if (status === 401) counts.afterRefused += 1
    } else if (status === 200) counts.before += 1
  }
  return counts
}

/** Runs clients and streams while `end` revokes the key. Returns the counts and close codes. */
async function race(key: string, end: () => Promise<void>) {
  const state = { isRevoked: false, isOver: false }
  const sockets = await Promise.all(
    Array.from({ length: CLIENTS }, () => StreamClient.open(server.port, `api_key=${key}`)),
  )
  const codes = Promise.all(sockets.map(async ({ closed }) => (await closed).code))
  const clients = Promise.all(
    Array.from({ length: CLIENTS }, () => sendContinuously({ 'x-api-key': key }, state)),
  )
  for (let tick = 0; tick < 3; tick += 1) {
    await server.get('/v1/markets?limit=1', { headers: { 'x-api-key': key } })
  }
  await end()
  state.isRevoked = true
  const closed = await codes
  state.isOver = true
  const counts = await clients
  return { counts, codes: new Set(closed) }
}

describe('revocation of a key or an account', () => {
  test('refuses a key and closes all sockets of the key with 4010 once the revocation is answered', async (t) => {
    let [before, after] = [0, 0]
    for (let round = 0; round < ROUNDS; round += 1) {
      const { key, keyId, token } = await newAccount()
      const { counts, codes } = await race(key, async () => {
        const headers = { authorization: `Bearer ${token}` }
        const got = await server.get(`/v1/keys/${keyId}`, { method: 'DELETE', headers })
        assert.equal(got.status, 204)
      })
      for (const client of counts) {
        assert.equal(client.afterRefused, client.after, 'a success after the answer')
        before += client.before
        after += client.after
      }
      assert.deepEqual([...codes], [4010])
    }
    const sockets = ROUNDS * CLIENTS
    t.diagnostic(
      `${ROUNDS} rounds: ${before} successes before, 0 of ${after} after; ${sockets} sockets closed`,
    )
    assert.ok(before > 0 && after > 0)
  })

  test('refuses the keys and tokens of an account once the deletion of the account is answered', async () => {
    const { key, token, record } = await newAccount()
    const bearer = { authorization: `Bearer ${token}` }
    const state = { isRevoked: false, isOver: false }
    const byToken = sendContinuously(bearer, state)
    const { counts, codes } = await race(key, async () => {
      await accounts.directory.remove(record())
      state.isRevoked = true
    })
    state.isOver = true
    for (const client of [...counts, await byToken]) assert.equal(client.afterRefused, client.after)
    assert.deepEqual([...codes], [4010])
  })

  test('creates no key and opens no socket for an account while the account is being deleted', async () => {
    const { key, token, record } = await newAccount()
    const bearer = { authorization: `Bearer ${token}` }
    const body = JSON.stringify({ label: 'late' })
    const made = Promise.all(
      Array.from({ length: 10 }, () =>
        server.get('/v1/keys', { method: 'POST', headers: bearer, body }),
      ),
    )
    await accounts.directory.remove(record())
    for (const answer of await made) {
      if (answer.status !== 201) assert.equal(answer.status, 401, answer.text)
      const late = String(answer.body.key ?? '')
      assert.equal(
        (await server.get('/v1/markets', { headers: { 'x-api-key': late } })).status,
        401,
      )
    }
    await assert.rejects(StreamClient.open(server.port, `api_key=${key}`))
    await assert.rejects(StreamClient.open(server.port, `access_token=${token}`))
  })
})
