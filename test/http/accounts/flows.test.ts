// One scenario over HTTP. Each step depends on the steps before it.

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

/** Credentials and ids from the responses of earlier steps. */
const stored = { annToken: '', bobToken: '', annKey: '', annKeyId: '', bobKey: '' }
type Name = keyof typeof stored
const store = (name: Name, field: string) => (answer: ReceivedResponse) => {
  stored[name] = String(answer.body[field])
}
const has = (text: string) => (answer: ReceivedResponse) =>
  assert.ok(answer.text.includes(text), answer.text)
const hasNot = (name: Name) => (answer: ReceivedResponse) =>
  assert.ok(!answer.text.includes(stored[name]), answer.text)

const NOBODY = (): Headers => ({})
const annToken = () => bearer(stored.annToken)
const bobToken = () => bearer(stored.bobToken)
const annKey = () => withKey(stored.annKey)
const annAccount = () => accounts.directory.findByEmail(ann.email) ?? assert.fail()

interface Step {
  readonly name: string
  readonly status: number
  /** Method and path. The id of Ann's key replaces `:annKeyId`. */
  readonly request: string
  readonly as: () => Headers
  readonly body: unknown
  readonly check: (answer: ReceivedResponse) => void
  /** Runs before the request. */
  readonly before: () => unknown
}

function step(name: string, status: number, request: string, set: Partial<Step> = {}): Step {
  const nothing = () => undefined
  return { name, status, request, as: NOBODY, body: null, check: nothing, before: nothing, ...set }
}

const signUp = (name: string, status: number, body: unknown, set: Partial<Step> = {}) =>
  step(name, status, 'POST /v1/auth/signup', { body, ...set })
const logIn = (name: string, status: number, body: unknown, set: Partial<Step> = {}) =>
  step(name, status, 'POST /v1/auth/login', { body, ...set })
const me = (name: string, status: number, as: Step['as'], set: Partial<Step> = {}) =>
  step(name, status, 'GET /v1/auth/me', { as, ...set })
const keys = (name: string, status: number, as: Step['as'], set: Partial<Step> = {}) =>
  step(name, status, 'GET /v1/keys', { as, ...set })
const addKey = (name: string, status: number, body: unknown, set: Partial<Step> = {}) =>
  step(name, status, 'POST /v1/keys', { as: annToken, body, ...set })
const removeKey = (name: string, status: number, id: string, as: Step['as']) =>
  step(name, status, `DELETE /v1/keys/${id}`, { as })
const PRO = { tier: 'pro', requestsPerMinute: null, socketsMax: null } as const

const STEPS: readonly Step[] = [
  signUp('without a body', 422, ''),
  signUp('with a body that is not JSON', 422, '{'),
  signUp('with a list', 422, []),
  signUp('without an e-mail', 422, { password: ann.password }),
  signUp('without a password', 422, { email: ann.email }),
  signUp('with a number as e-mail', 422, { ...ann, email: 5 }),
  signUp('with a short password', 422, { ...ann, password: 'seven77' }),
  signUp('with a long password', 422, { ...ann, password: 'x'.repeat(1_025) }),
  signUp('with an e-mail without @', 422, { ...ann, email: 'ann' }),
  signUp('with an e-mail with two @', 422, { ...ann, email: 'ann@x@y' }),
  signUp('with a long e-mail', 422, { ...ann, email: `${'a'.repeat(250)}@b.cd` }),
  signUp('with a body above 16 KiB', 413, { ...ann, more: 'x'.repeat(17_000) }),
  signUp('of Ann', 201, ann, { check: store('annToken', 'access_token') }),
  signUp('of Ann again', 400, ann),
  signUp('of Ann in capitals', 400, { ...ann, email: 'ANN@EXAMPLE.COM' }),
  signUp('of Bob', 201, bob, { check: store('bobToken', 'access_token') }),
  logIn('of Ann', 200, ann, { check: store('annToken', 'access_token') }),
  logIn('in capitals', 200, { ...ann, email: 'Ann@Example.com' }, { check: has('"tier":"free"') }),
  logIn('with a wrong password', 401, { ...ann, password: 'wrong' }),
  logIn('with Bob’s password', 401, { ...ann, password: bob.password }),
  logIn('of an unknown e-mail', 401, { ...ann, email: 'nobody@example.com' }),
  logIn('with an empty password', 401, { ...ann, password: '' }),
  logIn('without a password', 422, { email: ann.email }),
  step('GET on log-in', 405, 'GET /v1/auth/login'),
  me('the account of a token', 200, annToken, { check: has(ann.email) }),
  me('the account without a credential', 401, NOBODY),
  me('a token in place of a key', 401, () => withKey(stored.annToken)),
  me('an invalid token', 401, () => bearer('x.y.z')),
  keys('no keys', 200, annToken, { check: has('"keys":[],"total":0') }),
  keys('keys without a token', 401, NOBODY),
  addKey('a key without a label', 422, {}),
  addKey('a key with an empty label', 422, { label: '' }),
  addKey('a key with a long label', 422, { label: 'x'.repeat(65) }),
  addKey('a key of Ann', 201, { label: 'one' }, { check: store('annKey', 'key') }),
  keys('the key is listed', 200, annToken, { check: has('"label":"one"') }),
  keys('without its text', 200, annToken, {
    check: (answer) => {
      hasNot('annKey')(answer)
      const { keys: listed } = answer.body
      stored.annKeyId = Array.isArray(listed) ? String(listed[0]?.id) : ''
    },
  }),
  addKey('a key of Bob', 201, { label: 'two' }, { as: bobToken, check: store('bobKey', 'key') }),
  keys('without Bob’s key', 200, annToken, { check: has('"total":1') }),
  me('the account of the key', 200, annKey, { check: has(ann.email) }),
  keys('keys by key', 401, annKey),
  addKey('a new key by key', 401, { label: 'x' }, { as: annKey }),
  removeKey('the removal of a key by key', 401, ':annKeyId', annKey),
  me('the prefix of a key', 401, () => withKey(stored.annKey.slice(0, 10))),
  me('a mistyped key', 401, () => withKey(`${stored.annKey.slice(0, -1)}!`)),
  removeKey('the removal of Ann’s key by Bob', 404, ':annKeyId', bobToken),
  removeKey('the removal of an unknown key', 404, 'key_none', annToken),
  removeKey('the removal of an invalid id', 404, '%2e%2e%2fkeys', annToken),
  me('the key is valid', 200, annKey),
  removeKey('the removal of the key', 204, ':annKeyId', annToken),
  me('the removed key', 401, annKey),
  removeKey('the second removal of the key', 404, ':annKeyId', annToken),
  keys('the removed key is not listed', 200, annToken, { check: has('"total":0') }),
  addKey('another key', 201, { label: 'next' }, { check: store('annKey', 'key') }),
  me('disabled: the key', 401, annKey, { before: () => accounts.directory.disable(annAccount()) }),
  me('disabled: the token', 401, annToken),
  logIn('disabled: the password', 401, ann),
  keys('disabled: the keys', 401, annToken),
  signUp('disabled: the e-mail', 400, ann),
  me('disabled: another account', 200, () => withKey(stored.bobKey), { check: has(bob.email) }),
  me('enabled: the key', 200, annKey, { before: () => accounts.directory.enable(annAccount()) }),
  me('enabled: the token', 200, annToken),
  logIn('enabled: the password', 200, ann, { check: store('annToken', 'access_token') }),
  me('a higher tier', 200, annToken, {
    before: () => accounts.directory.setTier(annAccount(), PRO),
    check: has('"requests_per_minute":600,"websocket_connections":20'),
  }),
  me('deleted: the key', 401, annKey, { before: () => accounts.directory.remove(annAccount()) }),
  me('deleted: the token', 401, annToken),
  logIn('deleted: the password', 401, ann),
  signUp('deleted: the e-mail', 201, ann, { check: store('annKey', 'access_token') }),
  me('the old token after a new sign-up', 401, annToken),
  me('the new token', 200, () => bearer(stored.annKey), { check: has('"tier":"free"') }),
]

describe('accounts over HTTP', () => {
  test('answers each step of sign-up, log-in, key management, disabling and deletion as listed', async () => {
    for (const [
      at,
      { name, status, request, as, body, check, before: prepare },
    ] of STEPS.entries()) {
      // An address may try twenty log-ins a minute.
      if (at % 10 === 0) clock.advance(60_000)
      await prepare()
      const [method = '', path = ''] = request.replace(':annKeyId', stored.annKeyId).split(' ')
      const answer = await send(method, path, body, as())
      const label = `${request} ${name}`
      assert.equal(answer.status, status, `${label}: ${answer.text}`)
      for (const secret of [ann.password, bob.password]) {
        assert.ok(!answer.text.includes(secret), `${label} returns a password`)
      }
      if (status === 401) assert.equal(answer.headers.get('cache-control'), 'no-store', label)
      check(answer)
    }
  })

  test('accepts login tokens that the server issued, and refuses forged tokens', async (t) => {
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
    const statusOf = async (text: string) =>
      (await send('GET', '/v1/auth/me', null, bearer(text))).status
    assert.equal(await statusOf(accessToken), 200)
    assert.equal(await statusOf(token({ ...claims, exp: now + 60 })), 200)
    for (const [name, text] of Object.entries(bad)) {
      for (const path of ['/v1/auth/me', '/v1/keys', '/v1/markets']) {
        const answer = await send('GET', path, null, { authorization: `Bearer ${text}` })
        assert.equal(answer.status, 401, `${name} on ${path}`)
        assert.ok(!answer.text.includes(text.slice(0, 40)) || text.length < 8, name)
      }
    }
    t.diagnostic(`${Object.keys(bad).length} tokens`)
    assert.ok(Object.keys(bad).length >= 24)
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

/** A token with any header and claims, signed with the server's secret. A text is used as raw JSON. */
function token(
  claims: unknown,
  header: unknown = {},
  secret = QUICK_SECRET,
  hash = 'sha256',
): string {
  const fullHeader =
    typeof header === 'string' ? header : { alg: 'HS256', typ: 'at+jwt', ...Object(header) }
  const signed = `${part(fullHeader)}.${part(claims)}`
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
