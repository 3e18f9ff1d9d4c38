import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { HOUR_MS, timeMs } from '../../../engine/units.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { AccountsBackup } from '../../../storage/lmdb/backup.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { openData, testFolder } from '../../support/rigs/data-folder.ts'
import { account, key, NOON_MS, trade, traded } from '../../support/worlds/stored.ts'
import { newDelivery, webhook } from '../../support/worlds/stored-webhooks.ts'

const folder = testFolder('backup')

const NAME = 'accounts-20261120T120000Z'
const NOON = timeMs(NOON_MS)

function counted(metrics: Metrics, result: 'made' | 'failed'): number {
  return metrics.counts('storage_backups').get(JSON.stringify({ result }))?.value ?? 0
}

async function stir(storage: Storage, isOver: () => boolean): Promise<void> {
  for (let count = 0; !isOver(); count += 1) {
    await Promise.all([
      storage.accounts.putKey(key(`later${count}`)),
      storage.accounts.removeKey(key(`later${count - 3}`).id),
      storage.accounts.putAccount(account(`later${count}`)),
    ])
    await turn()
  }
}

test('copies all previously acknowledged data to a backup while writes continue', async () => {
  const dataDir = join(folder, 'stirred')
  const metrics = new Metrics()
  const storage = await openData(dataDir, metrics)
  const before: string[] = []
  for (let count = 0; count < 300; count += 1) before.push(`early${count}`)
  await Promise.all(before.map((id) => storage.accounts.putAccount(account(id))))
  const hook = await storage.webhooks.create(webhook('one'))
  storage.trades.put(traded(1), trade('t1'))
  let isOver = false
  const stirring = stir(storage, () => isOver)
  await Promise.all([storage.backupAccounts(NOON), storage.backupAccounts(timeMs(NOON_MS + 1))])
  isOver = true
  await stirring
  assert.equal(counted(metrics, 'made'), 1, 'one at a time')
  const made = join(dataDir, 'backups', NAME)
  assert.deepEqual(readdirSync(join(dataDir, 'backups')), [NAME])
  assert.equal(statSync(join(made, 'accounts', 'data.mdb')).mode & 0o077, 0, 'for the owner alone')
  await storage.close()
  const restored = join(folder, 'restored')
  cpSync(made, restored, { recursive: true })
  const again = await openData(restored)
  const ids = new Set<string>([...again.accounts.accounts()].map(({ id }) => id))
  for (const id of before) assert.ok(ids.has(account(id).id), id)
  assert.deepEqual([...again.webhooks.all()], [hook])
  assert.equal(again.trades.count(), 0, 'markets are fetched again')
  await again.accounts.putAccount(account('new'))
  await again.close()
  await (await openData(restored)).close()
})

test('assigns no deliveries of a lost webhook to a new webhook after an older backup of the accounts is restored', async () => {
  const dataDir = join(folder, 'put back')
  let storage = await openData(dataDir)
  const retained = await storage.webhooks.create(webhook('kept'))
  await storage.backupAccounts(NOON)
  const lost = await storage.webhooks.create(webhook('lost'))
  for (const { number } of [retained, lost]) storage.outbox.create(number, newDelivery('evt_1'))
  storage.trades.put(traded(1), trade('t1'))
  await storage.close()
  rmSync(join(dataDir, 'accounts'), { recursive: true })
  const backup = join(dataDir, 'backups', NAME, 'accounts')
  cpSync(backup, join(dataDir, 'accounts'), { recursive: true })
  storage = await openData(dataDir)
  assert.deepEqual([...storage.webhooks.all()], [retained])
  assert.equal(storage.trades.count(), 1)
  assert.equal(storage.outbox.state(retained.number).counts.pending, 1)
  assert.deepEqual([...storage.outbox.webhooks()], [retained.number, lost.number])
  const made = await storage.webhooks.create(webhook('made'))
  assert.ok(made.number > lost.number)
  assert.equal(storage.outbox.state(made.number).counts.created, 0)
  await storage.close()
})

test('retains the 24 backups with the newest names and the last created backup, and removes partial backups', async () => {
  const dataDir = join(folder, 'many')
  const storage = await openData(dataDir)
  const backups = join(dataDir, 'backups')
  const nameAt = (hours: number) =>
    `accounts-${new Date(NOON_MS + hours * HOUR_MS).toISOString().replace(/[-:]|\.\d+/g, '')}`
  for (let hours = 1; hours <= 30; hours += 1)
    mkdirSync(join(backups, nameAt(hours)), { recursive: true })
  mkdirSync(join(backups, `${NAME}.part`, 'accounts'), { recursive: true })
  mkdirSync(join(backups, 'accounts-by-hand'))
  await storage.backupAccounts(timeMs(NOON_MS + 31 * HOUR_MS))
  const newest = Array.from({ length: 24 }, (_, index) => nameAt(8 + index))
  assert.deepEqual(readdirSync(backups).sort(), [...newest, 'accounts-by-hand'].sort())
  // The clock is set back, so names of new backups sort before old names.
  await storage.backupAccounts(NOON)
  const names = readdirSync(backups)
  assert.ok(names.includes(NAME))
  assert.equal(names.length, 25)
  await storage.close()
})

test('counts a failed backup, leaves no partial file, and remains healthy', async () => {
  const dataDir = join(folder, 'failing')
  const metrics = new Metrics()
  const storage = await openData(dataDir, metrics)
  await storage.accounts.putAccount(account('one'))
  const backups = join(dataDir, 'backups')
  writeFileSync(backups, 'a file where the folder should be')
  await storage.backupAccounts(NOON)
  assert.equal(counted(metrics, 'failed'), 1)
  rmSync(backups)
  await storage.backupAccounts(NOON)
  assert.equal(counted(metrics, 'made'), 1)
  assert.equal(storage.isHealthy(), true)
  const last = storage.backupAccounts(timeMs(NOON_MS + HOUR_MS))
  await storage.close()
  await last
  assert.equal(counted(metrics, 'made') + counted(metrics, 'failed'), 3, 'over before it is closed')
  assert.deepEqual(readdirSync(backups), [NAME])
  await openMemoryStorage().backupAccounts(NOON)
})

test('rejects a truncated or incomplete copy of the database as a backup', async () => {
  const dataDir = join(folder, 'source')
  const storage = await openData(dataDir)
  for (let count = 0; count < 200; count += 1)
    await storage.accounts.putAccount(account(`a${count}`))
  await storage.close()
  const source = join(dataDir, 'accounts', 'data.mdb')
  const copied = async (rows: number, bytes: number) => {
    const metrics = new Metrics()
    const backup = new AccountsBackup({
      environment: {
        putCount: 7,
        handedOver: () => 7,
        rewrite: async () => undefined,
        rowCounts: () => new Map([['accounts', rows]]),
        copyTo: async (path) => {
          copyFileSync(source, join(path, 'data.mdb'))
          truncateSync(join(path, 'data.mdb'), bytes)
        },
      },
      dataDir,
      databaseId: 'id',
      log: silentLog,
      metrics,
    })
    await backup.make(NOON)
    const names = readdirSync(join(dataDir, 'backups'))
    rmSync(join(dataDir, 'backups', NAME), { recursive: true, force: true })
    return { names, made: counted(metrics, 'made') }
  }
  const { size } = statSync(source)
  assert.deepEqual(await copied(200, size), { names: [NAME], made: 1 })
  assert.deepEqual(await copied(201, size), { names: [], made: 0 })
  assert.deepEqual(await copied(200, size >> 1), { names: [], made: 0 })
  assert.deepEqual(await copied(200, 0), { names: [], made: 0 })
})
