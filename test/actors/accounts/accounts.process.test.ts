// Accounts, tokens, keys, quotas and sockets, with a fast stand-in for password hashing; the real
// pool is in test/engine/passwords/passwords.test.ts.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { SignJWT, UnsecuredJWT } from 'jose'
import { Accounts } from '../../../actors/accounts/accounts.ts'
import { waitAfterFailuresMs } from '../../../actors/accounts/login-throttle.ts'
import { Quotas } from '../../../actors/accounts/quotas.ts'
import { isKeyShaped, makeKey, QuotaWindow } from '../../../engine/accounts/account.ts'
import { EngineError } from '../../../engine/errors.ts'
import { keyId } from '../../../engine/ids.ts'
import type { PasswordPool } from '../../../engine/passwords/passwords.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'

const SECRET = 'a secret of at least thirty-two bytes'

/** Hashes at once; counts what it is asked, since equal work is what hides unknown e-mails. */
function quickPasswords(): PasswordPool & { verified: number } {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  return {
    decoyHash: 'of nobody',
    verified: 0,
    hash: async (password) => digest(password),
    async verify(password, encoded) {
      this.verified += 1
      return digest(password) === encoded
    },
    close: async () => undefined,
  }
}

function openAccounts(storage = openMemoryStorage()) {
  const clock = new ManualClock()
  const passwords = quickPasswords()
  const open = () =>
    new Accounts({ storage: storage.accounts, clock, passwords, jwtSecret: SECRET })
  return { accounts: open(), open, clock, passwords, storage }
}

const ann = { email: 'Ann@example.com', password: 'correct horse', address: '10.0.0.1' }
const hasCode = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code

test('detects a mistyped API key by its prefix and checksum, without a lookup', () => {
  const key = makeKey()
  assert.match(key, /^pmk_[0-9A-Za-z]{38}$/)
  assert.equal(isKeyShaped(key), true)
  const random = seededRandom('keys')
  for (let round = 0; round < 500; round += 1) {
    const at = 4 + random.below(38)
    const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1)
    assert.equal(isKeyShaped(typo), false, typo)
  }
  for (const text of ['', 'pmk_', `${key}x`, key.toLowerCase(), `${key.slice(0, -1)}\n`]) {
    assert.equal(isKeyShaped(text) && text !== key, false, text)
  }
})

test('starts a quota window at the client’s first request and does not count refused requests', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom('quota', seed)
    const window = new QuotaWindow()
    const limit = 1 + random.below(5)
    let [nowMs, startedAtMs, used] = [0, Number.NEGATIVE_INFINITY, 0]
    for (let step = 0; step < 200; step += 1) {
      nowMs += random.below(20_000)
      if (nowMs - startedAtMs >= 60_000) used = 0
      const isAllowed = used < limit
      if (isAllowed && used === 0) startedAtMs = nowMs
      if (isAllowed) used += 1
      assert.equal(window.take(nowMs, limit), isAllowed, `seed ${seed} step ${step}`)
      assert.equal(window.peek(nowMs, limit).remaining, limit - used)
      assert.equal(window.peek(nowMs, limit).endsAtMs, startedAtMs + 60_000)
    }
  }
})

test('delays a password guesser by 1 s after five failures, doubling up to 15 min', () => {
  const waits = [0, 4, 5, 6, 7, 15, 40].map(waitAfterFailuresMs)
  assert.deepEqual(waits, [0, 0, 1_000, 2_000, 4_000, 900_000, 900_000])
})

test('identifies the same account after sign-up, log-in and by token, and refuses a second sign-up with the same e-mail', async () => {
  const { accounts } = openAccounts()
  const session = await accounts.signUp(ann)
  assert.equal(session.caller.email, 'ann@example.com')
  assert.deepEqual([session.caller.requestsPerMinute, session.caller.socketsMax], [60, 2])
  const again = await accounts.logIn({ ...ann, email: 'ANN@example.com' })
  assert.equal(again.caller.accountId, session.caller.accountId)
  const { token, ...caller } = session.caller
  const { token: other, ...byToken } = accounts.callerOfToken(again.accessToken) ?? session.caller
  assert.deepEqual(byToken, caller)
  assert.notEqual(other?.id, token?.id, 'each log-in has a token of its own')
  await assert.rejects(accounts.signUp(ann), hasCode('BAD_REQUEST'))
})

test('creates one account when two sign-ups use the same e-mail at once', async () => {
  const { accounts, storage } = openAccounts()
  const tries = await Promise.allSettled([accounts.signUp(ann), accounts.signUp(ann)])
  assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal([...storage.accounts.accounts()].length, 1)
})

test('returns the existing account when a sign-up is repeated with the same password within ten minutes', async () => {
  const { accounts, open, clock } = openAccounts()
  const first = await accounts.signUp(ann)
  // The engine that leads next, which answered nobody.
  const next = open()
  const again = await next.signUp(ann)
  assert.equal(again.caller.accountId, first.caller.accountId)
  const wrong = { ...ann, password: 'wrong password' }
  await assert.rejects(next.signUp(wrong), hasCode('BAD_REQUEST'))
  clock.advance(600_001)
  await assert.rejects(next.signUp(ann), hasCode('BAD_REQUEST'))
})

test('hashes equally often and returns the same message for an unknown e-mail and for a wrong password', async () => {
  const { accounts, passwords } = openAccounts()
  await accounts.signUp(ann)
  const messages: string[] = []
  for (const email of [ann.email, 'nobody@example.com']) {
    const before = passwords.verified
    await accounts.logIn({ ...ann, email, password: 'wrong password' }).catch((error) => {
      messages.push(error.message)
    })
    assert.equal(passwords.verified, before + 1)
  }
  assert.equal(messages[0], messages[1])
})

test('delays even the correct password after five failures, then accepts it', async () => {
  const { accounts, clock } = openAccounts()
  await accounts.signUp(ann)
  for (let round = 0; round < 5; round += 1) {
    await assert.rejects(accounts.logIn({ ...ann, password: 'wrong' }), hasCode('UNAUTHORIZED'))
  }
  await assert.rejects(accounts.logIn(ann), hasCode('RATE_LIMITED'))
  clock.advance(1_000)
  assert.equal((await accounts.logIn(ann)).caller.email, 'ann@example.com')
})

test('allows twenty log-in attempts a minute per client address', async () => {
  const { accounts, clock } = openAccounts()
  const attempt = (round: number) => accounts.logIn({ ...ann, email: `e${round}@example.com` })
  for (let round = 0; round < 20; round += 1) {
    await assert.rejects(attempt(round), hasCode('UNAUTHORIZED'))
  }
  await assert.rejects(attempt(20), hasCode('RATE_LIMITED'))
  clock.advance(60_000)
  await assert.rejects(attempt(21), hasCode('UNAUTHORIZED'))
})

test('accepts a key until its account revokes it, and notifies listeners of the revocation', async () => {
  const { accounts, open } = openAccounts()
  const { caller } = await accounts.signUp(ann)
  const bob = (await accounts.signUp({ ...ann, email: 'bob@example.com' })).caller
  const { key, view } = await accounts.createKey(caller.accountId, 'laptop')
  assert.equal(accounts.callerOfKey(key)?.keyId, view.id)
  assert.ok(!JSON.stringify(accounts.keys(caller.accountId)).includes(key))
  assert.equal(open().callerOfKey(key)?.accountId, caller.accountId, 'kept over a restart')
  const received: string[] = []
  accounts.watch({ onRevoked: (id) => void received.push(id) })
  assert.equal(await accounts.revokeKey(bob.accountId, view.id), false)
  assert.equal(await accounts.revokeKey(caller.accountId, keyId('key_none')), false)
  assert.equal(await accounts.revokeKey(caller.accountId, view.id), true)
  assert.deepEqual(received, [view.id])
  assert.equal(accounts.callerOfKey(key), null)
  assert.equal(open().callerOfKey(key), null)
})

test('limits an account to twenty keys, even when keys are created concurrently', async () => {
  const { accounts } = openAccounts()
  const { accountId } = (await accounts.signUp(ann)).caller
  const made = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) => accounts.createKey(accountId, `k${index}`)),
  )
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 20)
})

test('enforces the socket limit exactly and frees a slot only once when it is released twice', async () => {
  const { accounts } = openAccounts()
  const { caller } = await accounts.signUp(ann)
  const [first, second] = [accounts.openSocket(caller), accounts.openSocket(caller)]
  assert.ok(first !== null && second !== null)
  assert.equal(accounts.openSocket(caller), null)
  first.release()
  first.release()
  assert.ok(accounts.openSocket(caller) !== null)
  assert.equal(accounts.openSocket(caller), null)
})

test('refuses tokens that this server did not issue', async () => {
  const { accounts, clock } = openAccounts()
  const { caller, accessToken } = await accounts.signUp(ann)
  const now = Math.floor(clock.nowMs() / 1_000)
  const claims = {
    iss: 'twinbook',
    aud: 'twinbook-api',
    sub: caller.accountId,
    jti: 'x',
    iat: now,
    exp: now + 60,
  }
  const key = new TextEncoder().encode(SECRET)
  const sign = (set: Record<string, unknown>, header: Record<string, unknown> = {}, secret = key) =>
    new SignJWT({ ...claims, ...set })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
      .sign(secret)
  assert.equal(accounts.callerOfToken(await sign({}))?.accountId, caller.accountId)
  const without = (name: string) => sign({ [name]: undefined })
  const [head = '', body = '', signature = ''] = accessToken.split('.')
  const refused = [
    '',
    'x.y.z',
    `${head}.${body}.`,
    `${head}..${signature}`,
    `${accessToken}x`,
    new UnsecuredJWT(claims).encode(),
    ...(await Promise.all(['iss', 'aud', 'sub', 'jti', 'iat', 'exp'].map(without))),
    await sign({ iss: 'other' }),
    await sign({ aud: 'other' }),
    await sign({ sub: 'acc_unknown' }),
    await sign({ exp: now - 1 }),
    await sign({ exp: String(now + 60) }).catch(() => ''),
    await sign({ exp: now + 60.5 }),
    await sign({ iat: now + 600 }),
    await sign({ iat: now - 100_000, exp: now + 60 }),
    await sign({ nbf: now + 600 }),
    await sign({}, { alg: 'HS512' }),
    await sign({}, { alg: 'HS384' }),
    await sign({}, { typ: 'JWT' }),
    await sign({}, {}, new TextEncoder().encode('another secret of thirty-two bytes!!')),
  ]
  for (const [at, token] of refused.entries()) {
    assert.equal(accounts.callerOfToken(token), null, `token ${at}`)
  }
  clock.advance(86_400_000)
  assert.equal(accounts.callerOfToken(accessToken), null, 'expired')
})

test('keeps the local account’s key across restarts and creates a new key when it is lost', async () => {
  const { accounts, open } = openAccounts()
  const key = await accounts.openLocalAccount(null)
  assert.equal(accounts.callerOfKey(key)?.tier, 'enterprise')
  assert.equal(await open().openLocalAccount(key), key)
  const next = await open().openLocalAccount('pmk_lost')
  assert.notEqual(next, key)
  assert.equal(open().callerOfKey(key)?.accountId, open().callerOfKey(next)?.accountId)
})

test('reports the remaining requests and reset time, and evicts the oldest quota windows first', () => {
  const clock = new ManualClock()
  const quotas = new Quotas<number>(clock)
  const nowSeconds = Math.floor(clock.nowMs() / 1_000)
  assert.deepEqual(quotas.take(1, 2), {
    isAllowed: true,
    limit: 2,
    remaining: 1,
    resetSeconds: nowSeconds + 60,
  })
  clock.advance(30_000)
  assert.equal(quotas.take(1, 2).remaining, 0)
  assert.deepEqual(quotas.take(1, 2), {
    isAllowed: false,
    limit: 2,
    remaining: 0,
    resetSeconds: nowSeconds + 60,
  })
  for (let key = 2; key < 100_100; key += 1) quotas.take(key, 2)
  assert.equal(quotas.peek(1, 2).remaining, 2, 'forgotten')
  clock.advance(30_000)
  assert.equal(quotas.take(100_050, 2).remaining, 0)
})
