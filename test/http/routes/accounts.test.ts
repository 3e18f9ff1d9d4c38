import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import {
  CreatedKeySchema,
  DetailSchema,
  KeysSchema,
  ProblemsSchema,
  SessionSchema,
  WatchlistSchema,
} from '../../../http/schemas.ts'
import {
  type ApiServer,
  openApiServer,
  type ReceivedResponse,
} from '../../support/rigs/api-server.ts'

let server: ApiServer
before(async () => {
  server = await openApiServer()
})
after(() => server.stop())

const bearer = (name: string) => ({ authorization: `Bearer ${name}-token` })
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  server.get(path, { method: 'POST', body: JSON.stringify(body), headers })

function check<S extends TSchema>(schema: S, got: ReceivedResponse, status: number): void {
  assert.equal(got.status, status, got.text)
  assert.ok(Value.Check(schema, got.body), got.text)
}

describe('account routes', () => {
  test('answers sign-up and log-in with a session, and refuses a second sign-up with the same e-mail or a wrong password', async () => {
    const user = { email: 'bob@example.com', password: 'long enough' }
    check(SessionSchema, await post('/v1/auth/signup', user), 201)
    check(DetailSchema, await post('/v1/auth/signup', user), 400)
    check(SessionSchema, await post('/v1/auth/login', user), 200)
    const wrong = await post('/v1/auth/login', { ...user, password: 'wrong' })
    const unknown = await post('/v1/auth/login', { email: 'no@example.com', password: 'wrong' })
    check(DetailSchema, wrong, 401)
    assert.equal(unknown.status, 401)
    assert.equal(unknown.text, wrong.text)
    assert.equal(wrong.headers.get('cache-control'), 'no-store')
  })

  test('requires a password of 8 to 1024 bytes and an e-mail address with one @, both as strings', async () => {
    const refused = async (body: unknown) => {
      const got = await post('/v1/auth/signup', body)
      check(ProblemsSchema, got, 422)
      assert.ok(!got.text.includes('hunter'), got.text)
      const detail = got.body.detail
      assert.ok(Array.isArray(detail))
      return detail.map(({ loc, type }) => `${loc.join('.')} ${type}`)
    }
    assert.deepEqual(await refused({ email: 'a', password: 'hunter' }), [
      'body.email value_error',
      'body.password string_too_short',
    ])
    assert.deepEqual(await refused({ email: 5, password: 'hunter' }), ['body.email string_type'])
    assert.deepEqual(await refused({ password: 'hunter' }), ['body.email missing'])
    assert.deepEqual(await refused({ email: 'a@b@c', password: 'é'.repeat(513) }), [
      'body.email value_error',
      'body.password string_too_long',
    ])
    assert.deepEqual(await refused({ email: `${'a'.repeat(250)}@b.cd`, password: 'éééé' }), [
      'body.email string_too_long',
    ])
    for (const email of ['a\0@b', 'a@b\u0001', 'a\ud800@b', 'a\u0085@b', 'a b@c', '@b', 'a@']) {
      const found = await refused({ email, password: 'long enough' })
      assert.deepEqual(found, ['body.email value_error'], JSON.stringify(email))
    }
    const got = await post('/v1/auth/signup', { email: 'c@d', password: 'éééé' })
    assert.equal(got.status, 201, 'eight bytes are enough')
  })

  test('allows key management with login tokens and not with keys, and returns the value of a key once, on creation', async () => {
    assert.equal((await server.get('/v1/keys')).status, 401, 'an API key is not enough')
    const both = { 'x-api-key': 'ann-key', ...bearer('ann') }
    assert.equal((await server.get('/v1/keys', { headers: both })).status, 200)
    const made = await post('/v1/keys', { label: 'laptop' }, bearer('ann'))
    check(CreatedKeySchema, made, 201)
    const listed = await server.get('/v1/keys', { headers: bearer('ann') })
    check(KeysSchema, listed, 200)
    assert.ok(!listed.text.includes(String(made.body.key)))
    for (const body of [{}, { label: '' }, { label: 5 }, { label: 'x'.repeat(65) }]) {
      check(ProblemsSchema, await post('/v1/keys', body, bearer('ann')), 422)
    }
  })

  test('adds and removes markets of the account’s own watchlist, by any spelling of the market’s id', async () => {
    server.engine.add('watched')
    server.engine.accounts.make('eve')
    const list = async (name: string) =>
      (await server.get('/v1/watchlist', { headers: bearer(name) })).body.market_ids
    const added = await post('/v1/watchlist', { market_id: 'VENUE_A_WATCHED' }, bearer('ann'))
    check(WatchlistSchema, added, 200)
    assert.deepEqual(await list('ann'), ['venue_a_watched'])
    assert.deepEqual(await list('eve'), [])
    check(
      DetailSchema,
      await post('/v1/watchlist', { market_id: 'venue_a_no' }, bearer('ann')),
      404,
    )
    check(ProblemsSchema, await post('/v1/watchlist', {}, bearer('ann')), 422)
    assert.equal((await server.get('/v1/watchlist')).status, 401, 'an API key is not enough')
    const remove = (name: string) =>
      server.get('/v1/watchlist/venue_a_watched', { method: 'DELETE', headers: bearer(name) })
    assert.deepEqual([(await remove('eve')).status, (await remove('ann')).status], [404, 204])
    assert.deepEqual(await list('ann'), [])
  })
})
