import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { accountHandlers } from '../../../../actors/accounts/account-commands.ts'
import { AccountDirectory } from '../../../../actors/accounts/directory.ts'
import { AdminSocket } from '../../../../engine/admin/admin-socket.ts'
import { systemClock } from '../../../../engine/clock.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { openLmdbStorage } from '../../../../storage/lmdb/lmdb.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { runToEnd } from '../../../support/rigs/run-to-end.ts'
import { newDelivery, webhook } from '../../../support/worlds/stored-webhooks.ts'

const folder = testFolder('account')

async function run(dataDir: string, ...terms: readonly string[]) {
  const env = { DATA_DIR: dataDir }
  const ended = await runToEnd('engine/app/commands/account.ts', terms, { env })
  return { code: ended.code, out: ended.stdout, error: ended.stderr }
}

async function openFolder(dataDir: string) {
  const parts = { clock: systemClock, log: silentLog, metrics: new Metrics() }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  return { storage, directory: new AccountDirectory(storage.accounts, systemClock) }
}

test('changes accounts in the data folder while no engine runs, and the next engine applies the changes', async () => {
  const dataDir = join(folder, 'stopped')
  const first = await openFolder(dataDir)
  const ann = await first.directory.add({
    email: 'ann@example.com',
    passwordHash: null,
    tier: 'free',
  })
  const { key } = await first.directory.addKey(ann.id, 'one')
  const made = { ...webhook('one'), accountId: ann.id }
  const { number } = await first.storage.webhooks.create(made)
  first.storage.outbox.create(number, newDelivery('one'))
  first.storage.outbox.throttle(number, 2)
  await first.storage.close()
  const terms = ['set-tier', 'Ann@Example.com', 'enterprise', '--rpm', '9']
  const set = await run(dataDir, ...terms)
  assert.deepEqual(set, {
    code: 0,
    out: 'ann@example.com: enterprise, 9 requests a minute, 100000 streams, active\n',
    error: '',
  })
  assert.match((await run(dataDir, 'disable', 'ann@example.com')).out, /, disabled\n$/)
  const unknown = await run(dataDir, 'enable', 'nobody@example.com')
  assert.deepEqual(unknown, {
    code: 1,
    out: '',
    error: 'no account has the e-mail nobody@example.com\n',
  })
  assert.deepEqual(await run(dataDir, 'log-out', 'ann@example.com'), {
    code: 0,
    out: 'ann@example.com: logged out everywhere; its keys (1) go on\n',
    error: '',
  })
  const second = await openFolder(dataDir)
  const retained = second.directory.findByEmail('ann@example.com')
  assert.deepEqual(
    [
      retained?.tier,
      retained?.requestsPerMinute,
      retained?.socketsMax,
      retained?.isDisabled,
      retained?.tokenGeneration,
    ],
    ['enterprise', 9, null, true, 1],
  )
  await second.storage.close()
  const listed = await run(dataDir, 'list')
  assert.match(
    listed.out,
    /^e-mail +tier +requests\/min +streams +keys +state +since +webhooks +pending +throttled +requests now +streams now\n/,
  )
  assert.match(
    listed.out,
    /^ann@example.com +enterprise +9 +100000 +1 +disabled +\d{4}-\d\d-\d\d +1 +1 +2 +0 +0$/m,
  )
  assert.equal((await run(dataDir, 'delete', 'ann@example.com')).code, 0)
  const third = await openFolder(dataDir)
  assert.deepEqual([third.directory.list(null, 10), third.directory.use(key)], [[], null])
  await third.storage.close()
})

test('sends account changes to a running engine, which applies the changes in memory at once', async () => {
  const dataDir = join(folder, 'running')
  const { storage, directory } = await openFolder(dataDir)
  const ann = await directory.add({ email: 'ann@example.com', passwordHash: null, tier: 'free' })
  const { key } = await directory.addKey(ann.id, 'one')
  const removed: string[] = []
  directory.watch({ onAccountDeactivated: (_, reason) => void removed.push(reason) })
  const socket = new AdminSocket({ dataDir, clock: systemClock, log: silentLog })
  socket.register(accountHandlers(directory))
  // A starting engine holds the lock at once and opens the socket a moment later.
  const requesting = run(dataDir, 'disable', 'ann@example.com')
  await socket.start()
  assert.deepEqual(await requesting, {
    code: 0,
    out: 'ann@example.com: free, 60 requests a minute, 2 streams, disabled\n',
    error: '',
  })
  assert.equal(directory.isActive(ann.id), false)
  assert.match(
    (await run(dataDir, 'delete', 'ann@example.com')).out,
    /deleted, with its keys \(1\) and webhooks/,
  )
  assert.deepEqual([removed, directory.use(key)], [['disabled', 'deleted'], null])
  const missing = await run(dataDir, 'delete', 'ann@example.com')
  assert.deepEqual([missing.code, missing.out], [1, ''])
  assert.match(missing.error, /^no account has the e-mail/)
  await socket.stop()
  await storage.close()
})

test('changes no account when the engine is unresponsive or no engine ever used the data folder', async () => {
  const dataDir = join(folder, 'mute')
  const { storage } = await openFolder(dataDir)
  const nowhere = join(folder, 'nowhere')
  const [mute, none, wrong, help] = await Promise.all([
    run(dataDir, 'list'),
    run(nowhere, 'list'),
    run(dataDir, 'set-tier', 'ann@example.com', 'gold'),
    run(dataDir, '--help'),
  ])
  assert.deepEqual([mute.code, mute.out], [1, ''])
  assert.match(
    mute.error,
    /^process \d+ holds .* and does not answer at its engine.sock; try again/,
  )
  assert.equal(none.code, 1)
  assert.match(none.error, /nowhere has no data of an engine; set DATA_DIR/)
  assert.equal(existsSync(nowhere), false)
  assert.equal(wrong.code, 2)
  assert.match(wrong.error, /^TIER is gold; it accepts free, pro, enterprise\n/)
  assert.deepEqual([help.code, help.error], [0, ''])
  await storage.close()
})
