import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { accountHandlers } from '../../../actors/accounts/account-commands.ts'
import type { Accounts } from '../../../actors/accounts/accounts.ts'
import { AccountDirectory } from '../../../actors/accounts/directory.ts'
import { EngineError } from '../../../engine/errors.ts'
import type { AccountTable } from '../../../storage/contract/storage.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'

const ann = { email: 'ann@example.com', password: 'correct horse', address: '10.0.0.1' }
const hasCode = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code

function listen(accounts: Accounts): string[] {
  const received: string[] = []
  accounts.watch({
    onRevoked: (key) => void received.push(`revoked ${key}`),
    onAccountDeactivated: (_, reason) => void received.push(reason),
    onAccountEnabled: () => void received.push('back'),
    onLimits: (_, limits) => void received.push(`${limits.requestsPerMinute}/${limits.socketsMax}`),
  })
  return received
}

async function openAnn() {
  const opened = openQuickAccounts()
  const session = await opened.accounts.signUp(ann)
  const made = await opened.accounts.createKey(session.caller.accountId, 'laptop')
  const { directory } = opened.accounts
  const record = () => {
    const found = directory.findByEmail(ann.email)
    assert.ok(found !== null)
    return found
  }
  const id = session.caller.accountId
  return { ...opened, ...made, id, directory, record, token: session.accessToken }
}

test('stores an account’s new tier and limits, and applies the limits from the next request', async () => {
  const { accounts, reopen, directory, record, key, id } = await openAnn()
  const received = listen(accounts)
  const set = (tier: 'free' | 'pro' | 'enterprise', rpm: number | null, sockets: number | null) =>
    directory.setTier(record(), { tier, requestsPerMinute: rpm, socketsMax: sockets })
  await set('pro', null, null)
  assert.equal(accounts.takeAccountRequest(id).limit, 600)
  await set('enterprise', 7, null)
  assert.deepEqual(
    [accounts.callerOfKey(key)?.requestsPerMinute, accounts.callerOfKey(key)?.socketsMax],
    [7, 100_000],
  )
  await set('enterprise', null, 3)
  assert.deepEqual(received, ['600/20', '7/100000', '2147483647/3'])
  const again = reopen().callerOfKey(key)
  assert.deepEqual(
    [again?.tier, again?.requestsPerMinute, again?.socketsMax],
    ['enterprise', 2_147_483_647, 3],
  )
  await set('free', null, null)
  assert.equal(accounts.callerOfKey(key)?.requestsPerMinute, 60)
})

test('refuses requests of a disabled account with the error for an unknown account until an operator enables the account', async () => {
  const { accounts, reopen, directory, record, passwords, key, id, token } = await openAnn()
  const received = listen(accounts)
  await directory.disable(record())
  for (const one of [accounts, reopen()]) {
    assert.equal(one.callerOfKey(key), null)
    assert.equal(one.callerOfToken(token), null)
    assert.equal(one.directory.isActive(id), false)
    await assert.rejects(one.createKey(id, 'more'), hasCode('UNAUTHORIZED'))
  }
  const messages: string[] = []
  for (const email of [ann.email, 'nobody@example.com']) {
    const before = passwords.verified
    await accounts.logIn({ ...ann, email }).catch((error) => messages.push(error.message))
    assert.equal(passwords.verified, before + 1, 'one verification, as for a known account')
  }
  assert.equal(messages.length, 2)
  assert.equal(messages[0], messages[1])
  await assert.rejects(accounts.signUp(ann), hasCode('BAD_REQUEST'))
  await directory.disable(record())
  await directory.enable(record())
  await directory.enable(record())
  assert.deepEqual(received, ['disabled', 'back'], 'one call for each change')
  for (const one of [accounts, reopen()]) {
    assert.equal(one.callerOfKey(key)?.accountId, id)
    assert.equal(one.callerOfToken(token)?.accountId, id)
  }
  assert.equal((await accounts.logIn(ann)).caller.accountId, id)
})

test('removes the API keys of a deleted account and allows a new sign-up with the same e-mail', async () => {
  const { accounts, reopen, directory, record, storage, key, view, id, token } = await openAnn()
  const received = listen(accounts)
  assert.equal(await directory.remove(record()), 1)
  assert.deepEqual(received, [`revoked ${view.id}`, 'deleted'])
  assert.deepEqual([[...storage.accounts.accounts()], [...storage.accounts.keys()]], [[], []])
  for (const one of [accounts, reopen()]) {
    assert.equal(one.callerOfKey(key), null)
    assert.equal(one.callerOfToken(token), null)
    assert.deepEqual(one.keys(id), [])
  }
  await assert.rejects(accounts.logIn(ann), hasCode('UNAUTHORIZED'))
  const next = await accounts.signUp(ann)
  assert.notEqual(next.caller.accountId, id)
  assert.equal(accounts.callerOfToken(token), null, 'a token of the deleted account')
})

/** Writes of this table resolve when the test calls `commit`. */
function heldTable(table: AccountTable) {
  let waiting: (() => void)[] = []
  const held = (done: Promise<void>) =>
    new Promise<void>((resolve) => waiting.push(resolve)).then(() => done)
  const holding: AccountTable = {
    accounts: () => table.accounts(),
    keys: () => table.keys(),
    endedTokens: () => table.endedTokens(),
    putEndedToken: (record) => held(table.putEndedToken(record)),
    removeEndedToken: (id) => held(table.removeEndedToken(id)),
    putAccount: (record) => held(table.putAccount(record)),
    putKey: (record) => held(table.putKey(record)),
    removeKey: (id) => held(table.removeKey(id)),
    removeAccount: (id) => held(table.removeAccount(id)),
  }
  const commit = () => {
    const committed = waiting
    waiting = []
    for (const resolve of committed) resolve()
    return committed.length
  }
  return { table: holding, commit }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('notifies a gateway’s watchers when a replicated account record contains a new password or is disabled', async () => {
  const owner = new AccountDirectory(openMemoryStorage().accounts, new ManualClock())
  const made = await owner.add({ email: 'ann@example.com', passwordHash: 'x', tier: 'free' })
  const gateway = new AccountDirectory(openMemoryStorage().accounts, new ManualClock())
  const received: string[] = []
  gateway.watch({
    onTokensEnded: (id) => received.push(`tokens ${id === made.id}`),
    onAccountDeactivated: (id, reason) => received.push(`${reason} ${id === made.id}`),
    onAccountEnabled: (id) => received.push(`back ${id === made.id}`),
  })
  const changed = await owner.setPassword(made, 'y')
  const disabled = await owner.disable(changed)
  const enabled = await owner.enable(disabled)
  for (const [account, expected] of [
    [made, []],
    [made, []],
    [changed, ['tokens true']],
    [disabled, ['disabled true']],
    [disabled, []],
    [enabled, ['back true']],
    [{ ...disabled, tokenGeneration: 9 }, ['tokens true', 'disabled true']],
  ] as const) {
    gateway.follow({ kind: 'account', account })
    assert.deepEqual(received.splice(0), expected)
    assert.equal(gateway.isActive(made.id), !account.isDisabled)
  }
})

test('resolves the promise of an account change after the commit, applies restrictions before the commit, and commits all records together', async () => {
  const { table, commit } = heldTable(openMemoryStorage().accounts)
  const directory = new AccountDirectory(table, new ManualClock())
  const adding = directory.add({ email: 'ann@example.com', passwordHash: null, tier: 'free' })
  commit()
  const account = await adding
  const key = directory.addKey(account.id, 'one')
  assert.equal(commit(), 1)
  await key
  const changes = [
    () => directory.setTier(account, { tier: 'pro', requestsPerMinute: null, socketsMax: null }),
    () => directory.disable(account),
    () => directory.enable(account),
    () => directory.remove(account),
  ]
  for (const [at, change] of changes.entries()) {
    let isAnswered = false
    const changing = change().then(() => {
      isAnswered = true
    })
    if (at === 1) assert.equal(directory.isActive(account.id), false, 'at once')
    if (at === 3) assert.equal(directory.find(account.id), null, 'at once')
    await tick()
    assert.equal(isAnswered, false, `change ${at}`)
    assert.equal(commit(), at === 3 ? 2 : 1)
    await changing
  }
})

test('merges two concurrent changes of an account, and refuses to create an API key for an account that is being deleted', async () => {
  const memory = openMemoryStorage()
  const { table, commit } = heldTable(memory.accounts)
  const directory = new AccountDirectory(table, new ManualClock())
  const handlers = accountHandlers(directory)
  const adding = directory.add({ email: 'ann@example.com', passwordHash: null, tier: 'free' })
  commit()
  const account = await adding
  const email = { email: account.email }
  const both = [
    handlers['account.set-tier']?.({ ...email, tier: 'pro' }),
    handlers['account.disable']?.(email),
  ]
  commit()
  await Promise.all(both)
  const [stored] = [...memory.accounts.accounts()]
  assert.deepEqual([stored?.tier, stored?.isDisabled], ['pro', true])
  const enabling = handlers['account.enable']?.(email)
  commit()
  await enabling
  const making = assert.rejects(directory.addKey(account.id, 'late'), hasCode('UNAUTHORIZED'))
  const removing = handlers['account.delete']?.(email)
  commit()
  await Promise.all([making, removing])
  assert.deepEqual([[...memory.accounts.keys()], [...memory.accounts.accounts()]], [[], []])
})

test('accepts the documented arguments of account commands, and lists the accepted arguments when it refuses a command', async () => {
  const { accounts, directory, key } = await openAnn()
  const handlers = accountHandlers(directory)
  const ask = async (command: string, request: Record<string, unknown>) =>
    handlers[`account.${command}`]?.(request)
  const { email } = ann
  const set = { email: 'ANN@example.com', tier: 'enterprise', requests_per_minute: 9, sockets: 4 }
  await ask('set-tier', set)
  const listed = JSON.stringify(await ask('list', {}))
  assert.match(listed, /"requests_per_minute":9,"sockets":4,"keys":1,"is_disabled":false/)
  assert.ok(!listed.includes(key) && !/hash|pmk_/.test(listed))
  const refused: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['disable', {}, 'BAD_REQUEST'],
    ['disable', { email: 5 }, 'BAD_REQUEST'],
    ['disable', { email: 'x'.repeat(1_025) }, 'BAD_REQUEST'],
    ['enable', { email: 'nobody@example.com' }, 'NOT_FOUND'],
    ['delete', { email: 'nobody@example.com' }, 'NOT_FOUND'],
    ['set-tier', { email, tier: 'gold' }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'constructor' }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'pro', sockets: 5 }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'free', requests_per_minute: 5 }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'enterprise', sockets: 0 }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'enterprise', sockets: 1.5 }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'enterprise', sockets: '5' }, 'BAD_REQUEST'],
    ['set-tier', { email, tier: 'enterprise', requests_per_minute: 2 ** 31 }, 'BAD_REQUEST'],
    ['list', { after: 5 }, 'BAD_REQUEST'],
  ]
  for (const [command, request, code] of refused) {
    await assert.rejects(ask(command, request), hasCode(code), JSON.stringify(request))
  }
  assert.equal(
    accounts.callerOfKey(key)?.requestsPerMinute,
    9,
    'the refused command changed nothing',
  )
})

test('lists an account’s open streams and its number of requests in the current minute', async () => {
  const { accounts, clock } = openQuickAccounts()
  const password = 'a password'
  const { caller } = await accounts.signUp({
    email: 'ann@example.com',
    password,
    address: '10.0.0.1',
  })
  const handlers = accountHandlers(
    accounts.directory,
    () => [],
    (id) => accounts.useOf(id),
  )
  const used = async () => {
    const page: unknown = await handlers['account.list']?.({})
    const { accounts: listed } = JSON.parse(JSON.stringify(page))
    return [listed[0].requests_now, listed[0].streams_now]
  }
  assert.deepEqual(await used(), [0, 0])
  accounts.takeAccountRequest(caller.accountId)
  accounts.takeDashboardRequest(caller.accountId)
  const stream = accounts.openSocket(caller)
  assert.deepEqual(await used(), [2, 1])
  stream?.release()
  clock.advance(60_000)
  assert.deepEqual(await used(), [0, 0])
})

test('lists an account’s webhooks with pending and throttled deliveries, and sets the account’s delivery rate', async () => {
  const memory = openMemoryStorage()
  const directory = new AccountDirectory(memory.accounts, new ManualClock())
  const { id } = await directory.add({ email: 'ann@example.com', passwordHash: null, tier: 'free' })
  await directory.add({ email: 'bob@example.com', passwordHash: null, tier: 'pro' })
  const webhooks = [
    { counts: { pending: 3 }, throttledCount: 5 },
    { counts: { pending: 4 }, throttledCount: 0 },
  ]
  const handlers = accountHandlers(directory, (account) => (account === id ? webhooks : []))
  const rows = async () => {
    const page: unknown = await handlers['account.list']?.({})
    const { accounts: listed } = JSON.parse(JSON.stringify(page))
    return listed.map((row: Record<string, unknown>) => [
      ...[row.webhooks, row.pending_deliveries, row.throttled_deliveries],
      row.deliveries_per_second,
    ])
  }
  assert.deepEqual(await rows(), [
    [2, 7, 5, 5],
    [0, 0, 0, 50],
  ])
  const set = { email: 'bob@example.com', tier: 'enterprise' }
  await handlers['account.set-tier']?.({ ...set, deliveries_per_second: 7 })
  assert.equal((await rows())[1]?.[3], 7)
  await handlers['account.set-tier']?.(set)
  assert.equal((await rows())[1]?.[3], 1_000_000)
  await assert.rejects(
    async () => handlers['account.set-tier']?.({ ...set, tier: 'pro', deliveries_per_second: 7 }),
    hasCode('BAD_REQUEST'),
  )
})

test('returns each account once, in order of e-mail, when a client reads a long list page by page', async () => {
  const { accounts } = openQuickAccounts()
  for (let index = 0; index < 2_500; index += 1) {
    const email = `user${(index * 7_919) % 2_500}@example.com`
    await accounts.directory.add({ email, passwordHash: null, tier: 'free' })
  }
  const handlers = accountHandlers(accounts.directory)
  const emails: string[] = []
  let pages = 0
  for (let after: string | null = null; ; pages += 1) {
    const page: unknown = handlers['account.list']?.(after === null ? {} : { after })
    const { accounts: rows, next } = JSON.parse(JSON.stringify(page))
    for (const { email } of rows) emails.push(email)
    after = next
    if (after === null) break
  }
  assert.equal(pages, 2)
  assert.equal(new Set(emails).size, 2_500)
  assert.deepEqual(emails, [...emails].sort())
})

test('writes the last-use times of many API keys in few commits', async () => {
  const { accounts, storage } = openQuickAccounts()
  const keys: string[] = []
  for (let index = 0; index < 60; index += 1) {
    const email = `many${index}@example.com`
    const account = await accounts.directory.add({ email, passwordHash: null, tier: 'free' })
    for (let count = 0; count < 10; count += 1) {
      keys.push((await accounts.createKey(account.id, `key ${count}`)).key)
    }
  }
  for (const key of keys) assert.ok(accounts.callerOfKey(key) !== null)
  let begun = 0
  const mostAtOnce: number[] = []
  const put = storage.accounts.putKey.bind(storage.accounts)
  storage.accounts.putKey = async (record) => {
    begun += 1
    await nextTurn()
    mostAtOnce.push(begun)
    await put(record)
  }
  await accounts.saveUse()
  assert.deepEqual([...new Set(mostAtOnce)], [500, 600])
  const used = [...storage.accounts.keys()].filter(({ lastUsedAtMs }) => lastUsedAtMs !== null)
  assert.equal(used.length, 600)
})
