// Data folders of formats 2, 3 and 4, which are made here: this program's own without the tables that came later, with
// an account, a key and wallets of older schemas. And what a damaged row of a wallet comes to.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { timeMs } from '../../engine/units.ts'
import { webhookNumber } from '../../engine/webhooks/webhook.ts'
import type { StoredTrade } from '../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { textKey } from '../../storage/records/keys.ts'
import { encodeRecord } from '../../storage/records/records.ts'
import { addressKey, blockKey, walletFields } from '../../storage/records/wallet.ts'
import { webhookFields } from '../../storage/records/webhook.ts'
import { FORMAT_VERSION, TABLE_LAYOUTS, TABLES, type TableLayout } from '../../storage/tables.ts'
import { makeOlder, openData, testFolder } from '../support/rigs/data-folder.ts'
import { account, key, NOON_MS, trade, traded } from '../support/worlds/stored.ts'
import { addressOf, storedWallet } from '../support/worlds/stored-wallets.ts'
import { ALL_FILTERS, newDelivery, webhook } from '../support/worlds/stored-webhooks.ts'

const folder = testFolder('older-formats')

const NEW_IN_3 = [
  TABLES.webhooks,
  TABLES.accountMarks,
  TABLES.deliveries,
  TABLES.dueDeliveries,
  TABLES.finishedDeliveries,
  TABLES.deliveryEvents,
  TABLES.outboxTotals,
  TABLES.lastPrices,
  TABLES.endedTokens,
]

/** A closed folder of format 2 with an account, a key and a trade. */
async function olderFolder(): Promise<string> {
  const dataDir = join(folder, 'data')
  const storage = await openData(dataDir)
  storage.trades.put(traded(1), trade('t1'))
  await storage.close()
  await makeOlder(dataDir, {
    ...{ version: 2, without: NEW_IN_3 },
    change: (root, name) => {
      if (name !== 'accounts') return
      const { id, email, passwordHash, tier, createdAtMs } = account('old')
      const fields = [id, email, passwordHash, tier, null, null, createdAtMs]
      const row = { key: textKey(id), schema: 1, fields }
      openTable(root, TABLES.accounts).putSync(row.key, encodeRecord(TABLES.accounts, row))
      const { id: keyId, accountId, hash, prefix, label, createdAtMs: madeAtMs } = key('k1')
      const older = [keyId, accountId, hash, prefix, label, madeAtMs, null]
      const keyRow = { key: textKey(keyId), schema: 1, fields: older }
      openTable(root, TABLES.keys).putSync(keyRow.key, encodeRecord(TABLES.keys, keyRow))
    },
  })
  return dataDir
}

test('opens a folder of format 2 with no webhooks, enabled accounts and all-scope keys, and stores new values', async () => {
  const dataDir = await olderFolder()
  let storage = await openData(dataDir)
  assert.deepEqual([...storage.webhooks.all()], [])
  assert.deepEqual([...storage.outbox.webhooks()], [])
  assert.deepEqual([...storage.accounts.accounts()], [account('old')])
  assert.deepEqual([...storage.accounts.keys()], [key('k1', { scopes: ['read', 'webhooks'] })])
  assert.deepEqual([...storage.accounts.endedTokens()], [])
  assert.equal(storage.trades.count(), 1)
  await storage.accounts.putAccount(account('old', { isDisabled: true }))
  const made = await storage.webhooks.create(webhook('first'))
  assert.equal(storage.outbox.create(made.number, newDelivery('evt_1'))?.number, 1)
  await storage.close()
  storage = await openData(dataDir)
  assert.deepEqual([...storage.accounts.accounts()], [account('old', { isDisabled: true })])
  assert.deepEqual([...storage.webhooks.all()], [made])
  assert.equal(storage.outbox.state(webhookNumber(1)).counts.pending, 1)
  await storage.close()
})

const NO_SIDE = { takerSide: null }
const NO_TAKERS = { takerWallets: null, ...NO_SIDE }
const NO_REACH = { minProfit: null, minEdge: null, minAgeMs: null }
/** Filters that an older schema had not, and where they stand now. */
const OLDER_WEBHOOKS = [
  { schema: 1, at: 12, count: 5, lacks: { ...NO_REACH, ...NO_TAKERS } },
  { schema: 2, at: 15, count: 2, lacks: NO_TAKERS },
  { schema: 3, at: 16, count: 1, lacks: NO_SIDE },
  { schema: 4, at: 17, count: 0, lacks: {} },
]

for (const { schema, at, count, lacks } of OLDER_WEBHOOKS) {
  test(`reads a webhook of schema ${schema} with all filters of that schema, and no newer filters`, async () => {
    const dataDir = join(folder, `older-webhook-${schema}`)
    let storage = await openData(dataDir)
    const made = await storage.webhooks.create(webhook('old', { filters: ALL_FILTERS }))
    await storage.close()
    // Without former secrets, whether the host is verified stands last.
    const fields = webhookFields(made).toSpliced(at, count).slice(0, -1)
    const key = Buffer.alloc(4)
    key.writeUInt32BE(made.number)
    await makeOlder(dataDir, {
      version: FORMAT_VERSION,
      change: (root, name) => {
        if (name !== TABLES.webhooks.environment) return
        const row = encodeRecord(TABLES.webhooks, { key, schema, fields })
        openTable(root, TABLES.webhooks).putSync(key, row)
      },
    })
    storage = await openData(dataDir)
    const filters = { ...ALL_FILTERS, ...lacks }
    assert.deepEqual([...storage.webhooks.all()], [{ ...made, filters }])
    await storage.close()
  })
}

test('reads a match override of format 6 as a pair override', async () => {
  const dataDir = join(folder, 'format-6')
  let storage = await openData(dataDir)
  const result = { a: '0x1', b: 'KX-1', decision: 'rejected', atMs: timeMs(NOON_MS) } as const
  await storage.matchOverrides.put({ on: 'pair', ...result })
  await storage.close()
  await makeOlder(dataDir, { version: 6 })
  storage = await openData(dataDir)
  await storage.matchOverrides.put({ on: 'family', ...result })
  await storage.close()
  storage = await openData(dataDir)
  const retained = [...storage.matchOverrides.all()].map(({ on, ...rest }) => [on, rest])
  assert.deepEqual(retained, [
    ['pair', result],
    ['family', result],
  ])
  await storage.close()
})

test('reads trades of format 7 unchanged alongside packed trades', async () => {
  const dataDir = join(folder, 'format-7')
  await (await openData(dataDir)).close()
  const fixture = new URL('../fixtures/format-7-trades.json', import.meta.url)
  const { rows, trades } = JSON.parse(readFileSync(fixture, 'utf8'))
  await makeOlder(dataDir, {
    ...{ version: 7, without: [TABLES.tradeTokens] },
    change: (root, name) => {
      if (name !== 'market') return
      for (const [table, key, value] of rows) {
        const layout = TABLE_LAYOUTS.find((one) => one.name === table) ?? assert.fail(table)
        openTable(root, layout).putSync(Buffer.from(key, 'base64'), Buffer.from(value, 'base64'))
      }
    },
  })
  const ever = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null, limit: 99 }
  const first = trades[0].trade
  const late = trade('late', { timeMs: first.timeMs })
  for (const isAgain of [false, true]) {
    const storage = await openData(dataDir)
    assert.equal(storage.trades.count(), trades.length + (isAgain ? 1 : 0))
    const read = ['a', 'b'].flatMap((venue) =>
      storage.trades.rangeOfVenue({ ...ever, venue: venue === 'a' ? 'a' : 'b', order: 'asc' }),
    )
    const old = read.filter((row) => row.trade.nativeId !== 'late')
    assert.deepEqual(
      new Map(old.map((row) => [row.trade.nativeId, row.trade])),
      new Map(trades.map((row: { trade: StoredTrade }) => [row.trade.nativeId, row.trade])),
    )
    const published = trades.filter((row: { trade: StoredTrade }) => row.trade.run !== null)
    assert.deepEqual(storage.trades.rangeByOffset({ run: 1, offset: 0, limit: 99 }), published)
    for (const row of trades) {
      assert.deepEqual(storage.trades.get(row.market, row.trade.nativeId), row.trade)
    }
    if (!isAgain) assert.equal(storage.trades.put(traded(trades[0].market), late).ordinal, 1)
    storage.trades.setMaker(trades[0].market, 'late', '0xnew')
    assert.equal(storage.trades.get(trades[0].market, 'late')?.maker, '0xnew')
    await storage.close()
  }
  const storage = await openData(dataDir)
  const limits = { retentionDays: 1, sizeBytesMax: Number.MAX_SAFE_INTEGER, rowsMax: 5 }
  const nowMs = timeMs(first.timeMs + 9 * 86_400_000)
  while (storage.prune({ ...limits, nowMs })) await storage.committed()
  assert.equal(storage.trades.count(), 0)
  assert.equal(storage.trades.extentOfVenue('a'), null)
  assert.deepEqual(storage.trades.rangeByOffset({ run: 1, offset: 0, limit: 99 }), [])
  await storage.close()
})

// Wallets

const NEW_IN_4 = [
  TABLES.wallets,
  TABLES.walletOwners,
  TABLES.walletBlocks,
  TABLES.walletAccounts,
  TABLES.walletMarkets,
]

test('opens a folder of format 3 without wallets and otherwise unchanged, and stores new wallets', async () => {
  const dataDir = join(folder, 'older')
  let storage = await openData(dataDir)
  await storage.accounts.putAccount(account('old'))
  storage.trades.put(traded(1), trade('t1'))
  await storage.close()
  await makeOlder(dataDir, { version: 3, without: NEW_IN_4 })
  storage = await openData(dataDir)
  assert.deepEqual([...storage.wallets.all()], [])
  assert.equal(storage.wallets.count(), 0)
  assert.deepEqual([...storage.accounts.accounts()], [account('old')])
  assert.equal(storage.trades.count(), 1)
  storage.wallets.put(storedWallet(addressOf(1)))
  await storage.close()
  storage = await openData(dataDir)
  assert.deepEqual([...storage.wallets.all()], [storedWallet(addressOf(1))])
  assert.equal(storage.wallets.count(), 1)
  await storage.close()
})

test('reads a wallet of format 4 with all its data', async () => {
  const dataDir = join(folder, 'format-4')
  await (await openData(dataDir)).close()
  const combos = { comboEvents: 0, comboRealized: null }
  const totals = { ...storedWallet(addressOf(1)).totals, ...combos }
  const wallet = storedWallet(addressOf(1), { rules: 0, totals })
  // Format 4 had no side, no count of what lacks, no time up to which was listed and no rules: four fields before the totals,
  // which had nothing of combos.
  const fields = walletFields(wallet).toSpliced(12, 4).toSpliced(-3, 2)
  const key = addressKey(wallet.proxy)
  await makeOlder(dataDir, {
    version: 4,
    change: (root, name) => {
      if (name !== TABLES.wallets.environment) return
      const row = encodeRecord(TABLES.wallets, { key, schema: 1, fields })
      openTable(root, TABLES.wallets).putSync(key, row)
    },
  })
  const storage = await openData(dataDir)
  assert.deepEqual([...storage.wallets.all()], [wallet])
  await storage.close()
})

test('rejects a damaged wallet block or PnL state, and treats a damaged wallet as unknown', async () => {
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
