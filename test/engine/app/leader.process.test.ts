import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openLeader } from '../../../engine/app/leader.ts'
import { takeLease } from '../../../engine/cluster/lease.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { ClusterAccounts } from '../../../storage/cluster-accounts.ts'
import { FaultyLogServer } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { openData, testFolder } from '../../support/rigs/data-folder.ts'
import { NAMES } from '../../support/worlds/builders.ts'
import { account } from '../../support/worlds/stored.ts'

const folder = testFolder('standby')
const gone = { ...account('gone'), email: 'person.to.forget@example.com' }

test('copies the leader’s accounts to a standby, and erases a deleted account from the standby’s disk within an hour', async (t) => {
  const clock = new ManualClock()
  const server = new FaultyLogServer(clock)
  const leader = server.connect()
  const { signal } = new AbortController()
  const bucket = await leader.bucket('lease')
  const lease = await takeLease({ bucket, holder: 'leader', clock, log: silentLog }, signal)
  lease?.startRenewing(() => assert.fail('the leader was deposed'))
  const accounts = new ClusterAccounts(
    openMemoryStorage().accounts,
    await leader.bucket('accounts'),
  )
  const stays = account('stays')
  for (const record of [stays, gone]) await accounts.putAccount(record)

  const storage = await openData(folder)
  const backups = t.mock.method(storage, 'backupAccounts')
  const ids = () => [...storage.accounts.accounts()].map(({ id }) => id)
  const ending = new AbortController()
  const standing = openLeader({
    ...{ storage, clock, log: silentLog, metrics: new Metrics(), cluster: server.connect() },
    ...{ signal: ending.signal, names: NAMES, onDeposed: () => assert.fail('it never led') },
    retention: { retentionDays: 30, sizeBytesMax: 1e10 },
  })
  while (ids().length < 2) await nextTurn()
  await accounts.removeAccount(gone.id)
  while (ids().length > 1) await nextTurn()
  for (let second = 0; second < 3_600; second += 1) {
    clock.advance(1_000)
    await nextTurn()
  }
  assert.equal(backups.mock.callCount(), 1)
  await backups.mock.calls[0]?.result
  ending.abort()
  assert.equal(await standing, null)
  await storage.close()
  const copies = readdirSync(join(folder, 'backups')).map((name) => join('backups', name))
  assert.equal(copies.length, 1)
  const files = ['.', ...copies]
  for (const file of files.map((path) => join(folder, path, 'accounts', 'data.mdb'))) {
    const bytes = readFileSync(file)
    assert.ok(bytes.includes(stays.email), file)
    assert.equal(bytes.includes(gone.email), false, file)
  }
})
