// A data folder of format 3, which is made here: this program's own without the tables of wallets that came with
// format 4; one of format 4, whose wallets lack fields. And what a damaged row of these tables comes to.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { checkSentinel, putFormatVersion } from '../../storage/lmdb/sentinel.ts'
import { openLmdbStorage } from '../../storage/lmdb.ts'
import { encodeRecord } from '../../storage/records/records.ts'
import { addressKey, blockKey, walletFields } from '../../storage/records/wallet.ts'
import { ENVIRONMENT_NAMES, TABLES, type TableLayout } from '../../storage/tables.ts'
import { account, trade, traded } from '../support/worlds/stored.ts'
import { addressOf, storedWallet } from '../support/worlds/stored-wallets.ts'

const folder = mkdtempSync(join(tmpdir(), 'twinbook-format-4-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const NEW_TABLES = [
  TABLES.wallets,
  TABLES.walletOwners,
  TABLES.walletBlocks,
  TABLES.walletAccounts,
  TABLES.walletMarkets,
]

function open(dataDir: string): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock: systemClock, log: silentLog, metrics: new Metrics() })
}

test('[WALLETTABLE5] a folder of format 3 opens without wallets, all else as it was, and takes some', async () => {
  const dataDir = join(folder, 'older')
  let storage = await open(dataDir)
  await storage.accounts.putAccount(account('old'))
  storage.trades.put(traded(1), trade('t1'))
  await storage.close()
  const side = JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8'))
  for (const name of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, name))
    for (const layout of NEW_TABLES.filter((one) => one.environment === name)) {
      openTable(root, layout).dropSync()
    }
    putFormatVersion(root, checkSentinel(root, { dataDir, name, side }), 3)
    await root.close()
  }
  storage = await open(dataDir)
  assert.deepEqual([...storage.wallets.all()], [])
  assert.equal(storage.wallets.count(), 0)
  assert.deepEqual([...storage.accounts.accounts()], [account('old')])
  assert.equal(storage.trades.count(), 1)
  storage.wallets.put(storedWallet(addressOf(1)))
  await storage.close()
  storage = await open(dataDir)
  assert.deepEqual([...storage.wallets.all()], [storedWallet(addressOf(1))])
  assert.equal(storage.wallets.count(), 1)
  await storage.close()
})

test('[WALLETTABLE6] a wallet of a folder of format 4 is read with all it had', async () => {
  const dataDir = join(folder, 'format-4')
  await (await open(dataDir)).close()
  const wallet = storedWallet(addressOf(1))
  // Format 4 had no side, no count of what lacks, and no time up to which was told: three fields before the totals.
  const fields = walletFields(wallet).toSpliced(12, 3)
  const key = addressKey(wallet.proxy)
  const side = JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8'))
  for (const name of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, name))
    if (name === TABLES.wallets.environment) {
      const row = encodeRecord(TABLES.wallets, { key, schema: 1, fields })
      openTable(root, TABLES.wallets).putSync(key, row)
    }
    putFormatVersion(root, checkSentinel(root, { dataDir, name, side }), 4)
    await root.close()
  }
  const storage = await open(dataDir)
  assert.deepEqual([...storage.wallets.all()], [wallet])
  await storage.close()
})

test('[WALLETTABLE3] a damaged block or tally is none, and a damaged wallet is unknown', async () => {
  const dataDir = join(folder, 'damaged')
  let storage = await open(dataDir)
  const bytes = new Uint8Array(5_000).fill(7)
  for (const proxy of [addressOf(1), addressOf(2)]) {
    storage.wallets.put(storedWallet(proxy))
    storage.wallets.putBlock(proxy, 0, bytes)
    storage.wallets.putTally(proxy, bytes)
  }
  await storage.close()
  const root = openDatabase(join(dataDir, 'market'))
  const damage = (layout: TableLayout, key: Buffer): void => {
    const table = openTable(root, layout)
    const value = Buffer.from(table.get(key) ?? assert.fail('nothing to damage'))
    const place = value.length - 3
    value[place] = (value[place] ?? 0) ^ 1
    table.putSync(key, value)
  }
  damage(TABLES.wallets, addressKey(addressOf(1)))
  damage(TABLES.walletBlocks, blockKey(addressOf(1), 0))
  damage(TABLES.walletAccounts, addressKey(addressOf(1)))
  await root.close()
  storage = await open(dataDir)
  const { wallets } = storage
  assert.deepEqual(
    [1, 2].map((number) => wallets.block(addressOf(number), 0)),
    [null, bytes],
  )
  assert.deepEqual(
    [1, 2].map((number) => wallets.tally(addressOf(number))),
    [null, bytes],
  )
  assert.deepEqual([wallets.get(addressOf(1)), wallets.head(addressOf(1))], [null, null])
  assert.deepEqual([...wallets.all()], [storedWallet(addressOf(2))])
  await storage.close()
})
