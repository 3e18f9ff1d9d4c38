import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitAfterFailuresMs } from '../../../actors/accounts/login-throttle.ts'
import { isKeyShaped, makeKey } from '../../../engine/accounts/account.ts'
import { EngineError } from '../../../engine/errors.ts'
import { keyId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'

const ann = { email: 'Ann@example.com', password: 'correct horse', address: '10.0.0.1' }
const hasCode = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code

test('rejects an API key in which one character is mistyped', () => {
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

test('delays log-in by 1 s after the fifth wrong password, and doubles the delay up to 15 min', () => {
  const waits = [0, 4, 5, 6, 7, 15, 40].map(waitAfterFailuresMs)
  assert.deepEqual(waits, [0, 0, 1_000, 2_000, 4_000, 900_000, 900_000])
})

test('returns the same account at sign-up, at log-in and for an access token', async () => {
  const { accounts } = openQuickAccounts()
  const session = await accounts.signUp(ann)
  assert.equal(session.caller.email, 'ann@example.com')
  assert.deepEqual([session.caller.requestsPerMinute, session.caller.socketsMax], [60, 2])
  const again = await accounts.logIn({ ...ann, email: 'ANN@example.com' })
  assert.equal(again.caller.accountId, session.caller.accountId)
  const { token, ...caller } = session.caller
  const { token: other, ...byToken } = accounts.callerOfToken(again.accessToken) ?? session.caller
  assert.deepEqual(byToken, caller)
  assert.notEqual(other?.id, token?.id, 'each log-in has its own token')
  await assert.rejects(accounts.signUp(ann), hasCode('BAD_REQUEST'))
})

test('creates one account when two sign-ups with the same e-mail run concurrently', async () => {
  const { accounts, storage } = openQuickAccounts()
  const tries = await Promise.allSettled([accounts.signUp(ann), accounts.signUp(ann)])
  assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal([...storage.accounts.accounts()].length, 1)
})

test('returns the existing account when a client repeats its sign-up with the same password within ten minutes', async () => {
  const { accounts, reopen, clock } = openQuickAccounts()
  const first = await accounts.signUp(ann)
  // The new process opens the data folder after a crash that lost the response.
  const next = reopen()
  const again = await next.signUp(ann)
  assert.equal(again.caller.accountId, first.caller.accountId)
  const wrong = { ...ann, password: 'wrong password' }
  await assert.rejects(next.signUp(wrong), hasCode('BAD_REQUEST'))
  clock.advance(600_001)
  await assert.rejects(next.signUp(ann), hasCode('BAD_REQUEST'))
})

test('sends the same message after the same number of hashes for an unknown e-mail and for a wrong password', async () => {
  const { accounts, passwords } = openQuickAccounts()
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

test('accepts an API key until its account revokes it, and notifies watchers of the revocation', async () => {
  const { accounts, reopen } = openQuickAccounts()
  const { caller } = await accounts.signUp(ann)
  const bob = (await accounts.signUp({ ...ann, email: 'bob@example.com' })).caller
  const { key, view } = await accounts.createKey(caller.accountId, 'laptop')
  assert.equal(accounts.callerOfKey(key)?.keyId, view.id)
  assert.ok(!JSON.stringify(accounts.keys(caller.accountId)).includes(key))
  assert.equal(reopen().callerOfKey(key)?.accountId, caller.accountId, 'valid after a restart')
  const received: string[] = []
  accounts.watch({ onRevoked: (id) => void received.push(id) })
  assert.equal(await accounts.revokeKey(bob.accountId, view.id), false)
  assert.equal(await accounts.revokeKey(caller.accountId, keyId('key_none')), false)
  assert.equal(await accounts.revokeKey(caller.accountId, view.id), true)
  assert.deepEqual(received, [view.id])
  assert.equal(accounts.callerOfKey(key), null)
  assert.equal(reopen().callerOfKey(key), null)
})

test('limits an account to twenty API keys, even if clients create the keys concurrently', async () => {
  const { accounts } = openQuickAccounts()
  const { accountId } = (await accounts.signUp(ann)).caller
  const made = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) => accounts.createKey(accountId, `k${index}`)),
  )
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 20)
})

test('stores a watchlist of at most a hundred markets across restarts, even if clients add concurrently', async () => {
  const { accounts, reopen } = openQuickAccounts()
  const { accountId } = (await accounts.signUp(ann)).caller
  const added = await Promise.allSettled(
    Array.from({ length: 110 }, (_, index) => accounts.watchMarket(accountId, `venue_a_${index}`)),
  )
  assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 100)
  await assert.rejects(accounts.watchMarket(accountId, 'venue_b_X'), { code: 'BAD_REQUEST' })
  assert.equal((await accounts.watchMarket(accountId, 'venue_a_7')).length, 100)
  assert.equal(await accounts.unwatchMarket(accountId, 'venue_a_0'), true)
  assert.equal(await accounts.unwatchMarket(accountId, 'venue_a_0'), false)
  await accounts.watchMarket(accountId, 'venue_b_X')
  const again = reopen().watchlist(accountId)
  assert.deepEqual([again.length, again[0], again.at(-1)], [100, 'venue_a_1', 'venue_b_X'])
  const { caller } = await accounts.signUp({ ...ann, email: 'bob@example.com' })
  assert.deepEqual(accounts.watchlist(caller.accountId), [])
})

test('admits as many streams as the limit allows, and frees a slot once when a stream is released twice', async () => {
  const { accounts } = openQuickAccounts()
  const { caller } = await accounts.signUp(ann)
  const [first, second] = [accounts.openSocket(caller), accounts.openSocket(caller)]
  assert.ok(first !== null && second !== null)
  assert.equal(accounts.openSocket(caller), null)
  first.release()
  first.release()
  assert.ok(accounts.openSocket(caller) !== null)
  assert.equal(accounts.openSocket(caller), null)
})

test('retains the local account’s API key across restarts, and creates a new key when the stored key is lost', async () => {
  const { accounts, reopen } = openQuickAccounts()
  const key = await accounts.openLocalAccount(null)
  assert.equal(accounts.callerOfKey(key)?.tier, 'enterprise')
  assert.equal(await reopen().openLocalAccount(key), key)
  const next = await reopen().openLocalAccount('pmk_lost')
  assert.notEqual(next, key)
  assert.equal(reopen().callerOfKey(key)?.accountId, reopen().callerOfKey(next)?.accountId)
})
