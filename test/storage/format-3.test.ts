// A data folder of format 2, which is made here: this program's own without the tables that came with
// format 3, and with an account and a key of the oldest schemas.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { webhookNumber } from '../../engine/webhooks/webhook.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { checkSentinel, putFormatVersion } from '../../storage/lmdb/sentinel.ts'
import { openLmdbStorage } from '../../storage/lmdb.ts'
import { textKey } from '../../storage/records/keys.ts'
import { encodeRecord } from '../../storage/records/records.ts'
import { ENVIRONMENT_NAMES, TABLES } from '../../storage/tables.ts'
import { account, key, trade, traded } from '../support/worlds/stored.ts'
import { newDelivery, webhook } from '../support/worlds/stored-webhooks.ts'

const folder = mkdtempSync(join(tmpdir(), 'twinbook-format-3-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const NEW_TABLES = [
  TABLES.webhooks,
  TABLES.accountMarks,
  TABLES.deliveries,
  TABLES.dueDeliveries,
  TABLES.finishedDeliveries,
  TABLES.deliveryEvents,
  TABLES.outboxTotals,
  TABLES.lastPrices,
]

function open(dataDir: string): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock: systemClock, log: silentLog, metrics: new Metrics() })
}

/** A closed folder of format 2 with an account, a key and a trade. */
async function olderFolder(): Promise<string> {
  const dataDir = join(folder, 'data')
  const storage = await open(dataDir)
  storage.trades.put(traded(1), trade('t1'))
  await storage.close()
  const side = JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8'))
  for (const name of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, name))
    for (const layout of NEW_TABLES.filter((one) => one.environment === name)) {
      openTable(root, layout).dropSync()
    }
    if (name === 'accounts') {
      const { id, email, passwordHash, tier, createdAtMs } = account('old')
      const fields = [id, email, passwordHash, tier, null, null, createdAtMs]
      const row = { key: textKey(id), schema: 1, fields }
      openTable(root, TABLES.accounts).putSync(row.key, encodeRecord(TABLES.accounts, row))
      const { id: keyId, accountId, hash, prefix, label, createdAtMs: madeAtMs } = key('k1')
      const older = [keyId, accountId, hash, prefix, label, madeAtMs, null]
      const keyRow = { key: textKey(keyId), schema: 1, fields: older }
      openTable(root, TABLES.keys).putSync(keyRow.key, encodeRecord(TABLES.keys, keyRow))
      openTable(root, TABLES.endedTokens).dropSync()
    }
    putFormatVersion(root, checkSentinel(root, { dataDir, name, side }), 2)
    await root.close()
  }
  return dataDir
}

test('[STORE32] a folder of format 2 opens without webhooks, its accounts enabled, its keys with all scopes, and takes them', async () => {
  const dataDir = await olderFolder()
  let storage = await open(dataDir)
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
  storage = await open(dataDir)
  assert.deepEqual([...storage.accounts.accounts()], [account('old', { isDisabled: true })])
  assert.deepEqual([...storage.webhooks.all()], [made])
  assert.equal(storage.outbox.state(webhookNumber(1)).counts.pending, 1)
  await storage.close()
})
