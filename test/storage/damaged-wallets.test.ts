import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { addressKey, blockKey } from '../../storage/records/wallet.ts'
import { TABLES, type TableLayout } from '../../storage/tables.ts'
import { openData, testFolder } from '../support/rigs/data-folder.ts'
import { addressOf, storedWallet } from '../support/worlds/stored-wallets.ts'

const folder = testFolder('damaged-wallets')

test('rejects a damaged wallet block or PnL state, and returns no wallet for a damaged wallet record', async () => {
  const dataDir = join(folder, 'damaged')
  let storage = await openData(dataDir)
  const bytes = new Uint8Array(5_000).fill(7)
  for (const proxy of [addressOf(1), addressOf(2)]) {
    storage.wallets.put(storedWallet(proxy))
    storage.wallets.putBlock(proxy, 0, bytes)
    storage.wallets.putPnlState(proxy, bytes)
  }
  await storage.close()
  const root = openDatabase(join(dataDir, 'market'))
  const damage = (layout: TableLayout, key: Buffer): void => {
    const table = openTable(root, layout)
    const value = Buffer.from(table.get(key) ?? assert.fail('nothing to damage'))
    const position = value.length - 3
    value[position] = (value[position] ?? 0) ^ 1
    table.putSync(key, value)
  }
  damage(TABLES.wallets, addressKey(addressOf(1)))
  damage(TABLES.walletBlocks, blockKey(addressOf(1), 0))
  damage(TABLES.walletAccounts, addressKey(addressOf(1)))
  await root.close()
  storage = await openData(dataDir)
  const { wallets } = storage
  assert.deepEqual(
    [1, 2].map((number) => wallets.block(addressOf(number), 0)),
    [null, bytes],
  )
  assert.deepEqual(
    [1, 2].map((number) => wallets.pnlState(addressOf(number))),
    [null, bytes],
  )
  assert.deepEqual([wallets.get(addressOf(1)), wallets.head(addressOf(1))], [null, null])
  assert.deepEqual([...wallets.all()], [storedWallet(addressOf(2))])
  await storage.close()
})
