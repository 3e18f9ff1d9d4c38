import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Caller } from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { endedTokensPerAccountMax } from '../../../engine/limits.ts'
import { openQuickAccounts, QUICK_SECRET } from '../../support/fakes/quick-accounts.ts'
import { settle, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const ann = { email: 'ann@example.com', password: 'correct horse', address: '10.0.0.1' }
const PASSWORDS = { current: ann.password, next: 'battery staple' }
const hasCode = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code

async function openAnn() {
  const opened = openQuickAccounts()
  const { caller, accessToken } = await opened.accounts.signUp(ann)
  const received: string[] = []
  opened.accounts.watch({
    onTokenEnded: (id) => void received.push(`ended ${id}`),
    onTokensEnded: (id) => void received.push(`all of ${id}`),
  })
  const rows = () => [...opened.storage.accounts.endedTokens()]
  return { ...opened, caller, token: accessToken, received, rows }
}

function goodCaller(caller: Caller | null): Caller {
  assert.ok(caller !== null)
  return caller
}

test('refuses an access token from log-out until the token expires, even after a restart', async () => {
  const { accounts, reopen, clock, caller, token, received, rows } = await openAnn()
  const other = await accounts.logIn(ann)
  await Promise.all([accounts.logOut(caller), accounts.logOut(caller)])
  assert.deepEqual(received, [`ended ${caller.token?.id}`], 'one notification')
  for (const one of [accounts, reopen()]) {
    assert.equal(one.callerOfToken(token), null)
    assert.equal(one.isValid(caller), false)
    assert.equal(one.callerOfToken(other.accessToken)?.accountId, caller.accountId)
  }
  assert.equal(rows().length, 1)
  clock.advance(86_399_000)
  await accounts.saveUse()
  assert.equal(rows().length, 1, 'stored until the token expires')
  clock.advance(3_000)
  await accounts.saveUse()
  assert.deepEqual([rows(), accounts.callerOfToken(token)], [[], null])
})

test('revokes all tokens of an account when more tokens are logged out than the account can store', async () => {
  const { accounts, reopen, clock, caller, token, received, rows } = await openAnn()
  for (let count = 0; count <= endedTokensPerAccountMax; count += 1) {
    if (count % 10 === 0) clock.advance(60_000)
    assert.equal(accounts.callerOfToken(token)?.accountId, caller.accountId)
    await accounts.logOut((await accounts.logIn(ann)).caller)
  }
  assert.deepEqual(rows(), [], 'no single ended tokens are stored')
  assert.equal(received.at(-1), `all of ${caller.accountId}`)
  for (const one of [accounts, reopen()]) assert.equal(one.callerOfToken(token), null)
  assert.equal((await accounts.logIn(ann)).caller.accountId, caller.accountId)
})

test('revokes all tokens of an account but no API keys when the password changes, and nothing when the old password is wrong', async () => {
  const { accounts, reopen, caller, token, received } = await openAnn()
  const other = await accounts.logIn(ann)
  const { key } = await accounts.createKey(caller.accountId, 'laptop')
  const wrong = accounts.changePassword(caller, { ...PASSWORDS, current: 'wrong' })
  await assert.rejects(wrong, hasCode('UNAUTHORIZED'))
  assert.equal(accounts.callerOfToken(token)?.accountId, caller.accountId)
  const next = await accounts.changePassword(caller, PASSWORDS)
  assert.deepEqual(received, [`all of ${caller.accountId}`])
  for (const one of [accounts, reopen()]) {
    assert.deepEqual(
      [token, other.accessToken].map((old) => one.callerOfToken(old)),
      [null, null],
    )
    assert.equal(one.callerOfToken(next.accessToken)?.accountId, caller.accountId)
    assert.equal(one.callerOfKey(key)?.accountId, caller.accountId)
  }
  await assert.rejects(accounts.logIn(ann), hasCode('UNAUTHORIZED'))
  assert.equal((await accounts.logIn({ ...ann, password: PASSWORDS.next })).caller.email, ann.email)
})

test('applies one of several concurrent password changes and revokes the tokens of concurrent log-ins', async () => {
  const { accounts, passwords, caller } = await openAnn()
  const second = (await accounts.logIn(ann)).caller
  const third = (await accounts.logIn(ann)).caller
  let open: () => void = () => undefined
  passwords.gate = new Promise((resolve) => {
    open = resolve
  })
  const changes = [
    accounts.changePassword(caller, PASSWORDS),
    accounts.changePassword(second, { ...PASSWORDS, next: 'another secret' }),
    accounts.changePassword(third, { ...PASSWORDS, next: 'a third secret' }),
  ]
  const loggingIn = accounts.logIn(ann)
  await accounts.logOut(third)
  open()
  const ended = await Promise.allSettled([...changes, loggingIn])
  assert.equal(ended.slice(0, 3).filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(ended[2]?.status, 'rejected', 'the caller logged out during the change')
  const good = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value.accessToken] : []))
  const left = good.filter((token) => accounts.callerOfToken(token) !== null)
  assert.equal(left.length, 1, 'the token of the log-in with the old password ended')
  const passed = await Promise.allSettled(
    [PASSWORDS.next, 'another secret', 'a third secret', ann.password].map((password) =>
      accounts.logIn({ ...ann, password }),
    ),
  )
  assert.equal(passed.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('accepts access tokens without a generation number until the account’s first password change', async () => {
  const { accounts, clock, caller } = await openAnn()
  const now = Math.floor(clock.nowMs() / 1_000)
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (more: object) => {
    const claims = { iss: 'twinbook', aud: 'twinbook-api', sub: caller.accountId, jti: 'x' }
    const body = part({ ...claims, iat: now, exp: now + 60, ...more })
    const signed = `${part({ alg: 'HS256', typ: 'at+jwt' })}.${body}`
    return `${signed}.${createHmac('sha256', QUICK_SECRET).update(signed).digest('base64url')}`
  }
  assert.equal(accounts.callerOfToken(token({}))?.accountId, caller.accountId)
  for (const gen of [1, -1, 0.5, '0', null]) {
    assert.equal(accounts.callerOfToken(token({ gen })), null, `${gen}`)
  }
  await accounts.changePassword(caller, PASSWORDS)
  assert.equal(accounts.callerOfToken(token({})), null)
  assert.equal(accounts.callerOfToken(token({ gen: 1 }))?.accountId, caller.accountId)
})

test('deletes all data of an account when the given password is correct, and nothing when the password is wrong', async () => {
  const { accounts, reopen, storage, caller, token } = await openAnn()
  const { key } = await accounts.createKey(caller.accountId, 'one')
  await accounts.logOut((await accounts.logIn(ann)).caller)
  await assert.rejects(accounts.deleteAccount(caller, 'wrong'), hasCode('UNAUTHORIZED'))
  assert.equal(accounts.callerOfKey(key)?.accountId, caller.accountId)
  let tick = 0
  const ticks = new Set<number>()
  const table = storage.accounts
  for (const method of ['removeAccount', 'removeKey', 'removeEndedToken'] as const) {
    const remove: (id: never) => Promise<void> = table[method].bind(table)
    Object.defineProperty(table, method, {
      value: (id: never) => {
        ticks.add(tick)
        setImmediate(() => {
          tick += 1
        })
        return remove(id)
      },
    })
  }
  const twice = [accounts.deleteAccount(caller, ann.password)]
  twice.push(accounts.deleteAccount(caller, ann.password))
  const ended = (await Promise.allSettled(twice)).map(({ status }) => status)
  assert.deepEqual(ended, ['fulfilled', 'rejected'])
  assert.equal(ticks.size, 1)
  assert.deepEqual([...table.accounts(), ...table.keys(), ...table.endedTokens()], [])
  for (const one of [accounts, reopen()]) {
    assert.deepEqual([one.callerOfToken(token), one.callerOfKey(key)], [null, null])
  }
  const next = await accounts.signUp(ann)
  assert.notEqual(next.caller.accountId, caller.accountId)
  assert.equal(accounts.callerOfToken(token), null)
})

test('neither sends nor stores webhook deliveries when the account is deleted during delivery attempts', async () => {
  const { accounts, caller } = await openAnn()
  const world = new WebhookWorld()
  accounts.watch({
    onAccountDeactivated: (account, reason) => {
      world.inactiveAccounts.add(account)
      world.webhooks.onAccountDeactivated(account, reason)
    },
  })
  const { id } = await world.create({}, caller.accountId)
  const other = await world.create({ url: 'https://example.org/other' })
  const number = world.numberOf(id)
  world.caller.answer = () => 'hang'
  for (let count = 0; count < 40; count += 1) world.trade()
  await settle()
  const posts = () => world.caller.to('https://example.com/hook')
  const begun = posts().length
  assert.ok(begun > 0 && begun < 40, `${begun} under way, the others wait`)
  await accounts.deleteAccount(caller, ann.password)
  assert.ok(posts().every(({ isAborted }) => isAborted))
  world.trade()
  await world.pass(60_000)
  assert.equal(posts().length, begun)
  assert.deepEqual(
    [...world.table.all()].map((webhook) => webhook.id),
    [other.id],
  )
  const left = { status: null, before: null, limit: 1_000 }
  assert.deepEqual(world.outbox.list({ webhook: number, ...left }), [])
  assert.equal(world.counts(other.id).created, 41, 'other webhooks continue')
})

test('throttles wrong passwords in account requests per access token, separately from wrong passwords at log-in', async () => {
  const { accounts, clock, caller } = await openAnn()
  const thief = (await accounts.logIn(ann)).caller
  const guess = (by: Caller) => accounts.deleteAccount(by, 'a guess')
  for (let count = 0; count < 5; count += 1)
    await assert.rejects(guess(thief), hasCode('UNAUTHORIZED'))
  await assert.rejects(guess(thief), hasCode('RATE_LIMITED'))
  const right = accounts.changePassword(thief, PASSWORDS)
  await assert.rejects(right, hasCode('RATE_LIMITED'), 'both requests share one count')
  for (let count = 0; count < 30; count += 1) {
    const stranger = { ...ann, password: 'a guess', address: `10.2.0.${count % 7}` }
    await assert.rejects(accounts.logIn(stranger), EngineError)
  }
  await assert.rejects(accounts.logIn({ ...ann, address: '10.9.9.9' }), hasCode('RATE_LIMITED'))
  const session = await accounts.changePassword(caller, PASSWORDS)
  assert.equal(goodCaller(accounts.callerOfToken(session.accessToken)).email, ann.email)
  clock.advance(900_000)
})

test('lets a user log in from a known address while other clients guess the user’s password', async () => {
  const { accounts, clock } = await openAnn()
  const logIn = (email: string, password: string, address: string) =>
    accounts.logIn({ email, password, address })
  await logIn(ann.email, ann.password, ann.address)
  clock.advance(60_000)
  // The attacker tries other e-mails from the user's address, and the user's e-mail from other addresses.
  for (let count = 0; count < 40; count += 1) {
    await assert.rejects(logIn(`e${count}@example.com`, 'x', ann.address), EngineError)
    await assert.rejects(logIn(ann.email, 'x', `10.3.0.${count}`), EngineError)
  }
  await assert.rejects(logIn('new@example.com', 'x', ann.address), hasCode('RATE_LIMITED'))
  await assert.rejects(logIn(ann.email, ann.password, '10.9.9.9'), hasCode('RATE_LIMITED'))
  assert.equal((await logIn(ann.email, ann.password, ann.address)).caller.email, ann.email)
  // Other addresses must still wait after a log-in from the known address.
  await assert.rejects(logIn(ann.email, ann.password, '10.9.9.9'), hasCode('RATE_LIMITED'))
  let passed = 1
  for (let count = 0; count < 40; count += 1) {
    await logIn(ann.email, ann.password, ann.address).then(
      () => {
        passed += 1
      },
      (error: unknown) => assert.ok(hasCode('RATE_LIMITED')(error)),
    )
  }
  assert.equal(passed, 20, '20 attempts a minute from a known address too')
})

test('answers a sign-up or log-in that takes too long with a retry time, and changes nothing afterwards', async () => {
  const { accounts, passwords, clock, caller, storage } = await openAnn()
  let open: () => void = () => undefined
  passwords.gate = new Promise((resolve) => {
    open = resolve
  })
  const bob = { ...ann, email: 'bob@example.com' }
  const late = Promise.allSettled([
    accounts.signUp(bob),
    accounts.logIn(ann),
    accounts.changePassword(caller, PASSWORDS),
    accounts.deleteAccount(caller, ann.password),
  ])
  await settle()
  clock.advance(4_000)
  for (const one of await late) {
    assert.ok(one.status === 'rejected' && hasCode('UNAVAILABLE')(one.reason))
    assert.ok(one.reason.retryAfterSeconds >= 1)
  }
  // The first sign-up may still create the account, so a repetition must not answer that the account exists.
  await assert.rejects(accounts.signUp(bob), hasCode('UNAVAILABLE'))
  open()
  await settle()
  assert.equal([...storage.accounts.accounts()].length, 1)
  assert.equal((await accounts.logIn(ann)).caller.accountId, caller.accountId)
  assert.equal((await accounts.signUp(bob)).caller.email, bob.email)
  passwords.refusal = new EngineError('TIMED_OUT', 'the work took too long')
  await assert.rejects(accounts.logIn(ann), hasCode('UNAVAILABLE'))
})
