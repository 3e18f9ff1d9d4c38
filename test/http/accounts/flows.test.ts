// What people do with accounts, step by step over HTTP on real accounts: sign-up, log-in, keys, the keys
// of others, a disabled and a deleted account; and tokens that another issuer made.

import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { openQuickAccounts, QUICK_SECRET } from '../../support/fakes/quick-accounts.ts'
import {
  type ApiServer,
  openApiServer,
  type ReceivedResponse,
} from '../../support/rigs/api-server.ts'

const opened = openQuickAccounts()
const { accounts, clock } = opened
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock, accounts })
})
after(() => server.stop())

type Headers = Readonly<Record<string, string>>
const send = (
  method: string,
  path: string,
  body: unknown,
  headers: Headers = {},
): Promise<ReceivedResponse> => {
  const sent = body === null ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  return server.get(path, { method, headers, ...sent })
}
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const withKey = (key: string): Headers => ({ 'x-api-key': key })

const ann = { email: 'ann@example.com', password: 'correct horse' }
const bob = { email: 'bob@example.com', password: 'battery staple' }

/** What earlier steps gave. */
const got = { annToken: '', bobToken: '', annKey: '', annKeyId: '', bobKey: '', bobKeyId: '' }
type Name = keyof typeof got
const keep = (name: Name, field: string) => (answer: ReceivedResponse) => {
  got[name] = String(answer.body[field])
}

interface Step {
  readonly states: string
  readonly ask: () => Promise<ReceivedResponse>
  readonly status: number
  readonly then?: (answer: ReceivedResponse) => void
}

function step(
  states: string,
  status: number,
  ask: () => Promise<ReceivedResponse>,
  then?: Step['then'],
): Step {
  return { states, status, ask, ...(then === undefined ? {} : { then }) }
}

const post = (path: string, body: unknown, headers?: Headers) => () =>
  send('POST', path, body, headers)
const signUp = (body: unknown) => post('/v1/auth/signup', body)
const logIn = (body: unknown) => post('/v1/auth/login', body)
const has = (terms: string) => (answer: ReceivedResponse) =>
  assert.ok(answer.text.includes(terms), answer.text)
const annAccount = () => {
  const account = accounts.directory.findByEmail(ann.email)
  assert.ok(account !== null)
  return account
}
/** What an operator does in between; its step asks for the account. */
const operator = (act: () => Promise<unknown>, headers: () => Headers) => async () => {
  await act()
  return send('GET', '/v1/auth/me', null, headers())
}
const me = (headers: () => Headers) => () => send('GET', '/v1/auth/me', null, headers())
const keys = (headers: () => Headers) => () => send('GET', '/v1/keys', null, headers())
const remove = (id: () => string, headers: () => Headers) => () =>
  send('DELETE', `/v1/keys/${id()}`, null, headers())
const annBearer = () => bearer(got.annToken)
const bobBearer = () => bearer(got.bobToken)

const STEPS: readonly Step[] = [
  step('no body', 422, signUp('')),
  step('no JSON', 422, signUp('{')),
  step('a list', 422, signUp([])),
  step('no e-mail', 422, signUp({ password: ann.password })),
  step('no password', 422, signUp({ email: ann.email })),
  step('a number for an e-mail', 422, signUp({ ...ann, email: 5 })),
  step('a short password', 422, signUp({ ...ann, password: 'seven77' })),
  step('an overlong password', 422, signUp({ ...ann, password: 'x'.repeat(1_025) })),
  step('no @', 422, signUp({ ...ann, email: 'ann' })),
  step('two @', 422, signUp({ ...ann, email: 'ann@x@y' })),
  step('an overlong e-mail', 422, signUp({ ...ann, email: `${'a'.repeat(250)}@b.cd` })),
  step('a body beyond 16 KiB', 413, signUp({ ...ann, more: 'x'.repeat(17_000) })),
  step('sign-up', 201, signUp(ann), keep('annToken', 'access_token')),
  step('the same again', 400, signUp(ann)),
  step('the same in capitals', 400, signUp({ ...ann, email: 'ANN@EXAMPLE.COM' })),
  step('another person', 201, signUp(bob), keep('bobToken', 'access_token')),
  step('log-in', 200, logIn(ann), keep('annToken', 'access_token')),
  step(
    'log-in in capitals',
    200,
    logIn({ ...ann, email: 'Ann@Example.com' }),
    has('"tier":"free"'),
  ),
  step('a wrong password', 401, logIn({ ...ann, password: 'wrong' })),
  step('the password of another', 401, logIn({ ...ann, password: bob.password })),
  step('an unknown e-mail', 401, logIn({ ...ann, email: 'nobody@example.com' })),
  step('an empty password', 401, logIn({ ...ann, password: '' })),
  step('log-in without a password', 422, logIn({ email: ann.email })),
  step('GET on log-in', 405, () => send('GET', '/v1/auth/login', null)),
  step('who am I, by token', 200, me(annBearer), has(ann.email)),
  step(
    'who am I, without',
    401,
    me(() => ({})),
  ),
  step(
    'who am I, by a token for a key',
    401,
    me(() => withKey(got.annToken)),
  ),
  step(
    'who am I, by nonsense',
    401,
    me(() => bearer('x.y.z')),
  ),
  step('no keys yet', 200, keys(annBearer), has('"keys":[],"total":0')),
  step(
    'keys without a token',
    401,
    keys(() => ({})),
  ),
  step('a key without a label', 422, () => post('/v1/keys', {}, annBearer())()),
  step('a key with an empty label', 422, () => post('/v1/keys', { label: '' }, annBearer())()),
  step('a key with a long label', 422, () =>
    post('/v1/keys', { label: 'x'.repeat(65) }, annBearer())(),
  ),
  step(
    'a key',
    201,
    () => post('/v1/keys', { label: 'one' }, annBearer())(),
    (answer) => {
      keep('annKey', 'key')(answer)
      keep('annKeyId', 'id')(answer)
    },
  ),
  step(
    'a key of another',
    201,
    () => post('/v1/keys', { label: 'two' }, bobBearer())(),
    (answer) => {
      keep('bobKey', 'key')(answer)
      keep('bobKeyId', 'id')(answer)
    },
  ),
  step('it is listed, not shown', 200, keys(annBearer), (answer) => {
    assert.ok(answer.text.includes('"label":"one"') && !answer.text.includes(got.annKey))
  }),
  step('the other’s is not', 200, keys(annBearer), (answer) =>
    assert.ok(!answer.text.includes(got.bobKeyId)),
  ),
  step(
    'it opens',
    200,
    me(() => withKey(got.annKey)),
    has(ann.email),
  ),
  step(
    'it does not list keys',
    401,
    keys(() => withKey(got.annKey)),
  ),
  step('nor makes one', 401, () => post('/v1/keys', { label: 'x' }, withKey(got.annKey))()),
  step(
    'nor removes one',
    401,
    remove(
      () => got.annKeyId,
      () => withKey(got.annKey),
    ),
  ),
  step(
    'its prefix does not open',
    401,
    me(() => withKey(got.annKey.slice(0, 10))),
  ),
  step(
    'mistyped it does not open',
    401,
    me(() => withKey(`${got.annKey.slice(0, -1)}!`)),
  ),
  step(
    'another cannot remove it',
    404,
    remove(() => got.annKeyId, bobBearer),
  ),
  step(
    'nor one that never was',
    404,
    remove(() => 'key_none', annBearer),
  ),
  step(
    'nor by a strange id',
    404,
    remove(() => '%2e%2e%2fkeys', annBearer),
  ),
  step(
    'it still opens',
    200,
    me(() => withKey(got.annKey)),
  ),
  step(
    'it is removed',
    204,
    remove(() => got.annKeyId, annBearer),
  ),
  step(
    'it opens nothing more',
    401,
    me(() => withKey(got.annKey)),
  ),
  step(
    'it is not removed twice',
    404,
    remove(() => got.annKeyId, annBearer),
  ),
  step('it is listed no more', 200, keys(annBearer), has('"total":0')),
  step(
    'another key',
    201,
    () => post('/v1/keys', { label: 'next' }, annBearer())(),
    keep('annKey', 'key'),
  ),
  step(
    'disabled: its key',
    401,
    operator(
      () => accounts.directory.disable(annAccount()),
      () => withKey(got.annKey),
    ),
  ),
  step('disabled: its token', 401, me(annBearer)),
  step('disabled: its password', 401, logIn(ann)),
  step('disabled: its keys', 401, keys(annBearer)),
  step('disabled: its e-mail is taken', 400, signUp(ann)),
  step(
    'others go on',
    200,
    me(() => withKey(got.bobKey)),
    has(bob.email),
  ),
  step(
    'enabled: its key',
    200,
    operator(
      () => accounts.directory.enable(annAccount()),
      () => withKey(got.annKey),
    ),
  ),
  step('enabled: its token', 200, me(annBearer)),
  step('enabled: its password', 200, logIn(ann), keep('annToken', 'access_token')),
  step(
    'a higher tier',
    200,
    operator(
      () =>
        accounts.directory.setTier(annAccount(), {
          tier: 'pro',
          requestsPerMinute: null,
          socketsMax: null,
        }),
      annBearer,
    ),
    has('"requests_per_minute":600,"websocket_connections":20'),
  ),
  step(
    'deleted: its key',
    401,
    operator(
      () => accounts.directory.remove(annAccount()),
      () => withKey(got.annKey),
    ),
  ),
  step('deleted: its token', 401, me(annBearer)),
  step('deleted: its password', 401, logIn(ann)),
  step('deleted: signed up anew', 201, signUp(ann), keep('annKey', 'access_token')),
  step('the old token is not the new account’s', 401, me(annBearer)),
  step(
    'the new one is',
    200,
    me(() => bearer(got.annKey)),
    has('"tier":"free"'),
  ),
]

describe('accounts over HTTP', () => {
  test('handles sign-up, log-in, keys, other accounts’ keys, disabling and deletion in each listed case', async (t) => {
    for (const [at, { states, ask, status, then }] of STEPS.entries()) {
      // All come from one address, which has twenty attempts a minute.
      if (at % 10 === 0) clock.advance(60_000)
      const answer = await ask()
      assert.equal(answer.status, status, `${states}: ${answer.text}`)
      for (const secret of [ann.password, bob.password]) {
        assert.ok(!answer.text.includes(secret), `${states} tells a password`)
      }
      if (status === 401) assert.equal(answer.headers.get('cache-control'), 'no-store', states)
      then?.(answer)
    }
    t.diagnostic(`${STEPS.length} cases`)
    assert.ok(STEPS.length >= 60)
  })

  test('accepts only login tokens that the server issued', async (t) => {
    clock.advance(60_000)
    const user = { ...ann, email: 'token@example.com' }
    const { caller, accessToken } = await accounts.signUp({ ...user, address: 'elsewhere' })
    const now = Math.floor(clock.nowMs() / 1_000)
    const claims = {
      iss: 'twinbook',
      aud: 'twinbook-api',
      sub: caller.accountId,
      jti: 'x',
      iat: now,
    }
    const bad = badTokens({ ...claims, exp: now + 60 }, accessToken)
    assert.equal((await me(() => bearer(accessToken))()).status, 200)
    assert.equal((await me(() => bearer(token({ ...claims, exp: now + 60 })))()).status, 200)
    for (const [states, text] of Object.entries(bad)) {
      for (const path of ['/v1/auth/me', '/v1/keys', '/v1/markets']) {
        const answer = await send('GET', path, null, { authorization: `Bearer ${text}` })
        assert.equal(answer.status, 401, `${states} on ${path}`)
        assert.ok(!answer.text.includes(text.slice(0, 40)) || text.length < 8, states)
      }
    }
    t.diagnostic(`${Object.keys(bad).length} tokens`)
    assert.ok(Object.keys(bad).length >= 24)
    // A key or another scheme in its place is no token either.
    for (const authorization of [
      '',
      'Bearer',
      `Basic ${accessToken}`,
      `Token ${accessToken}`,
      accessToken,
    ]) {
      assert.equal((await send('GET', '/v1/auth/me', null, { authorization })).status, 401)
    }
  })
})

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token signed with our secret, whatever it says; texts are taken for JSON as they are. */
function token(
  claims: unknown,
  header: unknown = {},
  secret = QUICK_SECRET,
  hash = 'sha256',
): string {
  const complete =
    typeof header === 'string' ? header : { alg: 'HS256', typ: 'at+jwt', ...Object(header) }
  const signed = `${part(complete)}.${part(claims)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

function badTokens(
  claims: Readonly<Record<string, unknown>>,
  good: string,
): Record<string, string> {
  const { iat, exp } = claims
  const [head = '', body = '', signature = ''] = good.split('.')
  const without = (name: string) =>
    token(Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name)))
  const set = (more: Readonly<Record<string, unknown>>) => token({ ...claims, ...more })
  const asText = (name: string, json: string) =>
    token(JSON.stringify({ ...claims, [name]: '@' }).replace('"@"', json))
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const rsaSigned = `${part({ alg: 'RS256', typ: 'at+jwt' })}.${part(claims)}`
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const changed = part({ ...claims, sub: 'acc_other' })
  return {
    'alg none': `${part({ alg: 'none', typ: 'at+jwt' })}.${part(claims)}.`,
    'alg None': `${part({ alg: 'None', typ: 'at+jwt' })}.${part(claims)}.`,
    'alg none, signed': token(claims, { alg: 'none' }),
    HS384: token(claims, { alg: 'HS384' }, QUICK_SECRET, 'sha384'),
    HS512: token(claims, { alg: 'HS512' }, QUICK_SECRET, 'sha512'),
    'HS512 said, HS256 meant': token(claims, { alg: 'HS512' }),
    RS256: `${rsaSigned}.${signWith('sha256', Buffer.from(rsaSigned), privateKey).toString('base64url')}`,
    'RS256 with our HMAC': token(claims, { alg: 'RS256' }),
    'HMAC with a public key': token(claims, {}, pem),
    'no iss': without('iss'),
    'no aud': without('aud'),
    'no sub': without('sub'),
    'no jti': without('jti'),
    'no iat': without('iat'),
    'no exp': without('exp'),
    'exp a text': set({ exp: String(exp) }),
    'exp a fraction': set({ exp: Number(exp) + 0.5 }),
    'exp 1e400': asText('exp', '1e400'),
    'exp negative': set({ exp: -1 }),
    'exp past': set({ exp: Number(iat) - 1 }),
    'exp null': set({ exp: null }),
    'iat in the future': set({ iat: Number(iat) + 600 }),
    'iat two days ago': set({ iat: Number(iat) - 172_800 }),
    'nbf in the future': set({ nbf: Number(iat) + 600 }),
    'iss wrong': set({ iss: 'other' }),
    'iss a list': set({ iss: ['twinbook'] }),
    'aud wrong': set({ aud: 'other' }),
    'sub unknown': set({ sub: 'acc_000000000000000000000000' }),
    'sub a number': set({ sub: 5 }),
    'sub __proto__': set({ sub: '__proto__' }),
    'typ JWT': token(claims, { typ: 'JWT' }),
    'no typ': token(claims, { typ: undefined }),
    'kid unknown': token(claims, { kid: 'other' }),
    'kid a path': token(claims, { kid: '../../dev/null' }),
    'kid of SQL': token(claims, { kid: "x' or '1'='1" }),
    jku: token(claims, { jku: 'https://example.com' }),
    x5u: token(claims, { x5u: 'https://example.com' }),
    jwk: token(claims, { jwk: { kty: 'oct', k: part(QUICK_SECRET) } }),
    crit: token(claims, { crit: ['exp'] }),
    'another secret': token(claims, {}, 'another secret of thirty-two bytes!!'),
    'a changed body': `${head}.${changed}.${signature}`,
    'a changed head': `${part({ alg: 'HS256', typ: 'at+jwt', x: 1 })}.${body}.${signature}`,
    'no signature': `${head}.${body}.`,
    'an empty body': `${head}..${signature}`,
    'an empty head': `.${body}.${signature}`,
    'only dots': '..',
    'two parts': `${head}.${body}`,
    'four parts': `${good}.x`,
    'two signatures': `${good}.${signature}`,
    'one character more': `${good}A`,
    'one character less': good.slice(0, -1),
    'a body that is no JSON': token('{'),
    'a body that is a list': token([claims]),
    'ten kilobytes': set({ more: 'x'.repeat(10_000) }),
  }
}
