import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Bucket } from '../../engine/cluster/cluster-log.ts'
import { SealedLog } from '../../engine/cluster/sealed-log.ts'
import { accountId, keyId } from '../../engine/ids.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { ClusterAccounts, readAccountEntry } from '../../storage/cluster-accounts.ts'
import type {
  AccountRecord,
  AccountTable,
  EndedToken,
  KeyRecord,
} from '../../storage/contract/storage.ts'
import { FaultyLogServer } from '../support/fakes/faulty-log.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { NOON } from '../support/worlds/builders.ts'

const account = (name: string): AccountRecord => ({
  id: accountId(`acc_${name}`),
  email: `${name}@example.com`,
  passwordHash: '$argon2id$x',
  tier: 'pro',
  requestsPerMinute: 77,
  socketsMax: null,
  createdAtMs: NOON,
  isDisabled: false,
  tokenGeneration: 2,
})
const key = (name: string): KeyRecord => ({
  ...{ id: keyId(`key_${name}`), accountId: accountId('acc_one'), hash: 'ab'.repeat(32) },
  ...{ prefix: 'tb_1', label: 'ß', scopes: ['read'], createdAtMs: NOON, lastUsedAtMs: null },
})
const token: EndedToken = {
  ...{ tokenId: 'a token / with anything', accountId: accountId('acc_one'), expiresAtMs: NOON },
}
const own = (): AccountTable => openMemoryStorage().accounts
const all = (table: AccountTable) => ({
  accounts: [...table.accounts()],
  keys: [...table.keys()],
  tokens: [...table.endedTokens()],
})
const opened = async (): Promise<Bucket> =>
  new FaultyLogServer(new ManualClock()).connect().bucket('accounts')
const failed = (error: unknown) => assert.fail(String(error))

test('completes an account change after the local table and the cluster bucket stored it, and fails if either write fails', async () => {
  const [table, bucket] = [own(), await opened()]
  const accounts = new ClusterAccounts(table, bucket)
  await accounts.putAccount(account('one'))
  await accounts.putKey(key('one'))
  await accounts.putEndedToken(token)
  assert.deepEqual(all(accounts), {
    accounts: [account('one')],
    keys: [key('one')],
    tokens: [token],
  })
  const entry = await bucket.get('account.acc_one')
  assert.ok(entry !== null)
  assert.deepEqual(readAccountEntry(entry), { kind: 'account', account: account('one') })
  const damaged = Uint8Array.from(entry.value ?? [])
  damaged[damaged.length - 1] = 99
  assert.equal(readAccountEntry({ ...entry, value: damaged }), null)
  assert.equal(readAccountEntry({ ...entry, key: 'account.acc_two' }), null, "another one's record")
  await accounts.removeKey(keyId('key_one'))
  assert.equal(await bucket.get('key.key_one'), null)
  const refusing = { ...bucket, put: () => Promise.reject(new Error('no room')) }
  await assert.rejects(new ClusterAccounts(table, refusing).putAccount(account('two')), /no room/)
})

test('copies every account record of the cluster bucket, and adds local records that the bucket does not contain', async () => {
  const [table, standby, bucket] = [own(), own(), await opened()]
  await table.putAccount(account('one'))
  await table.putKey(key('one'))
  await table.putEndedToken(token)
  const accounts = new ClusterAccounts(table, bucket)
  assert.equal(await accounts.share(), 3)
  assert.equal(await accounts.share(), 0, 'only what is missing')
  const follow = await ClusterAccounts.follow(standby, bucket, failed)
  assert.deepEqual(all(standby), all(table))
  await accounts.putAccount(account('two'))
  await accounts.removeKey(keyId('key_one'))
  await accounts.removeAccount(accountId('acc_one'))
  await nextTurn()
  await follow.stop()
  assert.deepEqual(all(standby), all(table))
  assert.deepEqual([...standby.accounts()], [account('two')])
})

test('replaces forged records of known accounts and keys in the cluster bucket, and removes forged records of unknown accounts', async () => {
  const [table, bucket] = [own(), await opened()]
  const accounts = new ClusterAccounts(table, bucket)
  await accounts.putAccount(account('one'))
  await accounts.putKey(key('one'))
  const written = [await bucket.get('account.acc_one'), await bucket.get('key.key_one')]
  for (const name of ['account.acc_one', 'key.key_one', 'account.acc_two']) {
    await bucket.put(name, Buffer.from('forged'))
    await accounts.restore(name)
  }
  const mended = [await bucket.get('account.acc_one'), await bucket.get('key.key_one')]
  assert.deepEqual(
    mended.map((entry) => entry?.value),
    written.map((entry) => entry?.value),
  )
  assert.equal(await bucket.get('account.acc_two'), null)
})

test('replaces unreadable bucket records with local records, and as the leader rejects records of other engines', async () => {
  const [table, bucket] = [own(), await opened()]
  await table.putAccount(account('one'))
  const unusable = { key: 'account.acc_one', value: null, revision: 3 }
  const shared = new ClusterAccounts(table, { ...bucket, get: async () => unusable })
  assert.equal(await shared.share(), 1)
  const following = await ClusterAccounts.follow(table, bucket, failed)
  await following.lead()
  await new ClusterAccounts(own(), bucket).putAccount(account('two'))
  for (let tick = 0; tick < 20; tick += 1) await nextTurn()
  assert.deepEqual([...table.accounts()], [account('one')])
  await following.stop()
})

test('restores the leader’s account record when a client without the cluster key replaces or removes the record', async () => {
  const [server, clock] = [new FaultyLogServer(new ManualClock()), new ManualClock()]
  const clusterKey = 'of a cluster under test, 32 bytes or more'
  const join = () => {
    const parts = { clusterKey, clock, log: silentLog, metrics: new Metrics() }
    return new SealedLog(server.connect(), parts).bucket('accounts')
  }
  const [table, bucket] = [own(), await join()]
  const attacker = await server.connect().bucket('accounts')
  const accounts = new ClusterAccounts(table, bucket)
  const mend = (name: string) => void accounts.restore(name).catch(failed)
  const following = await ClusterAccounts.follow(table, bucket, failed, mend)
  await following.lead()
  await accounts.putAccount(account('one'))
  const old = (await attacker.get('account.acc_one'))?.value ?? assert.fail('it is there')
  const closed = { ...account('one'), isDisabled: true }
  await accounts.putAccount(closed)
  const settle = async () => {
    for (let tick = 0; tick < 20; tick += 1) await nextTurn()
  }
  // A process that starts now knows no earlier versions.
  const seen = async () => {
    const entry = await (await join()).get('account.acc_one')
    return entry === null ? null : readAccountEntry(entry)
  }
  await attacker.put('account.acc_one', old)
  await settle()
  assert.deepEqual(await seen(), { kind: 'account', account: closed })
  await attacker.remove('account.acc_one')
  await settle()
  assert.deepEqual(await seen(), { kind: 'account', account: closed })
  await accounts.removeAccount(closed.id)
  await attacker.put('account.acc_one', old)
  await settle()
  assert.equal(await seen(), null)
  await following.stop()
})
