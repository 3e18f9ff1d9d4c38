import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Accounts } from '../../../actors/accounts/accounts.ts'
import { LoginThrottle } from '../../../actors/accounts/login-throttle.ts'
import { EngineError } from '../../../engine/errors.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openQuickAccounts, QUICK_SECRET } from '../../support/fakes/quick-accounts.ts'

const GUESSES = process.env.TEST_LONG === '1' ? 1_000 : 200

const ann = { email: 'ann@example.com', password: 'correct horse', address: '10.0.0.1' }
const hasCode = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code

async function openAnnAndBob() {
  const opened = openQuickAccounts()
  await opened.accounts.signUp(ann)
  await opened.accounts.signUp({ ...ann, email: 'bob@example.com' })
  opened.clock.advance(60_000)
  opened.passwords.verified = 0
  return opened
}

/** Guesses one password every `everyMs`, from each of `addresses` in turn. Returns how many guesses were verified. */
async function guess(
  opened: Awaited<ReturnType<typeof openAnnAndBob>>,
  addresses: number,
  everyMs: number,
) {
  const refusals = { UNAUTHORIZED: 0, RATE_LIMITED: 0 }
  for (let count = 0; count < GUESSES; count += 1) {
    const address = `10.1.0.${count % addresses}`
    const password = `guess ${count}`
    const error: unknown = await opened.accounts
      .logIn({ email: ann.email, password, address })
      .catch((refusal: unknown) => refusal)
    assert.ok(error instanceof EngineError)
    assert.ok(error.code === 'UNAUTHORIZED' || error.code === 'RATE_LIMITED', error.code)
    refusals[error.code] += 1
    opened.clock.advance(everyMs)
  }
  assert.equal(refusals.UNAUTHORIZED + refusals.RATE_LIMITED, GUESSES)
  assert.equal(opened.passwords.verified, refusals.UNAUTHORIZED)
  return refusals.UNAUTHORIZED
}

// The fifth failure causes a wait of 1 s. Each further failure doubles the wait, up to 15 min.
function expectedGuesses(everyMs: number, isAllowed: (count: number) => boolean): number {
  let [failures, freeAtMs] = [0, 0]
  for (let count = 0; count < GUESSES; count += 1) {
    if (!isAllowed(count) || count * everyMs < freeAtMs) continue
    failures += 1
    const waitMs = failures < 5 ? 0 : Math.min(2 ** (failures - 5), 900) * 1_000
    freeAtMs = count * everyMs + waitMs
  }
  return failures
}

test('verifies as many password guesses as the throttle allows, whether the guesses come from one address or from a hundred', async (t) => {
  for (const everyMs of [0, 50, 1_000, 60_000]) {
    for (const addresses of [1, 100]) {
      const opened = await openAnnAndBob()
      const checked = await guess(opened, addresses, everyMs)
      // An address may try 20 times a minute.
      const perMinute = everyMs === 0 ? Number.POSITIVE_INFINITY : 60_000 / everyMs
      const isAllowed = (count: number) => addresses > 1 || count % perMinute < 20
      const expected = expectedGuesses(everyMs, isAllowed)
      assert.equal(checked, expected, `${addresses} addresses, one every ${everyMs} ms`)
      t.diagnostic(`${addresses} addresses, one every ${everyMs} ms: ${checked} of ${GUESSES}`)
      const forwarded = { ...ann, address: '10.9.9.9' }
      await opened.accounts.logIn({ ...forwarded, email: 'bob@example.com' })
      opened.clock.advance(900_000)
      assert.equal((await opened.accounts.logIn(forwarded)).caller.email, ann.email)
    }
  }
})

test('refuses the correct password for the wait that the throttle reports, then accepts the password', async () => {
  const opened = await openAnnAndBob()
  const { accounts, clock } = opened
  await guess(opened, 100, 1_000)
  let retryAfterSeconds = 0
  await accounts.logIn({ ...ann, address: '10.9.9.9' }).catch((error: unknown) => {
    assert.ok(error instanceof EngineError && error.code === 'RATE_LIMITED')
    retryAfterSeconds = error.retryAfterSeconds ?? 0
  })
  assert.ok(retryAfterSeconds > 0 && retryAfterSeconds <= 900, `${retryAfterSeconds}`)
  clock.advance(retryAfterSeconds * 1_000)
  assert.equal((await accounts.logIn({ ...ann, address: '10.9.9.9' })).caller.email, ann.email)
  await assert.rejects(accounts.logIn({ ...ann, password: 'x' }), hasCode('UNAUTHORIZED'))
  assert.equal((await accounts.logIn(ann)).caller.email, ann.email, 'success resets the count')
})

test('verifies no more concurrent password guesses than sequential guesses: five, then one at a time', async () => {
  const opened = await openAnnAndBob()
  const { accounts, passwords, clock } = opened
  await accounts.logIn(ann)
  let open: () => void = () => undefined
  const burst = async () => {
    passwords.verified = 0
    passwords.gate = new Promise((resolve) => {
      open = resolve
    })
    const tries = Array.from({ length: 300 }, (_, count) =>
      accounts.logIn({ email: ann.email, password: 'wrong', address: `10.1.0.${count % 100}` }),
    )
    const settled = Promise.allSettled(tries)
    for (let tick = 0; tick < 10; tick += 1) await new Promise((done) => setImmediate(done))
    const checked = passwords.verified
    open()
    await settled
    assert.equal(passwords.verified, checked)
    return checked
  }
  assert.equal(await burst(), 5)
  clock.advance(60_000)
  assert.equal(await burst(), 1)
  passwords.gate = Promise.resolve()
  clock.advance(60_000)
  const logins = await Promise.all([
    accounts.logIn({ ...ann, email: 'bob@example.com' }),
    accounts.logIn(ann),
  ])
  assert.equal(logins.length, 2)
  const five = await Promise.all(Array.from({ length: 5 }, () => accounts.logIn(ann)))
  assert.equal(five.length, 5)
})

test('does not count log-in attempts whose password was not verified', async () => {
  const { accounts, passwords } = openQuickAccounts()
  passwords.refusal = new EngineError('UNAVAILABLE', 'too many wait')
  for (let round = 0; round < 10; round += 1) {
    await assert.rejects(accounts.logIn(ann), hasCode('UNAVAILABLE'))
  }
  passwords.refusal = null
  await accounts.signUp(ann)
  assert.equal((await accounts.logIn(ann)).caller.email, ann.email)
})

test('allows one address twenty sign-up and log-in attempts a minute in total', async () => {
  const { accounts, clock } = openQuickAccounts()
  for (let round = 0; round < 20; round += 1) {
    const email = `e${round}@example.com`
    if (round % 2 === 0) await accounts.signUp({ ...ann, email })
    else await assert.rejects(accounts.logIn({ ...ann, email }), hasCode('UNAUTHORIZED'))
  }
  await assert.rejects(accounts.signUp(ann), hasCode('RATE_LIMITED'))
  await assert.rejects(accounts.logIn(ann), (error: unknown) => {
    assert.ok(error instanceof EngineError && error.code === 'RATE_LIMITED')
    return error.retryAfterSeconds === 60
  })
  await accounts.signUp({ ...ann, email: 'bob@example.com', address: '10.0.0.2' })
  clock.advance(59_999)
  await assert.rejects(accounts.signUp(ann), hasCode('RATE_LIMITED'))
  clock.advance(1)
  await accounts.signUp(ann)
})

test('still throttles log-ins for an e-mail after guesses for many other e-mails of any length', () => {
  const clock = new ManualClock()
  const throttle = new LoginThrottle(clock)
  const fail = (email: string) => {
    throttle.begin(email)
    throttle.end(email, 'failed')
  }
  for (let round = 0; round < 5; round += 1) fail(ann.email)
  assert.throws(() => throttle.begin(ann.email), hasCode('RATE_LIMITED'))
  const tail = 'x'.repeat(1_000)
  for (let index = 0; index < 25_000; index += 1) fail(`${index}${tail}`)
  assert.throws(() => throttle.begin(ann.email), hasCode('RATE_LIMITED'))
  for (const email of [ann.email, '24999x']) {
    clock.advance(1_000)
    throttle.begin(email)
    throttle.end(email, 'passed')
  }
})

test('allows 5 sign-ups an hour per IPv4 address or IPv6 /64, and 20 per IPv6 /48', () => {
  const clock = new ManualClock()
  const throttle = new LoginThrottle(clock)
  const made = (address: string, tries: number) => {
    let count = 0
    for (let index = 0; index < tries; index += 1) {
      try {
        throttle.takeSignUp(address)
        count += 1
      } catch (error) {
        assert.ok(error instanceof EngineError && error.code === 'RATE_LIMITED')
        assert.ok((error.retryAfterSeconds ?? 0) > 3_000)
      }
    }
    return count
  }
  assert.equal(made('192.0.2.1', 50), 5)
  const subnets = Array.from({ length: 16 }, (_, n) => made(`2001:db8:1:${n}::/64`, 10))
  assert.deepEqual(subnets.slice(0, 5), [5, 5, 5, 5, 0])
  assert.equal(
    subnets.reduce((sum, count) => sum + count, 0),
    20,
  )
  assert.equal(made('2001:db8:2:0::/64', 10), 5, 'another /48')
  clock.advance(3_600_000)
  assert.equal(made('192.0.2.1', 50), 5)
})

test('refuses sign-up with FORBIDDEN when the operator has closed sign-up, and still accepts log-in', async () => {
  const { storage, clock, passwords, accounts } = openQuickAccounts()
  await accounts.signUp(ann)
  const parts = { storage: storage.accounts, clock, passwords, jwtSecret: QUICK_SECRET }
  const closed = new Accounts({ ...parts, isSignUpOpen: false })
  await assert.rejects(closed.signUp({ ...ann, email: 'new@example.com' }), hasCode('FORBIDDEN'))
  assert.equal((await closed.logIn(ann)).caller.email, ann.email)
})

test('refuses sign-up with a look-alike e-mail, and accepts equivalent Unicode spellings at log-in', async () => {
  const { accounts } = openQuickAccounts()
  await accounts.signUp({ ...ann, email: 'coco@example.com' })
  const other = accounts.signUp({ ...ann, email: 'сосо@example.com' })
  await assert.rejects(other, /looks the same/)
  await accounts.signUp({ ...ann, email: 'аня@example.com' })
  await assert.rejects(accounts.signUp({ ...ann, email: 'aня@example.com' }), /looks the same/)
  assert.equal(
    (await accounts.logIn({ ...ann, email: 'ＣoCo@example.com' })).caller.email,
    'coco@example.com',
  )
})

test('never uses the account of a user who signed up as local@localhost as the local account', async () => {
  const { accounts } = openQuickAccounts()
  const { id } = await accounts.directory.add({
    email: 'local@localhost',
    passwordHash: 'x',
    tier: 'free',
  })
  assert.equal(await accounts.openLocalSession('127.0.0.1'), null)
  const caller = accounts.callerOfKey(await accounts.openLocalAccount(null))
  assert.ok(caller !== null && caller.accountId !== id)
  const session = await accounts.openLocalSession('127.0.0.1')
  assert.equal(session?.caller.accountId, caller.accountId)
})
